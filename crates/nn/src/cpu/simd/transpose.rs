//! Rows turned into columns, sixteen by sixteen numbers at a time in AVX-512's registers. Elsewhere the functions say no, and
//! the caller does it number by number.

#[cfg(target_arch = "x86_64")]
use super::kernel::ROWS;
use crate::cpu::Mat;
use std::ops::Range;

/// Writes number `k` of row `r` to `out[k · stride + r]`, for up to 16 rows; what follows them up to 16 is any number.
pub(super) fn to_strides(
    mat: Mat<'_>,
    rows: Range<usize>,
    block: Range<usize>,
    out: &mut [f32],
    stride: usize,
) -> bool {
    #[cfg(target_arch = "x86_64")]
    if super::level() == super::Level::Avx512 && !rows.is_empty() && !block.is_empty() {
        assert!(stride >= 16 && out.len() >= (block.len() - 1) * stride + 16);
        let lines = lines(mat, &rows, &block);
        // SAFETY: the processor has AVX-512; sixteen numbers at every stride are inside `out`, and every line is as long as
        // the block.
        unsafe { avx512::to_strides(&lines, block.len(), out.as_mut_ptr(), stride) };
        return true;
    }
    let _ = (mat, rows, block, out, stride);
    false
}

/// Writes number `k` of row `r` to `out[r / 8 · size + 8·k + r % 8]`; a last group that is not full repeats its last row.
pub(super) fn to_groups(mat: Mat<'_>, rows: Range<usize>, block: Range<usize>, out: &mut [f32], size: usize) -> bool {
    #[cfg(target_arch = "x86_64")]
    if super::level() == super::Level::Avx512 && !rows.is_empty() && !block.is_empty() {
        let groups = rows.len().div_ceil(ROWS);
        assert!(out.len() >= (groups - 1) * size + ROWS * block.len() && size >= ROWS * block.len());
        for group in (0..groups).step_by(2) {
            let lines = lines(mat, &(rows.start + group * ROWS..rows.end), &block);
            let first = out[group * size..].as_mut_ptr();
            // A group beyond the last is written over itself.
            let second = if group + 1 < groups { out[(group + 1) * size..].as_mut_ptr() } else { first };
            // SAFETY: the processor has AVX-512; both groups have eight numbers for each of the block, and every line is as
            // long as the block.
            unsafe { avx512::to_groups(&lines, block.len(), first, second) };
        }
        return true;
    }
    let _ = (mat, rows, block, out, size);
    false
}

