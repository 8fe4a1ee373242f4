//! A page on this machine to look at suggestions and tick them.

use crate::asset::is_id;
use crate::{Immich, ImmichError, Result, Suggestions};
use serde_json::Value;
use std::io::Read;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tiny_http::{Header, Method, Request, Response, Server};

const PAGE: &str = include_str!("review.html");
/// The longest choice that a page may send.
const MOST_BYTES: u64 = 16 << 20;
/// Nothing is loaded but from here, and the page may stand in no other.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/// The page's server.
pub struct Review {
    server: Server,
    address: SocketAddr,
    file: PathBuf,
    suggestions: Suggestions,
}

type Reply = Response<std::io::Cursor<Vec<u8>>>;

impl Review {
    /// Listens on 127.0.0.1; port 0 is any that is free.
    ///
    /// # Errors
    /// A port that is taken, and files as in [`Suggestions::read`].
    pub fn open(immich: &Immich, file: &Path, port: u16) -> Result<Self> {
        let suggestions = Suggestions::read(file, immich.server())?;
        let failed = |reason: String| ImmichError::Network { server: format!("127.0.0.1:{port}"), reason };
        let server = Server::http(("127.0.0.1", port))
            .map_err(|error| failed(format!("cannot listen there ({error}); choose another port")))?;
        let address = server.server_addr().to_ip().ok_or_else(|| failed("no address".to_owned()))?;
        Ok(Self { server, address, file: file.to_owned(), suggestions })
    }

    /// Where the page is.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Answers until it is asked to stop or the page says that it is done. Every change is written to the file at once.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn run(mut self, immich: &Immich, stop: &AtomicBool) -> Result<Suggestions> {
        while !stop.load(Ordering::SeqCst) {
            let Ok(request) = self.server.recv_timeout(Duration::from_millis(200)) else { break };
            let Some(request) = request else { continue };
            if self.answer(request, immich)? {
                break;
            }
        }
        Ok(self.suggestions)
    }

    /// Answers one request; true when it was the last.
    fn answer(&mut self, mut request: Request, immich: &Immich) -> Result<bool> {
        let path = request.url().to_owned();
        let reply = if self.is_own(&request) {
            match (request.method(), path.as_str()) {
                (Method::Get, "/") => typed(PAGE.as_bytes().to_vec(), "text/html; charset=utf-8"),
                (Method::Get, "/suggestions") => {
                    typed(serde_json::to_vec(&self.suggestions).unwrap_or_default(), "application/json")
                }
                (Method::Get, _) if path.starts_with("/photo/") => {
                    self.photo(&path["/photo/".len()..], immich)
                }
                (Method::Post, "/choice") => {
                    let mut body = Vec::new();
                    let read = request.as_reader().take(MOST_BYTES).read_to_end(&mut body);
                    match read.ok().and_then(|_| serde_json::from_slice::<Value>(&body).ok()) {
                        Some(choice) => self.choose(&choice)?,
                        None => text(400, "no choice"),
                    }
                }
                (Method::Post, "/done") => {
                    let _ = request.respond(text(200, "bye"));
                    return Ok(true);
                }
                _ => text(404, "not here"),
            }
        } else {
            text(403, "this page is for this machine alone")
        };
        // A reader that has gone away is no error.
        let _ = request.respond(reply);
        Ok(false)
    }

    /// Whether the request is of our own page: its host is this address (no other name may lead here), and so is its origin.
    fn is_own(&self, request: &Request) -> bool {
        let header = |name: &'static str| {
            let found = request.headers().iter().find(|header| header.field.equiv(name));
            found.map(|header| header.value.as_str().to_owned())
        };
        let hosts = [self.address.to_string(), format!("localhost:{}", self.address.port())];
        let is_host = header("Host").is_some_and(|host| hosts.contains(&host));
        let is_origin = match header("Origin") {
            Some(origin) => hosts.iter().any(|host| origin == format!("http://{host}")),
            None => *request.method() == Method::Get,
        };
        is_host && is_origin
    }

    /// `{"take": {"ASSET": true, …}}`.
    fn choose(&mut self, choice: &Value) -> Result<Reply> {
        let Some(take) = choice["take"].as_object() else { return Ok(text(400, "no choice")) };
        for one in &mut self.suggestions.suggestions {
            if let Some(Value::Bool(take)) = take.get(&one.asset) {
                one.take = *take;
            }
        }
        self.suggestions.write(&self.file)?;
        Ok(text(200, &self.suggestions.taken().to_string()))
    }

    fn photo(&self, id: &str, immich: &Immich) -> Reply {
        let is_known = is_id(id) && self.suggestions.suggestions.iter().any(|one| one.asset == id);
        if !is_known {
            return text(404, "no such photo");
        }
        match immich.preview(id, true) {
            Ok(bytes) => {
                let kind = if bytes.starts_with(b"RIFF") { "image/webp" } else { "image/jpeg" };
                typed(bytes, kind)
            }
            Err(error) => text(502, &error.to_string()),
        }
    }
}

fn typed(bytes: Vec<u8>, kind: &str) -> Reply {
    let headers = [
        ("Content-Type", kind),
        ("Content-Security-Policy", POLICY),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
        ("Cache-Control", "no-store"),
    ];
    headers.into_iter().fold(Response::from_data(bytes), |reply, (name, value)| {
        match Header::from_bytes(name, value) {
            Ok(header) => reply.with_header(header),
            Err(()) => reply,
        }
    })
}

fn text(status: u16, words: &str) -> Reply {
    typed(words.as_bytes().to_vec(), "text/plain; charset=utf-8").with_status_code(status)
}
