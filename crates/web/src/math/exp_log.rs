//! `exp` and `log` as glibc has them on processors with fused multiplications: Arm's optimized routines, every product that is added to
//! something fused with the addition.

use super::tables::{EXP, EXP_POLY, INV_LN2_N, LN2, LOG, LOG_NEAR_ONE, LOG_POLY, NEG_LN2_N};

/// The exponent of a double with its sign.
fn top12(x: f64) -> u32 {
    (x.to_bits() >> 52) as u32
}

/// eˣ.
pub(super) fn exp(x: f64) -> f64 {
    const SHIFT: f64 = 6755399441055744.0; // 1.5·2⁵²
    let top = top12(x) & 0x7ff;
    // 2⁻⁵⁴, 512 and 1024.
    let is_special = top.wrapping_sub(0x3c9) >= 0x408 - 0x3c9;
    if is_special && top < 0x3c9 {
        return 1.0 + x;
    }
    if top >= 0x409 {
        return match x {
            _ if x.is_nan() || x == f64::INFINITY => x,
            _ if x < 0.0 => 0.0,
            _ => f64::INFINITY,
        };
    }
    let shifted = INV_LN2_N.mul_add(x, SHIFT);
    let (k, whole) = (shifted.to_bits(), shifted - SHIFT);
    let r = whole.mul_add(NEG_LN2_N[1], whole.mul_add(NEG_LN2_N[0], x));
    let index = 2 * (k % 128) as usize;
    let (tail, bits) = (f64::from_bits(EXP[index]), EXP[index + 1].wrapping_add(k << 45));
    let r2 = r * r;
    let [c2, c3, c4, c5] = EXP_POLY;
    let low = r2.mul_add(r.mul_add(c3, c2), tail + r);
    let rest = (r2 * r2).mul_add(r.mul_add(c5, c4), low);
    if is_special {
        return scaled(rest, bits, k);
    }
    let scale = f64::from_bits(bits);
    scale.mul_add(rest, scale)
}

/// `scale + scale·rest` where the scale may be too large or too small for a double.
fn scaled(rest: f64, bits: u64, k: u64) -> f64 {
    if k & 0x8000_0000 == 0 {
        let scale = f64::from_bits(bits.wrapping_sub(1009 << 52));
        return f64::from_bits((1023 + 1009) << 52) * scale.mul_add(rest, scale);
    }
    let scale = f64::from_bits(bits.wrapping_add(1022 << 52));
    let mut y = scale.mul_add(rest, scale);
    if y < 1.0 {
        let low = scale.mul_add(rest, scale - y);
        let high = 1.0 + y;
        let low = 1.0 - high + y + low;
        y = (high + low) - 1.0;
    }
    f64::MIN_POSITIVE * y
}

/// ln x.
pub(super) fn log(x: f64) -> f64 {
    const LOW: u64 = 0x3fee_0000_0000_0000; // 1 − 2⁻⁴
    const HIGH: u64 = 0x3ff1_0900_0000_0000; // 1 + 1.03515625·2⁻⁴
    const OFF: u64 = 0x3fe6_0000_0000_0000;
    let mut bits = x.to_bits();
    if bits.wrapping_sub(LOW) < HIGH - LOW {
        return log_near_one(x);
    }
    let top = (bits >> 48) as u32;
    if top.wrapping_sub(0x10) >= 0x7ff0 - 0x10 {
        match x {
            0.0 => return f64::NEG_INFINITY,
            f64::INFINITY => return x,
            _ if x.is_nan() || x < 0.0 => return f64::NAN,
            _ => bits = (x * 4503599627370496.0).to_bits() - (52 << 52),
        }
    }
    let part = bits.wrapping_sub(OFF);
    let index = 2 * ((part >> 45) % 128) as usize;
    let k = (part as i64 >> 52) as f64;
    let z = f64::from_bits(bits.wrapping_sub(part & (0xfff << 52)));
    let r = z.mul_add(LOG[index], -1.0);
    let w = k.mul_add(LN2[0], LOG[index + 1]);
    let high = w + r;
    let low = k.mul_add(LN2[1], w - high + r);
    let r2 = r * r;
    let [a0, a1, a2, a3, a4] = LOG_POLY;
    let rest = r2.mul_add(r.mul_add(a4, a3), r.mul_add(a2, a1));
    (r * r2).mul_add(rest, r2.mul_add(a0, low)) + high
}

fn log_near_one(x: f64) -> f64 {
    if x == 1.0 {
        return 0.0;
    }
    let b = LOG_NEAR_ONE;
    let r = x - 1.0;
    let r2 = r * r;
    let r3 = r * r2;
    let last = r3.mul_add(b[10], r2.mul_add(b[9], r.mul_add(b[8], b[7])));
    let middle = r3.mul_add(last, r2.mul_add(b[6], r.mul_add(b[5], b[4])));
    let first = r3.mul_add(middle, r2.mul_add(b[3], r.mul_add(b[2], b[1])));
    let w = r * 134217728.0; // 2²⁷
    let r_high = r + w - w;
    let r_low = r - r_high;
    let w = r_high * r_high * b[0];
    let high = r + w;
    let low = (b[0] * r_low).mul_add(r_high + r, r - high + w);
    r3.mul_add(first, low) + high
}
