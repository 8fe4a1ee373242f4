//! Buffers that are kept from picture to picture: touching fresh memory would take a tenth of a picture's time.

use std::sync::{Mutex, PoisonError};

/// Buffers not in use.
#[derive(Default)]
pub(crate) struct Pool<T>(Mutex<Vec<T>>);

impl<T: Default> Pool<T> {
    /// Calls `work` with one that nobody else uses.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        let idle = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut one = idle().pop().unwrap_or_default();
        let result = work(&mut one);
        idle().push(one);
        result
    }
}
