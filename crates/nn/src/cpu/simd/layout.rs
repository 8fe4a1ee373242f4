//! Matrices laid out for the micro-kernel: columns of the right side in panels, rows of the left side in groups.

use super::{kernel::ROWS, kernel::WIDTH, side::Side, simd_kernel, transpose};
use std::ops::Range;

/// Rows of the right side that [`lay_columns`] turns at a time: a cache line of every column.
const TURN: usize = 16;

/// Rows `block` of some columns of `w` as a panel, row by row, `width` numbers each, which are the columns in whole blocks.
/// Behind the columns `out` may hold any number.
pub(super) fn lay_columns(w: Side<'_>, columns: Range<usize>, block: Range<usize>, out: &mut [f32], width: usize) {
    debug_assert!(columns.len() <= width && width <= WIDTH && out.len() >= block.len() * width);
    if !w.transposed {
        let from = &w.mat.data[block.start * w.mat.stride + columns.start..];
        if columns.len() == WIDTH {
            copy_lines(out, from, w.mat.stride, block.len());
        } else {
            for (k, out) in block.zip(out.chunks_exact_mut(width)) {
                out[..columns.len()].copy_from_slice(&w.mat.row(k)[columns.clone()]);
            }
        }
        return;
    }
    let lines = |columns: Range<usize>, out: &mut [f32]| {
        if transpose::to_strides(w.mat, columns.clone(), block.clone(), out, width) {
            return;
        }
        for first in block.clone().step_by(TURN) {
            let out = &mut out[(first - block.start) * width..];
            for (c, column) in columns.clone().enumerate() {
                let values = &w.mat.row(column)[first..block.end.min(first + TURN)];
                out[c..].iter_mut().step_by(width).zip(values).for_each(|(out, value)| *out = *value);
            }
        }
    };
    for first in columns.clone().step_by(TURN) {
        lines(first..columns.end.min(first + TURN), &mut out[first - columns.start..]);
    }
}

simd_kernel! {
    /// A tile's width of every line.
    fn copy_lines(out: &mut [f32], from: &[f32], stride: usize, lines: usize) {
        for (k, out) in out.chunks_exact_mut(WIDTH).take(lines).enumerate() {
            out.copy_from_slice(&from[k * stride..][..WIDTH]);
        }
    }

    /// Every line cut into groups, a few lines at a time: what is written stays together.
    fn copy_groups(packed: &mut [f32], from: &[f32], stride: usize, groups: usize, lines: usize, size: usize) {
        for first in (0..lines).step_by(TURN) {
            let some = TURN.min(lines - first);
            for group in 0..groups {
                let out = &mut packed[group * size + first * ROWS..][..some * ROWS];
                let from = &from[first * stride + group * ROWS..];
                for (k, out) in out.chunks_exact_mut(ROWS).enumerate() {
                    out.copy_from_slice(&from[k * stride..][..ROWS]);
                }
            }
        }
    }
}

/// Columns `block` of some rows of `x`, [`ROWS`] rows side by side in `size` numbers, so that a tile reads them in one stream;
/// rows that are not there repeat the last one or are 0, and what they give is dropped.
pub(super) fn lay_rows(x: Side<'_>, rows: Range<usize>, block: Range<usize>, packed: &mut [f32], size: usize) {
    let groups = rows.len().div_ceil(ROWS);
    debug_assert!(packed.len() >= groups * size && size >= block.len() * ROWS);
    if x.transposed {
        let from = &x.mat.data[block.start * x.mat.stride + rows.start..];
        copy_groups(packed, from, x.mat.stride, rows.len() / ROWS, block.len(), size);
        let rest = rows.start + rows.len() / ROWS * ROWS..rows.end;
        if !rest.is_empty() {
            let out = &mut packed[rows.len() / ROWS * size..];
            for (k, out) in block.zip(out.chunks_exact_mut(ROWS)) {
                out[..rest.len()].copy_from_slice(&x.mat.row(k)[rest.clone()]);
                out[rest.len()..].fill(0.0);
            }
        }
        return;
    }
    if transpose::to_groups(x.mat, rows.clone(), block.clone(), packed, size) {
        return;
    }
    for (group, out) in packed.chunks_mut(size).take(groups).enumerate() {
        let first = rows.start + group * ROWS;
        let lines: [&[f32]; ROWS] = std::array::from_fn(|r| &x.mat.row((first + r).min(rows.end - 1))[block.clone()]);
        for (k, out) in out.chunks_exact_mut(ROWS).take(block.len()).enumerate() {
            out.iter_mut().zip(lines).for_each(|(out, line)| *out = line[k]);
        }
    }
}
