//! What a product is made of.

use crate::cpu::Mat;

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
