//! The two passes of resizing, along the rows and along the columns, in whole numbers: the same bits whatever the
//! processor's vectors, which do most of the work.

use super::filter::{FRACTION_BITS, Taps};
use pulp::{Arch, Simd, WithSimd};

const HALF: i32 = 1 << (FRACTION_BITS - 1);

#[inline(always)]
fn to_byte(sum: i32) -> u8 {
    (sum >> FRACTION_BITS).clamp(0, 255) as u8
}

/// Every row made as long as there are taps.
pub(super) fn along_rows(rgb: &[u8], row_bytes: usize, taps: &[Taps]) -> Vec<u8> {
    let mut out = vec![0; rgb.len() / row_bytes * 3 * taps.len()];
    let pass = Pass::<false> { rgb, row_bytes, taps, out: &mut out };
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = pulp::x86::V3::try_new() {
        simd.vectorize(pairs::Rows { simd, pass });
        return out;
    }
    Arch::new().dispatch(pass);
    out
}

/// Every column made as long as there are taps.
pub(super) fn along_columns(rgb: &[u8], row_bytes: usize, taps: &[Taps]) -> Vec<u8> {
    let mut out = vec![0; row_bytes * taps.len()];
    Arch::new().dispatch(Pass::<true> { rgb, row_bytes, taps, out: &mut out });
    out
}

struct Pass<'a, const COLUMNS: bool> {
    rgb: &'a [u8],
    row_bytes: usize,
    taps: &'a [Taps],
    out: &'a mut [u8],
}

impl WithSimd for Pass<'_, false> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let pixels = self.row_bytes / 3;
        let lines = self.rgb.chunks_exact(self.row_bytes);
        // A row as pixels of four bytes, so that one is a vector of its own.
        let mut wide = vec![[0_u8; 4]; pixels];
        for (row, out) in lines.zip(self.out.chunks_exact_mut(3 * self.taps.len())) {
            for (to, from) in wide.iter_mut().zip(row.as_chunks::<3>().0) {
                *to = [from[0], from[1], from[2], 0];
            }
            for (tap, out) in self.taps.iter().zip(out.as_chunks_mut::<3>().0) {
                let mut sums = [HALF; 4];
                for (pixel, &weight) in wide[tap.first..].iter().zip(&tap.weights) {
                    for c in 0..4 {
                        sums[c] += i32::from(pixel[c]) * weight;
                    }
                }
                *out = [to_byte(sums[0]), to_byte(sums[1]), to_byte(sums[2])];
            }
        }
    }
}

impl WithSimd for Pass<'_, true> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        /// Bytes whose sums stay in registers from the first row to the last.
        const ABREAST: usize = 64;
        for (tap, out) in self.taps.iter().zip(self.out.chunks_exact_mut(self.row_bytes)) {
            let rows = &self.rgb[tap.first * self.row_bytes..];
            let mut at = 0;
            while at + ABREAST <= self.row_bytes {
                let mut sums = [HALF; ABREAST];
                for (row, &weight) in rows.chunks_exact(self.row_bytes).zip(&tap.weights) {
                    let bytes: &[u8] = &row[at..at + ABREAST];
                    for i in 0..ABREAST {
                        sums[i] += i32::from(bytes[i]) * weight;
                    }
                }
                for i in 0..ABREAST {
                    out[at + i] = to_byte(sums[i]);
                }
                at += ABREAST;
            }
            for at in at..self.row_bytes {
                let mut sum = HALF;
                for (row, &weight) in rows.chunks_exact(self.row_bytes).zip(&tap.weights) {
                    sum += i32::from(row[at]) * weight;
                }
                out[at] = to_byte(sum);
            }
        }
    }
}

/// The rows by instructions that multiply pairs of 16 bits and add them. A weight is the sum of two such numbers, so the sums are the same.
#[cfg(target_arch = "x86_64")]
mod pairs {
    use super::{HALF, Pass, Taps};
    use crate::preprocessing::filter::FRACTION_BITS;
    use pulp::x86::V3;
    use std::arch::x86_64::{__m128i, __m256i};

    /// Rows that meet a weight at a time.
    const ABREAST: usize = 4;
    /// Taps of a register, in two pairs for each colour.
    const TAPS: usize = 4;
    /// Bits of the lower part of a weight.
    const LOW_BITS: u32 = 15;
    /// From four pixels the first two and the last two, colour by colour, as numbers of 16 bits.
    const PAIRS: [i8; 32] = {
        let mut places = [-1; 32];
        let mut k = 0;
        while k < 12 {
            let (pair, colour, which) = (k / 6, k % 6 / 2, k % 2);
            places[16 * pair + 4 * colour + 2 * which] = (6 * pair + 3 * which + colour) as i8;
            k += 1;
        }
        places
    };

