//! A page to look at suggestions and tick them: a function from a request to its response, which any server can run.

use crate::{Immich, Result, Suggestions, asset::is_id};
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response};
use serde_json::Value;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

const PAGE: &str = include_str!("review.html");
/// Nothing is loaded but from here, and the page may stand in no other.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/// The page, and the suggestions as they are ticked.
#[derive(Debug)]
pub struct Review<'a> {
    immich: &'a Immich,
    file: PathBuf,
    suggestions: Suggestions,
}

type Reply = Response<Vec<u8>>;

impl<'a> Review<'a> {
    /// Reads the suggestions of a file.
    ///
    /// # Errors
    /// As [`Suggestions::read`].
    pub fn open(immich: &'a Immich, file: &Path) -> Result<Self> {
        let suggestions = Suggestions::read(file, immich.server())?;
        Ok(Self { immich, file: file.to_owned(), suggestions })
    }

    /// The suggestions as they are now.
    pub fn suggestions(&self) -> &Suggestions {
        &self.suggestions
    }

    /// Answers a request, whose sender the server has checked; it breaks when the page says that it is done. Every change is written to
    /// the file at once.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn answer(&mut self, request: &Request<Vec<u8>>) -> Result<ControlFlow<Reply, Reply>> {
        let path = request.uri().path();
        let is_get = request.method() == Method::GET;
        let is_post = request.method() == Method::POST;
        Ok(ControlFlow::Continue(match path {
            "/" if is_get => typed(PAGE.as_bytes().to_vec(), "text/html; charset=utf-8"),
            "/suggestions" if is_get => {
                typed(serde_json::to_vec(&self.suggestions).unwrap_or_default(), "application/json")
            }
            _ if is_get && path.starts_with("/photo/") => self.photo(&path["/photo/".len()..]),
            "/choice" if is_post => self.choose(request.body())?,
            "/done" if is_post => return Ok(ControlFlow::Break(text(200, "done"))),
            _ => text(404, "not here"),
        }))
    }

    /// `{"take": {"ASSET": true, …}}`.
    fn choose(&mut self, body: &[u8]) -> Result<Reply> {
        let choice: Value = serde_json::from_slice(body).unwrap_or_default();
        let Some(take) = choice["take"].as_object() else { return Ok(text(400, "no choice")) };
        for one in &mut self.suggestions.suggestions {
            if let Some(Value::Bool(take)) = take.get(&one.asset) {
                one.take = *take;
            }
        }
        self.suggestions.write(&self.file)?;
        Ok(text(200, &self.suggestions.taken().to_string()))
    }

    fn photo(&self, id: &str) -> Reply {
        let is_known = is_id(id) && self.suggestions.suggestions.iter().any(|one| one.asset == id);
        if !is_known {
            return text(404, "no such photo");
        }
        match self.immich.preview(id, true) {
            Ok(bytes) => {
                let kind = if bytes.starts_with(b"RIFF") { "image/webp" } else { "image/jpeg" };
                typed(bytes, kind)
            }
            Err(error) => text(502, &error.to_string()),
        }
    }
}

fn typed(bytes: Vec<u8>, kind: &'static str) -> Reply {
    let mut reply = Response::new(bytes);
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    reply.headers_mut().insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    reply
}

fn text(status: u16, message: &str) -> Reply {
    let mut reply = typed(message.as_bytes().to_vec(), "text/plain; charset=utf-8");
    *reply.status_mut() = status.try_into().unwrap_or_default();
    reply
}
