//! The exponentials and the logarithms of many numbers at once.

use crate::sphere::simd::dispatch;
use pulp::{Simd, WithSimd};
use std::sync::OnceLock;

const STEPS: usize = 128;
/// Numbers at a time.
const BLOCK: usize = 64;

/// Replaces numbers by their exponentials: by [`f64::exp`], or in vectors by the algorithm of the C library glibc, which gives its digits.
pub fn exp_all(values: &mut [f64]) {
    dispatch(Exp { table: table(), work: values });
}

/// `2^(k/128)` as rounded, less k/128 of the exponent's unit, and the relative rest.
fn table() -> &'static [(u64, f64); STEPS] {
    static TABLE: OnceLock<[(u64, f64); STEPS]> = OnceLock::new();
    TABLE.get_or_init(|| {
        let (mut powers, mut root, mut rest) = ([(1.0_f64, 0.0); STEPS], 2.0_f64, 0.0);
        for bit in 0..STEPS.ilog2() {
            let next = root.sqrt();
            (root, rest) = (next, (next.mul_add(-next, root) + rest) / (2.0 * next));
            for (_, (high, low)) in powers.iter_mut().enumerate().filter(|(k, _)| k << bit & (STEPS / 2) != 0) {
                let product = *high * root;
                *low = high.mul_add(root, -product) + (*high * rest + *low * root);
                *high = product + *low;
                *low -= *high - product;
            }
        }
        let parts = |(high, low): (f64, f64), k: u64| (high.to_bits().wrapping_sub(k << 45), low / high);
        std::array::from_fn(|k| parts(powers[k], k as u64))
    })
}

/// Numbers `a·x + b·y + shift`, given (a, x) and (b, y), where x and y have one length.
#[derive(Debug, Clone, Copy)]
pub struct Exponents<'a> {
    /// The factor and the numbers of each term.
    pub terms: [(f64, &'a [f64]); 2],
    /// A number added to each.
    pub shift: f64,
}

impl Exponents<'_> {
    /// Adds the exponential of each number to a sum.
    pub fn add_exp(self, sums: &mut [f64]) {
        dispatch(Exp { table: table(), work: AddExp(self, sums) });
    }

    /// Returns the largest number and the sum of `exp(number − largest)`.
    pub fn sum_exp(self) -> (f64, f64) {
        dispatch(Exp { table: table(), work: SumExp(self) })
    }

    /// Up to [`BLOCK`] numbers from one on, and how many.
    #[inline(always)]
    fn block(&self, from: usize, shift: f64) -> ([f64; BLOCK], usize) {
        let [(a, x), (b, y)] = self.terms;
        let to = (from + BLOCK).min(x.len());
        let (x, y, mut block) = (&x[from..to], &y[from..to], [0.0; BLOCK]);
        for (own, (x, y)) in block.iter_mut().zip(x.iter().zip(y)) {
            *own = a * x + b * y + shift;
        }
        (block, to - from)
    }
}

struct Exp<W> {
    table: &'static [(u64, f64); STEPS],
    work: W,
}

/// The exponentials of a block of numbers.
#[inline(always)]
fn exp_block<S: Simd>(block: &mut [f64; BLOCK], table: &[(u64, f64); STEPS]) {
    let mut is_usual = S::F64_LANES >= 4; // with a fused multiply-add
    for value in &*block {
        is_usual &= value.abs() < 512.0;
    }
    if is_usual {
        usual(block, table);
    } else {
        block.iter_mut().for_each(|value| *value = value.exp());
    }
}

impl WithSimd for Exp<&mut [f64]> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for values in self.work.chunks_mut(BLOCK) {
            let mut block = [0.0; BLOCK];
            block[..values.len()].copy_from_slice(values);
            exp_block::<S>(&mut block, self.table);
            values.copy_from_slice(&block[..values.len()]);
        }
    }
}

struct AddExp<'a>(Exponents<'a>, &'a mut [f64]);

