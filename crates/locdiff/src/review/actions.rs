//! What a person does in a review, and what follows from it.

use locdiff_shdd::sphere::LatLon;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// No photo's place is less sure, and none surer, km.
const RADII_KM: std::ops::RangeInclusive<f64> = 0.01..=2000.0;
/// No clock is further off: some have the year wrong.
const MOST_AHEAD_S: f64 = 40.0 * 366.0 * 86_400.0;
const LONGEST: usize = 200;

/// One action of a review, as a line of the session's journal. Photos are named by their keys.
///
/// ```
/// use locdiff::review::ReviewAction;
/// let act: ReviewAction = serde_json::from_str(r#"{"act":"take","photos":["a.jpg"],"take":true}"#)?;
/// assert!(act.check().is_ok());
/// let far: ReviewAction = serde_json::from_str(r#"{"act":"move","photos":["a.jpg"],"lat":91,"lon":0,"radius_km":1,"how":"a pin"}"#)?;
/// assert!(far.check().unwrap_err().contains("latitude"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the variants describe their fields")]
pub enum ReviewAction {
    /// Accepts photos, refuses them, or with `None` leaves them to the rule.
    Take { photos: Vec<String>, take: Option<bool> },
    /// States the location of photos: degrees, radius in km, and the source, such as a pin, a town or another photo.
    Move { photos: Vec<String>, lat: f64, lon: f64, radius_km: f64, how: String },
    /// Removes such a statement.
    Release { photos: Vec<String> },
    /// Sets the seconds that a camera's clock is ahead; `None` is the estimate.
    Clock { camera: String, ahead_s: Option<f64> },
    /// Undoes the last action.
    Undo,
    /// Repeats an undone action.
    Redo,
}

impl ReviewAction {
    pub(crate) fn photos(&self) -> &[String] {
        match self {
            Self::Take { photos, .. } | Self::Move { photos, .. } | Self::Release { photos } => photos,
            Self::Clock { .. } | Self::Undo | Self::Redo => &[],
        }
    }

    pub(crate) fn moves(&self) -> bool {
        !matches!(self, Self::Take { .. })
    }

    /// Fails with a reason if a number is out of range.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Self::Move { lat, lon, radius_km, how, .. } => {
                LatLon::new(*lat, *lon).map_err(|error| error.to_string())?;
                if !RADII_KM.contains(radius_km) || how.len() > LONGEST {
                    return Err("give a radius from 10 m to 2,000 km".to_owned());
                }
                Ok(())
            }
            Self::Clock { ahead_s: Some(ahead_s), .. } if !(-MOST_AHEAD_S..=MOST_AHEAD_S).contains(ahead_s) => {
                Err("no clock is that far off".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// In words, for the buttons that take it back.
    pub(crate) fn words(&self) -> String {
        let count = locdiff_base::counted(self.photos().len(), "photo");
        match self {
            Self::Take { take: Some(true), .. } => format!("tick {count}"),
            Self::Take { take: Some(false), .. } => format!("refuse {count}"),
            Self::Take { take: None, .. } => format!("leave {count} to the rule"),
            Self::Move { how, .. } => format!("set the location of {count} by {how}"),
            Self::Release { .. } => format!("let LocDiff locate {count} again"),
            Self::Clock { .. } => "set a clock".to_owned(),
            Self::Undo | Self::Redo => String::new(),
        }
    }
}

/// The location that a person gave a photo, and its source.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PlacedByHand {
    pub(crate) at: LatLon,
    pub(crate) radius_km: f64,
    pub(crate) how: String,
}

/// All that was decided.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReviewDecisions {
    pub(crate) takes: BTreeMap<String, bool>,
    pub(crate) moves: BTreeMap<String, PlacedByHand>,
    pub(crate) clocks: BTreeMap<String, f64>,
}

