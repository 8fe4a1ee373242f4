//! A session for reviewing locations: photos with their answers, a person's actions, and the tags written in the end. Every action is on disk
//! before it takes effect, so that a crash loses nothing. `locdiff-serve` has pages and requests.

mod actions;
mod backend;
mod folder;

pub use actions::ReviewAction;
pub use backend::{ReviewBackend, ReviewError};
pub use folder::FolderReview;

pub(crate) use actions::ReviewDecisions;
use actions::{History, PlacedByHand};
pub(crate) use backend::{ChosenPlace, ReviewPhoto, ReviewPhotos, ReviewResult, ReviewWork};
#[cfg(feature = "immich")]
pub(crate) use folder::answer_json;
use locdiff_base::{Journal, OutputLock, ensure};
use locdiff_map::places::describe;
use locdiff_shdd::sphere::LatLon;
use serde_json::{Value, json};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::{collections::BTreeMap, collections::BTreeSet, path::Path, sync::atomic::AtomicBool, sync::atomic::Ordering};

#[derive(Debug, Default)]
struct Wanted {
    place: bool,
    write: Option<String>,
    take_back: bool,
}

struct State {
    log: Journal<ReviewAction>,
    history: History,
    decisions: ReviewDecisions,
    shown: ReviewPhotos,
    /// It grows with every change that a page should see.
    version: u64,
    wanted: Wanted,
    /// The running work: its name, how much is done, how much there is.
    work: Option<(&'static str, usize, usize)>,
    is_read: bool,
    problem: Option<String>,
    told: Option<String>,
}

/// A session in which a user reviews photos by [`ReviewAction`]s.
pub struct ReviewSession<B> {
    backend: B,
    state: Mutex<State>,
    wake: Condvar,
    stop: AtomicBool,
    _lock: OutputLock,
}

impl<B: ReviewBackend> ReviewSession<B> {
    /// Opens a session and restores the decisions in its file, if it exists. Fails if the file is not such a journal, or another process uses it.
    pub fn open(backend: B, log: &Path) -> ReviewResult<Self> {
        let lock = OutputLock::file(log).map_err(ReviewError::of)?;
        let journal: Journal<ReviewAction> = Journal::at(log);
        let acts =
            if log.exists() { journal.entries(ReviewAction::check).map_err(ReviewError::of)? } else { Vec::new() };
        let mut history = History::default();
        for act in acts {
            history.follow(act);
        }
        let (decisions, shown) = (history.decisions(), ReviewPhotos::default());
        let wanted = Wanted { place: true, ..Wanted::default() };
        let (log, work, is_read, problem, told) = (journal, None, false, None, None);
        let state = State { log, history, decisions, shown, version: 1, wanted, work, is_read, problem, told };
        Ok(Self { backend, state: Mutex::new(state), wake: Condvar::new(), stop: AtomicBool::new(false), _lock: lock })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends [`ReviewSession::work`].
    pub fn close(&self) {
        self.stop.store(true, Ordering::SeqCst);
        drop(self.lock());
        self.wake.notify_all();
    }

    /// Works until the session is closed: reads and locates photos, writes, undoes.
    pub fn work(&self) {
        loop {
            let mut state = self.lock();
            while !(self.stop.load(Ordering::SeqCst) || state.wanted.place || state.wanted.take_back)
                && state.wanted.write.is_none()
            {
                state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if self.stop.load(Ordering::SeqCst) {
                return;
            }
            // Files first; photos are placed again after that.
            let (write, take_back) = (state.wanted.write.take(), std::mem::take(&mut state.wanted.take_back));
            let place = write.is_none() && !take_back && std::mem::take(&mut state.wanted.place);
            let wanted = Wanted { place, write, take_back };
            let (decisions, chosen) = (state.decisions.clone(), chosen(&state));
            state.problem = None;
            if place {
                // At once: who asks in between must not think that all is done.
                state.work = Some(("Photos placed", 0, 0));
            }
            drop(state);
            let told = |what: &'static str, done: usize, all: usize| self.lock().work = Some((what, done, all));
            let done = self.do_wanted(&wanted, &decisions, &chosen, ReviewWork { stop: &self.stop, told: &told });
            let mut state = self.lock();
            state.work = None;
            state.version += 1;
            match done {
                Ok((Some(shown), _)) => {
                    (state.shown, state.is_read) = (shown, true);
                    state.problem = self.backend.keep(&self::chosen(&state)).err().map(|error| error.to_string());
                }
                Ok((None, words)) => state.told = words,
                Err(error) => state.problem = Some(error.to_string()),
            }
        }
    }

    fn do_wanted(
        &self,
        wanted: &Wanted,
        decisions: &ReviewDecisions,
        chosen: &[ChosenPlace],
        work: ReviewWork<'_>,
    ) -> ReviewResult<(Option<ReviewPhotos>, Option<String>)> {
        if wanted.write.is_none() && !wanted.take_back {
            let mut shown = self.backend.place(decisions, work)?;
            mark_written(&mut shown, &self.backend.written()?);
            return Ok((Some(shown), None));
        }
        let words = match &wanted.write {
            Some(way) => self.backend.write(chosen, way, work),
            None => self.backend.take_back(&self.stop),
        };
        let written = self.backend.written()?;
        mark_written(&mut self.lock().shown, &written);
        Ok((None, Some(words?)))
    }

    /// Writes an action to disk, then applies it. Fails if the action is invalid, concerns unknown or tagged photos, or the journal cannot be
    /// written.
    pub fn act(&self, act: ReviewAction) -> ReviewResult<()> {
        let mut state = self.lock();
        act.check().map_err(ReviewError::of)?;
        Self::is_free(&state)?;
        for key in act.photos() {
            let photo = state.shown.photos.iter().find(|photo| photo.key == *key);
            let photo = photo.ok_or_else(|| ReviewError::of("that photo is not here"))?;
            let sets = matches!(act, ReviewAction::Move { .. } | ReviewAction::Take { take: Some(true), .. });
            let reason = if photo.gps.is_some() { "has a GPS tag already, which stays" } else { "cannot be read" };
            if sets && (photo.gps.is_some() || photo.said.is_err()) {
                return Err(ReviewError::of(format!("{} {reason}", locdiff_base::one_line(&photo.name))));
            }
        }
        if let ReviewAction::Clock { camera, .. } = &act
            && !state.shown.clocks.iter().any(|(known, ..)| known == camera)
        {
            return Err(ReviewError::of("no photo is of that camera"));
        }
        let [undo, redo] = state.history.words();
        if (act == ReviewAction::Undo && undo.is_none()) || (act == ReviewAction::Redo && redo.is_none()) {
            return Err(ReviewError::of("there is nothing to undo"));
        }
        state.log.append(&act).map_err(ReviewError::of)?;
        let moves = state.history.follow(act).unwrap_or_default();
        state.decisions = state.history.decisions();
        (state.told, state.problem) = (None, None);
        state.version += 1;
        state.wanted.place |= moves && self.backend.places_again();
        self.wake.notify_all();
        // With the lock: the last to write has seen all that happened.
        self.backend.keep(&chosen(&state))
    }

    fn is_free(state: &State) -> ReviewResult<()> {
        ensure!(state.is_read, ReviewError::of("photos are still being read"));
        if state.wanted.write.is_some() || state.wanted.take_back || matches!(state.work, Some(("Writing", ..))) {
            return Err(ReviewError::of("files are being written"));
        }
        Ok(())
    }

    /// Writes the accepted photos in one of the backend's ways. Fails if the way is unknown, or other work is under way.
    pub fn write(&self, way: &str) -> ReviewResult<()> {
        let mut state = self.lock();
        Self::is_free(&state)?;
        ensure!(!state.wanted.place && state.work.is_none(), ReviewError::of("photos are being placed: a moment"));
        ensure!(self.backend.ways().iter().any(|(name, _)| *name == way), ReviewError::of("unknown way of writing"));
        state.wanted.write = Some(way.to_owned());
        self.begin_writing(state);
        Ok(())
    }

    /// Undoes all writing. Fails if other work is running.
    pub fn take_back(&self) -> ReviewResult<()> {
        let mut state = self.lock();
        Self::is_free(&state)?;
        state.wanted.take_back = true;
        self.begin_writing(state);
        Ok(())
    }

    fn begin_writing(&self, mut state: MutexGuard<'_, State>) {
        state.work = Some(("Writing", 0, 0));
        state.version += 1;
        drop(state);
        self.wake.notify_all();
    }

    /// Returns a photo as a thumbnail or large picture, by its number. Fails if it is unknown, or cannot be read.
    pub fn picture(&self, number: usize, is_large: bool) -> ReviewResult<Vec<u8>> {
        let key = self.lock().shown.photos.get(number).map(|photo| photo.key.clone());
        let key = key.ok_or_else(|| ReviewError::of("that photo is not here"))?;
        self.backend.picture(number, &key, is_large)
    }

    /// Returns the locations of a camera's photos if its clock is `ahead_s` seconds ahead.
    pub fn along(&self, camera: &str, ahead_s: f64) -> Value {
        let state = self.lock();
        let known = state.shown.photos.iter().enumerate().filter_map(|(k, photo)| {
            let moved = state.decisions.moves.get(&photo.key).map(|moved| moved.at);
            let said =
                photo.said.as_ref().ok().filter(|said| said["can_tell"] == true).and_then(|said| at(&said["best"]));
            Some((k, moved.or(photo.gps).or(said)?))
        });
        let known: BTreeMap<usize, LatLon> = known.collect();
        drop(state);
        let found = self.backend.along(camera, ahead_s, &known);
        json!(found.iter().map(|(k, at)| json!([k, at.lon_deg(), at.lat_deg()])).collect::<Vec<_>>())
    }

    /// Returns the state for a page, or only the progress if nothing else changed since a version.
    pub fn state(&self, since: u64) -> Value {
        let state = self.lock();
        let is_busy = state.wanted.place || state.work.is_some();
        let work = state.work.map(|(what, done, all)| json!({ "what": what, "done": done, "all": all }));
        let mut object = json!({ "version": state.version, "is_busy": is_busy, "work": work });
        if since == state.version {
            return object;
        }
        let [undo, redo] = state.history.words();
        let ReviewDecisions { clocks, .. } = &state.decisions;
        let clock = |(camera, photos, found_s): &(String, usize, f64)| {
            let ahead_s = clocks.get(camera).unwrap_or(found_s);
            json!({ "camera": camera, "photos": photos, "found_s": found_s, "ahead_s": ahead_s })
        };
        let more = json!({
            "title": self.backend.title(), "is_read": state.is_read, "problem": state.problem, "told": state.told, "undo": undo, "redo": redo,
            "ways": self.backend.ways(), "places_again": self.backend.places_again(),
            "clocks": state.shown.clocks.iter().map(clock).collect::<Vec<_>>(),
            "photos": state.shown.photos.iter().map(|photo| shown(photo, &state.decisions)).collect::<Vec<_>>(),
        });
        if let (Value::Object(object), Value::Object(more)) = (&mut object, more) {
            object.extend(more);
        }
        object
    }

    /// Returns the numbers of accepted photos, of written photos, and of all.
    pub fn counts(&self) -> [usize; 3] {
        let state = self.lock();
        let written = state.shown.photos.iter().filter(|photo| photo.is_written).count();
        [chosen(&state).len(), written, state.shown.photos.len()]
    }
}

fn mark_written(shown: &mut ReviewPhotos, written: &[String]) {
    let written: BTreeSet<&String> = written.iter().collect();
    shown.photos.iter_mut().for_each(|photo| photo.is_written = written.contains(&photo.key));
}

fn at(value: &Value) -> Option<LatLon> {
    LatLon::new(value["lat"].as_f64()?, value["lon"].as_f64()?).ok()
}

/// Whether a photo will be written: by a person's decision, or else if it was placed by hand or is sure.
fn is_taken(photo: &ReviewPhoto, decisions: &ReviewDecisions) -> bool {
    let is_possible = photo.gps.is_none() && photo.said.is_ok();
    let by_rule = photo.is_sure || decisions.moves.contains_key(&photo.key);
    is_possible && decisions.takes.get(&photo.key).copied().unwrap_or(by_rule)
}

fn chosen(state: &State) -> Vec<ChosenPlace> {
    let all = state.shown.photos.iter().enumerate().filter(|(_, photo)| is_taken(photo, &state.decisions));
    let each = all.filter_map(|(number, photo)| {
        let said = photo.said.as_ref().ok()?;
        let key = photo.key.clone();
        Some(match state.decisions.moves.get(&photo.key) {
            Some(PlacedByHand { at, radius_km, .. }) => {
                let place = describe(*at).to_string();
                ChosenPlace { number, key, at: *at, radius_90_km: *radius_km, place, by_hand: true }
            }
            None => ChosenPlace {
                number,
                key,
                at: at(&said["best"])?,
                radius_90_km: said["radius_90_km"].as_f64()?,
                place: said["place"].as_str().unwrap_or_default().to_owned(),
                by_hand: false,
            },
        })
    });
    each.collect()
}

/// A photo for the page, with what somebody says of it.
fn shown(photo: &ReviewPhoto, decisions: &ReviewDecisions) -> Value {
    let mut said = photo.said.clone();
    let moved = decisions.moves.get(&photo.key).filter(|_| photo.gps.is_none());
    if let (Ok(said), Some(PlacedByHand { at, radius_km, how })) = (&mut said, moved) {
        said["best"] = json!({ "lat": at.lat_deg(), "lon": at.lon_deg() });
        (said["radius_50_km"], said["radius_90_km"]) = (json!(radius_km / 1.8), json!(radius_km));
        (said["can_tell"], said["place"]) = (json!(true), json!(describe(*at).to_string()));
        said["because"] = json!(format!("you placed it by {how}"));
        (said["alternatives"], said["outlier"], said["hint"]) = (json!([]), Value::Null, Value::Null);
    }
    let error = said.as_ref().err().cloned();
    json!({
        "key": photo.key, "name": photo.name, "camera": photo.camera, "said": said.ok(), "error": error,
        "gps": photo.gps.map(|at| json!({ "lat": at.lat_deg(), "lon": at.lon_deg() })),
        "take": is_taken(photo, decisions), "decided": decisions.takes.get(&photo.key),
        "moved": moved.is_some(), "written": photo.is_written,
    })
}
