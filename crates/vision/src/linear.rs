//! Matrix products with a packed right side for wide layers: unlike [`crate::pointwise`], whose weights fit the caches,
//! a transformer's do not, so a panel of weights stays while a block of rows passes by.

use crate::pointwise::{BLOCK, PANEL, padded, sums};
use locdiff_nn::math;
use pulp::{Simd, WithSimd};

/// An element-wise function between two products.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// `x·σ(1.702 x)`: OpenAI's CLIP.
    QuickGelu,
    /// `x·Φ(x)`, with erf.
    Gelu,
}

impl Activation {
    #[inline(always)]
    fn apply(self, values: &mut [f32]) {
        match self {
            Self::QuickGelu => {
                for value in values {
                    *value /= 1.0 + math::exp(-1.702 * *value);
                }
            }
            Self::Gelu => {
                for value in values {
                    *value *= 0.5 + 0.5 * math::erf(*value * std::f32::consts::FRAC_1_SQRT_2);
                }
            }
        }
    }
}

/// What happens to a tile of sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Finish {
    Store,
    /// Added to what the output holds.
    Add,
    Activate(Activation),
}

/// The right side of a product, and a bias for each of its columns.
#[derive(Clone, Default)]
pub(crate) struct Linear {
    inputs: usize,
    /// For each panel of up to `PANEL` blocks of outputs, for each input, the weights to these outputs.
    panels: Vec<f32>,
    /// Padded with zeros to whole blocks.
    bias: Vec<f32>,
}

impl Linear {
    /// `weights[o * inputs + i]` leads from input `i` to output `o`.
    pub(crate) fn new(inputs: usize, weights: &[f32], bias: &[f32]) -> Self {
        let mut linear = Self::default();
        linear.pack_outputs(inputs, bias.len(), |o| &weights[o * inputs..][..inputs]);
        linear.bias[..bias.len()].copy_from_slice(bias);
        linear
    }

    /// Other weights, no bias, in memory that is kept: `row(o)` leads from all inputs to output `o`.
    pub(crate) fn pack_outputs<'a>(
        &mut self,
        inputs: usize,
        outputs: usize,
        row: impl Fn(usize) -> &'a [f32],
    ) {
        self.clear(inputs, outputs);
        let width = self.width();
        for o in 0..outputs {
            let first = o - o % (PANEL * BLOCK);
            let step = (PANEL * BLOCK).min(width - first);
            let places = self.panels[first * inputs + o - first..].iter_mut().step_by(step);
            for (place, weight) in places.zip(&row(o)[..inputs]) {
                *place = *weight;
            }
        }
    }

    /// As [`Linear::pack_outputs`], but `row(i)` leads from input `i` to all outputs.
    pub(crate) fn pack_inputs<'a>(
        &mut self,
        inputs: usize,
        outputs: usize,
        row: impl Fn(usize) -> &'a [f32],
    ) {
        self.clear(inputs, outputs);
        let width = self.width();
        for first in (0..outputs).step_by(PANEL * BLOCK) {
            let step = (PANEL * BLOCK).min(width - first);
            let filled = step.min(outputs - first);
            let places = self.panels[first * inputs..].chunks_exact_mut(step).take(inputs);
            for (i, place) in places.enumerate() {
                place[..filled].copy_from_slice(&row(i)[first..first + filled]);
            }
        }
    }

    /// Zeros everywhere.
    fn clear(&mut self, inputs: usize, outputs: usize) {
        self.inputs = inputs;
        self.panels.clear();
        self.panels.resize(inputs * padded(outputs), 0.0);
        self.bias.clear();
        self.bias.resize(padded(outputs), 0.0);
    }

    /// Values from one row of the output to the next, at least.
    pub(crate) fn width(&self) -> usize {
        self.bias.len()
    }

    /// The product with `rows` rows of `input`, `stride` values apart, into rows of `output`, `output_stride` apart.
    pub(crate) fn run(
        &self,
        rows: usize,
        input: &[f32],
        stride: usize,
        output: &mut [f32],
        output_stride: usize,
        finish: Finish,
    ) {
        pulp::Arch::new().dispatch(Run { layer: self, rows, input, stride, output, output_stride, finish });
    }
}

struct Run<'a> {
    layer: &'a Linear,
    rows: usize,
    input: &'a [f32],
    stride: usize,
    output: &'a mut [f32],
    output_stride: usize,
    finish: Finish,
}

impl WithSimd for Run<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let blocks = self.layer.bias.len() / BLOCK;
        let mut first = 0;
        while first + PANEL <= blocks {
            self.panel::<S, PANEL>(simd, first);
            first += PANEL;
        }
        match blocks - first {
            0 => {}
            1 => self.panel::<S, 1>(simd, first),
            _ => self.panel::<S, 2>(simd, first),
        }
    }
}

