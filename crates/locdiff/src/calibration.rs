//! How far a model's word can be trusted, measured on photos it has not seen, and stored with it.

use crate::density::{AnswerDensity, Term};
use crate::{Globe, Knowledge, LEVELS, LocateError};
use locdiff_base::AtomicFile;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;
use std::path::Path;
use std::sync::Arc;

/// The calibration's file in a model's folder.
pub const CALIBRATION_FILE: &str = "calibration.json";
/// The version that this crate writes and reads.
const VERSION: u32 = 1;
/// Share of the probability that is spread evenly over the Earth: no place is ever ruled out by a model alone.
pub(crate) const FLOOR: f64 = 0.01;

/// How the network's output becomes a density that holds what it says:
/// `q ∝ (1 − floor)·exp((evidence·e + background_weight·e₀)·Y) + floor`, where e are the natural parameters that the
/// network gives for a photo at pure noise, and e₀ those for no photo at all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// Version of this file.
    pub version: u32,
    /// The factor on what the network says about a photo: below 1, for it is surer of itself than it should be.
    pub evidence: f64,
    /// The factor on what it expects without a photo.
    pub background_weight: f64,
    /// The share that is spread evenly over the Earth.
    pub floor: f64,
    /// Answers whose locatability is lower say "I can't tell".
    pub can_tell_from: f64,
    /// For 10, 20 … 90 %, the probability that the density must hold within a radius about the answer for the radius to
    /// hold that share of true places: an answer is where the model errs, if it errs, so its radii must be a little larger
    /// than the density alone would have them.
    pub radius_levels: [f64; 9],
    /// What it was fitted on; absent for a model that never was.
    pub fit: Option<FitReport>,
    /// e₀.
    pub background: Vec<f64>,
}

/// What a calibration was fitted on and how well it fits there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitReport {
    /// Number of photos.
    pub n: usize,
    /// Samples a photo.
    pub samples: usize,
    /// Seed of the noise.
    pub seed: u64,
    /// Mean −log density at the true places, nats per steradian.
    pub nll_nats: f64,
    /// The same for the density without a photo.
    pub background_nll_nats: f64,
    /// Shares of true places inside the regions said to hold 10, 20 … 90 %.
    pub regions: Vec<f64>,
    /// Shares of true places within the radii that the density alone says hold 10, 20 … 90 %.
    pub radii: Vec<f64>,
}

impl Calibration {
    /// The network taken at its word, for a model that was never calibrated.
    pub fn none(background: Vec<f64>) -> Self {
        Self {
            version: VERSION,
            evidence: 1.0,
            background_weight: 0.0,
            floor: FLOOR,
            can_tell_from: 0.0,
            radius_levels: LEVELS,
            fit: None,
            background,
        }
    }

    /// Whether it was fitted on photos.
    pub fn is_fitted(&self) -> bool {
        self.fit.is_some()
    }

    /// Reads a model folder's calibration; `None` if it has none.
    ///
    /// # Errors
    /// A file that cannot be read or does not fit the model's degree.
    pub fn load(folder: &Path, degree: usize) -> Result<Option<Self>, LocateError> {
        let path = folder.join(CALIBRATION_FILE);
        match std::fs::read(&path) {
            Ok(contents) => Self::from_bytes(&path, &contents, degree).map(Some),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(LocateError::Calibration { path, reason: error.to_string() }),
        }
    }

    /// A calibration from the contents of its file; `path` is the name that errors give.
    ///
    /// # Errors
    /// Contents that are no calibration, or that of another degree.
    pub fn from_bytes(path: &Path, contents: &[u8], degree: usize) -> Result<Self, LocateError> {
        let bad = |reason: String| LocateError::Calibration { path: path.to_owned(), reason };
        let read: Self = serde_json::from_slice(contents).map_err(|error| {
            bad(format!("no calibration: {error}; make it anew with `locdiff calibrate`"))
        })?;
        let wanted = (degree + 1) * (degree + 1);
        let finite = read.background.iter().all(|value| value.is_finite());
        let in_range = (0.0..=10.0).contains(&read.evidence)
            && (0.0..=10.0).contains(&read.background_weight)
            && (0.0..1.0).contains(&read.floor)
            && read.radius_levels.windows(2).all(|pair| pair[0] <= pair[1])
            && read.radius_levels.iter().all(|level| (0.0..=1.0).contains(level));
        if read.version != VERSION || read.background.len() != wanted || !finite || !in_range {
            return Err(bad(format!(
                "version {}, {} background coefficients: this model needs version {VERSION} and {wanted}; make it anew \
                 with `locdiff calibrate`",
                read.version,
                read.background.len()
            )));
        }
        Ok(read)
    }

