//! What is said about a photo of an album.

use crate::times::PhotoTime;
use locdiff_answer::Verdict;
use locdiff_sphere::LatLon;
use serde::Serialize;

/// Where a photo was taken, after the others have spoken.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct AlbumAnswer {
    /// The photo's name.
    pub photo: String,
    /// When it was taken, and who says so.
    pub time: PhotoTime,
    /// Its own GPS tag, which was heard.
    pub gps: Option<LatLon>,
    /// The best place.
    pub best: LatLon,
    /// That in words.
    pub place: String,
    /// The country, in English; `None` at sea.
    pub country: Option<String>,
    /// Half of all such photos were taken within this distance.
    pub radius_50_km: f64,
    /// Nine in ten.
    pub radius_90_km: f64,
    /// The probability around the best place.
    pub probability: f64,
    /// The probability that the best place is right to within 750 km.
    pub locatability: f64,
    /// Other places it may be, the most probable first.
    pub alternatives: Vec<AlbumPlace>,
    /// What the photo alone would have answered.
    pub alone: Option<LatLon>,
    /// How far from that the album moved it.
    pub moved_km: f64,
    /// Why, in one sentence.
    pub because: String,
    /// The probability that it is from elsewhere: another trip, another time; 0 where its own tag speaks.
    pub elsewhere: f64,
    /// What may be wrong with it, less surely than an outlier.
    pub hint: Option<Outlier>,
    /// Whether something is wrong with it.
    pub outlier: Option<Outlier>,
    /// What is said about the truth, where that is known.
    #[serde(skip)]
    pub verdict: Option<Verdict>,
    /// The log of the density that the photo alone gives it.
    #[serde(skip)]
    pub alone_log_density: Option<f64>,
}

/// A place it may be.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AlbumPlace {
    /// Its centre.
    #[serde(flatten)]
    pub at: LatLon,
    /// The probability around it.
    pub probability: f64,
    /// In words.
    pub place: String,
}

/// A photo that does not fit the album.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outlier {
    /// How sure that is.
    pub probability: f64,
    /// What is wrong, and what may be the cause.
    pub reason: String,
}

impl AlbumAnswer {
    /// As one JSON object.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
