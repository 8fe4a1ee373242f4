//! One place that picks the widest instruction set of the CPU at run time.
//!
//! Kernels are plain Rust over small arrays, written once as [`Kernel::run`] with `#[inline(always)]`; [`dispatch`]
//! instantiates them inside functions that carry AVX-512 or AVX2+FMA, where the compiler turns the arrays into vector
//! registers. This is the crate's only unsafe code.

/// A computation that is compiled once for each instruction set.
pub(crate) trait Kernel {
    /// What it computes.
    type Output;
    /// The computation; must be `#[inline(always)]`. `FMA` says whether a fused multiply-add is one instruction.
    fn run<const FMA: bool>(self) -> Self::Output;
}

/// `a·b + c`, fused where that is one instruction (a library call otherwise, slower than the whole kernel).
#[inline(always)]
pub(crate) fn mul_add<const FMA: bool, T: Real>(a: T, b: T, c: T) -> T {
    if FMA { a.fused_mul_add(b, c) } else { a * b + c }
}

/// f32 or f64, as far as the kernels need it.
pub(crate) trait Real:
    Copy
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Neg<Output = Self>
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// Rounded from f64.
    fn from_f64(value: f64) -> Self;
    /// `self·b + c` with one rounding.
    fn fused_mul_add(self, b: Self, c: Self) -> Self;
}

macro_rules! real {
    ($t:ty) => {
        impl Real for $t {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            #[inline(always)]
            #[allow(clippy::cast_lossless, reason = "the same line serves f32 and f64")]
            fn from_f64(value: f64) -> Self {
                value as Self
            }
            #[inline(always)]
            fn fused_mul_add(self, b: Self, c: Self) -> Self {
                self.mul_add(b, c)
            }
        }
    };
}
real!(f32);
real!(f64);

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "calling a function with target features is unsafe; the CPU is asked first")]
mod x86 {
    use super::Kernel;

    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx2,fma")]
    fn avx512<K: Kernel>(kernel: K) -> K::Output {
        kernel.run::<true>()
    }

    #[target_feature(enable = "avx2,fma")]
    fn avx2<K: Kernel>(kernel: K) -> K::Output {
        kernel.run::<true>()
    }

    pub(super) fn dispatch<K: Kernel>(kernel: K) -> K::Output {
        let (avx2_fma, avx512) = (
            is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512bw"),
        );
        if avx512 && avx2_fma {
            // SAFETY: every feature in the attribute of `avx512` was just seen on this CPU.
            unsafe { self::avx512(kernel) }
        } else if avx2_fma {
            // SAFETY: AVX2 and FMA were just seen on this CPU.
            unsafe { avx2(kernel) }
        } else {
            kernel.run::<false>()
        }
    }
}

/// Runs the kernel with the widest instruction set of this CPU.
#[inline]
pub(crate) fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    return x86::dispatch(kernel);
    // Every other 64-bit target that matters has FMA in its baseline; wasm32 does not.
    #[cfg(not(target_arch = "x86_64"))]
    kernel.run::<{ cfg!(target_arch = "aarch64") }>()
}
