//! Errors as problem+json, RFC 9457.

use locdiff::{ErrorKind, LocateError};
use locdiff_map::places::PlacesError;
use serde_json::{Value, json};

/// The kinds of problems: status, name in the document and in metrics, and what it means.
macro_rules! kinds {
    ($($kind:ident($status:literal, $name:literal, $title:literal);)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Kind {
            $($kind),*
        }

        impl Kind {
            pub(crate) const ALL: &'static [Self] = &[$(Self::$kind),*];

            pub(crate) fn status(self) -> u16 {
                [$($status),*][self as usize]
            }

            pub(crate) fn name(self) -> &'static str {
                [$($name),*][self as usize]
            }

            pub(crate) fn title(self) -> &'static str {
                [$($title),*][self as usize]
            }
        }
    };
}

kinds! {
    BadRequest(400, "bad-request", "The request cannot be understood");
    Unauthorized(401, "unauthorized", "A key is needed");
    CrossSite(403, "cross-site", "Pages of other sites may not ask");
    NotFound(404, "not-found", "There is nothing here");
    MethodNotAllowed(405, "method-not-allowed", "Not with this method");
    Misdirected(421, "misdirected", "Not by this name");
    BodyTimeout(408, "body-timeout", "The body came too slowly");
    TooLarge(413, "too-large", "Larger than the limits allow");
    UnknownFormat(415, "unknown-format", "Not a format that can be read");
    Unusable(422, "unusable", "No answer can be given for this");
    Busy(429, "busy", "Too much waits already");
    Internal(500, "internal", "The server failed");
    Late(503, "late", "The answer would come too late");
    Stopping(503, "stopping", "The server is stopping");
}

/// A result whose error is a [`Problem`].
pub(crate) type Result<T, E = Problem> = std::result::Result<T, E>;

/// A problem of one request.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    pub(crate) kind: Kind,
    pub(crate) detail: String,
    /// Seconds after which it is worth to ask again.
    pub(crate) retry_after_s: Option<u64>,
}

impl Problem {
    pub(crate) fn new(kind: Kind, detail: impl Into<String>) -> Self {
        Self { kind, detail: locdiff_base::one_line(&detail.into()), retry_after_s: None }
    }

    pub(crate) fn bad(detail: impl Into<String>) -> Self {
        Self::new(Kind::BadRequest, detail)
    }

    pub(crate) fn retry_after(self, seconds: u64) -> Self {
        Self { retry_after_s: Some(seconds.max(1)), ..self }
    }

    pub(crate) fn to_json(&self, request_id: &str) -> Value {
        json!({
            "type": format!("urn:locdiff:problem:{}", self.kind.name()),
            "title": self.kind.title(),
            "status": self.kind.status(),
            "detail": self.detail,
            "request_id": request_id,
        })
    }
}

impl From<LocateError> for Problem {
    fn from(error: LocateError) -> Self {
        Self::from(&error)
    }
}

impl From<&LocateError> for Problem {
    fn from(error: &LocateError) -> Self {
        let kind = match error.kind() {
            ErrorKind::PhotoTooLarge | ErrorKind::PhotoTooManyBytes => Kind::TooLarge,
            ErrorKind::PhotoFormat => Kind::UnknownFormat,
            ErrorKind::Photo | ErrorKind::Density | ErrorKind::Data | ErrorKind::OtherEncoder => Kind::Unusable,
            ErrorKind::Setting | ErrorKind::Region | ErrorKind::EncoderSize | ErrorKind::Track | ErrorKind::Time => {
                Kind::BadRequest
            }
            _ => Kind::Internal,
        };
        let lower = error.get_ref().downcast_ref();
        if let Some(PlacesError::UnknownRegion { text, near }) = lower {
            let hint = near.first().map_or(String::new(), |near| format!(" (did you mean {near}?)"));
            return Self::bad(format!(
                "'{text}' is not a continent, country, state or province{hint}; give one of these, \"50 km around Paris\" \
                 or \"lat0,lon0,lat1,lon1\""
            ));
        }
        Self::new(kind, error.to_string())
    }
}
