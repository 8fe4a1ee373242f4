//! What a product is made of and written to.

use crate::{aligned::Aligned, cpu::Mat};
use std::{cell::RefCell, marker::PhantomData, ops::Range};

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

/// Rows of values, `stride` apart, whose columns are written by several threads at once, each by one.
pub(crate) struct Columns<'a> {
    values: *mut f32,
    rows: usize,
    width: usize,
    stride: usize,
    of: PhantomData<&'a mut [f32]>,
}

// SAFETY: it gives out values that nobody else has, as its caller promises.
unsafe impl Send for Columns<'_> {}
// SAFETY: the same.
unsafe impl Sync for Columns<'_> {}

impl<'a> Columns<'a> {
    /// Panics if the values are fewer.
    pub(crate) fn new(values: &'a mut [f32], rows: usize, width: usize, stride: usize) -> Self {
        assert!(width <= stride && (rows == 0 || (rows - 1) * stride + width <= values.len()));
        Self { values: values.as_mut_ptr(), rows, width, stride, of: PhantomData }
    }

    /// Where a value is. A caller that writes there keeps to what [`Columns::part`] asks for.
    pub(super) fn place(&self, row: usize, column: usize) -> *mut f32 {
        self.values.wrapping_add(row * self.stride + column)
    }

    /// Some columns of a row.
    ///
    /// # Safety
    /// Nobody else has any of them as long as the answer is used.
    #[allow(clippy::mut_from_ref)] // reason: what it is for
    #[inline]
    pub(crate) unsafe fn part(&self, row: usize, columns: Range<usize>) -> &mut [f32] {
        assert!(row < self.rows && columns.end <= self.width && columns.start <= columns.end);
        // SAFETY: they are inside the values that were borrowed, and the caller's alone.
        unsafe { std::slice::from_raw_parts_mut(self.values.add(row * self.stride + columns.start), columns.len()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_where_they_belong() {
        let mut values = [0.0; 11];
        let columns = Columns::new(&mut values, 3, 3, 4);
        // SAFETY: one at a time.
        unsafe {
            columns.part(1, 1..3).fill(1.0);
            columns.part(2, 0..1).fill(2.0);
        }
        assert_eq!(values, [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 2.0, 0.0, 0.0]);
    }

    #[test]
    #[should_panic(expected = "assertion")]
    fn too_few_values_are_refused() {
        Columns::new(&mut [0.0; 10], 3, 3, 4);
    }
}
