//! What a picture shows of its surroundings: the classes of map attributes, predicted from the embedding.

use crate::answer::{AnswerError, Result};
use base64::{Engine, engine::general_purpose::STANDARD};
use half::f16;
use locdiff_base::{AtomicFile, read_bounded};
use locdiff_map::cells::MapAttribute;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The file of heads that training leaves in a model's folder, for calibration to read.
const SURROUNDINGS_FILE: &str = "surroundings.json";
/// Larger files are no heads.
const LARGEST_FILE_BYTES: u64 = 16 << 20;

/// The most classes that an attribute has.
pub(crate) const MOST_CLASSES: usize = 20;
const ATTRIBUTES: usize = MapAttribute::ALL.len();

/// The probability of each class of each map attribute, in the order of [`MapAttribute::ALL`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClassProbabilities(pub(crate) [[f64; MOST_CLASSES]; ATTRIBUTES]);

impl ClassProbabilities {
    /// The probabilities of an attribute's classes.
    pub fn of(&self, attribute: MapAttribute) -> &[f64] {
        &self.0[attribute as usize][..attribute.count()]
    }
}

/// Linear softmax heads on an embedding, one for each map attribute: is the photo of a town, of the coast, of a desert?
///
/// ```
/// use locdiff_map::cells::MapAttribute;
/// use locdiff_model::answer::Surroundings;
/// let heads = Surroundings::new(2, vec![0.0; 3 * Surroundings::classes()]).unwrap();
/// let seen = heads.class_probabilities(&[0.3, -1.0]).unwrap();
/// assert!((seen.of(MapAttribute::Towns)[0] - 1.0 / MapAttribute::Towns.count() as f64).abs() < 1e-6);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Surroundings {
    dim: usize,
    /// `dim + 1` rows of all classes; the last row is the bias.
    weights: Vec<f32>,
}

impl Surroundings {
    /// The classes of all attributes together.
    pub fn classes() -> usize {
        MapAttribute::ALL.iter().map(|attribute| attribute.count()).sum()
    }

    /// Heads for embeddings of `dim` numbers: `dim` rows of weights and one of biases, each with all classes.
    /// `None` if there are more or fewer numbers, or one is not finite.
    pub fn new(dim: usize, weights: Vec<f32>) -> Option<Self> {
        let fits = weights.len() == (dim + 1) * Self::classes() && weights.iter().all(|weight| weight.is_finite());
        fits.then_some(Self { dim, weights })
    }

    /// Reads the heads that training left in a model's folder; `None` if there are none. Fails on a damaged file.
    pub fn load(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(SURROUNDINGS_FILE);
        let bad = |reason: String| AnswerError::Calibration { path: path.clone(), reason };
        match read_bounded(&path, LARGEST_FILE_BYTES) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| bad(error.to_string())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(bad(error.to_string())),
        }
    }

    /// Writes the heads into a model's folder. Fails on a folder that cannot be written.
    pub fn save(&self, folder: &Path) -> Result<()> {
        let text = serde_json::to_string(self).unwrap_or_default() + "\n";
        Ok(AtomicFile::write_whole(&folder.join(SURROUNDINGS_FILE), text.as_bytes())?)
    }

    /// The size of the embeddings.
    pub fn embedding_dim(&self) -> usize {
        self.dim
    }

    /// The classes that an embedding shows. `None` for an embedding of another size.
    pub fn class_probabilities(&self, embedding: &[f32]) -> Option<ClassProbabilities> {
        if embedding.len() != self.dim {
            return None;
        }
        let mut logits = self.weights[self.dim * Self::classes()..].to_vec();
        for (value, row) in embedding.iter().zip(self.weights.chunks_exact(Self::classes())) {
            logits.iter_mut().zip(row).for_each(|(logit, weight)| *logit += value * weight);
        }
        Some(softmax_by_attribute(&logits))
    }

    /// The mean of what several views show.
    pub(crate) fn mean<'a>(&self, views: impl Iterator<Item = &'a [f32]>) -> Option<ClassProbabilities> {
        let (mut sum, mut count) = ([[0.0; MOST_CLASSES]; ATTRIBUTES], 0.0);
        for seen in views.filter_map(|view| self.class_probabilities(view)) {
            let pairs = sum.iter_mut().flatten().zip(seen.0.iter().flatten());
            pairs.for_each(|(sum, own)| *sum += own);
            count += 1.0;
        }
        sum.iter_mut().flatten().for_each(|sum| *sum /= count);
        (count > 0.0).then_some(ClassProbabilities(sum))
    }
}

/// The softmax of each attribute's logits.
pub(crate) fn softmax_by_attribute(logits: &[f32]) -> ClassProbabilities {
    let (mut all, mut from) = ([[0.0; MOST_CLASSES]; ATTRIBUTES], 0);
    for (own, attribute) in all.iter_mut().zip(MapAttribute::ALL) {
        let logits = &logits[from..from + attribute.count()];
        from += attribute.count();
        let top = logits.iter().copied().fold(f32::MIN, f32::max);
        // In double precision: exponentials of single precision differ between platforms.
        own.iter_mut().zip(logits).for_each(|(own, logit)| *own = f64::from(logit - top).exp());
        let total: f64 = own.iter().sum();
        own.iter_mut().for_each(|own| *own /= total);
    }
    ClassProbabilities(all)
}

/// Numbers of two bytes each, in base64: a tenth of the same as text.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    embedding_dim: usize,
    weights_f16_base64: String,
}

impl From<Surroundings> for Stored {
    fn from(heads: Surroundings) -> Self {
        let bytes: Vec<u8> = heads.weights.iter().flat_map(|weight| f16::from_f32(*weight).to_le_bytes()).collect();
        Self { embedding_dim: heads.dim, weights_f16_base64: STANDARD.encode(bytes) }
    }
}

impl TryFrom<Stored> for Surroundings {
    type Error = String;

    fn try_from(stored: Stored) -> std::result::Result<Self, String> {
        let bytes = STANDARD.decode(&stored.weights_f16_base64).map_err(|error| error.to_string())?;
        let weights = bytes.chunks_exact(2).map(|two| f16::from_le_bytes([two[0], two[1]]).to_f32());
        let (weights, dim) = (weights.collect::<Vec<f32>>(), stored.embedding_dim);
        let wrong = || format!("the heads of {dim} numbers are not {} numbers of two bytes", Surroundings::classes());
        Surroundings::new(dim, weights).ok_or_else(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_survive_their_file_and_refuse_other_sizes() {
        let count = 4 * Surroundings::classes();
        let weights: Vec<f32> = (0..count).map(|k| f16::from_f32((k as f32).sin()).to_f32()).collect();
        let heads = Surroundings::new(3, weights).unwrap();
        let text = serde_json::to_string(&heads).unwrap();
        assert_eq!(serde_json::from_str::<Surroundings>(&text).unwrap(), heads);
        assert!(serde_json::from_str::<Surroundings>(&text.replace(":3,", ":4,")).is_err());
        assert!(heads.class_probabilities(&[1.0, 2.0]).is_none());
        let views: [&[f32]; 2] = [&[1.0, 2.0, 0.5], &[0.0, -1.0, 2.0]];
        let mean = heads.mean(views.into_iter()).unwrap();
        for attribute in MapAttribute::ALL {
            assert!((mean.of(attribute).iter().sum::<f64>() - 1.0).abs() < 1e-5);
            let each = views.map(|view| heads.class_probabilities(view).unwrap().of(attribute)[1]);
            assert!((mean.of(attribute)[1] - 0.5 * (each[0] + each[1])).abs() < 1e-6);
        }
    }
}
