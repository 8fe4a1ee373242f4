//! Inference in bf16 on CUDA: matrices that stay rounded, products between them by `cuBLASLt`, and what a transformer has
//! between its products. Sums, norms, soft maxima and the residual stream are f32. The CPU computes in f32 and has no such matrices.
#![allow(clippy::needless_pass_by_value)] // reason: a writable window is handed over, as in `ops`

mod matrix;

pub use matrix::{Bf16Tensor, Bf16View, Bf16ViewMut};

use crate::kernel_args::{EitherView, LaunchGrid, args};
use crate::{Gelu, Result, View, ViewMut, error::check_shape};

/// The widest row of a norm: a warp holds it in registers.
const WIDEST_NORM: usize = 2048;
/// Warps of an attention block, 16 queries each: the fastest of 4, 5, 6 and 9 for 257 tokens on an H200.
const ATTENTION_WARPS: usize = 4;

fn check_product(op: &'static str, (m, n): (usize, usize), x: &Bf16View<'_>, w: &Bf16View<'_>) -> Result<()> {
    check_shape(x.cols == w.cols && x.rows == m && w.rows == n, op, || {
        format!("{}×{} times {}×{} transposed into {m}×{n}", x.rows, x.cols, w.rows, w.cols)
    })
}

/// `y = x·wᵀ + bias`, rounded; the bias one row.
pub fn linear(y: Bf16ViewMut<'_>, x: Bf16View<'_>, w: Bf16View<'_>, bias: Option<Bf16View<'_>>) -> Result<()> {
    const OP: &str = "bf16::linear";
    let y = y.0;
    check_product(OP, (y.rows, y.cols), &x, &w)?;
    bias.iter().try_for_each(|bias| bias.expect_shape(OP, "bias", 1, y.cols))?;
    y.context().gemm_bf16(EitherView::Bf16(y), x, w, 0.0, bias.map(EitherView::Bf16))
}

/// `y = x·wᵀ + beta·y + bias` in f32; the bias one row.
pub fn linear_f32(y: ViewMut<'_>, x: Bf16View<'_>, w: Bf16View<'_>, beta: f32, bias: Option<View<'_>>) -> Result<()> {
    const OP: &str = "bf16::linear_f32";
    check_product(OP, (y.rows, y.cols), &x, &w)?;
    bias.iter().try_for_each(|bias| bias.expect_shape(OP, "bias", 1, y.cols))?;
    x.context().gemm_bf16(EitherView::F32(y.as_view()), x, w, beta, bias.map(EitherView::F32))
}

fn check_norm(op: &'static str, cols: usize, gain_shift: Option<&View<'_>>) -> Result<()> {
    gain_shift.iter().try_for_each(|gain_shift| gain_shift.expect_shape(op, "gain_shift", 1, 2 * cols))?;
    check_shape(cols.is_multiple_of(4) && cols <= WIDEST_NORM, op, || {
        format!("rows of {cols} values: a multiple of 4 up to {WIDEST_NORM} is wanted")
    })
}

/// `y = gain⊙(x − mean)/√(var + eps) + shift` row by row, with `gain_shift = [gain | shift]`, one row.
pub fn layer_norm_bf16(y: Bf16ViewMut<'_>, x: View<'_>, gain_shift: View<'_>, eps: f32) -> Result<()> {
    const OP: &str = "bf16::layer_norm";
    let y = y.0;
    x.expect_shape(OP, "x", y.rows, y.cols)?;
    check_norm(OP, y.cols, Some(&gain_shift))?;
    let args = args!(y, x, gain_shift, y.rows, y.cols, eps);
    let kernel = if y.cols <= 1024 { "layer_norm_bf16" } else { "layer_norm_wide_bf16" };
    y.context().launch(kernel, LaunchGrid::Blocks { blocks: y.rows.div_ceil(8), threads: 256 }, &args)
}

