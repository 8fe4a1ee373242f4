//! What is said about a photo: stable types, ready for JSON.

use crate::Density;
use locdiff_sphere::LatLon;
use serde::Serialize;

/// Where a photo was taken, as far as can be told.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Answer {
    /// The photo's name, where it has one.
    pub photo: Option<String>,
    /// Where the photo itself says it was taken: reported, never used.
    pub gps: Option<LatLon>,
    /// The best place.
    pub best: LatLon,
    /// The best place in words: the nearest town.
    pub place: String,
    /// The country of the best place, in English; `None` at sea.
    pub country: Option<String>,
    /// Two letters of ISO 3166 for the country.
    pub country_code: Option<String>,
    /// Half of all photos with answers like this one were taken within this distance of the best place.
    pub radius_50_km: f64,
    /// The same for nine in ten.
    pub radius_90_km: f64,
    /// Area of the smallest region that holds the place with probability ½.
    pub area_50_km2: f64,
    /// The same with probability 0.9.
    pub area_90_km2: f64,
    /// The radius of the window that the density was seen through.
    pub window_km: f64,
    /// Places it may be, the most probable first; the first is the best place.
    pub hypotheses: Vec<Hypothesis>,
    /// The probability that the best place is right to within 750 km.
    pub locatability: f64,
    /// Whether that is enough for an answer to mean something; the threshold is the calibration's.
    pub can_tell: bool,
    /// The probability that the photo is of the kind that the model was trained for; 1 where that was never learned.
    pub familiarity: f64,
    /// What the photo adds to knowing nothing about it, in nats: the divergence of the answer from the model's own
    /// density of places without a photo.
    pub information_nats: f64,
    /// The photo of a gallery whose place this is, where retrieval settled it; absent where the model answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retrieved: Option<Retrieved>,
    /// The density that all of it was read off.
    #[serde(skip)]
    pub density: Density,
}

/// A gallery's photo that was taken for one of the same place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Retrieved {
    /// Its row in the gallery, from 1.
    pub gallery_row: usize,
    /// Its name, where the gallery knows it.
    pub photo: Option<String>,
}

/// A place it may be.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Hypothesis {
    /// The centre of the mass around it.
    #[serde(flatten)]
    pub at: LatLon,
    /// The probability within the window about it, without what a more probable place holds already.
    pub probability: f64,
    /// The place in words: the nearest town.
    pub place: String,
}

impl Answer {
    /// The answer with the photo it is about.
    #[must_use]
    pub fn about(self, photo: impl Into<String>, gps: Option<LatLon>) -> Self {
        Self { photo: Some(photo.into()), gps, ..self }
    }

    /// The answer as one JSON object: what `locdiff locate --json` prints.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
