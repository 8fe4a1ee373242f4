//! Ctrl-C for commands that save what they have before they stop.

use std::sync::{Arc, Mutex, PoisonError, atomic::AtomicBool, atomic::Ordering};

/// The wishes to stop of the commands that can, and run now.
static RUNNING: Mutex<Vec<Arc<AtomicBool>>> = Mutex::new(Vec::new());

/// While it lives, the first interrupt sets [`InterruptGuard::stop`] instead of ending the process.
pub struct InterruptGuard(Arc<AtomicBool>);

impl InterruptGuard {
    /// From here on.
    pub fn begin() -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        RUNNING.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&stop));
        Self(stop)
    }

    /// Becomes true when the command shall save and stop.
    pub fn stop(&self) -> &AtomicBool {
        &self.0
    }
}

impl Drop for InterruptGuard {
    fn drop(&mut self) {
        RUNNING.lock().unwrap_or_else(PoisonError::into_inner).retain(|stop| !Arc::ptr_eq(stop, &self.0));
    }
}

/// A command that stopped when it was asked to, and has said so: exit code 130.
#[derive(Debug, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

/// Asks the commands that save to stop; false if none runs or all have been asked before. What is half written is removed
/// then, for the process is about to end.
pub fn ask_to_stop() -> bool {
    let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    // Every one is asked, also after one that was not asked before.
    let asked = running.iter().filter(|stop| !stop.swap(true, Ordering::SeqCst)).count();
    if asked == 0 {
        locdiff_base::AtomicFile::remove_all_pending();
    }
    asked > 0
}

/// Handles the interrupts of this process: commands that can are asked to stop; where none can, or at the second interrupt, `end`
/// ends the process. For a program's `main` alone: inside another program, such as Python, interrupts are its own.
pub fn handle(end: impl Fn() + Send + 'static) {
    // Fails only where a handler is set already, which is no reason to stop.
    let _ = ctrlc::set_handler(move || {
        if !ask_to_stop() {
            end();
        }
    });
}
