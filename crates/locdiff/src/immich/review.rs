//! Suggestions under review: looked at, ticked, corrected, written to the server and taken back.

use crate::immich::suggestions::{Corrected, SuggestedTrip, Suggestion};
use crate::immich::{Applied, Immich, Result, Suggester, Suggestions};
use crate::review::{ChosenPlace, ReviewBackend, ReviewDecisions, ReviewError, ReviewPhoto, ReviewPhotos};
use crate::review::{ReviewResult, ReviewWork, answer_json};
use crate::{Control, Progress, album_read::PlacedTrips, album_read::ReadAlbum, immich::write::Journal};
use locdiff_album::PhotoTime;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError, atomic::AtomicBool, atomic::AtomicUsize, atomic::Ordering};
use std::{collections::BTreeMap, collections::HashMap, collections::hash_map::Entry, path::Path, path::PathBuf};

/// Suggestions of a file for a [`ReviewSession`](crate::review::ReviewSession). Every decision is written to the file at once, so that `apply`
/// finds it.
#[must_use]
pub struct Review {
    immich: Arc<Immich>,
    file: PathBuf,
    journal: PathBuf,
    suggestions: Mutex<Suggestions>,
    suggester: Option<Suggester>,
    /// Trips with a photo that somebody placed, by their numbers.
    trips: Mutex<HashMap<usize, (ReadAlbum, PlacedTrips)>>,
    /// Small pictures by their photos' keys: the server is asked for each once.
    small: Mutex<HashMap<String, Vec<u8>>>,
}

/// Bytes of small pictures that are kept, at the most.
const MOST_SMALL_BYTES: usize = 256 << 20;

/// What the page shows of a photo, and whether it is sure enough to be written unasked.
type Shown = (Value, bool);

impl Review {
    /// Reads the suggestions of a file. The journal records what the session writes. Fails as [`Suggestions::read`] does.
    pub fn open(immich: Arc<Immich>, file: &Path, journal: &Path) -> Result<Self> {
        let mut suggestions = Suggestions::read(file, immich.server())?;
        for one in &mut suggestions.suggestions {
            one.sure.get_or_insert(one.take);
        }
        let (file, journal) = (file.to_owned(), journal.to_owned());
        let (suggestions, trips, small) = (Mutex::new(suggestions), Mutex::default(), Mutex::default());
        Ok(Self { immich, file, journal, suggestions, suggester: None, trips, small })
    }

    /// Returns whether the file has trips, which are needed to locate photos again. Files of earlier versions have none.
    pub fn has_trips(&self) -> bool {
        !self.suggestions().trips.is_empty()
    }

    /// Adds a suggester: it locates the other photos of a trip again after a correction.
    pub fn with_suggester(self, suggester: Suggester) -> Self {
        Self { suggester: Some(suggester), ..self }
    }

    /// Returns the file of the session's actions, next to the suggestions.
    pub fn acts(&self) -> PathBuf {
        let mut path = self.file.as_os_str().to_owned();
        path.push(".acts.jsonl");
        path.into()
    }

    fn suggestions(&self) -> std::sync::MutexGuard<'_, Suggestions> {
        self.suggestions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The photos of trips in which somebody placed one, by their keys.
    fn place_again(
        &self,
        suggester: &Suggester,
        trips: &[SuggestedTrip],
        decisions: &ReviewDecisions,
        ReviewWork { stop, told }: ReviewWork<'_>,
    ) -> Result<HashMap<String, Shown>> {
        let mut read = self.trips.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = HashMap::new();
        for (number, trip) in trips.iter().enumerate() {
            let untagged = trip.photos.iter().enumerate().filter(|(_, asset)| asset.place.is_none());
            let moved = untagged.filter_map(|(k, asset)| Some((k, decisions.moves.get(&asset.id)?)));
            let places: BTreeMap<_, _> = moved.map(|(k, moved)| (k, (moved.at, moved.radius_km))).collect();
            if places.is_empty() {
                continue;
            }
            let names: Vec<&String> = places.keys().map(|k| &trip.photos[*k].name).collect();
            let done = AtomicUsize::new(0);
            let step = |stage: Progress| {
                if stage == Progress::Placed {
                    told("Photos placed", done.fetch_add(1, Ordering::Relaxed) + 1, trip.photos.len());
                }
            };
            let control = Control::new().with_stop(stop).with_progress(&step);
            let album = match read.entry(number) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => entry.insert((suggester.read(trip, control)?, PlacedTrips::default())),
            };
            let answers = suggester.place(trip, album, places, control)?;
            for (asset, answer) in trip.photos.iter().zip(answers) {
                let shown = answer.map(|one| (answer_json(&one, None, names.iter().copied()), suggester.is_sure(&one)));
                found.extend(shown.map(|shown| (asset.id.clone(), shown)));
            }
        }
        Ok(found)
    }
}

