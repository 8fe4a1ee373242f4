//! `c = x·w` or `x·wᵀ` with the sums taken in order, in blocks of a fixed size: a row of c is the same numbers however many
//! rows x has. It is also faster than the `gemm` crate at the sizes of this engine, from 16 rows on.

/// Whether this machine has the kernel: it needs AVX-512.
pub(super) fn is_here() -> bool {
    #[cfg(target_arch = "x86_64")]
    return super::level() == super::Level::Avx512;
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

/// What [`product`] works on; rows of x, w and c are contiguous, strides are between rows.
pub(super) struct Operands {
    pub(super) c: *mut f32,
    pub(super) x: *const f32,
    pub(super) w: *const f32,
    pub(super) c_stride: isize,
    pub(super) x_stride: isize,
    pub(super) w_stride: isize,
    /// Rows of x, columns of c, length of the sums.
    pub(super) sizes: (usize, usize, usize),
    /// Whether w is read transposed: a row of it for every column of c.
    pub(super) transposed: bool,
    pub(super) accumulate: bool,
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) unsafe fn product(_: &Operands) {
    unreachable!("only machines with AVX-512 come here");
}

/// # Safety
/// The pointers must cover the sizes at the strides given, `c` apart from `x` and `w`, and [`is_here`] must hold.
#[cfg(target_arch = "x86_64")]
pub(super) unsafe fn product(o: &Operands) {
    // SAFETY: the caller's promise.
    unsafe { avx512::product(o) }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::Operands;
    use std::arch::x86_64::{
        __m512, __mmask16, _mm512_castpd_ps, _mm512_castps_pd, _mm512_fmadd_ps, _mm512_mask_storeu_ps,
        _mm512_maskz_loadu_ps, _mm512_set1_ps, _mm512_setzero_ps, _mm512_shuffle_f32x4, _mm512_storeu_ps,
        _mm512_unpackhi_pd, _mm512_unpackhi_ps, _mm512_unpacklo_pd, _mm512_unpacklo_ps,
    };

    /// Rows of w in a block: 48 columns of them fit the first cache.
    const BLOCK: usize = 128;
    /// Rows of x, and registers of columns, in a tile: 24 sums.
    const ROWS: usize = 8;
    const WIDE: usize = 3;
    const LANES: usize = 16;

    /// # Safety
    /// As [`super::product`].
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
    pub(super) unsafe fn product(o: &Operands) {
        let (rows, cols, depth) = o.sizes;
        let mut packed = vec![0.0; rows.next_multiple_of(ROWS) * BLOCK];
        let mut turned = [0.0_f32; BLOCK * WIDE * LANES];
        for start in (0..depth.max(1)).step_by(BLOCK) {
            let block = start..(start + BLOCK).min(depth);
            // SAFETY: rows and the block are inside the sizes.
            unsafe { pack(o, block.clone(), &mut packed) };
            for col in (0..cols).step_by(WIDE * LANES) {
                let weights = if o.transposed {
                    // SAFETY: columns and the block are inside the sizes.
                    unsafe { turn(o, col, block.clone(), &mut turned) };
                    (turned.as_ptr(), (WIDE * LANES) as isize)
                } else {
                    (o.w.wrapping_offset(block.start as isize * o.w_stride).wrapping_add(col), o.w_stride)
                };
                for (tile, x) in packed.chunks_exact(ROWS * BLOCK).enumerate() {
                    // SAFETY: the tile is inside the sizes, the last rows and columns by their masks.
                    unsafe { add_tile(o, (tile * ROWS, col), block.clone(), weights, x) };
                }
            }
        }
    }

    /// The block's part of x, eight rows side by side, so that a tile reads it in one stream; rows that are not there are 0.
    ///
    /// # Safety
    /// As [`super::product`], and the block inside the sizes.
    unsafe fn pack(o: &Operands, block: std::ops::Range<usize>, packed: &mut [f32]) {
        let rows = o.sizes.0;
        for (tile, out) in packed.chunks_exact_mut(ROWS * BLOCK).enumerate() {
            for r in 0..ROWS.min(rows - tile * ROWS) {
                // SAFETY: the row is inside x.
                let x = unsafe { o.x.offset((tile * ROWS + r) as isize * o.x_stride) };
                for (k, at) in block.clone().enumerate() {
                    // SAFETY: so is the column.
                    out[k * ROWS + r] = unsafe { *x.add(at) };
                }
            }
        }
    }

    /// The block's part of up to 48 rows of w, turned: a row for each of the block's places; what is not there is 0.
    ///
    /// # Safety
    /// As [`super::product`], and column and block inside the sizes.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
    unsafe fn turn(
        o: &Operands,
        col: usize,
        block: std::ops::Range<usize>,
        turned: &mut [f32; BLOCK * WIDE * LANES],
    ) {
        for v in 0..WIDE {
            let first = col + v * LANES;
            let there = o.sizes.1.saturating_sub(first).min(LANES);
            for k in (0..block.len()).step_by(LANES) {
                let mask = lanes(block.len() - k);
                let mut rows = [_mm512_setzero_ps(); LANES];
                for (j, row) in rows.iter_mut().enumerate().take(there) {
                    // SAFETY: the row is inside w, and so are the lanes of the mask.
                    unsafe {
                        let at = o.w.offset((first + j) as isize * o.w_stride).add(block.start + k);
                        *row = _mm512_maskz_loadu_ps(mask, at);
                    }
                }
                for (i, column) in transpose(rows).into_iter().enumerate() {
                    let out = &mut turned[(k + i) * WIDE * LANES + v * LANES..][..LANES];
                    // SAFETY: the slice holds sixteen values.
                    unsafe { _mm512_storeu_ps(out.as_mut_ptr(), column) };
                }
            }
        }
    }

    /// A mask of so many lanes, at most sixteen.
    fn lanes(count: usize) -> __mmask16 {
        if count >= LANES { __mmask16::MAX } else { (1 << count) - 1 }
    }

    /// Sixteen rows of sixteen become columns.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
    fn transpose(rows: [__m512; LANES]) -> [__m512; LANES] {
        let pairs: [__m512; LANES] = std::array::from_fn(|i| {
            let (a, b) = (rows[i / 2 * 2], rows[i / 2 * 2 + 1]);
            if i % 2 == 0 { _mm512_unpacklo_ps(a, b) } else { _mm512_unpackhi_ps(a, b) }
        });
        // Of four rows each, four columns: the 128-bit lane L of number 4g + c holds column 4L + c of rows 4g to 4g + 3.
        let fours: [__m512; LANES] = std::array::from_fn(|i| {
            let (group, c) = (i / 4 * 4, i % 4);
            let a = _mm512_castps_pd(pairs[group + c / 2]);
            let b = _mm512_castps_pd(pairs[group + c / 2 + 2]);
            _mm512_castpd_ps(if c % 2 == 0 { _mm512_unpacklo_pd(a, b) } else { _mm512_unpackhi_pd(a, b) })
        });
        let mut columns = [_mm512_setzero_ps(); LANES];
        for c in 0..4 {
            let even = |g: usize| _mm512_shuffle_f32x4::<0x88>(fours[g + c], fours[g + 4 + c]);
            let odd = |g: usize| _mm512_shuffle_f32x4::<0xdd>(fours[g + c], fours[g + 4 + c]);
            columns[c] = _mm512_shuffle_f32x4::<0x88>(even(0), even(8));
            columns[4 + c] = _mm512_shuffle_f32x4::<0x88>(odd(0), odd(8));
            columns[8 + c] = _mm512_shuffle_f32x4::<0xdd>(even(0), even(8));
            columns[12 + c] = _mm512_shuffle_f32x4::<0xdd>(odd(0), odd(8));
        }
        columns
    }

    /// Adds a block's part to up to eight rows and 48 columns of c; `weights` are the block's, and their stride.
    ///
    /// # Safety
    /// As [`super::product`], and the tile's first row and column inside the sizes.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
    unsafe fn add_tile(
        o: &Operands,
        (row, col): (usize, usize),
        block: std::ops::Range<usize>,
        (weights, weights_stride): (*const f32, isize),
        x: &[f32],
    ) {
        let (rows, cols, _) = o.sizes;
        let masks: [__mmask16; WIDE] =
            std::array::from_fn(|v| match (cols - col).saturating_sub(v * LANES) {
                0 => 0,
                some if some >= LANES => __mmask16::MAX,
                some => (1 << some) - 1,
            });
        let (is_first, used) = (block.start == 0 && !o.accumulate, ROWS.min(rows - row));
        // SAFETY: rows and columns are inside the sizes; lanes outside are masked and never touched.
        unsafe {
            let c = |r: usize| o.c.offset((row + r) as isize * o.c_stride).add(col);
            let mut sums = [[_mm512_setzero_ps(); WIDE]; ROWS];
            if !is_first {
                for r in 0..used {
                    for v in 0..WIDE {
                        sums[r][v] = _mm512_maskz_loadu_ps(masks[v], c(r).wrapping_add(v * LANES));
                    }
                }
            }
            let (mut w, mut x) = (weights, x.as_ptr());
            for _ in block {
                let weights: [__m512; WIDE] =
                    std::array::from_fn(|v| _mm512_maskz_loadu_ps(masks[v], w.wrapping_add(v * LANES)));
                for r in 0..ROWS {
                    let value = _mm512_set1_ps(*x.add(r));
                    for v in 0..WIDE {
                        sums[r][v] = _mm512_fmadd_ps(weights[v], value, sums[r][v]);
                    }
                }
                (w, x) = (w.wrapping_offset(weights_stride), x.wrapping_add(ROWS));
            }
            for r in 0..used {
                for v in 0..WIDE {
                    _mm512_mask_storeu_ps(c(r).wrapping_add(v * LANES), masks[v], sums[r][v]);
                }
            }
        }
    }
}
