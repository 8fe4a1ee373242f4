//! Responses.

use crate::{job::Times, problem::Problem};
use bytes::Bytes;
use http_body_util::Full;
use hyper::Response;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use std::time::Duration;

/// The page may load what the server itself has, and nothing else.
pub(crate) const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; \
                           base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// What goes back.
#[derive(Debug)]
pub(crate) struct Reply {
    status: u16,
    content_type: &'static str,
    body: Bytes,
    headers: Vec<(&'static str, String)>,
}

impl Reply {
    pub(crate) fn ok(content_type: &'static str, body: impl Into<Bytes>) -> Self {
        Self { status: 200, content_type, body: body.into(), headers: Vec::new() }
    }

    /// Nothing but headers.
    pub(crate) fn empty() -> Self {
        Self { status: 204, content_type: "text/plain", body: Bytes::new(), headers: Vec::new() }
    }

    pub(crate) fn problem(problem: &Problem, request_id: &str) -> Self {
        let body = problem.to_json(request_id).to_string();
        let status = problem.kind.status();
        let reply = Self { status, content_type: "application/problem+json", body: body.into(), headers: Vec::new() };
        match problem.retry_after_s {
            Some(seconds) => reply.with("retry-after", seconds.to_string()),
            None => reply,
        }
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// With the time that each stage took.
    pub(crate) fn with_times(self, times: &Times) -> Self {
        let ms = |took: Duration| format!("{:.1}", 1000.0 * took.as_secs_f64());
        self.with("x-queue-ms", ms(times.queue))
            .with("x-decode-ms", ms(times.decode))
            .with("x-encode-ms", ms(times.encode))
            .with("x-answer-ms", ms(times.answer))
    }

    pub(crate) fn status(&self) -> u16 {
        self.status
    }

    pub(crate) fn len(&self) -> u64 {
        self.body.len() as u64
    }

    pub(crate) fn into_response(self) -> Response<Full<Bytes>> {
        let mut response = Response::new(Full::new(self.body));
        *response.status_mut() = self.status.try_into().unwrap_or_default();
        let is_page = self.content_type.starts_with("text/html");
        let policy = is_page.then_some(("content-security-policy", PAGE_POLICY));
        let own = self.headers.iter().map(|(name, value)| (*name, &**value));
        for (name, value) in policy.into_iter().chain([("content-type", self.content_type)]).chain(own) {
            if let Ok(value) = HeaderValue::from_str(value) {
                response.headers_mut().insert(HeaderName::from_static(name), value);
            }
        }
        protect(response.headers_mut());
        response
    }
}

/// Restricts what a browser does with a response, where its headers do not say it themselves.
pub(crate) fn protect(headers: &mut HeaderMap) {
    for (name, value) in [
        ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
        ("cross-origin-resource-policy", "same-origin"),
        ("referrer-policy", "no-referrer"),
        ("x-content-type-options", "nosniff"),
        ("cache-control", "no-store"),
    ] {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
}
