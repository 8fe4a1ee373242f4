//! A clue as it is asked, and how places fit it.

use crate::{clues::ClueError, clues::error::alike, evidence::Evidence};
use locdiff_base::read_time;
use locdiff_shdd::sphere::LatLon;
use std::sync::Arc;

/// When a photo was taken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClueTime {
    /// Seconds since 1970, of UTC or of a clock that shows local time.
    pub seconds: f64,
    /// Whether they are of UTC. If not, all clocks that a place may have are allowed for.
    pub is_utc: bool,
}

impl ClueTime {
    /// The time that a text gives: ISO 8601 or EXIF, with "Z", "UTC" or an offset if it is known.
    pub fn parse(text: &str) -> Option<Self> {
        read_time(text, None).map(|(seconds, is_utc)| Self { seconds, is_utc })
    }

    /// Whether it is a date without a time of day.
    pub(crate) fn is_day(self) -> bool {
        !self.is_utc && self.seconds % 86_400.0 == 0.0
    }
}

/// How well places fit a clue, from 0 to 1.
pub(crate) enum ClueFit {
    /// In each country of `Countries::bundled().all()`, then in none. They are divided by the largest.
    Countries(Vec<f64>),
    Function(Box<dyn Fn(LatLon) -> f64 + Send + Sync>),
    /// Likelihoods that have their floors already.
    Whole(Vec<Evidence>),
}

impl ClueFit {
    /// The likelihoods with a floor, or those of the contrary; none for a contrary that says nothing.
    pub(crate) fn evidence(self, kind: &'static str, says: String, floor: f64, is_not: bool) -> Vec<Evidence> {
        let likelihood = move |fit: f64| floor + (1.0 - floor) * if is_not { 1.0 - fit } else { fit };
        let mut evidence = Evidence::new(kind, says);
        match self {
            Self::Countries(fits) => {
                let top = fits.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
                evidence.countries = fits.into_iter().map(|fit| likelihood(fit / top)).collect();
            }
            Self::Function(fit) => evidence.function = Some(Arc::new(move |place| likelihood(fit(place)))),
            Self::Whole(_) if is_not => return Vec::new(),
            Self::Whole(all) => return all.into_iter().map(|own| Evidence { kind, ..own }).collect(),
        }
        vec![evidence]
    }
}

/// A clue as it is asked.
pub(crate) struct AskedClue<'a> {
    pub(crate) kind: &'static str,
    pub(crate) value: &'a str,
    pub(crate) time: Option<ClueTime>,
}

impl AskedClue<'_> {
    /// The error for its value.
    pub(crate) fn refuse(&self, remedy: impl Into<String>) -> ClueError {
        ClueError::Value { kind: self.kind, value: self.value.to_owned(), near: Vec::new(), remedy: remedy.into() }
    }

    /// The time of the photo.
    pub(crate) fn photo_time(&self) -> Result<ClueTime, ClueError> {
        self.time.ok_or_else(|| ClueError::NoTime { kind: self.kind, value: self.value.to_owned() })
    }

    /// The number of its value among names; the error has those that look alike.
    pub(crate) fn one_of(&self, names: &[&str]) -> Result<usize, ClueError> {
        let found = names.iter().position(|name| name.eq_ignore_ascii_case(self.value));
        found.ok_or_else(|| {
            let (near, remedy) = (alike(self.value, names.iter().copied()), format!("give {}", names.join(", ")));
            ClueError::Value { kind: self.kind, value: self.value.to_owned(), near, remedy }
        })
    }
}