    /// Writes it into a model's folder.
    ///
    /// # Errors
    /// A folder that cannot be written.
    pub fn save(&self, folder: &Path) -> Result<(), LocateError> {
        let path = folder.join(CALIBRATION_FILE);
        let text = serde_json::to_string_pretty(self).expect("numbers and names are JSON") + "\n";
        Ok(AtomicFile::write_whole(&path, text.as_bytes())?)
    }

    /// The probability that the density must hold within a radius for the radius to hold the share `p` of true places.
    ///
    /// ```
    /// use locdiff::Calibration;
    /// let plain = Calibration::none(vec![0.0; 4]);
    /// assert!((plain.radius_level(0.37) - 0.37).abs() < 1e-12);
    /// assert!((plain.radius_share(0.96) - 0.96).abs() < 1e-12);
    /// ```
    pub fn radius_level(&self, p: f64) -> f64 {
        between(p, LEVELS, self.radius_levels)
    }

    /// The other way around: the share that a radius holds within which the density holds `level`.
    pub fn radius_share(&self, level: f64) -> f64 {
        between(level, self.radius_levels, LEVELS)
    }

    /// The density for what the network said about a photo.
    ///
    /// # Panics
    /// A globe, an evidence and a calibration of different degrees.
    pub fn density<'g>(
        &self,
        globe: &'g Globe,
        evidence: &[f64],
        knowledge: Option<Arc<Knowledge>>,
    ) -> AnswerDensity<'g> {
        let pairs = evidence.iter().zip(&self.background);
        let e = pairs.map(|(e, e0)| self.evidence * e + self.background_weight * e0).collect();
        self.density_of(globe, e, knowledge)
    }

    /// The density without a photo.
    pub(crate) fn background_density<'g>(&self, globe: &'g Globe) -> AnswerDensity<'g> {
        self.density_of(globe, self.background.clone(), None)
    }

    fn density_of<'g>(
        &self,
        globe: &'g Globe,
        e: Vec<f64>,
        knowledge: Option<Arc<Knowledge>>,
    ) -> AnswerDensity<'g> {
        let pixels = globe.pixels();
        let field = globe.codec().field().values(&e, pixels.points()).expect("the degree was checked");
        let log_z = log_integral(&field, pixels.area_sr());
        let term = Term { log_scale: (1.0 - self.floor).ln() - log_z, coefficients: e };
        AnswerDensity::new(globe, term, &field, self.floor / (4.0 * PI), knowledge)
    }
}

/// Linear interpolation from one rising list to another, both with 0 before and 1 after.
fn between(x: f64, from: [f64; 9], to: [f64; 9]) -> f64 {
    let ends = |inner: [f64; 9]| -> Vec<f64> {
        std::iter::once(0.0).chain(inner).chain(std::iter::once(1.0)).collect()
    };
    let (from, to) = (ends(from), ends(to));
    let k = from.partition_point(|level| *level <= x).clamp(1, 10);
    let width = from[k] - from[k - 1];
    let part = if width > 0.0 { ((x - from[k - 1]) / width).clamp(0.0, 1.0) } else { 1.0 };
    to[k - 1] + part * (to[k] - to[k - 1])
}

/// log Σ exp(value)·area.
pub(crate) fn log_integral(values: &[f64], area: f64) -> f64 {
    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    top + (values.iter().map(|value| (value - top).exp()).sum::<f64>() * area).ln()
}