impl WithSimd for Exp<AddExp<'_>> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let AddExp(numbers, sums) = self.work;
        for (sums, from) in sums.chunks_mut(BLOCK).zip((0..).step_by(BLOCK)) {
            let (mut block, _) = numbers.block(from, numbers.shift);
            exp_block::<S>(&mut block, self.table);
            sums.iter_mut().zip(block).for_each(|(sum, value)| *sum += value);
        }
    }
}

struct SumExp<'a>(Exponents<'a>);

impl WithSimd for Exp<SumExp<'_>> {
    type Output = (f64, f64);

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> (f64, f64) {
        let SumExp(numbers) = self.work;
        let (all, mut tops) = (0..numbers.terms[0].1.len(), [f64::NEG_INFINITY; 8]);
        for from in all.clone().step_by(BLOCK) {
            let (mut block, count) = numbers.block(from, numbers.shift);
            block[count..].fill(f64::NEG_INFINITY);
            for values in block.as_chunks::<8>().0 {
                for k in 0..8 {
                    tops[k] = if values[k] > tops[k] { values[k] } else { tops[k] };
                }
            }
        }
        let top = tops.into_iter().fold(f64::NEG_INFINITY, f64::max);
        let mut sums = [0.0; 8];
        for from in all.step_by(BLOCK) {
            let (mut block, count) = numbers.block(from, numbers.shift - top);
            exp_block::<S>(&mut block, self.table);
            block[count..].fill(0.0);
            for values in block.as_chunks::<8>().0 {
                for k in 0..8 {
                    sums[k] += values[k];
                }
            }
        }
        (top, sums.iter().sum())
    }
}

/// `exp(x) = 2^(k/128)·exp(r)` with a polynomial in r, for numbers whose exponential is neither too large nor too small.
#[inline(always)]
fn usual(block: &mut [f64; BLOCK], table: &[(u64, f64); STEPS]) {
    /// 1.5·2^52: adding a number to it rounds the number to an integer.
    const SHIFT: f64 = 6755399441055744.0;
    /// −ln 2/128.
    const MINUS_STEP: [f64; 2] = [-0.005415212348111709, -1.2864023111638346e-14];
    const POLYNOMIAL: [f64; 4] = [0.49999999999996786, 0.16666666666665886, 0.0416666808410674, 0.008333335853059549];
    let (mut scales, mut rests) = ([0.0; BLOCK], [0.0; BLOCK]);
    for i in 0..BLOCK {
        scales[i] = block[i].mul_add(std::f64::consts::LOG2_E * STEPS as f64, SHIFT);
        let k = scales[i] - SHIFT;
        block[i] = k.mul_add(MINUS_STEP[1], k.mul_add(MINUS_STEP[0], block[i]));
    }
    // The loop that does not go in vectors.
    for i in 0..BLOCK {
        let bits = scales[i].to_bits();
        let (scale, rest) = table[bits as usize % STEPS];
        (scales[i], rests[i]) = (f64::from_bits(scale.wrapping_add(bits << 45)), rest);
    }
    for i in 0..BLOCK {
        let (r, square) = (block[i], block[i] * block[i]);
        let low = r.mul_add(POLYNOMIAL[1], POLYNOMIAL[0]).mul_add(square, rests[i] + r);
        let tail = (square * square).mul_add(r.mul_add(POLYNOMIAL[3], POLYNOMIAL[2]), low);
        block[i] = scales[i].mul_add(tail, scales[i]);
    }
}

/// Replaces numbers by their natural logarithms, to four units in the last place: the same bits on every machine.
pub fn ln_all(values: &mut [f64]) {
    dispatch(Ln(values));
}

struct Ln<'a>(&'a mut [f64]);

