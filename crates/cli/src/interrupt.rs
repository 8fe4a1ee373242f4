//! Ctrl-C for commands that save what they have before they stop.

use std::sync::atomic::{AtomicBool, Ordering};

/// A command that can stop well is running.
static RUNNING: AtomicBool = AtomicBool::new(false);
/// It has been asked to.
static STOP: AtomicBool = AtomicBool::new(false);

/// While it lives, the first interrupt sets [`Careful::stop`] instead of ending the process.
pub(crate) struct Careful(());

impl Careful {
    pub(crate) fn begin() -> Self {
        RUNNING.store(true, Ordering::SeqCst);
        Self(())
    }

    /// Becomes true when the command shall save and stop.
    #[expect(clippy::unused_self, reason = "the flag means something only while this lives")]
    pub(crate) fn stop(&self) -> &'static AtomicBool {
        &STOP
    }
}

impl Drop for Careful {
    fn drop(&mut self) {
        RUNNING.store(false, Ordering::SeqCst);
    }
}

/// Asks a command that saves to stop; false if none runs or it has been asked before.
pub(crate) fn ask_to_stop() -> bool {
    RUNNING.load(Ordering::SeqCst) && !STOP.swap(true, Ordering::SeqCst)
}
