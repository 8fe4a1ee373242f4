//! The one module of the CPU backend with `unsafe` in it: loops compiled for several instruction sets, and matrix
//! products (one micro-kernel, [`kernel`], for all f32 tiles, and the call into the `gemm` crate).
//! [`simd_kernel`] compiles a function body three times (AVX-512, AVX2 with FMA, the build's own target) and picks one
//! at run time. Bodies are plain safe Rust that LLVM vectorises; sums keep [`LANES`] partial sums, so that the result
//! does not depend on the instruction set chosen.
#![allow(unsafe_code)] // reason: calls of `#[target_feature]` functions and of `gemm`; each has its SAFETY note

mod kernel;
mod layout;
mod packed;
mod part;
mod product;
mod side;
mod skinny;
mod transpose;

#[cfg(test)]
pub(crate) use kernel::InstructionSet;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub(crate) use kernel::PANEL;
pub(crate) use kernel::{BLOCK, Sums};
pub use packed::padded;
pub(crate) use packed::{Packed, TileEnd};
pub(crate) use product::{product, product_packed};
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub(crate) use side::Columns;
pub(crate) use side::{Side, Start};

use std::sync::OnceLock;

/// Partial sums in a vectorised reduction: one AVX-512 register of f32.
pub(crate) const LANES: usize = 16;

/// The instruction sets a kernel is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// Whatever the build's target has.
    Baseline,
    /// AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 F, BW, DQ and VL.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// The widest instruction set this machine has.
pub(crate) fn level() -> Level {
    static LEVEL: OnceLock<Level> = OnceLock::new();
    *LEVEL.get_or_init(|| {
        #[cfg(target_arch = "x86_64")]
        {
            let fma = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            let wide = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            if fma && wide {
                return Level::Avx512;
            }
            if fma {
                return Level::Avx2;
            }
        }
        Level::Baseline
    })
}

/// Defines functions compiled for every [`Level`] and dispatched at run time.
macro_rules! simd_kernel {
    ($($(#[$meta:meta])* $vis:vis fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? $body:block)*) => {$(
        $(#[$meta])*
        #[allow(unsafe_code, clippy::too_many_arguments)] // reason: kernels take slices and scalars one by one
        $vis fn $name($($arg: $ty),*) $(-> $ret)? {
            #[inline(always)]
            fn body($($arg: $ty),*) $(-> $ret)? $body

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
            fn avx512($($arg: $ty),*) $(-> $ret)? {
                body($($arg),*)
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn avx2($($arg: $ty),*) $(-> $ret)? {
                body($($arg),*)
            }

            match $crate::cpu::simd::level() {
                // SAFETY: `level` returns Avx512 only where the CPU reports every feature that `avx512` enables.
                #[cfg(target_arch = "x86_64")]
                $crate::cpu::simd::Level::Avx512 => unsafe { avx512($($arg),*) },
                // SAFETY: `level` returns Avx2 only where the CPU reports AVX2 and FMA.
                #[cfg(target_arch = "x86_64")]
                $crate::cpu::simd::Level::Avx2 => unsafe { avx2($($arg),*) },
                $crate::cpu::simd::Level::Baseline => body($($arg),*),
            }
        }
    )*};
}
pub(crate) use simd_kernel;
