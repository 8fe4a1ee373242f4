//! Responses.

use crate::{metrics::STAGES, problem::Problem, queue::Times};
use bytes::Bytes;
use http_body_util::Full;
use hyper::Response;
use hyper::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};

/// The page may load what the server itself has, and nothing else.
pub(crate) const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; \
                           base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A body with its type; that of a page says what it may load.
pub(crate) fn typed<B>(status: u16, content_type: &'static str, body: B) -> Response<B> {
    let mut response = Response::new(body);
    *response.status_mut() = status.try_into().unwrap_or_default();
    let headers = response.headers_mut();
    if content_type.starts_with("text/html") {
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(PAGE_POLICY));
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// A message as plain text.
pub(crate) fn text(status: u16, message: &str) -> Response<Vec<u8>> {
    typed(status, "text/plain; charset=utf-8", message.as_bytes().to_vec())
}

/// What goes back.
#[derive(Debug)]
pub(crate) struct Reply(Response<Bytes>);

impl Reply {
    pub(crate) fn ok(content_type: &'static str, body: impl Into<Bytes>) -> Self {
        Self(typed(200, content_type, body.into()))
    }

    /// Nothing but headers.
    pub(crate) fn empty() -> Self {
        Self(typed(204, "text/plain", Bytes::new()))
    }

    pub(crate) fn problem(problem: &Problem, request_id: &str) -> Self {
        let body = problem.to_json(request_id).to_string();
        let reply = Self(typed(problem.kind.status(), "application/problem+json", body.into()));
        match problem.retry_after_s {
            Some(seconds) => reply.with("retry-after", &seconds.to_string()),
            None => reply,
        }
    }

    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        let value = HeaderValue::from_str(value).ok();
        self.0.headers_mut().extend(value.map(|value| (HeaderName::from_static(name), value)));
        self
    }

    /// With the time that each stage took.
    pub(crate) fn with_times(mut self, times: Times) -> Self {
        for (stage, took) in STAGES.iter().zip(times) {
            let name = HeaderName::try_from(format!("x-{stage}-ms")).ok();
            let value = HeaderValue::try_from(format!("{:.1}", 1000.0 * took.as_secs_f64())).ok();
            self.0.headers_mut().extend(name.zip(value));
        }
        self
    }

    pub(crate) fn status(&self) -> u16 {
        self.0.status().as_u16()
    }

    pub(crate) fn len(&self) -> u64 {
        self.0.body().len() as u64
    }

    pub(crate) fn into_response(mut self) -> Response<Full<Bytes>> {
        protect(self.0.headers_mut());
        self.0.map(Full::new)
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
