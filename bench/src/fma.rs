//! A probe of the processor's peak: independent multiply-adds on all lanes, the limit of the fused evaluation.

use pulp::{Simd, WithSimd};
use std::hint::black_box;

/// Chains that run side by side: enough to hide the latency of an instruction.
const CHAINS: usize = 12;

macro_rules! fma_chain {
    ($name:ident, $type:ty, $splat:ident, $mul_add:ident, $lanes:ident, $sum:ident) => {
        /// Runs `rounds` multiply-adds in every chain and returns how many numbers' worth were done.
        pub fn $name(rounds: usize) -> usize {
            struct Chains(usize);
            impl WithSimd for Chains {
                type Output = usize;
                #[inline(always)]
                fn with_simd<S: Simd>(self, simd: S) -> usize {
                    let (x, y): ($type, $type) = (black_box(0.999), black_box(0.001));
                    let (x, y) = (simd.$splat(x), simd.$splat(y));
                    let mut chains = [simd.$splat(0.5); CHAINS];
                    for _ in 0..self.0 {
                        for chain in &mut chains {
                            *chain = simd.$mul_add(*chain, x, y);
                        }
                    }
                    for chain in chains {
                        black_box(simd.$sum(chain));
                    }
                    CHAINS * self.0 * S::$lanes
                }
            }
            pulp::Arch::new().dispatch(Chains(rounds))
        }
    };
}
fma_chain!(chains_f64, f64, splat_f64s, mul_add_e_f64s, F64_LANES, reduce_sum_f64s);
fma_chain!(chains_f32, f32, splat_f32s, mul_add_e_f32s, F32_LANES, reduce_sum_f32s);
