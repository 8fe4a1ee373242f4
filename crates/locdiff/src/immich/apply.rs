//! Writes the suggestions that are ticked.

use crate::immich::{Immich, Journal, Result, Suggestions, Written};
use locdiff_base::OutputLock;
use serde::Serialize;
use std::sync::atomic::{AtomicBool, Ordering};

/// What became of the suggestions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Applied {
    /// Written.
    pub written: usize,
    /// Photos that have a place already, which stays.
    pub had_place: usize,
    /// Photos that are gone.
    pub gone: usize,
    /// Whether it was asked to stop before the end.
    pub stopped: bool,
}

/// Writes the ticked suggestions, each after its photo was read again: one that has a place by now is left alone. A second run
/// goes on where the first one stopped, as what is written has a place. `done` is called after each.
///
/// # Errors
/// A journal that another run writes to; a server that does not answer or refuses; what is written by then stands in the journal.
pub fn apply(
    server: &Immich,
    suggestions: &Suggestions,
    journal: &mut Journal,
    stop: &AtomicBool,
    mut done: impl FnMut(),
) -> Result<Applied> {
    let _lock = OutputLock::file(journal.path())?;
    let mut applied = Applied::default();
    for one in suggestions.suggestions.iter().filter(|one| one.take) {
        if stop.load(Ordering::SeqCst) {
            applied.stopped = true;
            break;
        }
        match server.asset(&one.asset)? {
            None => applied.gone += 1,
            Some(asset) if asset.place.is_some() => applied.had_place += 1,
            Some(_) => {
                let (server_name, at) = (server.server().to_owned(), one.place_to_write());
                journal.append(&Written { server: server_name, asset: one.asset.clone(), at })?;
                server.set_place(&one.asset, at)?;
                applied.written += 1;
            }
        }
        done();
    }
    Ok(applied)
}
