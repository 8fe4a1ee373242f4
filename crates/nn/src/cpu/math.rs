//! Branch-free f32 functions that LLVM can vectorise, a few ulp from the exact value. To be fast they must be inlined into
//! code compiled for wide registers (here a `simd_kernel`, elsewhere a `pulp` kernel).
#![allow(clippy::excessive_precision)] // reason: coefficients are copied digit by digit

/// π/2 in three parts, so that subtracting a multiple keeps its low bits (Cody and Waite).
const HALF_PI: [f32; 3] = [1.570_739_746_093_75, 5.657_970_905_303_955e-5, 9.920_936_294_705_029e-10];

/// `x − q·π/2`, exact to f32 for |q| up to about 10⁵.
#[inline(always)]
fn reduce(x: f32, q: f32) -> f32 {
    let r = q.mul_add(-HALF_PI[0], x);
    let r = q.mul_add(-HALF_PI[1], r);
    q.mul_add(-HALF_PI[2], r)
}

/// sin r for |r| ≤ π/2 (minimax polynomial, as in SLEEF's 3.5-ulp sine).
#[inline(always)]
fn sin_core(r: f32) -> f32 {
    let s = r * r;
    let p = 2.608_315_980_978_659_354_150_3e-6_f32
        .mul_add(s, -1.981_069_071_916_863_322_258e-4)
        .mul_add(s, 8.333_078_585_565_090_179_443e-3)
        .mul_add(s, -0.166_666_597_127_914_428_710_938);
    (s * p).mul_add(r, r)
}

/// Flips the sign of `v` if the integer-valued `k` is odd.
#[inline(always)]
fn negate_if_odd(v: f32, k: f32) -> f32 {
    f32::from_bits(v.to_bits() ^ ((k as i32 as u32) << 31))
}

/// sin x, absolute error under 2e-7 for |x| ≤ 10⁴.
#[inline(always)]
pub(crate) fn sin(x: f32) -> f32 {
    let k = (x * std::f32::consts::FRAC_1_PI).round_ties_even();
    negate_if_odd(sin_core(reduce(x, 2.0 * k)), k)
}

/// cos x, absolute error under 2e-7 for |x| ≤ 10⁴.
#[inline(always)]
pub(crate) fn cos(x: f32) -> f32 {
    // cos x = sin(x + π/2); with k = round(x/π − 1/2) the argument is x − (2k+1)·π/2, and the sign that of k + 1.
    let k = x.mul_add(std::f32::consts::FRAC_1_PI, -0.5).round_ties_even();
    negate_if_odd(sin_core(reduce(x, 2.0f32.mul_add(k, 1.0))), k + 1.0)
}

/// exp x, relative error under 2e-7; 0 below −87, capped at exp 88.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    let clamped = x.clamp(-87.3, 88.0);
    let k = (clamped * std::f32::consts::LOG2_E).round_ties_even();
    let r = k.mul_add(-0.693_359_375, clamped);
    let r = k.mul_add(2.121_944_4e-4, r);
    let p = 1.987_569_15e-4_f32
        .mul_add(r, 1.398_199_95e-3)
        .mul_add(r, 8.333_451_9e-3)
        .mul_add(r, 4.166_579_6e-2)
        .mul_add(r, 1.666_666_55e-1)
        .mul_add(r, 5.000_000_1e-1);
    let y = p.mul_add(r * r, r + 1.0);
    let scale = f32::from_bits(((k as i32 + 127) << 23) as u32);
    if x < -87.3 { 0.0 } else { scale * y }
}

