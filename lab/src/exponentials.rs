//! Many exponentials at a time, with the widest instructions of the processor: readings spend most of their time on them.

use locdiff_nn::math;
use pulp::{Simd, WithSimd};

/// So many are added in f32 before they are added in f64.
const PART: usize = 64;

struct ExpSum<'a> {
    values: &'a [f32],
    temper: f32,
    top: f32,
}

impl WithSimd for ExpSum<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        let Self { values, temper, top } = self;
        let (parts, rest) = values.as_chunks::<PART>();
        let mut sums = [0.0_f32; PART];
        let mut total = 0.0;
        for block in parts.chunks(16) {
            sums.fill(0.0);
            for part in block {
                for (sum, value) in sums.iter_mut().zip(part) {
                    *sum += math::exp(temper * (value - top));
                }
            }
            total += sums.iter().map(|sum| f64::from(*sum)).sum::<f64>();
        }
        total + rest.iter().map(|value| f64::from(math::exp(temper * (value - top)))).sum::<f64>()
    }
}

/// `Σ exp(temper·(value − top))`, to six digits.
pub(crate) fn exp_sum(values: &[f32], temper: f32, top: f32) -> f64 {
    pulp::Arch::new().dispatch(ExpSum { values, temper, top })
}

/// `exp(temper·(value − top))` of each.
pub(crate) fn exps(values: &[f32], temper: f32, top: f32) -> Vec<f32> {
    struct ExpInto<'a>(&'a [f32], f32, f32, &'a mut [f32]);

    impl WithSimd for ExpInto<'_> {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) {
            let Self(values, temper, top, out) = self;
            for (out, value) in out.iter_mut().zip(values) {
                *out = math::exp(temper * (value - top));
            }
        }
    }
    let mut out = vec![0.0; values.len()];
    pulp::Arch::new().dispatch(ExpInto(values, temper, top, &mut out));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_f64() {
        let values: Vec<f32> = (0..5000).map(|k| -(k as f32 * 0.013) % 40.0).collect();
        let wanted: f64 = values.iter().map(|value| (0.7 * (f64::from(*value) + 1.0)).exp()).sum();
        assert!((exp_sum(&values, 0.7, -1.0) / wanted - 1.0).abs() < 1e-6);
        let each: f64 = exps(&values, 0.7, -1.0).iter().map(|value| f64::from(*value)).sum();
        assert!((each / wanted - 1.0).abs() < 1e-6);
    }
}
