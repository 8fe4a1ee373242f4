//! The answer for a photo: stable types, ready for JSON.

use crate::answer::{Density, FactorEffect, LedgerRow, ReadText, RegionShare};
use locdiff_shdd::sphere::LatLon;
use serde::Serialize;

/// Where a photo was taken, as far as is known. [`Answer::place_alone`] has an example.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Answer {
    /// The photo's name, where it has one.
    pub photo: Option<String>,
    /// Where the photo itself says it was taken: reported, never used.
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
    /// The best place.
    pub best: LatLon,
    /// The best place in words: the nearest town.
    pub place: String,
    /// The country of the best place, in English; `None` at sea.
    pub country: Option<String>,
    /// Two letters of ISO 3166 for the country.
    pub country_code: Option<String>,
    /// Half of all photos with answers like this one were taken within this distance of the best place; NaN (null in
    /// JSON) without a density.
    pub radius_50_km: f64,
    /// Nine in ten photos with answers like this one were taken within this distance of the best place.
    pub radius_90_km: f64,
    /// Places it may be, the most probable first; the first is the best place.
    pub hypotheses: Vec<Hypothesis>,
    /// The probability that the best place is right to within 750 km; NaN without a density.
    pub locatability: f64,
    /// Whether that is enough for an answer to mean something; the threshold is the calibration's. Never without a density,
    /// or if the headline is more than one continent.
    pub can_tell: bool,
    /// The regions and the file of weights that the answer was restricted by, as they were given. Left out of JSON if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub restricted_by: Vec<String>,
    /// Lines of text in the photo that say something about places, and what they did. Left out of JSON if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub text: Vec<ReadText>,
    /// What was read off the photo's density alone; none for a photo of an album, whose posterior is not kept.
    #[serde(flatten)]
    pub from_density: Option<FromDensity>,
}

/// What is read off a photo's own density beside its place.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct FromDensity {
    /// Area of the smallest region that holds the place with probability ½.
    pub area_50_km2: f64,
    /// Area of the smallest region that holds the place with probability 0.9.
    pub area_90_km2: f64,
    /// The radius of the window that the density was seen through.
    pub window_km: f64,
    /// The probability that the photo is of the kind that the model was trained for; 1 where that was never learned.
    pub familiarity: f64,
    /// What the photo adds, in nats: the divergence of the answer from the model's density without a photo.
    pub information_nats: f64,
    /// Whether its probabilities were never fitted on photos, and may not hold; left out of JSON where they were.
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
    /// The density that all of it was read off.
    #[serde(skip)]
    pub density: Density,
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

impl Hypothesis {
    /// A place with its probability, described in words.
    pub fn new(at: LatLon, probability: f64) -> Self {
        Self { at, probability, place: locdiff_map::places::describe(at).to_string() }
    }
}

/// Who settled a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AnsweredBy {
    /// The model.
    Model,
    /// The gallery.
    Gallery,
}

impl AnsweredBy {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        if self == Self::Model { "model" } else { "gallery" }
    }
}

/// What a gallery had to do with an answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GalleryContribution {
    /// Which of the two has more of the probability around the place.
    pub answered_by: AnsweredBy,
    /// The gallery's share of that probability.
    pub share: f64,
    /// The gallery's photo that supports the place most: the most similar one within the window, or else of all.
    #[serde(rename = "match")]
    pub matched: Option<Match>,
}

impl GalleryContribution {
    /// The gallery holds this share of the probability around the place.
    pub fn new(share: f64, matched: Option<Match>) -> Self {
        let answered_by = if share > 0.5 { AnsweredBy::Gallery } else { AnsweredBy::Model };
        Self { answered_by, share, matched }
    }
}

/// A gallery's photo.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Match {
    /// Its row in what the gallery was made from, from 1.
    pub row: usize,
    /// Its name, where the gallery knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its place.
    #[serde(flatten)]
    pub at: LatLon,
    /// How far from the place that was answered.
    pub distance_km: f64,
    /// The cosine of the two embeddings.
    pub similarity: f64,
}

impl Answer {
    /// An answer with a place and radii; all else is filled in by who knows it.
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

    /// A place and nothing else: of a model that gives no densities. It says neither how far off it may be nor how probable it is.
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

    /// Whether there is a place and nothing else.
    pub fn is_place_alone(&self) -> bool {
        self.radius_90_km.is_nan()
    }

    /// The density that all of it was read off, where it is one photo's own.
    pub fn density(&self) -> Option<&Density> {
        self.from_density.as_ref().map(|from| &from.density)
    }

    /// What a gallery had to do with it, where one was asked.
    pub fn gallery(&self) -> Option<&GalleryContribution> {
        self.from_density.as_ref()?.gallery.as_ref()
    }

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
