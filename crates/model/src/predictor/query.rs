//! What a predictor is asked, and what it shows of its way.

use crate::chance;
use locdiff_io::data::Embedding;
use locdiff_shdd::Coefficients;

/// A photo to be located.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    /// Embeddings of the photo, or of several views of it: sample k is drawn for view k modulo their number (the paper's
    /// Algorithm 2).
    pub views: &'a [Embedding],
    /// Whose noise it draws: photos of one key draw the same.
    pub key: u64,
    /// Natural parameters that are added to what the network says, at every step: sample k has tilt k modulo their number. The
    /// posterior of a place given a noisy code is the density of places times the likelihood of the code, so that samples
    /// are of the tilted density, `q ∝ p·exp(tilt·Y)`. None for the network's own; only models trained with nll take any.
    pub tilts: &'a [Coefficients],
}

impl<'a> Query<'a> {
    /// A photo by its views, with noise of its own: the key is a hash of the embeddings, so that photos draw different noise and
    /// one photo the same wherever it stands.
    pub fn of(views: &'a [Embedding]) -> Self {
        let numbers = views.iter().flat_map(Embedding::values).map(|value| u64::from(value.to_bits()));
        Self { views, key: chance::hash(&numbers.collect::<Vec<u64>>()), tilts: &[] }
    }

    /// Adds tilts.
    #[must_use]
    pub fn tilted(self, tilts: &'a [Coefficients]) -> Self {
        Self { tilts, ..self }
    }
}

impl<'a> From<&'a Embedding> for Query<'a> {
    fn from(embedding: &'a Embedding) -> Self {
        Self::of(std::slice::from_ref(embedding))
    }
}

/// One step of the backward process.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceStep {
    /// The time step, falling towards 0.
    pub t: usize,
    /// The mean of the samples' clean estimates after it.
    pub code: Coefficients,
    /// The samples' own codes after it, with the noise that is still in them.
    pub samples: Vec<Coefficients>,
}
