//! A clue as it is asked, and how places fit it.

use crate::{clues::ClueError, clues::error::alike, evidence::Evidence, evidence::Function, places::Places};
use locdiff_base::read_time;
use locdiff_shdd::sphere::LatLon;
use std::sync::Arc;

/// A clue that fits this share of the world's towns, or more, is broad.
const BROAD: f64 = 0.1;
/// The least that a floor is multiplied by.
pub(crate) const NARROWEST: f64 = 0.01;

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
    ///
    /// A kind's clues are wrong about as often as `wrong` says. What fits a [`BROAD`] share of the world's towns or more has
    /// this as its floor. A wrong clue rarely names just this narrow place: the floor of one that fits fewer is lower in proportion.
    pub(crate) fn evidence(self, kind: &'static str, says: String, wrong: f64, is_not: bool) -> Vec<Evidence> {
        let fit_or_not = move |fit: f64| if is_not { 1.0 - fit } else { fit };
        let mut evidence = Evidence::new(kind, says);
        match self {
            Self::Countries(fits) => {
                let top = fits.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
                evidence.countries = fits.into_iter().map(|fit| fit_or_not(fit / top)).collect();
            }
            Self::Function(fit) => evidence.function = Some(Arc::new(move |place| fit_or_not(fit(place)))),
            Self::Whole(_) if is_not => return Vec::new(),
            Self::Whole(all) => return all.into_iter().map(|own| Evidence { kind, ..own }).collect(),
        }
        let floor = wrong * (share_of_towns(&evidence) / BROAD).clamp(NARROWEST, 1.0);
        let likelihood = move |fit: f64| floor + (1.0 - floor) * fit;
        for fit in &mut evidence.countries {
            *fit = likelihood(*fit);
        }
        evidence.function = evidence.function.map(|fit| Arc::new(move |place| likelihood(fit(place))) as Function);
        vec![evidence]
    }
}

/// How well the world's towns fit, on average.
fn share_of_towns(evidence: &Evidence) -> f64 {
    /// Every 17th town, north to south: 4,087 of them.
    const STEP: usize = 17;
    let towns = Places::bundled().towns_with_population().step_by(STEP);
    let (sum, count) =
        towns.fold((0.0, 0.0), |(sum, count), (_, place, _)| (sum + evidence.likelihood(place.to_unit()), count + 1.0));
    sum / count
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
