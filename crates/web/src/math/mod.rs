//! The mathematical functions of the module. `f64::exp` and its like are calls of functions that WebAssembly's standard library has in
//! versions of its own; these here take their place, so that an answer is the same bytes as by glibc on other machines.

mod exact;
mod exp_log;
mod minus_one;
mod tables;

/// Functions under the names that the compiler calls, in place of the standard library's.
macro_rules! exported {
    ($($name:ident($($arg:ident),*) -> $ty:ty = $value:expr;)*) => {
        $(
            #[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
            extern "C" fn $name($($arg: $ty),*) -> $ty { $value }
        )*
    };
}

exported! {
    exp(x) -> f64 = exp_log::exp(x);
    log(x) -> f64 = exp_log::log(x);
    sin(x) -> f64 = exact::sin(x);
    cos(x) -> f64 = exact::cos(x);
    tan(x) -> f64 = exact::tan(x);
    asin(x) -> f64 = exact::asin(x);
    acos(x) -> f64 = exact::acos(x);
    atan(x) -> f64 = exact::atan(x);
    atan2(y, x) -> f64 = exact::atan2(y, x);
    hypot(x, y) -> f64 = exact::hypot(x, y);
    pow(x, y) -> f64 = exact::pow(x, y);
    expm1(x) -> f64 = minus_one::expm1(x);
    log1p(x) -> f64 = minus_one::log1p(x);
    expf(x) -> f32 = exp_log::exp(f64::from(x)) as f32;
    logf(x) -> f32 = exp_log::log(f64::from(x)) as f32;
    sinf(x) -> f32 = exact::sin(f64::from(x)) as f32;
    cosf(x) -> f32 = exact::cos(f64::from(x)) as f32;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of 100,000 arguments give other bits than the machine's own function; none may be further than the last place.
    fn others(range: std::ops::Range<f64>, own: extern "C" fn(f64) -> f64, machines: fn(f64) -> f64) -> usize {
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            range.start + (range.end - range.start) * (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let apart = |x: f64| (own(x).to_bits() as i64 - machines(x).to_bits() as i64).abs();
        let all: Vec<i64> = (0..100_000).map(|_| apart(next())).collect();
        assert!(all.iter().all(|apart| *apart <= 1), "{range:?}");
        all.iter().filter(|apart| **apart > 0).count()
    }

    #[test]
    #[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
    fn as_glibc_has_them() {
        if !std::arch::is_x86_feature_detected!("fma") {
            return;
        }
        // The same algorithm.
        assert_eq!(others(-700.0..700.0, exp, f64::exp), 0);
        assert_eq!(others(0.0..1.0, log, f64::ln), 0);
        assert_eq!(others(0.9..1.1, log, f64::ln), 0);
        assert_eq!(others(1.0..1e9, log, f64::ln), 0);
        // Rounded correctly here, nearly so there; and Sun's, up to an order of sums.
        for (range, own, machines, most) in [
            (-7.0..7.0, sin as extern "C" fn(f64) -> f64, f64::sin as fn(f64) -> f64, 300),
            (-7.0..7.0, cos, f64::cos, 300),
            (-0.8..0.8, tan, f64::tan, 400),
            (-1.0..1.0, asin, f64::asin, 300),
            (-1.0..1.0, acos, f64::acos, 300),
            (-9.0..9.0, atan, f64::atan, 300),
            (-9.0..9.0, expm1, f64::exp_m1, 200),
            (-0.9..9.0, log1p, f64::ln_1p, 200),
        ] {
            let found = others(range.clone(), own, machines);
            assert!(found <= most, "{range:?}: {found}");
        }
    }

    #[test]
    fn limits_and_signs() {
        assert_eq!((exp(0.0), exp(-1e4), exp(1e4), exp(f64::NEG_INFINITY)), (1.0, 0.0, f64::INFINITY, 0.0));
        assert_eq!((log(1.0), log(0.0), log(f64::INFINITY)), (0.0, f64::NEG_INFINITY, f64::INFINITY));
        assert!(log(-1.0).is_nan() && exp(f64::NAN).is_nan() && sin(f64::INFINITY).is_nan() && acos(2.0).is_nan());
        assert_eq!((atan2(0.0, -1.0), atan2(-1.0, 0.0)), (std::f64::consts::PI, -std::f64::consts::FRAC_PI_2));
        assert_eq!((hypot(3.0, 4.0), hypot(0.0, -2.0), pow(4.0, -0.5), pow(2.0, 10.0)), (5.0, 2.0, 0.5, 1024.0));
        assert!(sin(-0.0).is_sign_negative() && cos(0.0) == 1.0 && asin(1.0) == std::f64::consts::FRAC_PI_2);
        assert_eq!((expf(0.0), logf(1.0), sinf(0.0), cosf(0.0)), (1.0, 0.0, 0.0, 1.0));
        assert_eq!((sin(1e300), tan(1e-300)), (libm::sin(1e300), 1e-300));
    }
}
