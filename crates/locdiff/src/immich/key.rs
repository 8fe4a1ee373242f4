//! The key that a server knows its user by. It is sent, and shown nowhere.

use crate::immich::{ImmichError, Result};
use std::{fmt, path::Path};

/// A key; messages show dots in its place.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(pub(crate) String);

impl ApiKey {
    /// The variable that a key is read from.
    pub const VARIABLE: &'static str = "IMMICH_API_KEY";

    /// A key, without the white space around it. Fails if it is empty or has characters that no key has.
    ///
    /// ```
    /// use locdiff::immich::ApiKey;
    /// assert_eq!(format!("{:?}", ApiKey::new(" secret\n")?), "ApiKey(…)");
    /// assert!(ApiKey::new("").is_err() && ApiKey::new("a b").is_err());
    /// # Ok::<(), locdiff::immich::ImmichError>(())
    /// ```
    pub fn new(text: &str) -> Result<Self> {
        let text = text.trim();
        if text.is_empty() || text.len() > 1000 || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            let reason = "the API key is empty or has characters that no key has".to_owned();
            return Err(ImmichError::Key { reason });
        }
        Ok(Self(text.to_owned()))
    }

    /// From a file, or else from [`ApiKey::VARIABLE`].
    /// Fails if there is neither, a file cannot be read, or the text is not a key.
    pub fn find(file: Option<&Path>) -> Result<Self> {
        if let Some(file) = file {
            let text = locdiff_base::read_text_bounded(file, 10_000)
                .map_err(|error| ImmichError::File { file: file.to_owned(), reason: error.to_string() })?;
            return Self::new(&text);
        }
        let variable = Self::VARIABLE;
        let reason = format!(
            "no API key: put one into {variable}, or name a file that holds one (immich: Account Settings, API Keys; it needs asset.read, asset.view and asset.update)"
        );
        Self::new(&std::env::var(variable).map_err(|_| ImmichError::Key { reason })?)
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ApiKey(…)")
    }
}
