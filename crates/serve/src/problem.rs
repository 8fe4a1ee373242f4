//! Errors as problem+json, RFC 9457.

use locdiff::{ErrorKind, LocateError};
use locdiff_map::places::PlacesError;
use serde_json::{Value, json};

/// The kind of a problem: its status, its name in the document and what it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    BadRequest,
    Unauthorized,
    CrossSite,
    NotFound,
    MethodNotAllowed,
    Misdirected,
    BodyTimeout,
    TooLarge,
    UnknownFormat,
    Unusable,
    Busy,
    Internal,
    Late,
    Stopping,
}

impl Kind {
    pub(crate) const ALL: [Self; 14] = [
        Self::BadRequest,
        Self::Unauthorized,
        Self::CrossSite,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::Misdirected,
        Self::BodyTimeout,
        Self::TooLarge,
        Self::UnknownFormat,
        Self::Unusable,
        Self::Busy,
        Self::Internal,
        Self::Late,
        Self::Stopping,
    ];

    pub(crate) fn status(self) -> u16 {
        self.row().0
    }

    /// The end of its `type`, and its name in metrics.
    pub(crate) fn name(self) -> &'static str {
        self.row().1
    }

    pub(crate) fn title(self) -> &'static str {
        self.row().2
    }

    fn row(self) -> (u16, &'static str, &'static str) {
        match self {
            Self::BadRequest => (400, "bad-request", "The request cannot be understood"),
            Self::Unauthorized => (401, "unauthorized", "A key is needed"),
            Self::CrossSite => (403, "cross-site", "Pages of other sites may not ask"),
            Self::NotFound => (404, "not-found", "There is nothing here"),
            Self::MethodNotAllowed => (405, "method-not-allowed", "Not with this method"),
            Self::BodyTimeout => (408, "body-timeout", "The body came too slowly"),
            Self::TooLarge => (413, "too-large", "Larger than the limits allow"),
            Self::UnknownFormat => (415, "unknown-format", "Not a format that can be read"),
            Self::Misdirected => (421, "misdirected", "Not by this name"),
            Self::Unusable => (422, "unusable", "No answer can be given for this"),
            Self::Busy => (429, "busy", "Too much waits already"),
            Self::Internal => (500, "internal", "The server failed"),
            Self::Late => (503, "late", "The answer would come too late"),
            Self::Stopping => (503, "stopping", "The server is stopping"),
        }
    }
}

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
        let lower = error.get_ref().and_then(|lower| lower.downcast_ref());
        if let Some(PlacesError::UnknownRegion { text, near }) = lower {
            let hint = near.first().map_or(String::new(), |near| format!(" (did you mean {near}?)"));
            return Self::bad(format!(
                "'{text}' is no continent, country, state or province{hint}; give one of these, \"50 km around 48.85,2.35\" \
                 or \"lat0,lon0,lat1,lon1\""
            ));
        }
        Self::new(kind, error.to_string())
    }
}
