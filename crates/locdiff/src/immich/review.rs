//! Suggestions under review: looked at, ticked, corrected, written to the server and taken back.

use crate::immich::suggestions::{Corrected, Suggestion};
use crate::immich::{Applied, Immich, Result, Suggestions, write::Journal};
use crate::review::{
    ChosenPlace, ReviewBackend, ReviewDecisions, ReviewError, ReviewPhoto, ReviewPhotos, ReviewResult, TellProgress,
};
use locdiff_album::{PhotoTime, parse_time};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The suggestions of a file for a [`ReviewSession`](crate::review::ReviewSession). Every decision is written to the file at once,
/// so that `apply` finds it.
#[derive(Debug)]
pub struct Review {
    immich: Arc<Immich>,
    file: PathBuf,
    journal: PathBuf,
    suggestions: Mutex<Suggestions>,
}

impl Review {
    /// Reads the suggestions of a file; what is written by the session stands in the journal.
    /// Fails as [`Suggestions::read`] does.
    pub fn open(immich: Arc<Immich>, file: &Path, journal: &Path) -> Result<Self> {
        let mut suggestions = Suggestions::read(file, immich.server())?;
        for one in &mut suggestions.suggestions {
            one.sure.get_or_insert(one.take);
        }
        let (file, journal) = (file.to_owned(), journal.to_owned());
        Ok(Self { immich, file, journal, suggestions: Mutex::new(suggestions) })
    }

    /// The file of the session's actions, beside that of the suggestions.
    pub fn acts(&self) -> PathBuf {
        let mut path = self.file.as_os_str().to_owned();
        path.push(".acts.jsonl");
        path.into()
    }

    fn suggestions(&self) -> std::sync::MutexGuard<'_, Suggestions> {
        self.suggestions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn said(one: &Suggestion) -> Value {
    let time = parse_time(&one.time, None).ok().map(PhotoTime::read);
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
        vec![("immich", format!("to {}; a place that it has is never touched", self.immich.server()))]
    }

    fn places_again(&self) -> bool {
        false
    }

    fn place(&self, _: &ReviewDecisions, _: &AtomicBool, _: TellProgress<'_>) -> ReviewResult<ReviewPhotos> {
        let photo = |one: &Suggestion| {
            let (key, name, said, is_sure) =
                (one.asset.clone(), one.name.clone(), Ok(said(one)), one.sure.unwrap_or(one.take));
            ReviewPhoto { key, name, camera: None, gps: None, said, is_sure, is_written: false }
        };
        Ok(ReviewPhotos { photos: self.suggestions().suggestions.iter().map(photo).collect(), clocks: Vec::new() })
    }

    fn keep(&self, chosen: &[ChosenPlace]) -> ReviewResult<()> {
        let chosen: HashMap<&str, &ChosenPlace> = chosen.iter().map(|one| (one.key.as_str(), one)).collect();
        let mut suggestions = self.suggestions();
        for one in &mut suggestions.suggestions {
            let found = chosen.get(one.asset.as_str());
            one.take = found.is_some();
            one.corrected = found.filter(|found| found.by_hand).map(|found| Corrected { at: found.at });
        }
        suggestions.write(&self.file).map_err(ReviewError::of)
    }

    fn picture(&self, _: usize, key: &str, is_large: bool) -> ReviewResult<Vec<u8>> {
        self.immich.preview(key, !is_large).map_err(ReviewError::of)
    }

    fn write(
        &self,
        chosen: &[ChosenPlace],
        _: &str,
        stop: &AtomicBool,
        told: TellProgress<'_>,
    ) -> ReviewResult<String> {
        self.keep(chosen)?;
        let suggestions = self.suggestions().clone();
        let done = AtomicUsize::new(0);
        let step = || told("Writing", done.fetch_add(1, Ordering::Relaxed) + 1, chosen.len());
        let Applied { done, kept, nothing, .. } =
            self.immich.apply(&suggestions, &self.journal, stop, step).map_err(ReviewError::of)?;
        Ok(format!("{done} tagged on the server, {kept} had a place already and keep it, {nothing} are gone."))
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
