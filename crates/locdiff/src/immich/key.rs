//! The key that a server knows its user by. It is sent, and shown nowhere.

use crate::immich::{ImmichError, Result};
use std::{fmt, path::Path};

/// A key; messages show dots in its place.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// The variable that a key is read from.
    pub const VARIABLE: &'static str = "IMMICH_API_KEY";

    /// A key, without the white space around it.
    ///
    /// ```
    /// use locdiff::immich::ApiKey;
    /// assert_eq!(format!("{:?}", ApiKey::new(" secret\n")?), "ApiKey(…)");
    /// assert!(ApiKey::new("").is_err() && ApiKey::new("a b").is_err());
    /// # Ok::<(), locdiff::immich::ImmichError>(())
    /// ```
    ///
    /// # Errors
    /// Nothing, or characters that no key has.
    pub fn new(text: &str) -> Result<Self> {
        let text = text.trim();
        if text.is_empty() || text.len() > 1000 || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            let reason = "the API key is empty or has characters that no key has".to_owned();
            return Err(ImmichError::Key { reason });
        }
        Ok(Self(text.to_owned()))
    }

    /// From a file, or else from [`ApiKey::VARIABLE`].
    ///
    /// # Errors
    /// Neither, a file that cannot be read, and what is no key.
    pub fn find(file: Option<&Path>) -> Result<Self> {
        if let Some(file) = file {
            let text = locdiff_base::read_text_bounded(file, 10_000)
                .map_err(|error| ImmichError::File { file: file.to_owned(), reason: error.to_string() })?;
            return Self::new(&text);
        }
        let variable = Self::VARIABLE;
        let text = std::env::var(variable).map_err(|_| ImmichError::Key {
            reason: format!(
                "no API key: put one into {variable}, or name a file that holds one (immich: Account Settings, API Keys; it needs asset.read, asset.view and asset.update)"
            ),
        })?;
        Self::new(&text)
    }

    pub(crate) fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ApiKey(…)")
    }
}
