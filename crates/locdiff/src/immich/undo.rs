//! Undoes what was written, where nobody has changed it since.

use crate::immich::asset::is_id;
use crate::immich::{Immich, ImmichError, Journal, Result, Written};
use locdiff_base::OutputLock;
use locdiff_shdd::sphere::haversine_km;
use serde::Serialize;
use std::sync::atomic::{AtomicBool, Ordering};

/// Places are the same within this: immich writes them to sidecars with fewer digits.
const SAME_KM: f64 = 0.02;

/// What became of a journal's lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Undone {
    /// Places taken away.
    pub cleared: usize,
    /// Photos whose place is another by now; it stays.
    pub changed: usize,
    /// Photos without a place, or gone.
    pub nothing: usize,
    /// Whether it was asked to stop before the end.
    pub stopped: bool,
}

/// Undoes a journal's entries, the last first. Entries that are done leave the journal; it is removed with its last.
///
/// # Errors
/// A journal that is none, names something else than photos, or is of another server, before anything is asked; a server that does not answer or refuses.
pub fn undo(server: &Immich, journal: &mut Journal, stop: &AtomicBool, mut done: impl FnMut()) -> Result<Undone> {
    let _lock = OutputLock::file(journal.path())?;
    let mut lines = journal.entries(|line| {
        let number = locdiff_base::excerpt(&line.asset);
        if is_id(&line.asset) { Ok(()) } else { Err(format!("'{number}' is no number of a photo")) }
    })?;
    if let Some(other) = lines.iter().find(|line| line.server != server.server()) {
        let (theirs, ours) = (other.server.clone(), server.server().to_owned());
        return Err(ImmichError::OtherServer { file: journal.path().to_owned(), theirs, ours });
    }
    let mut undone = Undone::default();
    let result = loop {
        let Some(line) = lines.last() else { break Ok(()) };
        if stop.load(Ordering::SeqCst) {
            undone.stopped = true;
            break Ok(());
        }
        if let Err(error) = one(server, line, &mut undone) {
            break Err(error);
        }
        lines.pop();
        done();
    };
    journal.rewrite(&lines)?;
    result.map(|()| undone)
}

fn one(server: &Immich, line: &Written, undone: &mut Undone) -> Result<()> {
    match server.asset(&line.asset)?.and_then(|asset| asset.place) {
        None => undone.nothing += 1,
        Some(place) if haversine_km(place, line.at) > SAME_KM => undone.changed += 1,
        Some(_) => {
            server.clear_place(&line.asset)?;
            undone.cleared += 1;
        }
    }
    Ok(())
}
