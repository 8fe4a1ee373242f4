//! `c = x·w` with the sums taken in order: a row of c is the same numbers however many rows x has. It is also faster than the
//! `gemm` crate at the sizes of a sampler, from 16 rows on.

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
        __m512, __mmask16, _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_mask_storeu_ps, _mm512_maskz_loadu_ps,
        _mm512_set1_ps, _mm512_setzero_ps, _mm512_storeu_ps,
    };

    /// Sums up to this length are taken in one go, so that c is written once; of longer ones this much at a time: 48 columns
    /// of such a block of w fit the first cache. The order of a sum is the same either way.
    const WHOLE: usize = 1024;
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
        let length = if depth <= WHOLE { depth.max(1) } else { BLOCK };
        let mut packed = vec![0.0; rows.next_multiple_of(ROWS) * length];
        let mut weights = vec![0.0; length * WIDE * LANES];
        for start in (0..depth.max(1)).step_by(length) {
            let block = start..(start + length).min(depth);
            // SAFETY: rows and the block are inside the sizes.
            unsafe { pack(o, block.clone(), &mut packed, ROWS * length) };
            for col in (0..cols).step_by(WIDE * LANES) {
                // SAFETY: columns and the block are inside the sizes.
                unsafe { copy(o, col, block.clone(), &mut weights) };
                for (tile, x) in packed.chunks_exact(ROWS * length).enumerate() {
                    // SAFETY: the tile is inside the sizes, the last rows and columns by their masks.
                    unsafe { add_tile(o, (tile * ROWS, col), block.clone(), &weights, x) };
                }
            }
        }
    }

    /// The block's part of x, eight rows side by side, so that a tile reads it in one stream of `size` numbers; rows that are
    /// not there are 0.
    ///
    /// # Safety
    /// As [`super::product`], and the block inside the sizes.
    unsafe fn pack(o: &Operands, block: std::ops::Range<usize>, packed: &mut [f32], size: usize) {
        let rows = o.sizes.0;
        for (tile, out) in packed.chunks_exact_mut(size).enumerate() {
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

    /// The block's part of up to 48 columns of w, row by row; what is not there is 0.
    ///
    /// # Safety
    /// As [`super::product`], and column and block inside the sizes.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
    unsafe fn copy(o: &Operands, col: usize, block: std::ops::Range<usize>, copied: &mut [f32]) {
        for v in 0..WIDE {
            let mask = lanes(o.sizes.1.saturating_sub(col + v * LANES));
            for (k, at) in block.clone().enumerate() {
                let out = &mut copied[k * WIDE * LANES + v * LANES..][..LANES];
                // SAFETY: the row is inside w, and so are the lanes of the mask; the slice holds sixteen values.
                unsafe {
                    let w = o.w.offset(at as isize * o.w_stride).wrapping_add(col + v * LANES);
                    _mm512_storeu_ps(out.as_mut_ptr(), _mm512_maskz_loadu_ps(mask, w));
                }
            }
        }
    }

    /// A mask of so many lanes, at most sixteen.
    fn lanes(count: usize) -> __mmask16 {
        if count >= LANES { __mmask16::MAX } else { (1 << count) - 1 }
    }

    /// Adds a block's part to up to eight rows and 48 columns of c; `weights` are those that [`copy`] put side by side.
    ///
    /// # Safety
    /// As [`super::product`], and the tile's first row and column inside the sizes.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
    unsafe fn add_tile(
        o: &Operands,
        (row, col): (usize, usize),
        block: std::ops::Range<usize>,
        weights: &[f32],
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
            let (mut w, mut x) = (weights.as_ptr(), x.as_ptr());
            for _ in block {
                let weights: [__m512; WIDE] = std::array::from_fn(|v| _mm512_loadu_ps(w.add(v * LANES)));
                for r in 0..ROWS {
                    let value = _mm512_set1_ps(*x.add(r));
                    for v in 0..WIDE {
                        sums[r][v] = _mm512_fmadd_ps(weights[v], value, sums[r][v]);
                    }
                }
                (w, x) = (w.wrapping_add(WIDE * LANES), x.wrapping_add(ROWS));
            }
            for r in 0..used {
                for v in 0..WIDE {
                    _mm512_mask_storeu_ps(c(r).wrapping_add(v * LANES), masks[v], sums[r][v]);
                }
            }
        }
    }
}
