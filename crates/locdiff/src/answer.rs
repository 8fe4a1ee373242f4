//! What is said about a photo: stable types, ready for JSON.

use locdiff_sphere::LatLon;
use serde::{Deserialize, Serialize};

/// Where a photo was taken, as far as can be told.
///
/// ```
/// use locdiff::{Answer, Hypothesis, Spot};
/// let paris = Spot { lat: 48.86, lon: 2.35 };
/// let answer = Answer {
///     best: paris,
///     radius_50_km: 300.0,
///     radius_90_km: 2400.0,
///     area_50_km2: 3e5,
///     area_90_km2: 4e6,
///     hypotheses: vec![Hypothesis { place: paris, probability: 0.8 }],
///     locatability: 0.9,
///     can_tell: true,
///     information_nats: 2.3,
/// };
/// let text = serde_json::to_string(&answer).unwrap();
/// assert_eq!(serde_json::from_str::<Answer>(&text).unwrap(), answer);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The best place.
    pub best: Spot,
    /// Half of all photos with answers like this one were taken within this distance of the best place.
    pub radius_50_km: f64,
    /// The same for nine in ten.
    pub radius_90_km: f64,
    /// Area of the smallest region that holds the place with probability ½.
    pub area_50_km2: f64,
    /// The same with probability 0.9.
    pub area_90_km2: f64,
    /// Places it may be: the best place with the probability of the land around it, then others, the most probable first.
    pub hypotheses: Vec<Hypothesis>,
    /// How much the photo says about where it was taken: 0 nothing, 1 everything.
    pub locatability: f64,
    /// Whether that is enough for an answer to mean something; the threshold is the calibration's.
    pub can_tell: bool,
    /// What the photo adds to knowing nothing about it, in nats: the divergence of the answer from the model's own
    /// density of places without a photo.
    pub information_nats: f64,
}

/// A place it may be.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Hypothesis {
    /// Where the density peaks.
    #[serde(flatten)]
    pub place: Spot,
    /// The probability of the land around that peak.
    pub probability: f64,
}

/// Latitude and longitude in degrees.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spot {
    /// Degrees north.
    pub lat: f64,
    /// Degrees east.
    pub lon: f64,
}

impl From<LatLon> for Spot {
    fn from(place: LatLon) -> Self {
        Self { lat: place.lat_deg(), lon: place.lon_deg() }
    }
}
