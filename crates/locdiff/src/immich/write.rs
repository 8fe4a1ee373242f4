//! Writes the suggestions that are ticked, and takes them back if nobody has changed them since.

use crate::immich::{Immich, ImmichError, Result, Suggestions, client::is_id};
use locdiff_base::{JournalError, OutputLock};
use locdiff_shdd::sphere::{LatLon, haversine_km};
use serde::{Deserialize, Serialize};
use std::{path::Path, sync::atomic::AtomicBool, sync::atomic::Ordering};

/// Places are the same within this: immich writes them to sidecars with fewer digits.
const SAME_KM: f64 = 0.02;

/// An entry of the journal: a photo and the place that it was given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Written {
    pub(crate) server: String,
    pub(crate) asset: String,
    #[serde(flatten)]
    at: LatLon,
}

/// The places that were written. An entry precedes its request.
pub(crate) type Journal = locdiff_base::Journal<Written>;

impl From<JournalError> for ImmichError {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::Unusable { file, reason } => {
                Self::File { file, reason: format!("{reason}; give the journal that `apply` named") }
            }
            JournalError::Write(error) => Self::Write(error),
        }
    }
}

/// Result of [`Immich::apply`] or [`Immich::undo`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Applied {
    /// Locations written, or removed.
    pub done: usize,
    /// Photos that have another location, which stays.
    pub kept: usize,
    /// Photos that are gone, or have no location to remove.
    pub nothing: usize,
    /// Whether it was stopped before its end.
    pub stopped: bool,
}

impl Immich {
    /// Writes the accepted suggestions. A photo that has a location by now is left alone. A second run continues the first. Fails
    /// if another run uses the journal, or the server does not answer or refuses. The journal lists everything written.
    pub fn apply(
        &self,
        suggestions: &Suggestions,
        journal: &Path,
        stop: &AtomicBool,
        mut done: impl FnMut(),
    ) -> Result<Applied> {
        let _lock = OutputLock::file(journal)?;
        let (mut journal, mut applied) = (Journal::at(journal), Applied::default());
        for one in suggestions.suggestions.iter().filter(|one| one.take) {
            if stop.load(Ordering::SeqCst) {
                applied.stopped = true;
                break;
            }
            match self.asset(&one.asset)? {
                None => applied.nothing += 1,
                Some(asset) if asset.place.is_some() => applied.kept += 1,
                Some(_) => {
                    let at = one.place_to_write();
                    journal.append(&Written { server: self.server().to_owned(), asset: one.asset.clone(), at })?;
                    self.set_place(&one.asset, at)?;
                    applied.done += 1;
                }
            }
            done();
        }
        Ok(applied)
    }

    /// Undoes a journal's entries, the last first. Finished entries leave the journal. Fails if the journal is invalid or of another server, or
    /// the server does not answer or refuses.
    pub fn undo(&self, journal: &Path, stop: &AtomicBool, mut done: impl FnMut()) -> Result<Applied> {
        let _lock = OutputLock::file(journal)?;
        let mut journal = Journal::at(journal);
        let mut lines = journal.entries(|line| {
            let number = locdiff_base::excerpt(&line.asset);
            if is_id(&line.asset) { Ok(()) } else { Err(format!("'{number}' is not an id of a photo")) }
        })?;
        if let Some(other) = lines.iter().find(|line| line.server != self.server()) {
            let (theirs, ours) = (other.server.clone(), self.server().to_owned());
            return Err(ImmichError::OtherServer { file: journal.path().to_owned(), theirs, ours });
        }
        let mut undone = Applied::default();
        let result = loop {
            let Some(line) = lines.last() else { break Ok(()) };
            if stop.load(Ordering::SeqCst) {
                undone.stopped = true;
                break Ok(());
            }
            if let Err(error) = self.undo_one(line, &mut undone) {
                break Err(error);
            }
            lines.pop();
            done();
        };
        journal.rewrite(&lines)?;
        result.map(|()| undone)
    }

    fn undo_one(&self, line: &Written, undone: &mut Applied) -> Result<()> {
        match self.asset(&line.asset)?.and_then(|asset| asset.place) {
            None => undone.nothing += 1,
            Some(place) if haversine_km(place, line.at) > SAME_KM => undone.kept += 1,
            Some(_) => {
                self.put(&line.asset, 0.0, 0.0)?; // which immich takes for none
                undone.done += 1;
            }
        }
        Ok(())
    }
}
