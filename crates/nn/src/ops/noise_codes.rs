//! Noise, times and noisy codes of a training step, drawn in one kernel.

use crate::kernel_args::{LaunchGrid, args, expect_shapes};
use crate::{Indices, Result, Rng, View, ViewMut, error::check_shape, ops};

/// What a training step of a diffusion draws and makes of it, see [`noise_codes`].
#[allow(missing_docs, reason = "the function explains them")]
pub struct NoiseCodes<'a> {
    pub noisy: ViewMut<'a>,
    pub noise: ViewMut<'a>,
    pub t: &'a mut Indices,
    pub t_value: ViewMut<'a>,
}

/// Draws `noise` (a stream of normal numbers) and rows `t` of the tables (another stream), and gives `noisy = mix_rows(code, noise)` at
/// these and `t_value`, the times there: [`fill_normal`](ops::fill_normal), [`fill_indices`](ops::fill_indices), [`mix_rows`](ops::mix_rows) and
/// [`gather_rows`](ops::gather_rows) in one. Fails as they do.
pub fn noise_codes(
    out: NoiseCodes<'_>,
    code: View<'_>,
    (mix, times): (View<'_>, View<'_>),
    rng: &Rng,
    (noise_stream, time_stream): (u32, u32),
) -> Result<()> {
    const OP: &str = "noise_codes";
    let NoiseCodes { mut noisy, mut noise, t, t_value } = out;
    let (rows, steps) = (noisy.rows, times.rows);
    if let Some(context) = noisy.cuda() {
        expect_shapes!(OP, rows, noisy.cols; noise, code);
        expect_shapes!(OP, steps, 2; mix);
        expect_shapes!(OP, rows, 1; t_value);
        check_shape(t.len() == rows && steps > 0, OP, || format!("{} of {steps} times for {rows} rows", t.len()))?;
        let args =
            args!(&noisy, &noise, &t_value, &*t, code, mix, times, noisy.cols, steps, rng, noise_stream, time_stream);
        return context.launch(OP, LaunchGrid::fours(&noisy), &args);
    }
    ops::fill_normal(noise.reborrow(), rng, noise_stream)?;
    ops::fill_indices(t, steps as u32, rng, time_stream)?;
    ops::mix_rows(noisy.reborrow(), code, noise.as_view(), mix, t)?;
    ops::gather_rows(t_value, times, t)
}
