//! Matrix products of whole numbers: weights of 8 bits with a scale for each output, inputs of 8 bits with a scale and a
//! zero for each row, found as the row comes. Sums are exact, so that every instruction set gives the same bits.
#![allow(unsafe_code)] // reason: a call of a `#[target_feature]` function, and casts without a check; SAFETY notes

use super::finish::{Finish, Job};
use crate::cpu::simd::padded;
use pulp::{Simd, WithSimd};
use std::ops::Range;

/// Inputs that are multiplied at a time, and outputs of a block.
const QUAD: usize = 4;
const BLOCK: usize = 16;
/// Blocks of outputs that a tile covers, and its rows.
const PANEL: usize = 3;
const ROWS: usize = 8;
/// More inputs might overflow the sums.
const MOST_INPUTS: usize = 65_536;

/// The weights from four inputs to a block of outputs.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Weights([[i8; QUAD]; BLOCK]);

/// The sums of a tile.
type Sums = [[[i32; BLOCK]; PANEL]; ROWS];

/// The right side of a product, and a bias for each of its columns.
#[derive(Debug, Clone)]
pub(super) struct Int8 {
    inputs: usize,
    /// For each panel of [`PANEL`] blocks (zeros behind the last), for each four inputs, the weights to these outputs.
    panels: Vec<[Weights; PANEL]>,
    /// Of each output the scale of its weights, its bias, and the sum of its weights: what a row's zero adds a step.
    scales: Vec<f32>,
    bias: Vec<f32>,
    sums: Vec<i32>,
}

/// What a row's codes mean: `scale · (code − zero)`.
#[derive(Debug, Clone, Copy)]
struct Meaning {
    scale: f32,
    zero: i32,
}

impl Int8 {
    /// `weights[o * inputs + i]` leads from input `i` to output `o`.
    pub(super) fn new(inputs: usize, weights: &[f32], bias: &[f32]) -> Self {
        assert_eq!(weights.len(), inputs * bias.len());
        assert!((1..=MOST_INPUTS).contains(&inputs));
        let quads = inputs.div_ceil(QUAD);
        let nothing = Weights([[0; QUAD]; BLOCK]);
        let mut panels = vec![[nothing; PANEL]; bias.len().div_ceil(PANEL * BLOCK) * quads];
        let width = padded(bias.len());
        let (mut scales, mut sums) = (vec![0.0; width], vec![0; width]);
        for (o, row) in weights.chunks_exact(inputs).enumerate() {
            let largest = row.iter().fold(0.0_f32, |most, weight| most.max(weight.abs()));
            let scale = if largest > 0.0 { largest / 127.0 } else { 1.0 };
            let (panel, block, lane) = (o / (PANEL * BLOCK), o / BLOCK % PANEL, o % BLOCK);
            scales[o] = scale;
            for (i, weight) in row.iter().enumerate() {
                let code = (weight / scale).round().clamp(-127.0, 127.0) as i8;
                panels[panel * quads + i / QUAD][block].0[lane][i % QUAD] = code;
                sums[o] += i32::from(code);
            }
        }
        let mut bias = bias.to_vec();
        bias.resize(width, 0.0);
        Self { inputs, panels, scales, bias, sums }
    }

    /// Outputs with the spare ones.
    pub(super) fn width(&self) -> usize {
        self.bias.len()
    }

    pub(super) fn run(&self, job: Job<'_>) {
        let run = Run { layer: self, job };
        #[cfg(target_arch = "x86_64")]
        if vnni::is_here() {
            // SAFETY: the processor has what the function is compiled for.
            return unsafe { vnni::run(run) };
        }
        pulp::Arch::new().dispatch(run);
    }

    /// Sums as values of some outputs.
    #[inline(always)]
    fn store(&self, values: &mut [f32], sums: &[i32], outputs: Range<usize>, row: Meaning, finish: Finish) {
        let (scales, bias) = (&self.scales[outputs.clone()], &self.bias[outputs.clone()]);
        let own = values.iter_mut().zip(sums).zip(&self.sums[outputs]).zip(scales.iter().zip(bias));
        for (((value, sum), own), (scale, bias)) in own {
            let product = (sum - row.zero * own) as f32 * (row.scale * scale) + bias;
            *value = if finish == Finish::Add { *value + product } else { product };
        }
        if let Finish::Activate(gelu) = finish {
            gelu.apply(values);
        }
    }
}

