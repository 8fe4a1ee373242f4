//! f64 vectors on `pulp`, which picks the widest instruction set of the CPU at run time.

use pulp::Simd;

/// The whole registers of a slice (a tail shorter than a register is left out).
#[inline(always)]
pub(crate) fn vectors<S: Simd>(slice: &[f64]) -> &[S::f64s] {
    S::as_simd_f64s(slice).0
}

/// The whole registers of a slice, to write to.
#[inline(always)]
pub(crate) fn vectors_mut<S: Simd>(slice: &mut [f64]) -> &mut [S::f64s] {
    S::as_mut_simd_f64s(slice).0
}

/// Runs a kernel with the widest instruction set of this CPU.
#[inline]
pub(crate) fn dispatch<K: pulp::WithSimd>(kernel: K) -> K::Output {
    pulp::Arch::new().dispatch(kernel)
}
