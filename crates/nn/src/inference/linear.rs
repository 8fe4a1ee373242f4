//! Matrix products for wide layers: unlike those of [`super::Pointwise`], whose weights fit the caches, a transformer's do
//! not, so a panel of weights stays while a block of rows passes by.

use super::{finish::Finish, finish::Job, int8::Int8};
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
use super::{tile_registers, tiles};
use crate::cpu::Mat;
use crate::cpu::simd::{BLOCK, Packed, Sums, TileEnd};
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

/// The right side of a product, packed, and a bias for each of its columns. On Linux the tile instructions (AMX) make it
/// where the processor has them, as exactly as f32 but not to the last bit. Weights that f16 holds exactly are kept so,
/// and widened panel by panel: a large encoder takes half the memory, and its sums are the same bits.
#[derive(Debug, Clone, Default)]
pub struct PackedLinear {
    float: Packed,
    /// In place of those.
    int8: Option<Int8>,
}

impl PackedLinear {
    /// `weights[o * inputs + i]` leads from input `i` to output `o`; there are as many outputs as biases.
    /// Panics if the weights are not `inputs` times as many as the biases.
    pub fn new(inputs: usize, weights: &[f32], bias: &[f32]) -> Self {
        Self { float: Packed::new(inputs, weights, bias).narrowed(), int8: None }
    }

    /// The same with weights and inputs of 8 bits: a quarter of the memory, several times as fast where the processor has
    /// AVX-512 VNNI, and right to about a hundredth. A row's result is the same bits on every processor.
    /// Panics if the weights are not `inputs` times as many as the biases, or the inputs are none or more than 65,536.
    ///
    /// ```
    /// use locdiff_nn::inference::{Finish, PackedLinear, padded};
    /// let layer = PackedLinear::int8(2, &[3.0, 4.0], &[1.0]);
    /// let mut output = vec![0.0; padded(1)];
    /// layer.run(1, &[1.0, 0.5], 2, &mut output, padded(1), Finish::Store);
    /// assert!((output[0] - 6.0).abs() < 0.05);
    /// ```
    pub fn int8(inputs: usize, weights: &[f32], bias: &[f32]) -> Self {
        Self { float: Packed::default(), int8: Some(Int8::new(inputs, weights, bias)) }
    }

    /// Replaces the weights, with no bias, in memory that is kept: `weights[o * stride + i]` leads from input `i` to output `o`.
    pub fn pack_outputs(&mut self, inputs: usize, outputs: usize, weights: &[f32], stride: usize) {
        self.int8 = None;
        self.float.pack_outputs(inputs, outputs, weights, stride);
    }

    /// As [`PackedLinear::pack_outputs`], but `weights[i * stride + o]` leads from input `i` to output `o`.
    pub fn pack_inputs(&mut self, inputs: usize, outputs: usize, weights: &[f32], stride: usize) {
        self.int8 = None;
        self.float.pack_inputs(inputs, outputs, weights, stride);
    }

    /// Values from one row of the output to the next, at least: the outputs in whole blocks.
    pub fn width(&self) -> usize {
        self.int8.as_ref().map_or_else(|| self.float.width(), Int8::width)
    }

    /// The product with `rows` rows of `input`, `stride` values apart, into rows of `output`, `output_stride` apart.
    /// Panics if the buffers are too short for that.
    pub fn run(
        &self,
        rows: usize,
        input: &[f32],
        stride: usize,
        output: &mut [f32],
        output_stride: usize,
        finish: Finish,
    ) {
        let (layer, job) = (&self.float, Job { rows, input, stride, output, output_stride, finish });
        if let Some(int8) = &self.int8 {
            return int8.run(job);
        }
        #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
        if layer.inputs > 0 && tile_registers::are_here() {
            return tiles::run(layer, job, false);
        }
        pulp::Arch::new().dispatch(Run { layer, job });
    }

    /// The same by all threads of the pool, to the same bits.
    ///
    /// ```
    /// use locdiff_nn::inference::{Finish, PackedLinear, padded};
    /// let layer = PackedLinear::new(2, &[3.0, 4.0], &[1.0]);
    /// let mut output = vec![0.0; 2 * padded(1)];
    /// layer.run_shared(2, &[1.0, 0.0, 0.5, 0.25], 2, &mut output, padded(1), Finish::Store);
    /// assert_eq!((output[0], output[padded(1)]), (4.0, 3.5));
    /// ```
    pub fn run_shared(
        &self,
        rows: usize,
        input: &[f32],
        stride: usize,
        output: &mut [f32],
        output_stride: usize,
        finish: Finish,
    ) {
        #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
        if self.int8.is_none() && self.float.inputs > 0 && tile_registers::are_here() {
            let job = Job { rows, input, stride, output, output_stride, finish };
            return tiles::run(&self.float, job, true);
        }
        let share = rows.div_ceil(rayon::current_num_threads()).max(1);
        let pieces = output.par_chunks_mut(share * output_stride).zip(input.par_chunks(share * stride)).enumerate();
        pieces.take(rows.div_ceil(share)).for_each(|(k, (output, input))| {
            self.run(share.min(rows - k * share), input, stride, output, output_stride, finish);
        });
    }
}

struct Run<'a> {
    layer: &'a Packed,
    job: Job<'a>,
}

impl WithSimd for Run<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let layer = self.layer;
        let x = Mat { data: self.job.input, rows: self.job.rows, cols: layer.inputs, stride: self.job.stride };
        layer.each_tile(simd, x, &mut self);
    }
}

