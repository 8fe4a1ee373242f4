//! Random numbers on the device, and the sampler's update, which uses them.

use crate::{
    Indices, NnError, Result, Rng, RowNoise, View, ViewMut, cpu,
    error::check_shape,
    kernel_args::{Arg, Grid, expect_shapes, on_cuda},
    ops::SamplerStep,
    tensor::IndexStorage,
};

impl Rng {
    /// Adds one to the counter, on the device.
    pub fn advance(&mut self) -> Result<()> {
        if let Some(context) = self.state().cuda() {
            let grid = Grid::Blocks { blocks: 1, threads: 1 };
            return context.launch("advance_counter", grid, &[Arg::Indices(self.state())]);
        }
        if let IndexStorage::Cpu(state) = &mut self.state_mut().storage {
            let counter = (u64::from(state[2]) | u64::from(state[3]) << 32).wrapping_add(1);
            state[2] = counter as u32;
            state[3] = (counter >> 32) as u32;
        }
        Ok(())
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

    pub(crate) fn cpu_key(&self, op: &'static str) -> Result<cpu::random::DropoutKey> {
        let (threshold, scale) = self.threshold_and_scale();
        Ok(cpu::random::DropoutKey { place: self.rng.cpu_place(op)?, stream: self.stream, threshold, scale })
    }
}

/// Uniform numbers in (0, 1). Fails for more than 2³⁴ values.
pub fn fill_uniform(out: ViewMut<'_>, rng: &Rng, stream: u32) -> Result<()> {
    const OP: &str = "fill_uniform";
    check_count(OP, &out)?;
    on_cuda!("fill_random", out, Grid::each(&out), [&out, out.cols, rng, stream, 0]);
    cpu::random::fill_uniform(out.cpu(OP)?, rng.cpu_place(OP)?, stream);
    Ok(())
}

/// Standard normal numbers. Fails for more than 2³⁴ values.
pub fn fill_normal(out: ViewMut<'_>, rng: &Rng, stream: u32) -> Result<()> {
    const OP: &str = "fill_normal";
    check_count(OP, &out)?;
    on_cuda!("fill_random", out, Grid::each(&out), [&out, out.cols, rng, stream, 1]);
    cpu::random::fill_normal(out.cpu(OP)?, rng.cpu_place(OP)?, stream);
    Ok(())
}

/// Standard normal numbers that belong to the rows, wherever they stand: see [`RowNoise`].
pub fn fill_row_noise(out: ViewMut<'_>, noise: &RowNoise, stream: u32) -> Result<()> {
    const OP: &str = "fill_row_noise";
    noise.expect_rows(OP, out.rows)?;
    on_cuda!(OP, out, Grid::each(&out), [&out, out.cols, noise, stream]);
    cpu::random::fill_row_noise(out.cpu(OP)?, noise.cpu(OP)?, stream);
    Ok(())
}

fn check_count(op: &'static str, out: &ViewMut<'_>) -> Result<()> {
    check_shape(out.rows as u64 * out.cols as u64 <= 1 << 34, op, || format!("{}×{} values", out.rows, out.cols))
}

/// Integers from 0 up to but not including `bound`. Fails for a bound of 0.
pub fn fill_indices(out: &mut Indices, bound: u32, rng: &Rng, stream: u32) -> Result<()> {
    const OP: &str = "fill_indices";
    check_shape(bound > 0, OP, || "a bound of 0".to_owned())?;
    on_cuda!(OP, out, Grid::Flat(out.len()), [&*out, out.len(), bound, rng, stream]);
    cpu::random::fill_indices(out.cpu_mut(OP)?, bound, rng.cpu_place(OP)?, stream);
    Ok(())
}

/// Copies `x` with every row zeroed with probability `p`: dropping the condition for classifier-free guidance.
pub fn drop_rows(out: ViewMut<'_>, x: View<'_>, p: f32, rng: &Rng, stream: u32) -> Result<()> {
    const OP: &str = "drop_rows";
    x.expect_shape(OP, "x", out.rows, out.cols)?;
    on_cuda!(OP, out, Grid::each(&out), [&out, x, out.cols, p, rng, stream]);
    cpu::random::drop_rows(out.cpu(OP)?, x.cpu(OP)?, p, rng.cpu_place(OP)?, stream);
    Ok(())
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
    expect_shapes!(OP, x.rows, x.cols; x0, prediction);
    noise.expect_rows(OP, x.rows)?;
    on_cuda!(OP, x, Grid::each(&x), [&x, &x0, prediction, x.cols, step, noise, stream]);
    cpu::random::sampler_step(x.cpu(OP)?, x0.cpu(OP)?, prediction.cpu(OP)?, step, noise.cpu(OP)?, stream);
    Ok(())
}

impl Rng {
    pub(crate) fn cpu_place(&self, op: &'static str) -> Result<cpu::random::Place> {
        let state = self.state().cpu(op)?.try_into().map_err(|_| NnError::DeviceMismatch { op })?;
        Ok(cpu::random::Place { state, first_row: self.first_row() })
    }
}
