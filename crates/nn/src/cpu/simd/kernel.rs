//! The micro-kernel of every f32 product: the sums of a tile, each one chain of multiply-adds in the order of the inputs.
//! A sum is therefore the same bits in tiles of any shape.

use pulp::Simd;

/// Columns are laid out in whole blocks of this many values (one AVX-512 register); the spare ones hold 0.
pub(crate) const BLOCK: usize = 16;
/// Blocks of columns that a tile covers.
pub(crate) const PANEL: usize = 3;
/// Columns that a tile covers.
pub(crate) const WIDTH: usize = PANEL * BLOCK;
/// Rows that are laid out next to each other in a group.
pub(super) const ROWS: usize = 8;

/// The sums of `P` rows and `B` blocks of columns; `V` registers make a block.
pub(crate) type Sums<S, const P: usize, const V: usize, const B: usize> = [[[<S as Simd>::f32s; V]; B]; P];

/// What `P` rows of the left side hold.
pub(super) trait Inputs<const P: usize>: Copy {
    /// Whether multiply-adds are fused on every processor, or only on those that have the instruction.
    const FUSED: bool;
    /// The kernel fetches weights from the second cache this many inputs before their turn, or never if 0.
    const AHEAD: usize;

    /// Panics unless there are so many inputs. The compiler then leaves out checks in the kernel's loop.
    fn expect_len(self, len: usize);

    fn at(self, p: usize, i: usize) -> f32;
}

/// Rows read where they are.
impl<const P: usize> Inputs<P> for [&[f32]; P] {
    const FUSED: bool = false;
    const AHEAD: usize = 0;

    #[inline(always)]
    fn expect_len(self, len: usize) {
        for p in 0..P {
            assert!(self[p].len() == len);
        }
    }

    #[inline(always)]
    fn at(self, p: usize, i: usize) -> f32 {
        self[p][i]
    }
}

/// A group of [`ROWS`] rows, read from row `FIRST` on.
#[derive(Clone, Copy)]
pub(super) struct Group<'a, const FIRST: usize>(pub(super) &'a [[f32; ROWS]]);

impl<const FIRST: usize, const P: usize> Inputs<P> for Group<'_, FIRST> {
    const FUSED: bool = true;
    /// Ten per cent faster, measured.
    const AHEAD: usize = 6;

    #[inline(always)]
    fn expect_len(self, len: usize) {
        assert!(self.0.len() == len);
    }

    #[inline(always)]
    fn at(self, p: usize, i: usize) -> f32 {
        self.0[i][FIRST + p]
    }
}

#[inline(always)]
fn multiply_add<S: Simd, X: Inputs<P>, const P: usize>(simd: S, x: f32, weight: S::f32s, sum: S::f32s) -> S::f32s {
    let x = simd.splat_f32s(x);
    if X::FUSED { simd.mul_add_f32s(x, weight, sum) } else { simd.mul_add_e_f32s(x, weight, sum) }
}

#[inline(always)]
fn prefetch<T>(place: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint, which reads nothing and has no demands on the address.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(place.cast());
    }
    let _ = place;
}

/// The body once for each `k` below a constant, without a loop: an index that is a number keeps an array in registers
/// whatever the compiler makes of loops around it.
macro_rules! unrolled {
    ($count:expr, $k:ident of $($number:literal)*, $body:expr) => {{$(
        if $number < $count {
            let $k = $number;
            $body
        }
    )*}};
}

/// The body once for each register of a row: its block, and its number within the block. Wide registers need no loop.
macro_rules! each_register {
    ($blocks:ident, $registers:ident; $b:ident $v:ident => $body:expr) => {
        if $registers <= 2 {
            $crate::cpu::simd::kernel::unrolled!(
                $blocks, $b of 0 1 2, $crate::cpu::simd::kernel::unrolled!($registers, $v of 0 1, $body)
            )
        } else {
            for $b in 0..$blocks {
                for $v in 0..$registers {
                    $body
                }
            }
        }
    };
}
pub(super) use {each_register, unrolled};

/// Adds the products of a tile to what its sums begin with. `panel` holds the weights of `B` blocks, input by input.
/// The sums must stay in registers from the first input to the last: one index that is not a number, here or in the copy at
/// the end, and all of them are written to memory in every step.
#[inline(always)]
pub(super) fn sums<S: Simd, X: Inputs<P>, const P: usize, const V: usize, const B: usize>(
    simd: S,
    x: X,
    panel: &[f32],
    mut sums: Sums<S, P, V, B>,
) -> Sums<S, P, V, B> {
    const { assert!(P <= 9 && B <= PANEL) };
    let panel = S::as_simd_f32s(panel).0.as_chunks::<V>().0.as_chunks::<B>().0;
    x.expect_len(panel.len());
    let zero = simd.splat_f32s(0.0);
    if V > 2 || V == 2 && P > 2 {
        // There are registers for the sums of one block only.
        for b in 0..B {
            let mut own = [[zero; V]; P];
            for p in 0..P {
                own[p] = sums[p][b];
            }
            for i in 0..panel.len() {
                let weights = panel[i][b];
                for p in 0..P {
                    for v in 0..V {
                        own[p][v] = multiply_add::<S, X, P>(simd, x.at(p, i), weights[v], own[p][v]);
                    }
                }
            }
            for p in 0..P {
                sums[p][b] = own[p];
            }
        }
        return sums;
    }
    let mut own = [[[zero; V]; B]; P];
    unrolled!(P, p of 0 1 2 3 4 5 6 7 8, each_register!(B, V; b v => own[p][b][v] = sums[p][b][v]));
    for i in 0..panel.len() {
        let weights = &panel[i];
        if X::AHEAD > 0 {
            let ahead = panel.as_ptr().wrapping_add(i + X::AHEAD).cast::<[f32; BLOCK]>();
            unrolled!(B, b of 0 1 2, prefetch(ahead.wrapping_add(b)));
        }
        unrolled!(P, p of 0 1 2 3 4 5 6 7 8, {
            let value = x.at(p, i);
            unrolled!(B, b of 0 1 2, unrolled!(V, v of 0 1, {
                own[p][b][v] = multiply_add::<S, X, P>(simd, value, weights[b][v], own[p][b][v]);
            }));
        });
    }
    unrolled!(P, p of 0 1 2 3 4 5 6 7 8, each_register!(B, V; b v => sums[p][b][v] = own[p][b][v]));
    sums
}

/// The instruction set that a test compiles a kernel for.
#[cfg(test)]
#[derive(Clone, Copy)]
pub(crate) enum InstructionSet {
    Widest,
    Avx2,
    Scalar,
}

#[cfg(test)]
impl InstructionSet {
    pub(crate) const ALL: [Self; 3] = [Self::Widest, Self::Avx2, Self::Scalar];

    /// Runs a kernel. Without AVX2 the widest set stands in for it.
    pub(crate) fn run<K: pulp::WithSimd>(self, kernel: K) -> K::Output {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => match pulp::x86::V3::try_new() {
                Some(v3) => Simd::vectorize(v3, kernel),
                None => pulp::Arch::new().dispatch(kernel),
            },
            Self::Scalar => Simd::vectorize(pulp::Scalar::new(), kernel),
            _ => pulp::Arch::new().dispatch(kernel),
        }
    }
}