fn said(one: &Suggestion) -> Value {
    let time = PhotoTime::read(&one.time, None).ok();
    let (text, utc) = (time.and_then(|time| time.text()), time.and_then(|time| time.utc()));
    let when = json!({ "seconds": time.map(|time| time.seconds), "text": text, "utc": utc });
    let warning = one.warning.as_ref().map(|reason| json!({ "probability": 0.5, "reason": reason }));
    json!({
        "best": one.at, "place": one.place, "radius_50_km": one.radius_50_km, "radius_90_km": one.radius_90_km, "can_tell": true,
        "because": one.because, "time": when, "alternatives": [], "probability": 0.9, "moved_km": 0.0, "outlier": null, "hint": warning, "gps": null,
    })
}

impl ReviewBackend for Review {
    fn title(&self) -> String {
        format!("places for {}", self.immich.server())
    }

    fn ways(&self) -> Vec<(&'static str, String)> {
        vec![("immich", format!("to {}; existing locations are never changed", self.immich.server()))]
    }

    fn places_again(&self) -> bool {
        self.suggester.is_some()
    }

    fn place(&self, decisions: &ReviewDecisions, work: ReviewWork<'_>) -> ReviewResult<ReviewPhotos> {
        let Suggestions { suggestions, trips, .. } = self.suggestions().clone();
        let again = self.suggester.as_ref().map(|one| self.place_again(one, &trips, decisions, work));
        let mut again = again.transpose().map_err(ReviewError::of)?.unwrap_or_default();
        let numbered =
            trips.iter().enumerate().flat_map(|(k, trip)| trip.photos.iter().map(move |asset| (k + 1, asset)));
        let known: HashMap<&str, _> =
            numbered.map(|(trip, asset)| (asset.id.as_str(), (trip, &asset.camera))).collect();
        let photo = |one: &Suggestion| {
            let suggested = said(one);
            let (mut value, is_sure) =
                again.remove(&one.asset).unwrap_or_else(|| (suggested.clone(), one.sure.unwrap_or(one.take)));
            let (trip, camera) = known.get(one.asset.as_str()).copied().unzip();
            (value["time"], value["trip"]) = (suggested["time"].clone(), json!(trip));
            let (key, name, camera, said) = (one.asset.clone(), one.name.clone(), camera.cloned().flatten(), Ok(value));
            ReviewPhoto { key, name, camera, gps: None, said, is_sure, is_written: false }
        };
        Ok(ReviewPhotos { photos: suggestions.iter().map(photo).collect(), clocks: Vec::new() })
    }

    fn keep(&self, chosen: &[ChosenPlace]) -> ReviewResult<()> {
        let chosen: HashMap<&str, &ChosenPlace> = chosen.iter().map(|one| (one.key.as_str(), one)).collect();
        let mut suggestions = self.suggestions();
        for one in &mut suggestions.suggestions {
            let found = chosen.get(one.asset.as_str());
            one.take = found.is_some();
            one.corrected =
                found.filter(|found| found.by_hand || found.at != one.at).map(|found| Corrected { at: found.at });
        }
        suggestions.write(&self.file).map_err(ReviewError::of)
    }

    fn picture(&self, _: usize, key: &str, is_large: bool) -> ReviewResult<Vec<u8>> {
        let kept = || self.small.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = kept().get(key).filter(|_| !is_large) {
            return Ok(bytes.clone());
        }
        let bytes = self.immich.preview(key, !is_large).map_err(ReviewError::of)?;
        let mut small = kept();
        if !is_large && small.values().map(Vec::len).sum::<usize>() + bytes.len() < MOST_SMALL_BYTES {
            small.insert(key.to_owned(), bytes.clone());
        }
        Ok(bytes)
    }

    fn write(&self, chosen: &[ChosenPlace], _: &str, work: ReviewWork<'_>) -> ReviewResult<String> {
        self.keep(chosen)?;
        let suggestions = self.suggestions().clone();
        let done = AtomicUsize::new(0);
        let step = || (work.told)("Writing", done.fetch_add(1, Ordering::Relaxed) + 1, chosen.len());
        let Applied { done, kept, nothing, .. } =
            self.immich.apply(&suggestions, &self.journal, work.stop, step).map_err(ReviewError::of)?;
        Ok(format!("{done} tagged on the server, {kept} had a location already and keep it, {nothing} are gone."))
    }

    fn take_back(&self, stop: &AtomicBool) -> ReviewResult<String> {
        let undone = self.immich.undo(&self.journal, stop, || ()).map_err(ReviewError::of)?;
        Ok(format!("{} taken back, {} were changed since and stay.", undone.done, undone.kept))
    }

    fn written(&self) -> ReviewResult<Vec<String>> {
        if !self.journal.exists() {
            return Ok(Vec::new());
        }
        let lines = Journal::at(&self.journal).entries(|_| Ok(())).map_err(ReviewError::of)?;
        Ok(lines.into_iter().filter(|line| line.server == self.immich.server()).map(|line| line.asset).collect())
    }
}