/// The tokens of pictures: row `t` of a picture is `positions[t]`, plus its patch, through a layer norm as in [`layer_norm_bf16`]
/// where there is one. Rows that are more than the patches come first and have none.
pub fn embed_tokens(
    x: ViewMut<'_>,
    patches: Bf16View<'_>,
    positions: View<'_>,
    gain_shift: Option<View<'_>>,
    eps: f32,
) -> Result<()> {
    const OP: &str = "bf16::embed_tokens";
    let tokens = positions.rows;
    check_shape(tokens > 0 && x.rows.is_multiple_of(tokens), OP, || format!("{} rows of {tokens} tokens", x.rows))?;
    positions.expect_shape(OP, "positions", tokens, x.cols)?;
    let places = patches.rows * tokens / x.rows.max(1);
    patches.expect_shape(OP, "patches", x.rows / tokens * places.min(tokens), x.cols)?;
    check_norm(OP, x.cols, gain_shift.as_ref())?;
    let args = args!(&x, patches, positions, gain_shift, x.rows, tokens, tokens - places, x.cols, eps);
    let grid = LaunchGrid::Blocks { blocks: x.rows.div_ceil(8), threads: 256 };
    patches.context().launch("embed_tokens", grid, &args)
}

/// Squares of `patch` pixels as rows, from pictures of `side × side` RGB values, one picture a row of `pixels`.
pub fn patches_bf16(out: Bf16ViewMut<'_>, pixels: Bf16View<'_>, side: usize, patch: usize) -> Result<()> {
    const OP: &str = "bf16::patches";
    let out = out.0;
    pixels.expect_shape(OP, "pixels", pixels.rows, side * side * 3)?;
    check_shape(patch > 0 && patch <= side, OP, || format!("patches of {patch} in {side} pixels"))?;
    out.expect_shape(OP, "out", pixels.rows * (side / patch).pow(2), patch * patch * 3)?;
    let args = args!(out, pixels, out.cols, side, patch);
    out.context().launch("patches_bf16", LaunchGrid::Elements { rows: out.rows, cols: out.stride }, &args)
}

/// The mean of the rows of each group but its first `skip`; a group a row of `out`.
pub fn mean_rows(out: ViewMut<'_>, x: Bf16View<'_>, skip: usize) -> Result<()> {
    const OP: &str = "bf16::mean_rows";
    let group = x.rows / out.rows.max(1);
    x.expect_shape(OP, "x", out.rows * group, out.cols)?;
    check_shape(skip < group, OP, || format!("all but {skip} of {group} rows"))?;
    let args = args!(&out, x, group, skip, out.cols);
    x.context().launch("mean_rows_bf16", LaunchGrid::each(&out), &args)
}

/// In place `x ← f(x)`.
pub fn activate_bf16(kind: Gelu, x: Bf16ViewMut<'_>) -> Result<()> {
    let x = x.0;
    let args = args!(x, x.rows, x.cols, kind as i32);
    x.context().launch("activate_bf16", LaunchGrid::Flat(x.rows * x.cols.div_ceil(8)), &args)
}

/// `softmax(q·kᵀ/√head)·v` for each picture and head: `q` and `out` have `queries` rows a picture and `heads · head`
/// columns, `kv = [k | v]` has `tokens` rows a picture. Fails for heads that are no multiple of 8 or above 128 values.
pub fn attention(out: Bf16ViewMut<'_>, q: Bf16View<'_>, kv: Bf16View<'_>, pictures: usize, heads: usize) -> Result<()> {
    const OP: &str = "bf16::attention";
    let out = out.0;
    check_shape(pictures > 0 && heads > 0 && q.cols.is_multiple_of(heads), OP, || {
        format!("{} columns for {heads} heads of {pictures} pictures", q.cols)
    })?;
    let (queries, tokens, head) = (q.rows / pictures, kv.rows / pictures, q.cols / heads);
    q.expect_shape(OP, "q", pictures * queries, heads * head)?;
    out.expect_shape(OP, "out", q.rows, q.cols)?;
    kv.expect_shape(OP, "kv", pictures * tokens, 2 * q.cols)?;
    let kernels = ["attention_32", "attention_64", "attention_96", "attention_128"];
    let Some(&kernel) = kernels.get(head.wrapping_sub(1) / 32).filter(|_| head.is_multiple_of(8)) else {
        return check_shape(false, OP, || {
            format!("heads of {head} values: multiples of 8 up to 128 are known on CUDA, the CPU takes any")
        });
    };
    // Powers of 2 are cheaper than powers of e.
    let scale = std::f32::consts::LOG2_E / (head as f32).sqrt();
    let args = args!(out, q, kv, tokens, queries, heads, head, scale);
    let warps = ATTENTION_WARPS.min(queries.div_ceil(16));
    let blocks = queries.div_ceil(16 * warps) * heads * pictures;
    q.context().launch(kernel, LaunchGrid::Blocks { blocks, threads: 32 * warps }, &args)
}
