//! Room for operands that are laid out for one product: kept by every thread, since clearing it anew costs time.

use crate::aligned::Aligned;
use std::cell::RefCell;

thread_local! {
    static SCRATCH: RefCell<Aligned> = RefCell::default();
}

/// Calls `f` with `len` numbers of any value, which start on a cache line. `f` must not call this itself.
pub(super) fn with_scratch<R>(len: usize, f: impl FnOnce(&mut [f32]) -> R) -> R {
    SCRATCH.with_borrow_mut(|scratch| f(scratch.window(len)))
}