    /// The lower and the upper parts of four weights, for each colour.
    type Weights = [[i16; 16]; 2];

    pub(super) struct Rows<'a> {
        pub(super) simd: V3,
        pub(super) pass: Pass<'a, false>,
    }

    fn weights(tap: &Taps, group: usize) -> Weights {
        let weight = |at: usize| tap.weights.get(TAPS * group + at).copied().unwrap_or(0);
        let lane = |k: usize| if k % 8 < 6 { weight(k / 8 * 2 + k % 2) } else { 0 };
        let low = |k| (lane(k) & ((1 << LOW_BITS) - 1)) as i16;
        [std::array::from_fn(low), std::array::from_fn(|k| (lane(k) >> LOW_BITS) as i16)]
    }

    impl pulp::NullaryFnOnce for Rows<'_> {
        type Output = ();

        #[inline(always)]
        fn call(self) {
            let Self { simd, pass: Pass { rgb, row_bytes, taps, out } } = self;
            let groups = taps.iter().map(|tap| tap.weights.len().div_ceil(TAPS)).max().unwrap_or(0);
            let table: Vec<Weights> =
                taps.iter().flat_map(|tap| (0..groups).map(|group| weights(tap, group))).collect();
            let reach = 3 * TAPS * groups + 4;
            // Taps of no weight may lie behind a row.
            let mut lines = [const { Vec::new() }; ABREAST];
            lines.iter_mut().for_each(|line| line.resize(row_bytes + reach, 0_u8));
            let (rows, made) = (rgb.chunks(ABREAST * row_bytes), out.chunks_mut(ABREAST * 3 * taps.len()));
            for (rows, out) in rows.zip(made) {
                for (line, row) in lines.iter_mut().zip(rows.chunks_exact(row_bytes)) {
                    line[..row_bytes].copy_from_slice(row);
                }
                for (x, (tap, weights)) in taps.iter().zip(table.chunks_exact(groups)).enumerate() {
                    let mut from = [&[][..]; ABREAST];
                    for k in 0..ABREAST {
                        from[k] = &lines[k][3 * tap.first..][..reach];
                    }
                    let pixels = sums(simd, from, weights);
                    for (k, out) in out.chunks_exact_mut(3 * taps.len()).enumerate() {
                        out[3 * x..][..3].copy_from_slice(&pixels[k][..3]);
                    }
                }
            }
        }
    }

    /// A pixel of each row.
    #[inline(always)]
    fn sums(simd: V3, from: [&[u8]; ABREAST], weights: &[Weights]) -> [[u8; 16]; ABREAST] {
        let (avx, avx2, sse2) = (simd.avx, simd.avx2, simd.sse2);
        let order: __m256i = pulp::cast(PAIRS);
        let mut parts = [[avx._mm256_setzero_si256(); 2]; ABREAST];
        for (group, weights) in weights.iter().enumerate() {
            let weights: [__m256i; 2] = pulp::cast(*weights);
            for k in 0..ABREAST {
                let Some(bytes) = from[k][3 * TAPS * group..].first_chunk::<16>() else { continue };
                let bytes: __m128i = pulp::cast(*bytes);
                let pairs = avx2._mm256_shuffle_epi8(avx2._mm256_broadcastsi128_si256(bytes), order);
                for part in 0..2 {
                    let products = avx2._mm256_madd_epi16(pairs, weights[part]);
                    parts[k][part] = avx2._mm256_add_epi32(parts[k][part], products);
                }
            }
        }
        let half: __m128i = pulp::cast([HALF; 4]);
        let mut pixels = [[0; 16]; ABREAST];
        for k in 0..ABREAST {
            let [low, high] = parts[k];
            let both: [__m128i; 2] =
                pulp::cast(avx2._mm256_add_epi32(low, avx2._mm256_slli_epi32::<{ LOW_BITS as i32 }>(high)));
            let sum = sse2._mm_add_epi32(sse2._mm_add_epi32(both[0], both[1]), half);
            let whole = sse2._mm_srai_epi32::<{ FRACTION_BITS as i32 }>(sum);
            let narrow = sse2._mm_packs_epi32(whole, whole);
            pixels[k] = pulp::cast(sse2._mm_packus_epi16(narrow, narrow));
        }
        pixels
    }
}