impl WithSimd for Ln<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let is_usual = |value: &f64| (f64::MIN_POSITIVE..=f64::MAX).contains(value);
        for values in self.0.chunks_mut(BLOCK) {
            if values.iter().filter(|value| is_usual(value)).count() == values.len() {
                values.iter_mut().for_each(|value| *value = ln(*value));
            } else {
                values.iter_mut().for_each(|value| *value = value.ln());
            }
        }
    }
}

/// `k·ln 2 + 2·artanh((m − 1)/(m + 1))` for a normal number m·2^k with m between √½ and √2.
#[inline(always)]
fn ln(value: f64) -> f64 {
    /// The bits of √½, of 1 and of 2^52.
    const ROOT: u64 = 0x3fe6a09e667f3bcd;
    const ONE: u64 = 0x3ff0000000000000;
    const SHIFT: u64 = 0x4330000000000000;
    let exponent = value.to_bits().wrapping_sub(ROOT).wrapping_add(ONE) >> 52;
    let k = f64::from_bits(SHIFT | exponent) - (4503599627370496.0 + 1023.0);
    let m = f64::from_bits(value.to_bits().wrapping_sub(exponent << 52).wrapping_add(ONE));
    let s = (m - 1.0) / (m + 1.0);
    let z = s * s;
    let mut sum = 1.0 / 21.0;
    for odd in [19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0] {
        sum = sum * z + 1.0 / odd;
    }
    k * std::f64::consts::LN_2 + (2.0 * s + 2.0 * s * z * sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_those_of_the_standard_library() {
        let mut numbers: Vec<f64> = (1..200_000).map(|k| 1e-9 * f64::from(k).powi(3)).collect();
        numbers.extend([1.0, f64::MIN_POSITIVE, f64::MAX, 0.5_f64.sqrt(), 1.0 - 1e-12, 1.0 + 1e-12]);
        numbers.resize(numbers.len().next_multiple_of(BLOCK), 7.0);
        numbers.extend([0.0, 1e-310, f64::INFINITY, 3.0]);
        let mut found = numbers.clone();
        ln_all(&mut found);
        for (x, found) in numbers.iter().zip(&found) {
            assert!(x.ln() == *found || (x.ln() - found).abs() <= 9e-16 * x.ln().abs(), "{x}: {found}");
        }
    }

    /// Sums of exponentials against the plain sums.
    #[test]
    fn sums_of_exponentials_are_plain_sums() {
        let numbers = |from: usize| -> Vec<f64> { (from..from + 1003).map(|k| 9.0 * (k as f64 * 0.7).sin()).collect() };
        let (x, y) = (numbers(0), numbers(50));
        for shift in [-3.0, 900.0] {
            let own = Exponents { terms: [(0.5, &x), (-2.0, &y)], shift };
            let plain: Vec<f64> = x.iter().zip(&y).map(|(x, y)| 0.5 * x - 2.0 * y + shift).collect();
            let (top, sum) = own.sum_exp();
            assert_eq!(top, plain.iter().copied().fold(f64::MIN, f64::max));
            let wanted: f64 = plain.iter().map(|value| (value - top).exp()).sum();
            assert!((sum / wanted - 1.0).abs() < 1e-13, "{sum} {wanted}");
            let mut sums = x.clone();
            own.add_exp(&mut sums);
            let mut wanted = x.iter().zip(&plain).map(|(x, value)| x + value.exp()).zip(&sums);
            assert!(wanted.all(|(wanted, sum)| wanted == *sum || (wanted - sum).abs() <= 1e-13 * wanted.abs()));
        }
    }

    #[test]
    fn exponentials_are_those_of_the_standard_library() {
        for reach in [1e-9, 1.0, 40.0, 511.0, 800.0] {
            let numbers: Vec<f64> = (0..100_001).map(|k| reach * (f64::from(k) / 50_000.0 - 1.0)).collect();
            let mut found = numbers.clone();
            exp_all(&mut found);
            let mut pairs = numbers.iter().zip(&found);
            assert!(pairs.all(|(x, found)| x.exp().to_bits().abs_diff(found.to_bits()) <= 1));
        }
    }
}
