//! The exponentials of many numbers at once.

use crate::sphere::simd::dispatch;
use pulp::{Simd, WithSimd};
use std::sync::OnceLock;

const STEPS: usize = 128;
/// 2^(1/2), 2^(1/4) … 2^(1/128), each with what rounding it left.
const ROOTS: [[f64; 2]; 7] = [
    [1.4142135623730951, -9.667293313452913e-17],
    [1.189207115002721, 3.982015231465646e-17],
    [1.0905077326652577, -3.046782079812471e-17],
    [1.0442737824274138, 8.551889705537965e-17],
    [1.0218971486541166, 5.109225028973444e-17],
    [1.0108892860517005, -1.5234778603368577e-17],
    [1.0054299011128027, 9.499186535455032e-17],
];

/// Replaces numbers by their exponentials: by [`f64::exp`], or in vectors by the algorithm of the C library glibc, which gives its digits.
pub fn exp_all(values: &mut [f64]) {
    dispatch(Exp { values, table: table() });
}

/// `2^(k/128)` as rounded, less k/128 of the exponent's unit, and the relative rest.
fn table() -> &'static [(u64, f64); STEPS] {
    static TABLE: OnceLock<[(u64, f64); STEPS]> = OnceLock::new();
    TABLE.get_or_init(|| {
        std::array::from_fn(|k| {
            let (mut high, mut low) = (1.0, 0.0);
            for (root, [root_high, root_low]) in ROOTS.iter().enumerate() {
                if k << root & 64 != 0 {
                    let product: f64 = high * root_high;
                    low = f64::mul_add(high, *root_high, -product) + (high * root_low + low * root_high);
                    high = product + low;
                    low -= high - product;
                }
            }
            (high.to_bits().wrapping_sub((k as u64) << 45), low / high)
        })
    })
}

struct Exp<'a> {
    values: &'a mut [f64],
    table: &'static [(u64, f64); STEPS],
}

impl WithSimd for Exp<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for values in self.values.chunks_mut(64) {
            let mut is_usual = S::F64_LANES >= 4; // with a fused multiply-add
            for value in &*values {
                is_usual &= value.abs() < 512.0;
            }
            if is_usual {
                for value in values {
                    *value = usual(*value, self.table);
                }
            } else {
                values.iter_mut().for_each(|value| *value = value.exp());
            }
        }
    }
}

/// `exp(x) = 2^(k/128)·exp(r)` with a polynomial in r, for numbers whose exponential is neither too large nor too small.
#[inline(always)]
fn usual(x: f64, table: &[(u64, f64); STEPS]) -> f64 {
    /// 1.5·2^52: what is added to it is rounded to a whole number.
    const SHIFT: f64 = 6755399441055744.0;
    /// −ln 2/128.
    const MINUS_STEP: [f64; 2] = [-0.005415212348111709, -1.2864023111638346e-14];
    const POLYNOMIAL: [f64; 4] = [0.49999999999996786, 0.16666666666665886, 0.0416666808410674, 0.008333335853059549];
    let shifted = x.mul_add(std::f64::consts::LOG2_E * STEPS as f64, SHIFT);
    let (bits, k) = (shifted.to_bits(), shifted - SHIFT);
    let r = k.mul_add(MINUS_STEP[1], k.mul_add(MINUS_STEP[0], x));
    let (scale, rest) = table[bits as usize % STEPS];
    let scale = f64::from_bits(scale.wrapping_add(bits << 45));
    let square = r * r;
    let low = r.mul_add(POLYNOMIAL[1], POLYNOMIAL[0]).mul_add(square, rest + r);
    let tail = (square * square).mul_add(r.mul_add(POLYNOMIAL[3], POLYNOMIAL[2]), low);
    scale.mul_add(tail, scale)
}