impl Run<'_> {
    /// `B` blocks of outputs, from block `first`, of all rows.
    #[inline(always)]
    fn panel<S: Simd, const B: usize>(&mut self, simd: S, first: usize) {
        let mut row = 0;
        // Rows × registers of a tile: as many sums as there are registers for, with room for a row of weights.
        while row < self.rows {
            row += match (S::F32_LANES, self.rows - row) {
                (16, 8..) => self.tile::<S, 8, 1, B>(simd, row, first),
                (16, 4..) => self.tile::<S, 4, 1, B>(simd, row, first),
                (8, 2..) => self.tile::<S, 2, 2, B>(simd, row, first),
                (4, 2..) => self.tile::<S, 2, 4, B>(simd, row, first),
                (16, _) => self.tile::<S, 1, 1, B>(simd, row, first),
                (8, _) => self.tile::<S, 1, 2, B>(simd, row, first),
                (4, _) => self.tile::<S, 1, 4, B>(simd, row, first),
                (2, _) => self.tile::<S, 1, 8, B>(simd, row, first),
                _ => self.tile::<S, 1, 16, B>(simd, row, first),
            };
        }
    }

    /// `B` blocks of outputs of `P` rows; `V` registers make a block. Returns `P`.
    #[inline(always)]
    fn tile<S: Simd, const P: usize, const V: usize, const B: usize>(
        &mut self,
        simd: S,
        row: usize,
        first: usize,
    ) -> usize {
        let inputs = self.layer.inputs;
        let mut rows: [&[f32]; P] = [&[]; P];
        for p in 0..P {
            rows[p] = &self.input[(row + p) * self.stride..][..inputs];
        }
        let panel = &self.layer.panels[first * BLOCK * inputs..][..inputs * B * BLOCK];
        let panel = S::as_simd_f32s(panel).0.as_chunks::<V>().0.as_chunks::<B>().0;
        let bias = S::as_simd_f32s(&self.layer.bias[first * BLOCK..][..B * BLOCK]).0.as_chunks::<V>().0;
        let sums = sums::<S, P, V, B>(simd, rows, panel, bias);
        for p in 0..P {
            let place = (row + p) * self.output_stride + first * BLOCK;
            let values = &mut self.output[place..][..B * BLOCK];
            let out = S::as_mut_simd_f32s(values).0.as_chunks_mut::<V>().0;
            for b in 0..B {
                for v in 0..V {
                    let sum = sums[p][b][v];
                    out[b][v] = if self.finish == Finish::Add { simd.add_f32s(out[b][v], sum) } else { sum };
                }
            }
            if let Finish::Activate(activation) = self.finish {
                activation.apply(values);
            }
        }
        P
    }
}

#[cfg(test)]
mod tests {
    use super::{Activation, Finish, Linear, Run};
    use crate::pointwise::{InstructionSet, padded};

    fn wave(i: usize) -> f32 {
        ((i * 37 % 101) as f32 - 50.0) / 60.0
    }

    #[test]
    fn both_ways_of_packing_agree() {
        for (inputs, outputs) in [(1, 1), (5, 47), (7, 48), (64, 50), (50, 64), (3, 130)] {
            let weights: Vec<f32> = (0..inputs * outputs).map(wave).collect();
            let turned: Vec<f32> =
                (0..inputs * outputs).map(|k| weights[k % outputs * inputs + k / outputs]).collect();
            let (mut by_output, mut by_input) = (Linear::default(), Linear::new(9, &[3.0; 90], &[1.0; 10]));
            by_output.pack_outputs(inputs, outputs, |o| &weights[o * inputs..]);
            by_input.pack_inputs(inputs, outputs, |i| &turned[i * outputs..]);
            assert!(by_output.panels == by_input.panels && by_output.bias == by_input.bias);
            assert_eq!(by_output.bias, vec![0.0; padded(outputs)]);
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
        for (inputs, outputs, rows) in [(1, 1, 1), (5, 16, 13), (40, 49, 31), (24, 130, 7), (64, 96, 8)] {
            let weights: Vec<f32> = (0..inputs * outputs).map(wave).collect();
            let bias: Vec<f32> = (0..outputs).map(|o| wave(o + 7)).collect();
            let linear = Linear::new(inputs, &weights, &bias);
            let (stride, output_stride) = (inputs + 3, padded(outputs) + 16);
            let input: Vec<f32> = (0..rows * stride).map(|i| wave(i + 11)).collect();
            for finish in [
                Finish::Store,
                Finish::Add,
                Finish::Activate(Activation::QuickGelu),
                Finish::Activate(Activation::Gelu),
            ] {
                for set in InstructionSet::ALL {
                    let mut output = vec![2.0; rows * output_stride];
                    let (layer, input) = (&linear, &input[..]);
                    set.run(Run { layer, rows, input, stride, output: &mut output, output_stride, finish });
                    for r in 0..rows {
                        for o in 0..outputs {
                            let row = weights[o * inputs..][..inputs].iter().zip(&input[r * stride..]);
                            let sum = bias[o] + row.map(|(w, x)| w * x).sum::<f32>();
                            let expected = match finish {
                                Finish::Store => sum,
                                Finish::Add => sum + 2.0,
                                Finish::Activate(Activation::QuickGelu) => sum / (1.0 + (-1.702 * sum).exp()),
                                Finish::Activate(Activation::Gelu) => gelu(sum),
                            };
                            let got = output[r * output_stride + o];
                            assert!((got - expected).abs() < 2e-5, "{finish:?} {r} {o}: {got} {expected}");
                        }
                    }
                }
            }
        }
    }
}