impl ReviewDecisions {
    fn follow(&mut self, act: &ReviewAction) {
        match act {
            ReviewAction::Take { photos, take } => {
                for key in photos {
                    match take {
                        Some(take) => drop(self.takes.insert(key.clone(), *take)),
                        None => drop(self.takes.remove(key)),
                    }
                }
            }
            ReviewAction::Move { photos, lat, lon, radius_km, how } => {
                let Ok(at) = LatLon::new(*lat, *lon) else { return };
                for key in photos {
                    // A person who gives the location wants it written.
                    self.takes.remove(key);
                    self.moves.insert(key.clone(), PlacedByHand { at, radius_km: *radius_km, how: how.clone() });
                }
            }
            ReviewAction::Release { photos } => photos.iter().for_each(|key| drop(self.moves.remove(key))),
            ReviewAction::Clock { camera, ahead_s: Some(ahead_s) } => {
                self.clocks.insert(camera.clone(), *ahead_s);
            }
            ReviewAction::Clock { camera, ahead_s: None } => drop(self.clocks.remove(camera)),
            ReviewAction::Undo | ReviewAction::Redo => {}
        }
    }
}

/// The acts that hold, and those that were taken back.
#[derive(Debug, Default)]
pub(crate) struct History {
    done: Vec<ReviewAction>,
    undone: Vec<ReviewAction>,
}

impl History {
    /// Follows an act; whether there was anything to do. `Some(true)` if photos are placed again.
    pub(crate) fn follow(&mut self, act: ReviewAction) -> Option<bool> {
        let (act, list) = match act {
            ReviewAction::Undo => (self.done.pop()?, &mut self.undone),
            ReviewAction::Redo => (self.undone.pop()?, &mut self.done),
            act => {
                self.undone.clear();
                (act, &mut self.done)
            }
        };
        let moves = act.moves();
        list.push(act);
        Some(moves)
    }

    pub(crate) fn decisions(&self) -> ReviewDecisions {
        let mut decisions = ReviewDecisions::default();
        self.done.iter().for_each(|act| decisions.follow(act));
        decisions
    }

    /// What would be taken back, and done again, in words.
    pub(crate) fn words(&self) -> [Option<String>; 2] {
        [&self.done, &self.undone].map(|list| list.last().map(ReviewAction::words))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(key: &str, take: bool) -> ReviewAction {
        ReviewAction::Take { photos: vec![key.to_owned()], take: Some(take) }
    }

    fn place(key: &str, lat: f64) -> ReviewAction {
        ReviewAction::Move { photos: vec![key.to_owned()], lat, lon: 2.0, radius_km: 1.0, how: "a pin".to_owned() }
    }

    #[test]
    fn every_act_is_undone_and_done_again() {
        let clock = ReviewAction::Clock { camera: "b".to_owned(), ahead_s: Some(3600.0) };
        let release = ReviewAction::Release { photos: vec!["a".to_owned()] };
        let acts = [take("a", true), take("a", false), place("a", 1.0), place("a", 3.0), clock, release];
        let mut history = History::default();
        let mut states = vec![history.decisions()];
        for act in &acts {
            assert_eq!(history.follow(act.clone()), Some(act.moves()));
            states.push(history.decisions());
        }
        assert!(states.windows(2).all(|pair| pair[0] != pair[1]), "each act does something");
        for state in states.iter().rev().skip(1) {
            assert!(history.follow(ReviewAction::Undo).is_some());
            assert_eq!(history.decisions(), *state);
        }
        assert_eq!(history.follow(ReviewAction::Undo), None);
        for state in &states[1..] {
            assert!(history.follow(ReviewAction::Redo).is_some());
            assert_eq!(history.decisions(), *state);
        }
        assert_eq!(history.follow(ReviewAction::Redo), None);
        // A new act after an undo ends what could be done again.
        history.follow(ReviewAction::Undo);
        history.follow(take("b", true));
        assert_eq!((history.follow(ReviewAction::Redo), history.words()[0].as_deref()), (None, Some("tick 1 photo")));
    }

    #[test]
    fn numbers_that_mean_nothing_are_refused() {
        for (lat, radius_km) in [(f64::NAN, 1.0), (90.1, 1.0), (1.0, 0.0), (1.0, f64::NAN), (1.0, 1e9)] {
            let act = ReviewAction::Move { photos: Vec::new(), lat, lon: 0.0, radius_km, how: String::new() };
            assert!(act.check().is_err(), "{act:?}");
        }
        assert!(ReviewAction::Clock { camera: String::new(), ahead_s: Some(f64::NAN) }.check().is_err());
        assert!(ReviewAction::Clock { camera: String::new(), ahead_s: Some(-7200.0) }.check().is_ok());
        assert!(serde_json::from_str::<ReviewAction>(r#"{"act":"take","photos":[],"take":null,"more":1}"#).is_err());
    }
}