impl TileEnd for Run<'_> {
    #[inline(always)]
    fn end<S: Simd, const P: usize, const V: usize, const B: usize>(
        &mut self,
        simd: S,
        row: usize,
        first: usize,
        sums: Sums<S, P, V, B>,
    ) {
        let Job { output, output_stride, finish, .. } = &mut self.job;
        for p in 0..P {
            let place = (row + p) * *output_stride + first * BLOCK;
            let values = &mut output[place..][..B * BLOCK];
            let out = S::as_mut_simd_f32s(values).0.as_chunks_mut::<V>().0;
            for b in 0..B {
                for v in 0..V {
                    let sum = sums[p][b][v];
                    out[b][v] = if *finish == Finish::Add { simd.add_f32s(out[b][v], sum) } else { sum };
                }
            }
            if let Finish::Activate(gelu) = *finish {
                gelu.apply(values);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::finish::wave, Finish, Job, Packed, PackedLinear, Run};
    use crate::{Gelu, cpu::simd::InstructionSet, cpu::simd::padded};

    /// Every set of instructions, and the way that a user has: by tiles where they are here.
    const WAYS: [Option<InstructionSet>; 4] =
        [Some(InstructionSet::Widest), Some(InstructionSet::Avx2), Some(InstructionSet::Scalar), None];

    fn run_by(way: Option<InstructionSet>, layer: &Packed, job: Job<'_>) {
        let Some(set) = way else {
            let layer = PackedLinear { float: layer.clone(), int8: None };
            return layer.run(job.rows, job.input, job.stride, job.output, job.output_stride, job.finish);
        };
        set.run(Run { layer, job });
    }

    /// Weights that f16 holds exactly give the same bits; one that it does not hold leaves all as they are.
    #[test]
    fn narrow_weights_give_the_same_bits() {
        let (inputs, outputs, rows) = (40, 99, 21);
        let exact: Vec<f32> = (0..inputs * outputs).map(|i| half::f16::from_f32(wave(i)).to_f32()).collect();
        let input: Vec<f32> = (0..rows * inputs).map(wave).collect();
        let mut off = exact.clone();
        off[7] += 1e-6;
        for (weights, is_narrow) in [(exact, true), (off, false)] {
            let wide = Packed::new(inputs, &weights, &[0.5; 99]);
            let narrow = wide.clone().narrowed();
            assert_eq!(narrow.is_narrow(), is_narrow);
            let output_stride = padded(outputs);
            for way in WAYS {
                let run = |layer: &Packed| {
                    let mut output = vec![0.0; rows * output_stride];
                    let (input, stride, finish) = (&input[..], inputs, Finish::Store);
                    run_by(way, layer, Job { rows, input, stride, output: &mut output, output_stride, finish });
                    output
                };
                assert_eq!(run(&wide), run(&narrow));
            }
        }
    }

    #[test]
    fn agrees_with_plain_sums() {
        let gelu = |x: f32| {
            let x = f64::from(x);
            // Φ by the midpoint rule on its density: 4000 steps are exact to 1e-8 here.
            let step = x / 4000.0;
            let density = |t: f64| (-0.5 * t * t).exp() / (2.0 * std::f64::consts::PI).sqrt();
            let area: f64 = (0..4000).map(|k| density((f64::from(k) + 0.5) * step) * step).sum();
            (x * (0.5 + area)) as f32
        };
        for (inputs, outputs, rows) in [(1, 1, 1), (5, 16, 13), (40, 49, 31), (24, 130, 7), (64, 96, 8), (30, 50, 17)] {
            let weights: Vec<f32> = (0..inputs * outputs).map(wave).collect();
            let bias: Vec<f32> = (0..outputs).map(|o| wave(o + 7)).collect();
            let linear = Packed::new(inputs, &weights, &bias);
            let (stride, output_stride) = (inputs + 3, padded(outputs) + 16);
            let input: Vec<f32> = (0..rows * stride).map(|i| wave(i + 11)).collect();
            let kinds = [Gelu::Quick, Gelu::Exact, Gelu::Tanh].map(Finish::Activate);
            for finish in [Finish::Store, Finish::Add].into_iter().chain(kinds) {
                for way in WAYS {
                    let mut output = vec![2.0; rows * output_stride];
                    let input = &input[..];
                    run_by(way, &linear, Job { rows, input, stride, output: &mut output, output_stride, finish });
                    for (r, o) in (0..rows * outputs).map(|at| (at / outputs, at % outputs)) {
                        let row = weights[o * inputs..][..inputs].iter().zip(&input[r * stride..]);
                        let sum = bias[o] + row.map(|(w, x)| w * x).sum::<f32>();
                        let expected = match finish {
                            Finish::Store => sum,
                            Finish::Add => sum + 2.0,
                            Finish::Activate(Gelu::Quick) => sum / (1.0 + (-1.702 * sum).exp()),
                            Finish::Activate(Gelu::Exact) => gelu(sum),
                            Finish::Activate(Gelu::Tanh) => {
                                let inner = (2.0 / std::f32::consts::PI).sqrt() * (sum + 0.044715 * sum.powi(3));
                                0.5 * sum * (1.0 + inner.tanh())
                            }
                        };
                        let got = output[r * output_stride + o];
                        assert!((got - expected).abs() < 2e-5, "{finish:?} {r} {o}: {got} {expected}");
                    }
                }
            }
        }
    }
}
