//! An image embedding, with the encoder it came from.

use crate::data::DataError;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr, sync::Arc};

/// Which encoder made an embedding: its name and a hash of everything that shapes its output.
///
/// Written as `NAME@HASH`, in files and in messages.
///
/// ```
/// use locdiff_io::data::Fingerprint;
/// let encoder = Fingerprint::new("streetview-lite2", 0x3f2a);
/// assert_eq!(encoder.to_string(), "streetview-lite2@00000000000000000000000000003f2a");
/// assert_eq!(encoder.to_string().parse::<Fingerprint>()?, encoder);
/// # Ok::<(), locdiff_io::data::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Fingerprint {
    name: String,
    hash: u128,
}

impl Fingerprint {
    /// An encoder's name, and the hash of its settings and weights.
    pub fn new(name: impl Into<String>, hash: u128) -> Self {
        Self { name: name.into(), hash }
    }

    /// The encoder's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether two encoders give the same embeddings, whatever they are called.
    pub fn is_same_encoder(&self, other: &Self) -> bool {
        self.hash == other.hash
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{:032x}", self.name, self.hash)
    }
}

impl FromStr for Fingerprint {
    type Err = DataError;

    fn from_str(text: &str) -> Result<Self, DataError> {
        let parts = text.rsplit_once('@').filter(|(_, hash)| hash.len() == 32);
        let read = parts.and_then(|(name, hash)| Some(Self::new(name, u128::from_str_radix(hash, 16).ok()?)));
        read.ok_or_else(|| DataError::Fingerprint { text: text.to_owned() })
    }
}

impl TryFrom<String> for Fingerprint {
    type Error = DataError;

    fn try_from(text: String) -> Result<Self, DataError> {
        text.parse()
    }
}

impl From<Fingerprint> for String {
    fn from(fingerprint: Fingerprint) -> Self {
        fingerprint.to_string()
    }
}

/// What an encoder makes of a photo: finite numbers, with the fingerprint of the encoder where it is known.
///
/// ```
/// use locdiff_io::data::{Embedding, Fingerprint};
/// use std::sync::Arc;
/// let encoder = Arc::new(Fingerprint::new("mine", 7));
/// let embedding = Embedding::new(vec![0.5, -1.0], Some(encoder.clone()))?;
/// assert_eq!(embedding.values(), [0.5, -1.0]);
/// assert_eq!(embedding.encoder(), Some(&*encoder));
/// assert!(Embedding::new(vec![f32::NAN], None).is_err());
/// # Ok::<(), locdiff_io::data::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    values: Box<[f32]>,
    encoder: Option<Arc<Fingerprint>>,
}

impl Embedding {
    /// Checks that there are numbers and that all are finite. Fails for no numbers, or one that is not finite.
    pub fn new(values: Vec<f32>, encoder: Option<Arc<Fingerprint>>) -> Result<Self, DataError> {
        match values.iter().position(|value| !value.is_finite()) {
            None if values.is_empty() => Err(DataError::EmptyEmbedding),
            None => Ok(Self { values: values.into(), encoder }),
            Some(index) => Err(DataError::EmbeddingNotFinite { index, value: values[index] }),
        }
    }

    /// The numbers.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// How many numbers there are.
    pub fn dimension(&self) -> usize {
        self.values.len()
    }

    /// The encoder that made it, where that is known.
    pub fn encoder(&self) -> Option<&Fingerprint> {
        self.encoder.as_deref()
    }
}