struct Run<'a> {
    layer: &'a Int8,
    job: Job<'a>,
}

impl WithSimd for Run<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        self.by(plain_tile);
    }
}

impl Run<'_> {
    /// With this way to the sums of a tile.
    #[inline(always)]
    fn by(self, tile: impl Fn([&[[u8; QUAD]]; ROWS], &[[Weights; PANEL]]) -> Sums) {
        let Self { layer, job: Job { rows, input, stride, output, output_stride, finish } } = self;
        let quads = layer.inputs.div_ceil(QUAD);
        let mut codes = vec![[0; QUAD]; rows * quads];
        let rows_of_codes = codes.chunks_exact_mut(quads).enumerate();
        let meanings: Vec<Meaning> =
            rows_of_codes.map(|(r, codes)| quantise(&input[r * stride..][..layer.inputs], codes)).collect();
        for (panel, weights) in layer.panels.chunks_exact(quads).enumerate() {
            let first = panel * PANEL * BLOCK;
            let outputs = first..layer.width().min(first + PANEL * BLOCK);
            for start in (0..rows).step_by(ROWS) {
                // A tile that is not full repeats its last row; those sums are dropped.
                let number = |k: usize| (start + k).min(rows - 1);
                let sums = tile(std::array::from_fn(|k| &codes[number(k) * quads..][..quads]), weights);
                for (k, sums) in sums.iter().enumerate().take(rows - start) {
                    let values = &mut output[(start + k) * output_stride + first..][..outputs.len()];
                    layer.store(values, sums.as_flattened(), outputs.clone(), meanings[start + k], finish);
                }
            }
        }
    }
}

/// A row in codes of 8 bits, from its least to its largest value, of which 0 is one. Values that are not finite make the
/// scale so.
#[inline(always)]
fn quantise(row: &[f32], codes: &mut [[u8; QUAD]]) -> Meaning {
    // As whole numbers in the same order: their extremes are found with the widest instructions.
    let turned = |bits: i32| bits ^ ((bits >> 31) as u32 >> 1) as i32;
    let key = |value: &f32| turned(value.to_bits() as i32);
    let low = row.iter().map(key).fold(0, i32::min);
    let high = row.iter().map(key).fold(0, i32::max);
    let [low, high] = [low, high].map(|key| f32::from_bits(turned(key) as u32));
    let scale = (high - low) / 255.0;
    if !scale.is_finite() || scale < f32::MIN_POSITIVE {
        codes.fill([0; QUAD]);
        return Meaning { scale: if scale.is_finite() { 0.0 } else { f32::NAN }, zero: 0 };
    }
    let steps = 1.0 / scale;
    let zero = (-low * steps).round();
    let flat = codes.as_flattened_mut();
    for (code, value) in flat.iter_mut().zip(row) {
        let place = (value * steps + zero + 0.5).clamp(0.0, 255.0);
        // SAFETY: a number from 0 to 255: the row's values are finite, for its extremes are.
        *code = unsafe { place.to_int_unchecked::<i32>() } as u8;
    }
    flat[row.len()..].fill(0);
    Meaning { scale, zero: zero as i32 }
}

/// The sums of a tile in plain Rust.
#[inline(always)]
fn plain_tile(rows: [&[[u8; QUAD]]; ROWS], panel: &[[Weights; PANEL]]) -> Sums {
    rows.map(|row| {
        let mut sums = [[0; BLOCK]; PANEL];
        for (x, weights) in row.iter().zip(panel) {
            for (sums, Weights(block)) in sums.iter_mut().zip(weights) {
                for (sum, own) in sums.iter_mut().zip(block) {
                    *sum += x.iter().zip(own).map(|(x, w)| i32::from(*x) * i32::from(*w)).sum::<i32>();
                }
            }
        }
        sums
    })
}

#[cfg(target_arch = "x86_64")]
mod vnni {
    use super::{BLOCK, PANEL, QUAD, ROWS, Run, Sums, Weights};
    use crate::cpu::simd::{Level, level};
    use std::arch::x86_64::{_mm512_dpbusd_epi32, _mm512_set1_epi32, _mm512_setzero_si512};

