//! The answer for a photo: stable types, ready for JSON.

use crate::answer::{Density, FactorEffect, LedgerRow, ReadText, RegionShare};
use locdiff_shdd::sphere::LatLon;
use serde::Serialize;

/// Answer for a photo: locations with probabilities and radii. [`Answer::place_alone`] has an example.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Answer {
    /// Name of the photo, if it has one.
    pub photo: Option<String>,
    /// Location in the photo's metadata: reported, never used.
    pub gps: Option<LatLon>,
    /// The smallest named region that holds at least half of the probability: "near Lyon, France", "Bavaria, Germany",
    /// "Germany, Poland or Czechia", "Europe", "anywhere". Without a density, the country of the best place.
    pub headline: String,
    /// The most probable countries first: those that hold 95 % together, at most 20. Empty without a density.
    pub countries: Vec<RegionShare>,
    /// The states and provinces of each country with more than a quarter of the probability, the most probable first.
    pub states: Vec<RegionShare>,
    /// The most probable continents first, without those that hold less than half a percent.
    pub continents: Vec<RegionShare>,
    /// Best location.
    pub best: LatLon,
    /// Best location in words: the nearest town.
    pub place: String,
    /// Country of the best location, in English; `None` at sea.
    pub country: Option<String>,
    /// ISO 3166 code of the country, two letters.
    pub country_code: Option<String>,
    /// Distance in km within which half of all photos with such answers were taken. NaN (null in JSON) without a density.
    pub radius_50_km: f64,
    /// Distance in km within which nine in ten photos with such answers were taken.
    pub radius_90_km: f64,
    /// Possible locations, the most probable first; the first is the best location.
    pub hypotheses: Vec<Hypothesis>,
    /// Probability that the best location is right within 750 km; NaN without a density.
    pub locatability: f64,
    /// Whether `locatability` reaches the calibration's threshold. False without a density, or if the headline is more than one continent.
    pub can_tell: bool,
    /// The regions and the file of weights that the answer was restricted by, as they were given. Left out of JSON if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub restricted_by: Vec<String>,
    /// Lines of text in the photo that changed the answer, with their effect. Left out of JSON if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub text: Vec<ReadText>,
    /// Facts from the photo's own density; `None` for a photo of an album.
    #[serde(flatten)]
    pub from_density: Option<FromDensity>,
}

/// Facts from a photo's own density, in addition to its location.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct FromDensity {
    /// Area of the smallest region that holds half of the probability, in km².
    pub area_50_km2: f64,
    /// Area of the smallest region that holds 90 % of the probability, in km².
    pub area_90_km2: f64,
    /// Radius in km of the circle that the best location holds most probability in.
    pub window_km: f64,
    /// Probability that the photo is of the kind that the model was trained on; 1 if the model cannot tell.
    pub familiarity: f64,
    /// Information of the photo in nats (natural units of information): the divergence from the model's density without a photo.
    pub information_nats: f64,
    /// Whether the probabilities are uncalibrated, so that they may not hold. Left out of JSON if they are calibrated.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub not_calibrated: bool,
    /// What a gallery had to do with it, where one was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gallery: Option<GalleryContribution>,
    /// What map factors did to the log density at the best location. Left out of JSON if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub factors: Vec<FactorEffect>,
    /// What each factor of the density did, if that was asked: the picture, map factors, regions, priors, evidence.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ledger: Vec<LedgerRow>,
    /// The density.
    #[serde(skip)]
    pub density: Density,
}

/// A possible location.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Hypothesis {
    /// Centre of the probability around it.
    #[serde(flatten)]
    pub at: LatLon,
    /// Probability within the window around it, without that of more probable locations.
    pub probability: f64,
    /// Location in words: the nearest town.
    pub place: String,
}

impl Hypothesis {
    /// Describes a location with its probability.
    pub fn new(at: LatLon, probability: f64) -> Self {
        Self { at, probability, place: locdiff_map::places::describe(at).to_string() }
    }
}

