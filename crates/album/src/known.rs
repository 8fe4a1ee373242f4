//! What is known beside the photos' own tags.

use crate::prior::Anchor;
use locdiff_shdd::sphere::LatLon;
use serde::{Deserialize, Serialize};

/// A place that is known at a time: of a film, of a photo of another trip, of a track.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownPlace {
    /// Who says so.
    pub name: String,
    /// When, in seconds since 1970.
    pub time_s: f64,
    /// Where.
    pub at: LatLon,
    /// How well that is known, km along each axis.
    pub deviation_km: f64,
    /// The embedding of the photo that was taken there; empty where there is none.
    #[serde(skip)]
    pub embedding: Vec<f32>,
}

impl KnownPlace {
    pub(crate) fn anchor(&self) -> Anchor {
        let Self { time_s, at, deviation_km, .. } = self;
        Anchor { time_s: *time_s, place: at.to_unit(), deviation_km: *deviation_km, of: None, camera: None }
    }
}