/// The block of sixteen rows; those that are not there repeat the last.
#[cfg(target_arch = "x86_64")]
fn lines<'a>(mat: Mat<'a>, rows: &Range<usize>, block: &Range<usize>) -> [&'a [f32]; 16] {
    std::array::from_fn(|r| &mat.row((rows.start + r).min(rows.end - 1))[block.clone()])
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::ROWS;
    use std::arch::x86_64::{
        __m512, __mmask16, _mm256_storeu_ps, _mm512_castpd_ps, _mm512_castps_pd, _mm512_castps512_ps256,
        _mm512_extractf32x8_ps, _mm512_maskz_loadu_ps, _mm512_setzero_ps, _mm512_shuffle_f32x4, _mm512_storeu_ps,
        _mm512_unpackhi_pd, _mm512_unpackhi_ps, _mm512_unpacklo_pd, _mm512_unpacklo_ps,
    };

    /// # Safety
    /// The processor must have AVX-512 F and DQ, every row `len` numbers, and 16 numbers must lie at every stride of `out`.
    #[target_feature(enable = "avx512f,avx512dq")]
    pub(super) unsafe fn to_strides(rows: &[&[f32]; 16], len: usize, out: *mut f32, stride: usize) {
        for at in (0..len).step_by(16) {
            // SAFETY: the caller's promise.
            let columns = turned(&unsafe { load(rows, at, len) });
            for (k, values) in columns.into_iter().take(len - at).enumerate() {
                // SAFETY: as above.
                unsafe { _mm512_storeu_ps(out.add((at + k) * stride), values) };
            }
        }
    }

    /// # Safety
    /// As [`to_strides`]; both places have room for eight numbers for each of `len`. They may be one: then the first counts.
    #[target_feature(enable = "avx512f,avx512dq")]
    pub(super) unsafe fn to_groups(rows: &[&[f32]; 16], len: usize, first: *mut f32, second: *mut f32) {
        for at in (0..len).step_by(16) {
            // SAFETY: the caller's promise.
            let columns = turned(&unsafe { load(rows, at, len) });
            for (k, values) in columns.into_iter().take(len - at).enumerate() {
                // SAFETY: as above.
                unsafe {
                    _mm256_storeu_ps(second.add(ROWS * (at + k)), _mm512_extractf32x8_ps::<1>(values));
                    _mm256_storeu_ps(first.add(ROWS * (at + k)), _mm512_castps512_ps256(values));
                }
            }
        }
    }

    /// Up to 16 numbers of every row.
    ///
    /// # Safety
    /// Every row must have `len` numbers.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    unsafe fn load(rows: &[&[f32]; 16], at: usize, len: usize) -> [__m512; 16] {
        let mask = if len - at >= 16 { __mmask16::MAX } else { (1 << (len - at)) - 1 };
        let mut lines = [_mm512_setzero_ps(); 16];
        for (line, row) in lines.iter_mut().zip(rows) {
            // SAFETY: lanes beyond the row's end are masked.
            *line = unsafe { _mm512_maskz_loadu_ps(mask, row.as_ptr().add(at)) };
        }
        lines
    }

    /// Sixteen rows of sixteen numbers as sixteen columns.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn turned(r: &[__m512; 16]) -> [__m512; 16] {
        let low = |a, b| _mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(a), _mm512_castps_pd(b)));
        let high = |a, b| _mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(a), _mm512_castps_pd(b)));
        // Four rows as four columns within every quarter of the registers.
        let four = |at: usize| {
            let (a, b) = (_mm512_unpacklo_ps(r[at], r[at + 1]), _mm512_unpackhi_ps(r[at], r[at + 1]));
            let (c, d) = (_mm512_unpacklo_ps(r[at + 2], r[at + 3]), _mm512_unpackhi_ps(r[at + 2], r[at + 3]));
            [low(a, c), high(a, c), low(b, d), high(b, d)]
        };
        let quarters = [four(0), four(4), four(8), four(12)];
        let mut out = *r;
        for j in 0..4 {
            // Column j, 4 + j, 8 + j and 12 + j: a quarter of each of the four.
            let [a, b, c, d] = quarters.map(|quarter| quarter[j]);
            let (ab_even, ab_odd) = (_mm512_shuffle_f32x4::<0x88>(a, b), _mm512_shuffle_f32x4::<0xdd>(a, b));
            let (cd_even, cd_odd) = (_mm512_shuffle_f32x4::<0x88>(c, d), _mm512_shuffle_f32x4::<0xdd>(c, d));
            out[j] = _mm512_shuffle_f32x4::<0x88>(ab_even, cd_even);
            out[8 + j] = _mm512_shuffle_f32x4::<0xdd>(ab_even, cd_even);
            out[4 + j] = _mm512_shuffle_f32x4::<0x88>(ab_odd, cd_odd);
            out[12 + j] = _mm512_shuffle_f32x4::<0xdd>(ab_odd, cd_odd);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_where_it_belongs() {
        let (rows, cols) = (37, 53);
        let data: Vec<f32> = (0..rows * cols).map(|i| i as f32).collect();
        let mat = Mat { data: &data, rows, cols, stride: cols };
        for (some, block) in [(0..16, 0..53), (3..9, 2..40), (30..37, 50..53), (5..6, 7..8)] {
            let mut out = vec![-1.0; block.len() * 20];
            if to_strides(mat, some.clone(), block.clone(), &mut out, 20) {
                for (k, line) in block.clone().zip(out.chunks_exact(20)) {
                    some.clone().zip(line).for_each(|(r, value)| assert!(*value == mat.row(r)[k]));
                }
            }
        }
        for (some, block) in [(0..37, 0..53), (3..9, 2..40), (4..20, 16..48), (36..37, 52..53)] {
            let size = ROWS * block.len() + 3;
            let mut out = vec![-1.0; some.len().div_ceil(ROWS) * size];
            if to_groups(mat, some.clone(), block.clone(), &mut out, size) {
                for (i, at) in (0..some.len() * block.len()).map(|n| (n / block.len(), n % block.len())) {
                    let expected = mat.row(some.start + i)[block.start + at];
                    assert!(out[i / ROWS * size + ROWS * at + i % ROWS] == expected, "{i} {at}");
                }
            }
        }
    }
}
