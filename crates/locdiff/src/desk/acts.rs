//! What a person does at the desk, and what follows from it.

use locdiff_shdd::sphere::LatLon;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// No photo's place is less sure, and none surer, km.
const RADII_KM: std::ops::RangeInclusive<f64> = 0.01..=2000.0;
/// No clock is further off: some have the year wrong.
const MOST_AHEAD_S: f64 = 40.0 * 366.0 * 86_400.0;
/// No text of an act is longer.
const LONGEST: usize = 200;

/// One act, as a line of the desk's journal. Photos go by their keys.
///
/// ```
/// use locdiff::review::Act;
/// let act: Act = serde_json::from_str(r#"{"act":"take","photos":["a.jpg"],"take":true}"#)?;
/// assert!(act.check().is_ok());
/// let far: Act = serde_json::from_str(r#"{"act":"move","photos":["a.jpg"],"lat":91,"lon":0,"radius_km":1,"how":"a pin"}"#)?;
/// assert!(far.check().unwrap_err().contains("latitude"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Act {
    /// Ticks photos, refuses them, or leaves them to the rule.
    Take {
        /// Which.
        photos: Vec<String>,
        /// `None`: by the rule.
        take: Option<bool>,
    },
    /// Says where photos were taken.
    Move {
        /// Which.
        photos: Vec<String>,
        /// Latitude in degrees.
        lat: f64,
        /// Longitude in degrees.
        lon: f64,
        /// How well that is known.
        radius_km: f64,
        /// By what: a pin, a town, another photo.
        how: String,
    },
    /// Takes such a word back.
    Release {
        /// Which.
        photos: Vec<String>,
    },
    /// Sets a camera's clock.
    Clock {
        /// The camera.
        camera: String,
        /// How far it is ahead; `None`: as it was found.
        ahead_s: Option<f64>,
    },
    /// Takes the last act back.
    Undo,
    /// Does it again.
    Redo,
}

impl Act {
    /// The photos it is about.
    pub fn photos(&self) -> &[String] {
        match self {
            Self::Take { photos, .. } | Self::Move { photos, .. } | Self::Release { photos } => photos,
            Self::Clock { .. } | Self::Undo | Self::Redo => &[],
        }
    }

    /// Whether other photos are placed anew by it.
    pub(crate) fn moves(&self) -> bool {
        !matches!(self, Self::Take { .. })
    }

    /// Whether its numbers mean something.
    ///
    /// # Errors
    /// In words.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Self::Move { lat, lon, radius_km, how, .. } => {
                LatLon::new(*lat, *lon).map_err(|error| error.to_string())?;
                if !RADII_KM.contains(radius_km) || how.len() > LONGEST {
                    return Err("a place is known to within 10 m to 2,000 km".to_owned());
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
            Self::Move { how, .. } => format!("place {count} by {how}"),
            Self::Release { .. } => format!("place {count} by LocDiff again"),
            Self::Clock { .. } => "set a clock".to_owned(),
            Self::Undo | Self::Redo => String::new(),
        }
    }
}

/// Where somebody says that a photo was taken.
#[derive(Debug, Clone, PartialEq)]
pub struct Moved {
    /// Where.
    pub at: LatLon,
    /// Within this distance.
    pub radius_km: f64,
    /// By what.
    pub how: String,
}

/// All that was decided.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Decisions {
    /// Photos that are ticked or refused.
    pub takes: BTreeMap<String, bool>,
    /// Photos that somebody placed.
    pub moves: BTreeMap<String, Moved>,
    /// Clocks that somebody set.
    pub clocks: BTreeMap<String, f64>,
}

impl Decisions {
    fn follow(&mut self, act: &Act) {
        match act {
            Act::Take { photos, take } => {
                for key in photos {
                    match take {
                        Some(take) => drop(self.takes.insert(key.clone(), *take)),
                        None => drop(self.takes.remove(key)),
                    }
                }
            }
            Act::Move { photos, lat, lon, radius_km, how } => {
                let Ok(at) = LatLon::new(*lat, *lon) else { return };
                for key in photos {
                    // Whoever says where it was wants it written.
                    self.takes.remove(key);
                    self.moves.insert(key.clone(), Moved { at, radius_km: *radius_km, how: how.clone() });
                }
            }
            Act::Release { photos } => photos.iter().for_each(|key| drop(self.moves.remove(key))),
            Act::Clock { camera, ahead_s: Some(ahead_s) } => drop(self.clocks.insert(camera.clone(), *ahead_s)),
            Act::Clock { camera, ahead_s: None } => drop(self.clocks.remove(camera)),
            Act::Undo | Act::Redo => {}
        }
    }
}

