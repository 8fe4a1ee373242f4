//! `expm1` and `log1p` by Sun's algorithms (fdlibm, Copyright (C) 1993 by Sun Microsystems, Inc.; permission to use, copy, modify and
//! distribute it is freely granted, provided that this notice is preserved), their polynomials summed in glibc's order.

const LN2: [f64; 2] = [6.93147180369123816490e-01, 1.90821492927058770002e-10];

/// eˣ − 1.
pub(super) fn expm1(x: f64) -> f64 {
    const Q: [f64; 5] = [
        -3.33333333333331316428e-02,
        1.58730158725481460165e-03,
        -7.93650757867487942473e-05,
        4.00821782732936239552e-06,
        -2.01099218183624371326e-07,
    ];
    let size = (x.abs().to_bits() >> 32) as u32;
    if !(-37.0..709.0).contains(&x) || size < 0x3c90_0000 {
        return libm::expm1(x);
    }
    let (x, c, k) = if size > 0x3fd6_2e42 {
        let (high, low, k) = if size < 0x3ff0_a2b2 {
            let sign = 1.0_f64.copysign(x);
            (x - sign * LN2[0], sign * LN2[1], sign as i32)
        } else {
            let k = (std::f64::consts::LOG2_E * x + 0.5_f64.copysign(x)) as i32;
            (x - f64::from(k) * LN2[0], f64::from(k) * LN2[1], k)
        };
        let rest = high - low;
        (rest, (high - rest) - low, k)
    } else {
        (x, 0.0, 0)
    };
    let half = 0.5 * x;
    let hxs = x * half;
    let square = hxs * hxs;
    let (first, second, third) = (1.0 + hxs * Q[0], Q[1] + hxs * Q[2], Q[3] + hxs * Q[4]);
    let r1 = first + square * second + square * square * third;
    let t = 3.0 - r1 * half;
    let e = hxs * ((r1 - t) / (6.0 - x * t));
    if k == 0 {
        return x - (x * e - hxs);
    }
    let e = x * (e - c) - c - hxs;
    let power = |k: i32| f64::from_bits(((1023 + k) as u64) << 52);
    match k {
        -1 => 0.5 * (x - e) - 0.5,
        1 if x < -0.25 => -2.0 * (e - (x + 0.5)),
        1 => 1.0 + 2.0 * (x - e),
        _ if k <= -2 || k > 56 => scaled(1.0 - (e - x), k) - 1.0,
        _ if k < 20 => scaled(1.0 - power(-k) - (e - x), k),
        _ => scaled(x - (e + power(-k)) + 1.0, k),
    }
}

/// `y·2ᵏ`, by its exponent.
fn scaled(y: f64, k: i32) -> f64 {
    f64::from_bits(y.to_bits().wrapping_add((i64::from(k) as u64) << 52))
}

/// ln (1 + x).
pub(super) fn log1p(x: f64) -> f64 {
    const LP: [f64; 7] = [
        6.666666666666735130e-01,
        3.999999999940941908e-01,
        2.857142874366239149e-01,
        2.222219843214978396e-01,
        1.818357216161805012e-01,
        1.531383769920937332e-01,
        1.479819860511658591e-01,
    ];
    let top = (x.to_bits() >> 32) as i32;
    if !(x > -1.0 && x < 9e15) || x.abs() < 1e-8 {
        return libm::log1p(x);
    }
    let (f, c, k, rest) = if top < 0x3fda_827a && (top > 0 || top as u32 <= 0xbfd2_bec3) {
        (x, 0.0, 0, 1)
    } else {
        let u = 1.0 + x;
        let mut high = (u.to_bits() >> 32) as i32;
        let mut k = (high >> 20) - 1023;
        let c = if k > 0 { 1.0 - (u - x) } else { x - (u - 1.0) } / u;
        high &= 0x000f_ffff;
        let low = u.to_bits() & 0xffff_ffff;
        let u = if high < 0x6a09e {
            f64::from_bits(u64::from(high as u32 | 0x3ff0_0000) << 32 | low)
        } else {
            k += 1;
            let halved = f64::from_bits(u64::from(high as u32 | 0x3fe0_0000) << 32 | low);
            high = (0x0010_0000 - high) >> 2;
            halved
        };
        (u - 1.0, c, k, high)
    };
    let half_square = 0.5 * f * f;
    let whole = f64::from(k);
    if rest == 0 {
        if f == 0.0 {
            return if k == 0 { 0.0 } else { whole * LN2[0] + (c + whole * LN2[1]) };
        }
        let r = half_square * (1.0 - 0.66666666666666666 * f);
        return if k == 0 { f - r } else { whole * LN2[0] - ((r - (whole * LN2[1] + c)) - f) };
    }
    let s = f / (2.0 + f);
    let z = s * s;
    let z2 = z * z;
    let z4 = z2 * z2;
    let (second, third, fourth) = (LP[1] + z * LP[2], LP[3] + z * LP[4], LP[5] + z * LP[6]);
    let r = z * LP[0] + z2 * second + z4 * third + z4 * z2 * fourth;
    if k == 0 {
        return f - (half_square - s * (half_square + r));
    }
    whole * LN2[0] - ((half_square - (s * (half_square + r) + (whole * LN2[1] + c))) - f)
}