/// Source of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AnsweredBy {
    /// The model.
    Model,
    /// The gallery.
    Gallery,
}

impl AnsweredBy {
    /// Returns the name in JSON.
    pub fn name(self) -> &'static str {
        if self == Self::Model { "model" } else { "gallery" }
    }
}

/// Contribution of a gallery to an answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GalleryContribution {
    /// The source with more of the probability around the location.
    pub answered_by: AnsweredBy,
    /// Gallery's share of that probability.
    pub share: f64,
    /// Gallery photo that supports the location most: the most similar one within the window, otherwise of all.
    #[serde(rename = "match")]
    pub matched: Option<Match>,
}

impl GalleryContribution {
    /// Creates a contribution by the gallery's share of the probability around the location.
    pub fn new(share: f64, matched: Option<Match>) -> Self {
        let answered_by = if share > 0.5 { AnsweredBy::Gallery } else { AnsweredBy::Model };
        Self { answered_by, share, matched }
    }
}

/// A photo of a gallery.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Match {
    /// Row in the gallery's source, from 1.
    pub row: usize,
    /// Name, if the gallery knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Location.
    #[serde(flatten)]
    pub at: LatLon,
    /// Distance from the answer, in km.
    pub distance_km: f64,
    /// Cosine of the two embeddings.
    pub similarity: f64,
}

impl Answer {
    /// Creates an answer with a location and radii in km.
    pub fn at(best: LatLon, radii_km: [f64; 2], hypotheses: Vec<Hypothesis>, locatability: f64) -> Self {
        let described = locdiff_map::places::describe(best);
        Self {
            photo: None,
            gps: None,
            headline: described.country.clone().unwrap_or_else(|| described.to_string()),
            countries: Vec::new(),
            states: Vec::new(),
            continents: Vec::new(),
            best,
            place: described.to_string(),
            country: described.country,
            country_code: described.country_code,
            radius_50_km: radii_km[0],
            radius_90_km: radii_km[1],
            hypotheses,
            locatability,
            can_tell: true,
            restricted_by: Vec::new(),
            text: Vec::new(),
            from_density: None,
        }
    }

    /// Creates an answer with a location only, for a model without densities. Its radii and probabilities are NaN.
    ///
    /// ```
    /// use locdiff_model::answer::Answer;
    /// use locdiff_shdd::sphere::LatLon;
    /// let answer = Answer::place_alone(LatLon::new(48.86, 2.35)?);
    /// assert!(answer.is_place_alone() && !answer.can_tell);
    /// assert!(answer.to_json()["radius_90_km"].is_null() && answer.to_json()["hypotheses"][0]["probability"].is_null());
    /// # Ok::<(), locdiff_shdd::sphere::SphereError>(())
    /// ```
    pub fn place_alone(best: LatLon) -> Self {
        let hypotheses = vec![Hypothesis::new(best, f64::NAN)];
        Self { can_tell: false, ..Self::at(best, [f64::NAN; 2], hypotheses, f64::NAN) }
    }

    /// Returns whether there is a location only.
    pub fn is_place_alone(&self) -> bool {
        self.radius_90_km.is_nan()
    }

    /// Returns the density, if it is one photo's own.
    pub fn density(&self) -> Option<&Density> {
        self.from_density.as_ref().map(|from| &from.density)
    }

    /// Contribution of a gallery, if one is used.
    pub fn gallery(&self) -> Option<&GalleryContribution> {
        self.from_density.as_ref()?.gallery.as_ref()
    }

    /// Sets the photo's name and its GPS tag.
    #[must_use]
    pub fn about(self, photo: impl Into<String>, gps: Option<LatLon>) -> Self {
        Self { photo: Some(photo.into()), gps, ..self }
    }

    /// Returns the answer as one JSON object: what `locdiff locate --json` prints.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
