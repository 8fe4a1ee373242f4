//! Sums and soft maxima over rows and columns.

use crate::cpu::reduce::{add_four_rows, add_row, dot, softmax_row};
use crate::kernel_args::{LaunchGrid, expect_shapes, run};
use crate::{Result, View, ViewMut, cpu::PARALLEL_FROM, cpu::for_rows, cpu::for_rows2, error::check_shape};
use rayon::prelude::*;

/// `out = Σ rows of x`, or added to what `out` holds.
pub fn column_sums(out: ViewMut<'_>, x: View<'_>, accumulate: bool) -> Result<()> {
    const OP: &str = "column_sums";
    expect_shapes!(OP, 1, x.cols; out);
    run!(OP, LaunchGrid::Columns(x.cols), [&out, x, x.rows, x.cols, i32::from(accumulate)]; out, x => {
        let (share, mut out) = (x.cols.div_ceil(rayon::current_num_threads()).max(64), out);
        let piece = if x.rows * x.cols < PARALLEL_FROM { x.cols.max(1) } else { share };
        out.row(0).par_chunks_mut(piece).enumerate().for_each(|(k, out)| {
            if !accumulate {
                out.fill(0.0);
            }
            let row = |r: usize| &x.row(r)[k * piece..];
            let fours = x.rows / 4 * 4;
            (0..fours).step_by(4).for_each(|r| add_four_rows(out, [row(r), row(r + 1), row(r + 2), row(r + 3)]));
            (fours..x.rows).for_each(|r| add_row(out, row(r)));
        });
    })
}

/// In place `x ← scale·softmax(x + bias)` row by row, and the log-sum-exp of `x + bias` into `lse`.
pub fn softmax(x: ViewMut<'_>, lse: ViewMut<'_>, bias: Option<View<'_>>, scale: f32) -> Result<()> {
    const OP: &str = "softmax";
    check_shape(x.cols > 0, OP, || "no columns".to_owned())?;
    expect_shapes!(OP, x.rows, 1; lse);
    bias.iter().try_for_each(|bias| bias.expect_shape(OP, "bias", 1, x.cols))?;
    run!(OP, LaunchGrid::Rows(x.rows), [&x, &lse, bias, x.cols, scale]; x, lse => {
        let bias = bias.map(|bias| bias.cpu(OP)).transpose()?.map_or(&[][..], |bias| bias.row(0));
        for_rows2(x, lse, |_, x, lse| lse[0] = softmax_row(x, bias, scale));
    })
}

/// `out = alpha·(a·b) + beta·out`, one scalar product a row; with `beta = 0` what `out` held is ignored.
pub fn row_dot(out: ViewMut<'_>, a: View<'_>, b: View<'_>, alpha: f32, beta: f32) -> Result<()> {
    const OP: &str = "row_dot";
    expect_shapes!(OP, a.rows, a.cols; b);
    expect_shapes!(OP, a.rows, 1; out);
    run!(OP, LaunchGrid::Rows(a.rows), [&out, a, b, a.cols, alpha, beta]; out, a, b => for_rows(out, |r, out| {
        let kept = if beta == 0.0 { 0.0 } else { beta * out[0] };
        out[0] = alpha.mul_add(dot(a.row(r), b.row(r)), kept);
    }))
}
