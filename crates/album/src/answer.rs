//! The answer for a photo of an album.

use crate::times::PhotoTime;
use locdiff_model::answer::{Answer, Hypothesis, Verdict};
use locdiff_shdd::sphere::LatLon;
use serde::Serialize;
use std::ops::Deref;

/// Where a photo was taken, by all photos of its album: an [`Answer`], and what the album adds.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct AlbumAnswer {
    /// The answer; its GPS tag counted.
    #[serde(flatten)]
    pub answer: Answer,
    /// When it was taken, and who says so.
    pub time: PhotoTime,
    /// What the photo alone would have answered.
    pub alone: Option<LatLon>,
    /// How far from that the album moved it.
    pub moved_km: f64,
    /// Why, in one sentence.
    pub because: String,
    /// The probability that it is from elsewhere: another trip, another time; 0 if it has a tag of its own.
    pub elsewhere: f64,
    /// What may be wrong with it, less surely than an outlier.
    pub hint: Option<Outlier>,
    /// Whether something is wrong with it.
    pub outlier: Option<Outlier>,
    /// The trip that it belongs to, from 1, where its album falls into several.
    pub trip: Option<usize>,
    /// The verdict on the truth, if that is known.
    #[serde(skip)]
    pub verdict: Option<Verdict>,
    /// The log of the density that the photo alone gives it.
    #[serde(skip)]
    pub alone_log_density: Option<f64>,
}

impl Deref for AlbumAnswer {
    type Target = Answer;

    fn deref(&self) -> &Answer {
        &self.answer
    }
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
    /// An answer to which the album adds nothing yet.
    pub(crate) fn new(answer: Answer, time: PhotoTime) -> Self {
        let (alone, moved_km, because, elsewhere) = (None, 0.0, String::new(), 0.0);
        let (hint, outlier, trip, verdict, alone_log_density) = (None, None, None, None, None);
        Self { answer, time, alone, moved_km, because, elsewhere, hint, outlier, trip, verdict, alone_log_density }
    }

    /// The answer of a photo that is alone in its album.
    pub fn without_others(mut answer: Answer, time: PhotoTime) -> Self {
        answer.from_density = None;
        let because = "its own image; there are no other photos".to_owned();
        Self { alone: Some(answer.best), because, ..Self::new(answer, time) }
    }

    /// The photo's name.
    pub fn name(&self) -> &str {
        self.answer.photo.as_deref().unwrap_or_default()
    }

    /// The probability around the best place.
    pub fn probability(&self) -> f64 {
        self.answer.hypotheses.first().map_or(0.0, |first| first.probability)
    }

    /// Other places it may be, the most probable first.
    pub fn alternatives(&self) -> &[Hypothesis] {
        self.answer.hypotheses.get(1..).unwrap_or_default()
    }

    /// As one JSON object. `probability` and `alternatives` say again what `hypotheses` say: names of earlier releases.
    pub fn to_json(&self) -> serde_json::Value {
        let mut object = serde_json::to_value(self).unwrap_or_default();
        object["probability"] = self.probability().into();
        object["alternatives"] = serde_json::to_value(self.alternatives()).unwrap_or_default();
        object
    }
}
