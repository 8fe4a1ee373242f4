//! What a product works on, and its end; layer norm and softmax of single rows.

use crate::{Gelu, cpu::reduce, ops::layer_norm_row};

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

/// `gain ⊙ (x − mean)/√(var + eps) + shift` of one row into `out`, all of one length. Panics if the lengths differ.
pub fn normalise_row(out: &mut [f32], x: &[f32], gain: &[f32], shift: &[f32], eps: f32) {
    let n = out.len();
    assert!(x.len() == n && gain.len() == n && shift.len() == n);
    layer_norm_row(out, x, gain, shift, eps);
}

/// In place `row ← softmax(row)`.
pub fn soften_row(row: &mut [f32]) {
    reduce::softmax_row(row, &[], 1.0);
}

#[cfg(test)]
mod tests {
    use super::{normalise_row, soften_row};

    #[test]
    fn rows_agree_with_f64() {
        for n in [1, 15, 16, 50, 257] {
            let x: Vec<f32> = (0..n).map(|i| ((i * 37 % 101) as f32 - 50.0) / 7.0).collect();
            let gain: Vec<f32> = (0..n).map(|i| 1.0 + i as f32 / 300.0).collect();
            let shift: Vec<f32> = (0..n).map(|i| i as f32 / 100.0 - 1.0).collect();
            let mut out = vec![0.0; n];
            normalise_row(&mut out, &x, &gain, &shift, 1e-5);
            let wide: Vec<f64> = x.iter().map(|&v| f64::from(v)).collect();
            let mean = wide.iter().sum::<f64>() / n as f64;
            let variance = wide.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n as f64;
            let total: f64 = wide.iter().map(|v| v.exp()).sum();
            let mut soft = x.clone();
            soften_row(&mut soft);
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
