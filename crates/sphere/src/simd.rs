//! f32 and f64 vectors behind one trait, on `pulp`, which picks the widest instruction set of the CPU at run time.

use pulp::Simd;

/// f32 or f64, as scalars and as vectors of the instruction set `S`.
pub(crate) trait Real: Copy + Default + Send + Sync + 'static {
    /// One register.
    type Vector<S: Simd>: Copy;
    /// Lanes of one register.
    fn lanes<S: Simd>() -> usize;
    /// Rounded from f64.
    fn from_f64(value: f64) -> Self;
    /// The same value in every lane.
    fn splat<S: Simd>(simd: S, value: Self) -> Self::Vector<S>;
    /// `a·b`.
    fn mul<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// `a − b`.
    fn sub<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// `a·b + c`, fused where the CPU can.
    fn mul_add<S: Simd>(
        simd: S,
        a: Self::Vector<S>,
        b: Self::Vector<S>,
        c: Self::Vector<S>,
    ) -> Self::Vector<S>;
    /// The whole registers of a slice (a tail shorter than a register is left out).
    fn vectors<S: Simd>(slice: &[Self]) -> &[Self::Vector<S>];
    /// The whole registers of a slice, to write to.
    fn vectors_mut<S: Simd>(slice: &mut [Self]) -> &mut [Self::Vector<S>];
    /// The sum of the lanes.
    fn reduce_sum<S: Simd>(simd: S, a: Self::Vector<S>) -> Self;
}

macro_rules! real {
    ($t:ty, $v:ident, $lanes:ident, $splat:ident, $mul:ident, $sub:ident, $mul_add:ident, $sum:ident, $as:ident, $as_mut:ident) => {
        impl Real for $t {
            type Vector<S: Simd> = S::$v;
            #[inline(always)]
            fn lanes<S: Simd>() -> usize {
                S::$lanes
            }
            #[inline(always)]
            #[allow(clippy::cast_lossless, reason = "the same line serves f32 and f64")]
            fn from_f64(value: f64) -> Self {
                value as Self
            }
            #[inline(always)]
            fn splat<S: Simd>(simd: S, value: Self) -> S::$v {
                simd.$splat(value)
            }
            #[inline(always)]
            fn mul<S: Simd>(simd: S, a: S::$v, b: S::$v) -> S::$v {
                simd.$mul(a, b)
            }
            #[inline(always)]
            fn sub<S: Simd>(simd: S, a: S::$v, b: S::$v) -> S::$v {
                simd.$sub(a, b)
            }
            #[inline(always)]
            fn mul_add<S: Simd>(simd: S, a: S::$v, b: S::$v, c: S::$v) -> S::$v {
                simd.$mul_add(a, b, c)
            }
            #[inline(always)]
            fn vectors<S: Simd>(slice: &[Self]) -> &[S::$v] {
                S::$as(slice).0
            }
            #[inline(always)]
            fn vectors_mut<S: Simd>(slice: &mut [Self]) -> &mut [S::$v] {
                S::$as_mut(slice).0
            }
            #[inline(always)]
            fn reduce_sum<S: Simd>(simd: S, a: S::$v) -> Self {
                simd.$sum(a)
            }
        }
    };
}
real!(
    f64,
    f64s,
    F64_LANES,
    splat_f64s,
    mul_f64s,
    sub_f64s,
    mul_add_e_f64s,
    reduce_sum_f64s,
    as_simd_f64s,
    as_mut_simd_f64s
);
real!(
    f32,
    f32s,
    F32_LANES,
    splat_f32s,
    mul_f32s,
    sub_f32s,
    mul_add_e_f32s,
    reduce_sum_f32s,
    as_simd_f32s,
    as_mut_simd_f32s
);

/// Runs a kernel with the widest instruction set of this CPU.
#[inline]
pub(crate) fn dispatch<K: pulp::WithSimd>(kernel: K) -> K::Output {
    pulp::Arch::new().dispatch(kernel)
}
