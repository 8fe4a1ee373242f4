//! What convolutional networks need beside products, on CUDA: patches, depthwise convolutions, ReLU6, means over pixels.
//! Pictures are square, their pixels rows with the channels side by side; padding is TensorFlow's "SAME". The CPU's
//! kernels for such networks work on layouts of their own and live with them.
#![allow(clippy::needless_pass_by_value)] // reason: a writable window is handed over, as in `ops`

use crate::kernel_args::{LaunchGrid, args};
use crate::{NnError, Result, View, ViewMut, cuda, error::check_shape, kernel_source::Kernels};
use std::sync::Arc;

pub use crate::kinds::Walk;

fn context(op: &'static str, view: &ViewMut<'_>) -> Result<Arc<cuda::Context>> {
    let context = view.cuda().ok_or(NnError::DeviceMismatch { op })?;
    context.prepare(Kernels::Conv)?;
    Ok(context)
}

/// The RGB pixels under the kernel at each of its places, one row each; one picture a row of `pixels`.
pub fn patches(out: ViewMut<'_>, pixels: View<'_>, walk: Walk) -> Result<()> {
    const OP: &str = "conv::patches";
    walk.check(OP)?;
    pixels.expect_shape(OP, "pixels", pixels.rows, walk.side * walk.side * 3)?;
    out.expect_shape(OP, "out", pixels.rows * walk.out_side().pow(2), walk.kernel * walk.kernel * 3)?;
    let args = args!(&out, pixels, out.cols, walk);
    context(OP, &out)?.launch("conv_patches", LaunchGrid::each(&out), &args)
}

/// Each channel with a kernel of its own, a bias and ReLU6; with `clamp`, ReLU6 before it too. `taps` has a row for each
/// place in the kernel.
pub fn depthwise(out: ViewMut<'_>, x: View<'_>, taps: View<'_>, bias: View<'_>, walk: Walk, clamp: bool) -> Result<()> {
    const OP: &str = "conv::depthwise";
    walk.check(OP)?;
    let pictures = x.rows / walk.side.pow(2);
    x.expect_shape(OP, "x", pictures * walk.side.pow(2), out.cols)?;
    out.expect_shape(OP, "out", pictures * walk.out_side().pow(2), x.cols)?;
    taps.expect_shape(OP, "taps", walk.kernel.pow(2), out.cols)?;
    bias.expect_shape(OP, "bias", 1, out.cols)?;
    let args = args!(&out, x, taps, bias, out.cols, walk, i32::from(clamp));
    context(OP, &out)?.launch("depthwise", LaunchGrid::each(&out), &args)
}

/// In place `x ← min(max(x, 0), 6)`.
pub fn relu6(x: ViewMut<'_>) -> Result<()> {
    context("conv::relu6", &x)?.launch("clamp_relu6", LaunchGrid::each(&x), &args!(&x, x.cols))
}

/// ReLU6, then the mean over the pixels of each picture; a picture a row of `out`.
pub fn mean_relu6(out: ViewMut<'_>, x: View<'_>) -> Result<()> {
    const OP: &str = "conv::mean_relu6";
    check_shape(out.rows > 0 && out.cols == x.cols && x.rows.is_multiple_of(out.rows), OP, || {
        format!("{}×{} into {}×{}", x.rows, x.cols, out.rows, out.cols)
    })?;
    context(OP, &out)?.launch("mean_relu6", LaunchGrid::each(&out), &args!(&out, x, out.cols, x.rows / out.rows))
}
