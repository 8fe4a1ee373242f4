//! Philox4x32-10, the counter-based generator of Salmon et al. (SC 2011): the same integers as on CUDA.

use super::{MatMut, for_rows, math, simd::simd_kernel};
use crate::kinds::SamplerStep;
use std::ops::Range;

/// Seed and counter as the kernels see them: `[seed lo, seed hi, counter lo, counter hi]`.
pub(crate) type State = [u32; 4];

/// A generator's state, and where the rows at hand stand in a batch.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) state: State,
    /// Rows before the first of ours.
    pub(crate) first_row: usize,
}

/// Four 32-bit random words for one counter value.
pub(crate) fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for round in 0..10 {
        if round > 0 {
            key = [key[0].wrapping_add(0x9E37_79B9), key[1].wrapping_add(0xBB67_AE85)];
        }
        let a = u64::from(counter[0]) * 0xD251_1F53;
        let b = u64::from(counter[2]) * 0xCD9E_8D57;
        counter = [(b >> 32) as u32 ^ counter[1] ^ key[0], b as u32, (a >> 32) as u32 ^ counter[3] ^ key[1], a as u32];
    }
    counter
}

/// The words of block `block` in stream `stream`; a block serves four values in a row.
pub(crate) fn block(state: State, stream: u32, block: usize) -> [u32; 4] {
    philox([block as u32, stream, state[2], state[3]], [state[0], state[1]])
}

/// A word as a number in (0, 1): never 0, so that its logarithm is finite, and never 1.
pub(crate) fn uniform(word: u32) -> f32 {
    ((word >> 9) as f32 + 0.5) * (1.0 / 8_388_608.0)
}

/// Blocks made at once: the four words of 16 blocks fill four AVX-512 registers.
const BLOCKS: usize = 16;
const WORDS: usize = 4 * BLOCKS;

simd_kernel! {
    /// The words of 16 blocks in a row.
    fn sixteen_blocks(out: &mut [u32; WORDS], state: State, stream: u32, first: u32) {
        let mut x0: [u32; BLOCKS] = std::array::from_fn(|i| first.wrapping_add(i as u32));
        let (mut x1, mut x2, mut x3) = ([stream; BLOCKS], [state[2]; BLOCKS], [state[3]; BLOCKS]);
        let (mut k0, mut k1) = (state[0], state[1]);
        for _ in 0..10 {
            for i in 0..BLOCKS {
                let a = u64::from(x0[i]) * 0xD251_1F53;
                let b = u64::from(x2[i]) * 0xCD9E_8D57;
                x0[i] = (b >> 32) as u32 ^ x1[i] ^ k0;
                x1[i] = b as u32;
                x2[i] = (a >> 32) as u32 ^ x3[i] ^ k1;
                x3[i] = a as u32;
            }
            (k0, k1) = (k0.wrapping_add(0x9E37_79B9), k1.wrapping_add(0xBB67_AE85));
        }
        for i in 0..BLOCKS {
            out[4 * i] = x0[i];
            out[4 * i + 1] = x1[i];
            out[4 * i + 2] = x2[i];
            out[4 * i + 3] = x3[i];
        }
    }

    fn uniforms(out: &mut [f32; WORDS], words: &[u32; WORDS]) {
        for i in 0..WORDS { out[i] = uniform(words[i]); }
    }

    /// Pairs of words to pairs of standard normals (Box and Muller).
    pub(crate) fn normals(out: &mut [f32; WORDS], words: &[u32; WORDS]) {
        for i in 0..WORDS / 2 {
            let radius = (-2.0 * math::ln(uniform(words[2 * i]))).sqrt();
            let angle = std::f32::consts::TAU * uniform(words[2 * i + 1]);
            out[2 * i] = radius * math::cos(angle);
            out[2 * i + 1] = radius * math::sin(angle);
        }
    }
}

/// Hands the words of numbers `first`, `first + 1`, … to `f`, up to 64 at a time: `f(piece of 0..len, words, skip)`,
/// where the piece's words start `skip` into `words`.
fn for_words(
    state: State,
    stream: u32,
    first: usize,
    len: usize,
    mut f: impl FnMut(Range<usize>, &[u32; WORDS], usize),
) {
    let mut words = [0; WORDS];
    let mut at = 0;
    while at < len {
        let number = first + at;
        let skip = number % 4;
        let take = (WORDS - skip).min(len - at);
        let blocks = (skip + take).div_ceil(4);
        if blocks > 4 {
            sixteen_blocks(&mut words, state, stream, (number / 4) as u32);
        } else {
            for (k, four) in words.chunks_mut(4).take(blocks).enumerate() {
                four.copy_from_slice(&block(state, stream, number / 4 + k));
            }
        }
        f(at..at + take, &words, skip);
        at += take;
    }
}

type Transform = fn(&mut [f32; WORDS], &[u32; WORDS]);

/// Fills `row`, whose first value has number `first`.
pub(crate) fn fill_row(state: State, stream: u32, first: usize, row: &mut [f32], transform: Transform) {
    let mut values = [0.0; WORDS];
    for_words(state, stream, first, row.len(), |piece, words, skip| {
        transform(&mut values, words);
        let len = piece.len();
        row[piece].copy_from_slice(&values[skip..skip + len]);
    });
}

