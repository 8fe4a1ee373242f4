//! Multiply and add with one rounding. WebAssembly has it for vectors alone, and there only where the processor has it, too; `mul_add`
//! becomes a call of these functions, which would else do it by integers.

use std::arch::wasm32::f64x2_splat;
use std::arch::wasm32::{f32x4_extract_lane, f32x4_relaxed_madd, f32x4_splat, f64x2_extract_lane, f64x2_relaxed_madd};

/// `a·b + c`.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn fmaf(a: f32, b: f32, c: f32) -> f32 {
    f32x4_extract_lane::<0>(f32x4_relaxed_madd(f32x4_splat(a), f32x4_splat(b), f32x4_splat(c)))
}

/// `a·b + c`.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn fma(a: f64, b: f64, c: f64) -> f64 {
    f64x2_extract_lane::<0>(f64x2_relaxed_madd(f64x2_splat(a), f64x2_splat(b), f64x2_splat(c)))
}