    /// Whether the processor has these instructions.
    pub(super) fn is_here() -> bool {
        is_x86_feature_detected!("avx512vnni") && level() == Level::Avx512
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma")]
    pub(super) fn run(run: Run<'_>) {
        run.by(|rows, panel| tile(rows, panel));
    }

    /// Eight rows times 48 outputs in 24 registers. The sums are copied out one by one at the end, as an array that is
    /// indexed later would be written to memory in every step.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma")]
    fn tile(rows: [&[[u8; QUAD]]; ROWS], panel: &[[Weights; PANEL]]) -> Sums {
        let mut sums = [[_mm512_setzero_si512(); PANEL]; ROWS];
        for row in rows {
            assert!(row.len() == panel.len()); // spares a check in every step
        }
        for k in 0..panel.len() {
            let weights = panel[k].map(|weights| pulp::cast::<[[i8; QUAD]; BLOCK], _>(weights.0));
            for r in 0..ROWS {
                let x = _mm512_set1_epi32(i32::from_le_bytes(rows[r][k]));
                for b in 0..PANEL {
                    sums[r][b] = _mm512_dpbusd_epi32(sums[r][b], x, weights[b]);
                }
            }
        }
        let mut result = [[[0; BLOCK]; PANEL]; ROWS];
        for r in 0..ROWS {
            for b in 0..PANEL {
                result[r][b] = pulp::cast(sums[r][b]);
            }
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::{super::finish::wave, *};
    use crate::Gelu;

    /// Close to the products of the numbers themselves, and the same bits in plain Rust.
    #[test]
    fn products_are_near_and_the_same_everywhere() {
        for (inputs, outputs, rows) in [(1, 1, 1), (5, 16, 13), (40, 49, 31), (67, 130, 7), (256, 96, 8)] {
            let weights: Vec<f32> = (0..inputs * outputs).map(wave).collect();
            let bias: Vec<f32> = (0..outputs).map(|o| wave(o + 7)).collect();
            let layer = Int8::new(inputs, &weights, &bias);
            let (stride, output_stride) = (inputs + 3, padded(outputs) + 16);
            // Rows of all sizes, one of zeros, one without negative numbers.
            let scale = |r: usize| if r == 1 { 0.0 } else { 10.0_f32.powi(r as i32 % 5 - 2) };
            let value = |r: usize, i: usize| if r == 2 { wave(i).abs() } else { wave(r * 13 + i + 11) } * scale(r);
            let input: Vec<f32> = (0..rows * stride).map(|k| value(k / stride, k % stride)).collect();
            for finish in [Finish::Store, Finish::Add, Finish::Activate(Gelu::Quick)] {
                let run = |plain: bool| {
                    let mut output = vec![2.0; rows * output_stride];
                    let job = Job { rows, input: &input, stride, output: &mut output, output_stride, finish };
                    if plain {
                        Simd::vectorize(pulp::Scalar::new(), Run { layer: &layer, job });
                    } else {
                        layer.run(job);
                    }
                    output
                };
                let output = run(false);
                assert_eq!(output, run(true));
                for (r, o) in (0..rows * outputs).map(|at| (at / outputs, at % outputs)) {
                    let row = &input[r * stride..][..inputs];
                    let length = row.iter().map(|x| x * x).sum::<f32>().sqrt();
                    let sum = bias[o] + row.iter().zip(&weights[o * inputs..]).map(|(x, w)| x * w).sum::<f32>();
                    let expected = match finish {
                        Finish::Store => sum,
                        Finish::Add => sum + 2.0,
                        Finish::Activate(_) => sum / (1.0 + (-1.702 * sum).exp()),
                    };
                    let off = (output[r * output_stride + o] - expected).abs();
                    assert!(off <= 0.02 * length + 1e-6, "{finish:?} {r} {o}: {off} of {expected}");
                }
            }
        }
    }

    /// What is not a number stays none.
    #[test]
    fn values_that_are_not_finite_are_not_hidden() {
        let layer = Int8::new(3, &[1.0, 2.0, 3.0], &[0.5]);
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let (mut output, output_stride, finish) = (vec![0.0; 2 * padded(1)], padded(1), Finish::Store);
            let input = &[1.0, bad, 0.0, 1.0, 1.0, 1.0];
            layer.run(Job { rows: 2, input, stride: 3, output: &mut output, output_stride, finish });
            assert!(output[0].is_nan() && (output[padded(1)] - 6.5).abs() < 0.05, "{output:?}");
        }
    }
}
