//! A server of map tiles that a review page may load from.

use hyper::Uri;

/// The address of map tiles, with `{z}`, `{x}` and `{y}` for zoom, column and row. A page loads from that server and from no other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TileAddress {
    template: String,
    origin: String,
}

impl TileAddress {
    /// The server alone: scheme, host and port.
    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    /// The address as an HTML attribute.
    pub(crate) fn attribute(&self) -> String {
        self.template.replace('&', "&amp;")
    }
}

impl std::str::FromStr for TileAddress {
    type Err = String;

    /// Fails on an address that is not https (or http on this machine), or lacks a placeholder.
    fn from_str(text: &str) -> Result<Self, String> {
        let bad =
            |reason: &str| Err(format!("{reason}: give one such as https://tile.example.org/{{z}}/{{x}}/{{y}}.png"));
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?[]&=+%{}@".contains(&byte);
        let mut filled = text.to_owned();
        for name in ["{z}", "{x}", "{y}"] {
            if text.matches(name).count() != 1 {
                return bad(&format!("the address of tiles must have {name} once"));
            }
            filled = filled.replace(name, "0");
        }
        let Some(uri) = text.bytes().all(is_plain).then(|| filled.parse::<Uri>().ok()).flatten() else {
            return bad("that is not an address of tiles");
        };
        let (scheme, authority) =
            (uri.scheme_str().unwrap_or_default(), uri.authority().map_or("", |own| own.as_str()));
        let origin = format!("{scheme}://{authority}");
        if !text.starts_with(&format!("{origin}/")) || authority.contains('@') || filled.contains(['{', '}']) {
            return bad("the address of tiles may name one server, and {z}, {x} and {y} after it");
        }
        let is_local = matches!(uri.host(), Some("localhost" | "127.0.0.1" | "[::1]"));
        if scheme != "https" && !(scheme == "http" && is_local) {
            return bad("tiles come over https, or over http from this machine");
        }
        Ok(Self { template: text.to_owned(), origin })
    }
}
