//! A photo as the album sees it.

use crate::{Result, soft::SoftPlace, times::PhotoTime};
use locdiff_map::evidence::Evidence;
use locdiff_model::answer::PlaceField;
use locdiff_shdd::{Coefficients, sphere::LatLon};
use std::sync::Arc;

/// The probability that a log is of somebody else, or that a clock is off.
const WRONG_TRACK: f64 = 0.01;

/// A photo of an album, before the others count.
#[derive(Debug, Clone)]
#[must_use]
#[non_exhaustive]
pub struct AlbumPhoto {
    /// Its name.
    pub name: String,
    /// When it was taken, and who says so.
    pub time: PhotoTime,
    /// The camera that took it, where that is known: cameras have clocks of their own.
    pub camera: Option<String>,
    /// Its GPS tag.
    pub gps: Option<LatLon>,
    /// Where a log of positions has it, and how well that is known, km along each axis. Its own tag goes before.
    pub track: Option<(LatLon, f64)>,
    /// What is softly known of its place.
    pub soft: Vec<SoftPlace>,
    /// The offset from UTC that its clock had, in hours, where it says so itself: a hint at its longitude.
    pub offset_h: Option<f64>,
    /// The network's natural parameters at pure noise.
    pub(crate) coefficients: StoredCoefficients,
    /// The probability that it is of another kind than the model was trained for.
    pub ood: f64,
    /// What a model that gives places scores says about it.
    pub places: Option<Arc<PlaceField>>,
    /// What text in it says of its place.
    pub evidence: Arc<[Evidence]>,
    /// Its embedding; empty if likeness is not to be used.
    pub embedding: Vec<f32>,
}

impl AlbumPhoto {
    /// A photo with a time and the network's coefficients for it.
    pub fn new(name: impl Into<String>, time: PhotoTime, coefficients: Coefficients) -> Self {
        let (camera, gps, track, soft, offset_h) = (None, None, None, Vec::new(), None);
        let (ood, places, embedding, coefficients) = (0.0, None, Vec::new(), StoredCoefficients::of(coefficients));
        let (name, evidence) = (name.into(), Arc::new([]));
        Self { name, time, camera, gps, track, soft, offset_h, coefficients, ood, places, evidence, embedding }
    }

    /// With what text in it says of its place.
    pub fn with_evidence(self, evidence: impl Into<Arc<[Evidence]>>) -> Self {
        Self { evidence: evidence.into(), ..self }
    }

    /// Whether its place is known, by its tag or a log: then its image does not count.
    pub(crate) fn is_placed(&self) -> bool {
        self.gps.is_some() || self.track.is_some()
    }

    /// Where its tag or a log has it, how well, and how probably that is wrong.
    pub(crate) fn fix(&self, gps_km: f64, wrong: f64) -> Option<(LatLon, f64, f64)> {
        let tag = self.gps.map(|gps| (gps, gps_km, wrong));
        tag.or(self.track.map(|(at, deviation_km)| (at, deviation_km.max(gps_km), WRONG_TRACK)))
    }

    /// With a GPS tag.
    pub fn with_gps(self, gps: Option<LatLon>) -> Self {
        Self { gps, ..self }
    }

    /// With the camera that took it.
    pub fn with_camera(self, camera: Option<String>) -> Self {
        Self { camera, ..self }
    }

    /// With what a model that gives places scores says about it.
    pub fn with_places(self, places: Option<Arc<PlaceField>>) -> Self {
        Self { places, ..self }
    }

    /// With its embedding, and how strange it is to the model.
    pub fn with_embedding(self, embedding: Vec<f32>, ood: f64) -> Self {
        Self { ood, embedding, ..self }
    }
}

/// Natural parameters; in single precision where that loses nothing, as networks give them.
#[derive(Debug, Clone)]
pub(crate) enum StoredCoefficients {
    Single(Box<[f32]>),
    Double(Coefficients),
}

impl StoredCoefficients {
    pub(crate) fn of(coefficients: Coefficients) -> Self {
        let single: Vec<f32> = coefficients.as_slice().iter().map(|value| *value as f32).collect();
        let is_exact = |(single, double): (&f32, &f64)| f64::from(*single).to_bits() == double.to_bits();
        if single.iter().zip(coefficients.as_slice()).all(is_exact) {
            Self::Single(single.into())
        } else {
            Self::Double(coefficients)
        }
    }

    /// As it was given.
    pub(crate) fn coefficients(&self) -> Result<Coefficients> {
        Ok(match self {
            Self::Single(values) => Coefficients::new(values.iter().map(|value| f64::from(*value)).collect())?,
            Self::Double(coefficients) => coefficients.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost() {
        let exact = Coefficients::new(vec![0.5, -0.0, f64::from(0.1_f32), 1e-30_f32.into()]).unwrap();
        let finer = Coefficients::new(vec![0.5, 0.0, 0.1, 1e-300]).unwrap();
        assert!(matches!(StoredCoefficients::of(exact.clone()), StoredCoefficients::Single(_)));
        assert!(matches!(StoredCoefficients::of(finer.clone()), StoredCoefficients::Double(_)));
        for given in [exact, finer] {
            assert_eq!(StoredCoefficients::of(given.clone()).coefficients().unwrap(), given);
        }
    }
}
