//! What a product works on, and its end.

use crate::Gelu;

/// What happens to the sums of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// They are stored.
    Store,
    /// They are added to what the output holds.
    Add,
    /// They are activated and stored.
    Activate(Gelu),
}

/// Rows of inputs, `stride` values apart, and where their outputs go, `output_stride` apart.
pub(super) struct Job<'a> {
    pub(super) rows: usize,
    pub(super) input: &'a [f32],
    pub(super) stride: usize,
    pub(super) output: &'a mut [f32],
    pub(super) output_stride: usize,
    pub(super) finish: Finish,
}

#[cfg(test)]
pub(super) fn wave(i: usize) -> f32 {
    ((i * 37 % 101) as f32 - 50.0) / 60.0
}