/// The acts that hold, and those that were taken back.
#[derive(Debug, Default)]
pub(crate) struct History {
    done: Vec<Act>,
    undone: Vec<Act>,
}

impl History {
    /// Follows an act; whether there was anything to do. `Some(true)` where photos are placed anew.
    pub(crate) fn follow(&mut self, act: Act) -> Option<bool> {
        match act {
            Act::Undo => {
                let act = self.done.pop()?;
                let moves = act.moves();
                self.undone.push(act);
                Some(moves)
            }
            Act::Redo => {
                let act = self.undone.pop()?;
                let moves = act.moves();
                self.done.push(act);
                Some(moves)
            }
            act => {
                let moves = act.moves();
                self.undone.clear();
                self.done.push(act);
                Some(moves)
            }
        }
    }

    /// What follows from the acts that hold.
    pub(crate) fn decisions(&self) -> Decisions {
        let mut decisions = Decisions::default();
        self.done.iter().for_each(|act| decisions.follow(act));
        decisions
    }

    /// What would be taken back, and done again, in words.
    pub(crate) fn words(&self) -> [Option<String>; 2] {
        [&self.done, &self.undone].map(|list| list.last().map(Act::words))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(key: &str, take: bool) -> Act {
        Act::Take { photos: vec![key.to_owned()], take: Some(take) }
    }

    fn place(key: &str, lat: f64) -> Act {
        Act::Move { photos: vec![key.to_owned()], lat, lon: 2.0, radius_km: 1.0, how: "a pin".to_owned() }
    }

    #[test]
    fn every_act_is_undone_and_done_again() {
        let clock = Act::Clock { camera: "b".to_owned(), ahead_s: Some(3600.0) };
        let release = Act::Release { photos: vec!["a".to_owned()] };
        let acts = [take("a", true), take("a", false), place("a", 1.0), place("a", 3.0), clock, release];
        let mut history = History::default();
        let mut states = vec![history.decisions()];
        for act in &acts {
            assert_eq!(history.follow(act.clone()), Some(act.moves()));
            states.push(history.decisions());
        }
        assert!(states.windows(2).all(|pair| pair[0] != pair[1]), "each act does something");
        for state in states.iter().rev().skip(1) {
            assert!(history.follow(Act::Undo).is_some());
            assert_eq!(history.decisions(), *state);
        }
        assert_eq!(history.follow(Act::Undo), None);
        for state in &states[1..] {
            assert!(history.follow(Act::Redo).is_some());
            assert_eq!(history.decisions(), *state);
        }
        assert_eq!(history.follow(Act::Redo), None);
        // A new act after an undo ends what could be done again.
        history.follow(Act::Undo);
        history.follow(take("b", true));
        assert_eq!((history.follow(Act::Redo), history.words()[0].as_deref()), (None, Some("tick 1 photo")));
    }

    #[test]
    fn numbers_that_mean_nothing_are_refused() {
        for (lat, radius_km) in [(f64::NAN, 1.0), (90.1, 1.0), (1.0, 0.0), (1.0, f64::NAN), (1.0, 1e9)] {
            let act = Act::Move { photos: Vec::new(), lat, lon: 0.0, radius_km, how: String::new() };
            assert!(act.check().is_err(), "{act:?}");
        }
        assert!(Act::Clock { camera: String::new(), ahead_s: Some(f64::NAN) }.check().is_err());
        assert!(Act::Clock { camera: String::new(), ahead_s: Some(-7200.0) }.check().is_ok());
        assert!(serde_json::from_str::<Act>(r#"{"act":"take","photos":[],"take":null,"more":1}"#).is_err());
    }
}
