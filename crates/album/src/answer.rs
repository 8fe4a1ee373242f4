//! The answer for a photo of an album.

use crate::times::PhotoTime;
use locdiff_model::answer::{Answer, Hypothesis, Verdict};
use locdiff_shdd::sphere::LatLon;
use serde::Serialize;
use std::ops::Deref;

/// Answer for a photo of an album: an [`Answer`] from all photos, and what the album adds.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct AlbumAnswer {
    /// The answer, which uses the photo's GPS tag.
    #[serde(flatten)]
    pub answer: Answer,
    /// Time of the photo, with its source.
    pub time: PhotoTime,
    /// Location that the photo alone would have got.
    pub alone: Option<LatLon>,
    /// Distance that the album moved it from there, in km.
    pub moved_km: f64,
    /// Reason for the answer, in one sentence.
    pub because: String,
    /// Probability that the photo is from another trip or time; 0 if it has a GPS tag.
    pub elsewhere: f64,
    /// A possible fault, less probable than an outlier.
    pub hint: Option<Outlier>,
    /// A probable fault of its tag or time.
    pub outlier: Option<Outlier>,
    /// Number of its trip, from 1, if the album has several.
    pub trip: Option<usize>,
    /// Verdict on the truth, if it is known.
    #[serde(skip)]
    pub verdict: Option<Verdict>,
    /// Log density of the location by the photo alone.
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
    /// Probability of the fault.
    pub probability: f64,
    /// Description, with a possible cause.
    pub reason: String,
}

impl AlbumAnswer {
    /// An answer to which the album adds nothing yet.
    pub(crate) fn new(answer: Answer, time: PhotoTime) -> Self {
        let (alone, moved_km, because, elsewhere) = (None, 0.0, String::new(), 0.0);
        let (hint, outlier, trip, verdict, alone_log_density) = (None, None, None, None, None);
        Self { answer, time, alone, moved_km, because, elsewhere, hint, outlier, trip, verdict, alone_log_density }
    }

    /// Wraps the answer of a photo that is alone in its album.
    pub fn without_others(mut answer: Answer, time: PhotoTime) -> Self {
        answer.from_density = None;
        let because = "its own picture; there are no other photos".to_owned();
        Self { alone: Some(answer.best), because, ..Self::new(answer, time) }
    }

    /// Returns the photo's name.
    pub fn name(&self) -> &str {
        self.answer.photo.as_deref().unwrap_or_default()
    }

    /// Returns the probability around the best location.
    pub fn probability(&self) -> f64 {
        self.answer.hypotheses.first().map_or(0.0, |first| first.probability)
    }

    /// Returns other possible locations, the most probable first.
    pub fn alternatives(&self) -> &[Hypothesis] {
        self.answer.hypotheses.get(1..).unwrap_or_default()
    }

    /// Returns the answer as one JSON object. `probability` and `alternatives` repeat `hypotheses` under names of earlier releases.
    pub fn to_json(&self) -> serde_json::Value {
        let mut object = serde_json::to_value(self).unwrap_or_default();
        object["probability"] = self.probability().into();
        object["alternatives"] = serde_json::to_value(self.alternatives()).unwrap_or_default();
        object
    }
}
