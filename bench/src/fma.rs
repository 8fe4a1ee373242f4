//! A probe of the processor's peak: independent multiply-adds on all lanes, the limit of the fused evaluation.

use pulp::{Simd, WithSimd};
use std::hint::black_box;

/// Chains that run side by side: enough to hide the latency of an instruction.
const CHAINS: usize = 12;

struct Chains(usize);

impl WithSimd for Chains {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> usize {
        let (x, y) = (simd.splat_f64s(black_box(0.999)), simd.splat_f64s(black_box(0.001)));
        let mut chains = [simd.splat_f64s(0.5); CHAINS];
        for _ in 0..self.0 {
            for chain in &mut chains {
                *chain = simd.mul_add_e_f64s(*chain, x, y);
            }
        }
        for chain in chains {
            black_box(simd.reduce_sum_f64s(chain));
        }
        CHAINS * self.0 * S::F64_LANES
    }
}

/// Runs `rounds` multiply-adds in every chain and returns how many numbers' worth were done.
pub fn chains_f64(rounds: usize) -> usize {
    pulp::Arch::new().dispatch(Chains(rounds))
}
