//! What a product is made of.

use crate::{aligned::Aligned, cpu::Mat};
use std::cell::RefCell;

/// One side of a product: a matrix, read as it is or transposed.
#[derive(Clone, Copy)]
pub(crate) struct Side<'a> {
    pub(crate) mat: Mat<'a>,
    pub(crate) transposed: bool,
}

impl Side<'_> {
    /// Rows, columns, row stride and column stride as the product sees them.
    pub(super) fn layout(&self) -> (usize, usize, isize, isize) {
        let Mat { rows, cols, stride, .. } = self.mat;
        if self.transposed { (cols, rows, 1, stride as isize) } else { (rows, cols, stride as isize, 1) }
    }
}

/// What the sums of a product begin with.
#[derive(Clone, Copy)]
pub(crate) enum Start<'a> {
    /// 0: what `c` held is ignored.
    Zero,
    /// What `c` holds.
    Kept,
    /// The same row for every row of `c`.
    Row(&'a [f32]),
}

thread_local! {
    static SCRATCH: RefCell<Aligned> = RefCell::default();
}

/// Calls `f` with `len` numbers of any value, which start on a cache line. Every thread keeps its buffer, since clearing it
/// costs time. `f` must not call this itself.
pub(super) fn with_scratch<R>(len: usize, f: impl FnOnce(&mut [f32]) -> R) -> R {
    SCRATCH.with_borrow_mut(|scratch| f(scratch.window(len)))
}