pub(crate) fn fill(out: MatMut<'_>, Place { state, first_row }: Place, stream: u32, normal: bool) {
    let (cols, transform): (_, Transform) = (out.cols, if normal { normals } else { uniforms });
    for_rows(out, |r, row| fill_row(state, stream, (first_row + r) * cols, row, transform));
}

/// Where the numbers of rows come from: the seed, and for each row `[key lo, key hi, number]`.
#[derive(Clone, Copy)]
pub(crate) struct RowStates<'a> {
    pub(crate) seed: [u32; 2],
    pub(crate) rows: &'a [u32],
}

impl RowStates<'_> {
    /// The generator's state for row `r`, and the number of the row's first value.
    pub(crate) fn of(&self, r: usize, cols: usize) -> (State, usize) {
        let [lo, hi, number] = [0, 1, 2].map(|k| self.rows[3 * r + k]);
        ([self.seed[0], self.seed[1], lo, hi], number as usize * cols)
    }
}

/// Integers below `bound`, uniform to 2⁻³² (multiply and keep the high word).
pub(crate) fn fill_indices(out: &mut [u32], bound: u32, Place { state, first_row }: Place, stream: u32) {
    for_words(state, stream, first_row, out.len(), |piece, words, skip| {
        for (value, word) in out[piece].iter_mut().zip(&words[skip..]) {
            *value = ((u64::from(*word) * u64::from(bound)) >> 32) as u32;
        }
    });
}

#[derive(Clone, Copy)]
pub(crate) struct DropoutKey {
    pub(crate) place: Place,
    pub(crate) stream: u32,
    /// A value is dropped if its word is below this.
    pub(crate) threshold: u32,
    /// 1 / (1 − p).
    pub(crate) scale: f32,
}

impl DropoutKey {
    /// Drops values of row `r`: kept ones are scaled, dropped ones become −0.0.
    pub(crate) fn apply(&self, r: usize, row: &mut [f32]) {
        let first = (self.place.first_row + r) * row.len();
        for_words(self.place.state, self.stream, first, row.len(), |piece, words, skip| {
            drop_values(&mut row[piece], &words[skip..], self.threshold, self.scale);
        });
    }
}

simd_kernel! {
    fn drop_values(values: &mut [f32], words: &[u32], threshold: u32, scale: f32) {
        for (value, word) in values.iter_mut().zip(words) {
            // Adding 0 turns a kept −0.0 into 0.0, so that −0.0 means dropped and nothing else.
            *value = if *word >= threshold { *value * scale + 0.0 } else { -0.0 };
        }
    }

    pub(crate) fn sampler_row(x: &mut [f32], x0: &mut [f32], prediction: &[f32], noise: &[f32], c: SamplerStep) {
        let n = x.len();
        let (x0, prediction, noise) = (&mut x0[..n], &prediction[..n], &noise[..n]);
        for i in 0..n {
            let clean = c.x0_from_x.mul_add(x[i], c.x0_from_prediction * prediction[i]);
            let next = c.x_from_x.mul_add(x[i], c.x_from_x0.mul_add(clean, c.x_from_previous_x0 * x0[i]));
            x[i] = c.x_from_noise.mul_add(noise[i], next);
            x0[i] = clean;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn philox_matches_the_published_vectors() {
        // Random123's kat_vectors for philox4x32-10.
        assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(philox([u32::MAX; 4], [u32::MAX; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        assert_eq!(
            philox([0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344], [0xa409_3822, 0x299f_31d0]),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    #[test]
    fn sixteen_blocks_are_sixteen_single_ones() {
        let (mut words, state) = ([0; WORDS], [1, 2, 3, 4]);
        sixteen_blocks(&mut words, state, 9, u32::MAX - 3);
        for (k, four) in words.chunks(4).enumerate() {
            assert_eq!(four, philox([(u32::MAX - 3).wrapping_add(k as u32), 9, 3, 4], [1, 2]));
        }
    }

    #[test]
    fn normals_have_the_right_moments() {
        let mut values = vec![0.0_f32; 200_000];
        fill_row([1, 2, 3, 4], 5, 0, &mut values, normals);
        let moment = |k: i32| values.iter().map(|&v| f64::from(v).powi(k)).sum::<f64>() / values.len() as f64;
        let [mean, variance, fourth] = [1, 2, 4].map(moment);
        assert!(mean.abs() < 0.01 && (variance - 1.0).abs() < 0.02 && (fourth - 3.0).abs() < 0.1);
    }

    #[test]
    fn a_row_cut_in_two_gets_the_same_numbers() {
        let (mut whole, mut parts) = ([0.0_f32; 323], [0.0_f32; 323]);
        fill_row([9, 0, 7, 0], 1, 6, &mut whole, normals);
        fill_row([9, 0, 7, 0], 1, 6, &mut parts[..5], normals);
        fill_row([9, 0, 7, 0], 1, 11, &mut parts[5..], normals);
        assert_eq!(whole.map(f32::to_bits), parts.map(f32::to_bits));
    }
}
