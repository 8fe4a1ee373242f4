//! A photo as the album sees it.

use crate::times::PhotoTime;
use locdiff_shdd::Coefficients;
use locdiff_sphere::LatLon;

/// What is known of a photo before the others have spoken.
#[derive(Debug, Clone)]
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
    /// What the network says about it: natural parameters at pure noise.
    pub evidence: Coefficients,
    /// The probability that it is of another kind than the model was trained for.
    pub ood: f64,
    /// Its embedding; empty where likeness is not to be looked at.
    pub embedding: Vec<f32>,
}

impl AlbumPhoto {
    /// A photo with a time and what the network says of it.
    pub fn new(name: impl Into<String>, time: PhotoTime, evidence: Coefficients) -> Self {
        Self { name: name.into(), time, camera: None, gps: None, evidence, ood: 0.0, embedding: Vec::new() }
    }

    /// With a GPS tag.
    #[must_use]
    pub fn with_gps(self, gps: Option<LatLon>) -> Self {
        Self { gps, ..self }
    }

    /// With the camera that took it.
    #[must_use]
    pub fn with_camera(self, camera: Option<String>) -> Self {
        Self { camera, ..self }
    }

    /// With its embedding, and how strange it is to the model.
    #[must_use]
    pub fn with_embedding(self, embedding: Vec<f32>, ood: f64) -> Self {
        Self { ood, embedding, ..self }
    }
}