/// ln x for normal x > 0, relative error under 3e-7 (the Cephes polynomial on [√½, √2]).
#[inline(always)]
pub(crate) fn ln(x: f32) -> f32 {
    let bits = x.to_bits();
    // Split x = m·2^e with m in [√½, √2): subtracting √½'s bits first makes the exponent field change there.
    let shifted = bits.wrapping_sub(0x3f35_04f3) as i32;
    let e = (shifted >> 23) as f32;
    let m = f32::from_bits(((shifted & 0x007f_ffff) as u32).wrapping_add(0x3f35_04f3));
    let r = m - 1.0;
    let s = r * r;
    let p = 7.037_683_6e-2_f32
        .mul_add(r, -1.151_461e-1)
        .mul_add(r, 1.167_699_9e-1)
        .mul_add(r, -1.242_014_1e-1)
        .mul_add(r, 1.424_932_3e-1)
        .mul_add(r, -1.666_805_8e-1)
        .mul_add(r, 2.000_071_5e-1)
        .mul_add(r, -2.499_999_4e-1)
        .mul_add(r, 3.333_333_1e-1);
    let tail = (r * s).mul_add(p, e * -2.121_944_4e-4);
    let small = s.mul_add(-0.5, tail);
    e.mul_add(0.693_359_375, r + small)
}

/// erf x, absolute error under 3e-7 (rational minimax on [−4, 4], as in Eigen).
#[inline(always)]
pub fn erf(x: f32) -> f32 {
    let x = x.clamp(-4.0, 4.0);
    let s = x * x;
    let p = (-2.726_142_258_013_06e-10_f32)
        .mul_add(s, 2.770_681_424_959_02e-8)
        .mul_add(s, -2.101_024_020_825_08e-6)
        .mul_add(s, -5.692_506_394_623_46e-5)
        .mul_add(s, -7.349_906_303_268_55e-4)
        .mul_add(s, -2.954_599_808_540_25e-3)
        .mul_add(s, -1.609_603_332_624_15e-2);
    let q = (-1.456_607_184_649_96e-5_f32)
        .mul_add(s, -2.133_740_552_789_05e-4)
        .mul_add(s, -1.682_826_974_382_03e-3)
        .mul_add(s, -7.373_329_167_204_68e-3)
        .mul_add(s, -1.426_473_905_141_89e-2);
    x * p / q
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweep(range: f64) -> impl Iterator<Item = f32> {
        (-20_000..=20_000).map(move |i| (f64::from(i) / 20_000.0 * range) as f32)
    }

    #[test]
    fn sine_and_cosine_are_close_to_f64() {
        for range in [4.0, 100.0, 10_000.0] {
            for x in sweep(range) {
                assert!((f64::from(sin(x)) - f64::from(x).sin()).abs() < 2e-7, "sin {x}");
                assert!((f64::from(cos(x)) - f64::from(x).cos()).abs() < 2e-7, "cos {x}");
            }
        }
    }

    #[test]
    fn exponential_is_close_to_f64() {
        for x in sweep(87.0) {
            let exact = f64::from(x).exp();
            assert!((f64::from(exp(x)) - exact).abs() < 2e-7 * exact, "exp {x}");
        }
        assert!(exp(-1e4) == 0.0 && exp(f32::NEG_INFINITY) == 0.0 && exp(100.0).is_finite());
    }

    #[test]
    fn logarithm_is_close_to_f64() {
        let all = (1..200_000_u32).map(|i| f32::from_bits(i.wrapping_mul(10_007) % 0x7e00_0000 + 0x0080_0000));
        let near_one = (1..1000_u16).map(|k| 1.0 - f32::from(k) * f32::EPSILON / 2.0);
        for x in all.chain(near_one) {
            let exact = f64::from(x).ln();
            assert!((f64::from(ln(x)) - exact).abs() <= 3e-7 * exact.abs(), "ln {x}: {} {exact}", ln(x));
        }
    }

    #[test]
    fn erf_matches_its_series() {
        for x in sweep(5.0).filter(|x| x.abs() <= 3.0) {
            // erf x = 2/√π Σ (−1)^n x^(2n+1) / (n! (2n+1)), summed in f64 where it is accurate.
            let x64 = f64::from(x);
            let (mut term, mut sum) = (x64, x64);
            for n in 1..80 {
                term *= -x64 * x64 / f64::from(n);
                sum += term / f64::from(2 * n + 1);
            }
            let exact = sum * std::f64::consts::FRAC_2_SQRT_PI;
            assert!((f64::from(erf(x)) - exact).abs() < 3e-7, "erf {x}: {} {exact}", erf(x));
        }
        assert!((erf(6.0) - 1.0).abs() < 3e-7 && (erf(-6.0) + 1.0).abs() < 3e-7);
    }
}
