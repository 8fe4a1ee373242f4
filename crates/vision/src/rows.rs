//! Layer norm and softmax of single rows, by SIMD.

use locdiff_nn::math;
use pulp::{Simd, WithSimd};

/// Partial sums of a reduction: one AVX-512 register.
const LANES: usize = 16;

/// `gain ⊙ (x − mean)/√(var + eps) + shift` of one row into `out`, all of one length.
pub(crate) fn layer_norm(out: &mut [f32], x: &[f32], gain: &[f32], shift: &[f32], eps: f32) {
    let n = out.len();
    assert!(x.len() == n && gain.len() == n && shift.len() == n);
    pulp::Arch::new().dispatch(LayerNorm { out, x, gain, shift, eps });
}

struct LayerNorm<'a> {
    out: &'a mut [f32],
    x: &'a [f32],
    gain: &'a [f32],
    shift: &'a [f32],
    eps: f32,
}

impl WithSimd for LayerNorm<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { out, x, gain, shift, eps } = self;
        let n = x.len();
        let mean = sum(x) / n as f32;
        for i in 0..n {
            out[i] = x[i] - mean;
        }
        let rstd = 1.0 / (squares(out) / n as f32 + eps).sqrt();
        for i in 0..n {
            out[i] = gain[i].mul_add(out[i] * rstd, shift[i]);
        }
    }
}

/// In place `row ← softmax(row)`.
pub(crate) fn softmax(row: &mut [f32]) {
    pulp::Arch::new().dispatch(Softmax(row));
}

struct Softmax<'a>(&'a mut [f32]);

impl WithSimd for Softmax<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let row = self.0;
        let mut maxima = [f32::NEG_INFINITY; LANES];
        let (whole, rest) = row.as_chunks::<LANES>();
        for values in whole {
            for k in 0..LANES {
                maxima[k] = if values[k] > maxima[k] { values[k] } else { maxima[k] };
            }
        }
        let mut max = f32::NEG_INFINITY;
        for value in maxima.iter().chain(rest) {
            max = max.max(*value);
        }
        for value in row.iter_mut() {
            *value = math::exp(*value - max);
        }
        let factor = 1.0 / sum(row);
        for value in row.iter_mut() {
            *value *= factor;
        }
    }
}

#[inline(always)]
fn sum(row: &[f32]) -> f32 {
    let mut sums = [0.0; LANES];
    let (whole, rest) = row.as_chunks::<LANES>();
    for values in whole {
        for k in 0..LANES {
            sums[k] += values[k];
        }
    }
    for (sum, value) in sums.iter_mut().zip(rest) {
        *sum += value;
    }
    sums.iter().sum()
}

#[inline(always)]
fn squares(row: &[f32]) -> f32 {
    let mut sums = [0.0; LANES];
    let (whole, rest) = row.as_chunks::<LANES>();
    for values in whole {
        for k in 0..LANES {
            sums[k] = values[k].mul_add(values[k], sums[k]);
        }
    }
    for (sum, value) in sums.iter_mut().zip(rest) {
        *sum = value.mul_add(*value, *sum);
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::{layer_norm, softmax};

    #[test]
    fn rows_agree_with_f64() {
        for n in [1, 15, 16, 50, 257] {
            let x: Vec<f32> = (0..n).map(|i| ((i * 37 % 101) as f32 - 50.0) / 7.0).collect();
            let gain: Vec<f32> = (0..n).map(|i| 1.0 + i as f32 / 300.0).collect();
            let shift: Vec<f32> = (0..n).map(|i| i as f32 / 100.0 - 1.0).collect();
            let mut out = vec![0.0; n];
            layer_norm(&mut out, &x, &gain, &shift, 1e-5);
            let wide: Vec<f64> = x.iter().map(|&v| f64::from(v)).collect();
            let mean = wide.iter().sum::<f64>() / n as f64;
            let variance = wide.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n as f64;
            let total: f64 = wide.iter().map(|v| v.exp()).sum();
            let mut soft = x.clone();
            softmax(&mut soft);
            for i in 0..n {
                let norm = (wide[i] - mean) / (variance + 1e-5).sqrt();
                let expected = f64::from(gain[i]) * norm + f64::from(shift[i]);
                assert!((f64::from(out[i]) - expected).abs() < 1e-5, "{n} {i}: {} {expected}", out[i]);
                let expected = wide[i].exp() / total;
                assert!((f64::from(soft[i]) - expected).abs() < 1e-6, "{n} {i}: {} {expected}", soft[i]);
            }
        }
    }
}
