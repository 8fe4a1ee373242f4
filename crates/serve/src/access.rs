//! Who may ask.

use crate::problem::{Kind, Problem};
use constant_time_eq::constant_time_eq;
use hyper::header::{AUTHORIZATION, HeaderMap, HeaderValue, ORIGIN};

/// Keys, and origins whose pages may ask.
#[derive(Debug)]
pub(crate) struct Access {
    pub(crate) keys: Vec<String>,
    pub(crate) origins: Vec<String>,
}

impl Access {
    /// Fails unless the request has a key, where keys are needed: `Authorization: Bearer KEY` or `x-api-key: KEY`.
    pub(crate) fn check_key(&self, headers: &HeaderMap) -> Result<(), Problem> {
        if self.keys.is_empty() {
            return Ok(());
        }
        let bearer = headers.get(AUTHORIZATION).and_then(|value| {
            let (scheme, key) = value.to_str().ok()?.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| key.trim().as_bytes())
        });
        let given = bearer.or_else(|| headers.get("x-api-key").map(HeaderValue::as_bytes));
        // Every key is compared, each in a time that does not depend on where it differs.
        let fits = |given| self.keys.iter().fold(false, |fits, key| fits | constant_time_eq(key.as_bytes(), given));
        let detail = match given.map(fits) {
            Some(true) => return Ok(()),
            Some(false) => "the key is not one of this server's",
            None => "send the header 'Authorization: Bearer KEY' or 'x-api-key: KEY'",
        };
        Err(Problem::new(Kind::Unauthorized, detail))
    }

    /// The origin to allow, where the request comes from a page that may ask.
    pub(crate) fn allowed_origin<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        let origin = headers.get(ORIGIN)?.to_str().ok()?;
        self.origins.iter().any(|known| known == origin).then_some(origin)
    }

    /// Fails for what a browser sends on behalf of another site's page, which it does without asking anybody.
    pub(crate) fn check_site(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
        let is_foreign = matches!(site, Some(b"cross-site" | b"same-site"));
        if !is_foreign || self.allowed_origin(headers).is_some() {
            return Ok(());
        }
        Err(Problem::new(Kind::CrossSite, "the page that asks is of another origin, which is not allowed here"))
    }
}
