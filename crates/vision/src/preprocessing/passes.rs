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
    Arch::new().dispatch(Pass::<false> { rgb, row_bytes, taps, out: &mut out });
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
