//! What a model says about a photo.

use crate::answer::{Neighbour, PlaceField};
use locdiff_shdd::Coefficients;
use std::sync::Arc;

/// What the network says, and how probably the photo is out of its domain.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// The natural parameters that the network gave at pure noise.
    pub evidence: &'a Coefficients,
    /// The probability that the photo is of another kind than the model was trained for: see [`crate::answer::Probe`].
    pub ood: f64,
    /// What a gallery finds for the photo, the most similar first; empty where none is asked.
    pub neighbours: &'a [Neighbour],
    /// What a model that gives places scores says.
    pub places: Option<&'a Arc<PlaceField>>,
}

impl<'a> Evidence<'a> {
    /// About a photo of the model's own kind.
    pub fn new(evidence: &'a Coefficients) -> Self {
        Self { evidence, ood: 0.0, neighbours: &[], places: None }
    }

    /// The same with what a gallery finds.
    #[must_use]
    pub fn with_neighbours(self, neighbours: &'a [Neighbour]) -> Self {
        Self { neighbours, ..self }
    }

    /// The same with what a model that gives places scores says.
    #[must_use]
    pub fn with_places(self, places: Option<&'a Arc<PlaceField>>) -> Self {
        Self { places, ..self }
    }
}
