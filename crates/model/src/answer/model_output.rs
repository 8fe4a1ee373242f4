//! The outputs of the models for one photo.

use crate::answer::{Neighbour, PlaceField};
use locdiff_shdd::Coefficients;
use std::sync::Arc;

/// The network's coefficients for a photo, the probability that it is out of domain, and what other models found.
#[derive(Debug, Clone, Copy)]
pub struct ModelOutput<'a> {
    /// The natural parameters that the network gave at pure noise.
    pub coefficients: &'a Coefficients,
    /// The probability that the photo is of another kind than the model was trained for: see [`crate::answer::Probe`].
    pub ood: f64,
    /// The photo's neighbours in a gallery, the most similar first; empty without a gallery.
    pub neighbours: &'a [Neighbour],
    /// The density of a model that gives places scores.
    pub places: Option<&'a Arc<PlaceField>>,
}

impl<'a> ModelOutput<'a> {
    /// The output for a photo of the model's own kind.
    pub fn new(coefficients: &'a Coefficients) -> Self {
        Self { coefficients, ood: 0.0, neighbours: &[], places: None }
    }

    /// Adds a gallery's neighbours.
    #[must_use]
    pub fn with_neighbours(self, neighbours: &'a [Neighbour]) -> Self {
        Self { neighbours, ..self }
    }

    /// Adds the density of a model that gives places scores.
    #[must_use]
    pub fn with_places(self, places: Option<&'a Arc<PlaceField>>) -> Self {
        Self { places, ..self }
    }
}
