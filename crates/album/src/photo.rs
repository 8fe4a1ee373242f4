//! A photo as the album sees it.

use crate::times::PhotoTime;
use locdiff_answer::Neighbour;
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
    /// What a model that is a gallery finds for it, the most similar first; empty for other models.
    pub neighbours: Vec<Neighbour>,
    /// Its embedding; empty where likeness is not to be looked at.
    pub embedding: Vec<f32>,
}

impl AlbumPhoto {
    /// A photo with a time and what the network says of it.
    pub fn new(name: impl Into<String>, time: PhotoTime, evidence: Coefficients) -> Self {
        let (name, neighbours, embedding) = (name.into(), Vec::new(), Vec::new());
        Self { name, time, camera: None, gps: None, evidence, ood: 0.0, neighbours, embedding }
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

    /// With what a model that is a gallery finds for it.
    #[must_use]
    pub fn with_neighbours(self, neighbours: Vec<Neighbour>) -> Self {
        Self { neighbours, ..self }
    }

    /// With its embedding, and how strange it is to the model.
    #[must_use]
    pub fn with_embedding(self, embedding: Vec<f32>, ood: f64) -> Self {
        Self { ood, embedding, ..self }
    }
}
