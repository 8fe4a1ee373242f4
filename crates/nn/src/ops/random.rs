//! Random numbers on the device, and the sampler's update, which uses them.

use crate::cpu::random::{DropoutKey, Place, block, fill_row, normals, sampler_row, uniform};
use crate::cpu::{for_rows, for_rows2, random};
use crate::kernel_args::{Arg, LaunchGrid, args, expect_shapes, run};
use crate::{Indices, NnError, Result, Rng, RowNoise, View, ViewMut, error::check_shape, ops::SamplerStep};

impl Rng {
    /// Adds one to the counter, on the device.
    pub fn advance(&mut self) -> Result<()> {
        if let Some(context) = self.state.cuda() {
            let grid = LaunchGrid::Blocks { blocks: 1, threads: 1 };
            return context.launch("advance_counter", grid, &[Arg::Indices(&self.state)]);
        }
        let state = self.state.cpu_mut("advance")?;
        let counter = (u64::from(state[2]) | u64::from(state[3]) << 32).wrapping_add(1);
        (state[2], state[3]) = (counter as u32, (counter >> 32) as u32);
        Ok(())
    }

    fn cpu(&self, op: &'static str) -> Result<Place> {
        let state = self.state.cpu(op)?.try_into().map_err(|_| NnError::DeviceMismatch { op })?;
        Ok(Place { state, first_row: self.first_row })
    }
}

/// Where a dropout mask comes from.
#[derive(Clone, Copy)]
pub struct Dropout<'a> {
    /// Share of values dropped, from 0 up to but not including 1.
    pub probability: f32,
    /// The generator.
    pub rng: &'a Rng,
    /// The stream: a number of its own for every place that draws in one step.
    pub stream: u32,
}

impl Dropout<'_> {
    pub(crate) fn threshold_and_scale(&self) -> (u32, f32) {
        let threshold = (f64::from(self.probability) * 4_294_967_296.0) as u32;
        (threshold, 1.0 / (1.0 - self.probability))
    }

    pub(crate) fn cpu(&self, op: &'static str) -> Result<DropoutKey> {
        let (threshold, scale) = self.threshold_and_scale();
        Ok(DropoutKey { place: self.rng.cpu(op)?, stream: self.stream, threshold, scale })
    }
}

/// Uniform numbers in (0, 1). Fails for more than 2³⁴ values.
pub fn fill_uniform(out: ViewMut<'_>, rng: &Rng, stream: u32) -> Result<()> {
    fill("fill_uniform", out, rng, stream, false)
}

/// Standard normal numbers. Fails for more than 2³⁴ values.
pub fn fill_normal(out: ViewMut<'_>, rng: &Rng, stream: u32) -> Result<()> {
    fill("fill_normal", out, rng, stream, true)
}

fn fill(op: &'static str, out: ViewMut<'_>, rng: &Rng, stream: u32, normal: bool) -> Result<()> {
    check_shape(out.rows as u64 * out.cols as u64 <= 1 << 34, op, || format!("{}×{} values", out.rows, out.cols))?;
    if let Some(context) = out.cuda() {
        let args = args!(&out, out.cols, rng, stream, i32::from(normal));
        return context.launch("fill_random", LaunchGrid::each(&out), &args);
    }
    random::fill(out.cpu(op)?, rng.cpu(op)?, stream, normal);
    Ok(())
}

/// Standard normal numbers that belong to the rows, wherever they stand: see [`RowNoise`].
pub fn fill_row_noise(out: ViewMut<'_>, noise: &RowNoise, stream: u32) -> Result<()> {
    const OP: &str = "fill_row_noise";
    noise.expect_rows(OP, out.rows)?;
    let cols = out.cols;
    run!(OP, LaunchGrid::each(&out), [&out, cols, noise, stream]; out, noise => for_rows(out, |r, row| {
        let (state, first) = noise.of(r, cols);
        fill_row(state, stream, first, row, normals);
    }))
}

/// Integers from 0 up to but not including `bound`. Fails for a bound of 0.
pub fn fill_indices(out: &mut Indices, bound: u32, rng: &Rng, stream: u32) -> Result<()> {
    const OP: &str = "fill_indices";
    check_shape(bound > 0, OP, || "a bound of 0".to_owned())?;
    if let Some(context) = out.cuda() {
        return context.launch(OP, LaunchGrid::Flat(out.len()), &args!(&*out, out.len(), bound, rng, stream));
    }
    random::fill_indices(out.cpu_mut(OP)?, bound, rng.cpu(OP)?, stream);
    Ok(())
}

/// Copies `x` with every row zeroed with probability `p`: dropping the condition for classifier-free guidance.
pub fn drop_rows(out: ViewMut<'_>, x: View<'_>, p: f32, rng: &Rng, stream: u32) -> Result<()> {
    const OP: &str = "drop_rows";
    expect_shapes!(OP, out.rows, out.cols; x);
    run!(OP, LaunchGrid::each(&out), [&out, x, out.cols, p, rng, stream]; out, x, rng => for_rows(out, |r, out| {
        let number = rng.first_row + r;
        let keep = uniform(block(rng.state, stream, number / 4)[number % 4]) >= p;
        if keep { out.copy_from_slice(x.row(r)) } else { out.fill(0.0) }
    }))
}

/// One sampler step in place: `x` is advanced, `x0` (the previous clean estimate) replaced by this step's. Fresh noise
/// belongs to the rows.
pub fn sampler_step(
    x: ViewMut<'_>,
    x0: ViewMut<'_>,
    prediction: View<'_>,
    step: SamplerStep,
    noise: &RowNoise,
    stream: u32,
) -> Result<()> {
    const OP: &str = "sampler_step";
    // Columns in pieces, so that the noise fits on the stack.
    const PIECE: usize = 256;
    expect_shapes!(OP, x.rows, x.cols; x0, prediction);
    noise.expect_rows(OP, x.rows)?;
    let cols = x.cols;
    run!(OP, LaunchGrid::each(&x), [&x, &x0, prediction, cols, step, noise, stream]; x, x0, prediction, noise =>
    for_rows2(x, x0, |r, x, x0| {
        let (state, first) = noise.of(r, cols);
        let mut values = [0.0; PIECE];
        for start in (0..cols).step_by(PIECE) {
            let end = (start + PIECE).min(cols);
            let values = &mut values[..end - start];
            if step.x_from_noise != 0.0 {
                fill_row(state, stream, first + start, values, normals);
            }
            sampler_row(&mut x[start..end], &mut x0[start..end], &prediction.row(r)[start..end], values, step);
        }
    }))
}
