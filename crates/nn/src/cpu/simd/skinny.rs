//! `c = x·wᵀ` for few rows of x: scalar products over contiguous rows, each weight read from memory once.
//! A general product first packs the weights into panels, which costs as much as the product itself when there are only
//! 16 rows of x to use them on.

#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "there is no kernel elsewhere"))]
/// What [`product`] works on; rows of x and w are contiguous, strides are between rows.
pub(super) struct Operands {
    pub(super) c: *mut f32,
    pub(super) x: *const f32,
    pub(super) w: *const f32,
    /// Of c, x and w.
    pub(super) strides: [isize; 3],
    /// Rows of x, rows of w, length of both.
    pub(super) sizes: (usize, usize, usize),
    pub(super) accumulate: bool,
}

/// Up to this many rows of x the kernel beats a packed product (measured at 576 to 2304 columns).
const MAX_ROWS: usize = 64;

/// Whether this machine has the kernel, and `rows` is few enough for it.
pub(super) fn pays(rows: usize) -> bool {
    #[cfg(target_arch = "x86_64")]
    let has_kernel = super::level() == super::Level::Avx512;
    #[cfg(not(target_arch = "x86_64"))]
    let has_kernel = false;
    has_kernel && rows <= MAX_ROWS
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) unsafe fn product(_: &Operands) {
    unreachable!("`pays` is false here");
}

/// # Safety
/// The pointers must cover the sizes at the strides given, `c` apart from `x` and `w`, and [`pays`] must hold.
#[cfg(target_arch = "x86_64")]
pub(super) unsafe fn product(o: &Operands) {
    // SAFETY: `pays` showed that the CPU has AVX-512 F; the rest is the caller's promise.
    unsafe { avx512::product(o) }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::Operands;
    use std::arch::x86_64::{
        __m512, __mmask16, _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_maskz_loadu_ps, _mm512_reduce_add_ps,
        _mm512_setzero_ps,
    };

    /// Rows of w and of x in a full tile: 24 sums, 4 rows of x and one of w fit the 32 registers.
    const W_TILE: usize = 6;
    const X_TILE: usize = 4;

    /// # Safety
    /// As [`super::product`].
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
    pub(super) unsafe fn product(o: &Operands) {
        let (_, w_rows, _) = o.sizes;
        let full = w_rows / W_TILE * W_TILE;
        // SAFETY: tiles stay inside the sizes.
        unsafe {
            for w in (0..full).step_by(W_TILE) {
                column_of_tiles::<W_TILE>(o, w);
            }
            for w in full..w_rows {
                column_of_tiles::<1>(o, w);
            }
        }
    }

    /// All rows of x against `W` rows of w.
    ///
    /// # Safety
    /// As [`super::product`], and `w + W` at most the rows of w.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
    unsafe fn column_of_tiles<const W: usize>(o: &Operands, w: usize) {
        let (x_rows, _, _) = o.sizes;
        let full = x_rows / X_TILE * X_TILE;
        // SAFETY: tiles stay inside the sizes.
        unsafe {
            for x in (0..full).step_by(X_TILE) {
                tile::<W, X_TILE>(o, w, x);
            }
            for x in full..x_rows {
                tile::<W, 1>(o, w, x);
            }
        }
    }

    /// `W × X` scalar products.
    ///
    /// # Safety
    /// As [`super::product`], and the tile inside the sizes.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
    unsafe fn tile<const W: usize, const X: usize>(o: &Operands, w: usize, x: usize) {
        let ((_, _, k), [c_stride, x_stride, w_stride]) = (o.sizes, o.strides);
        // SAFETY: each pointer is the start of a row inside the operands; loads stay inside the row, the last one by
        // its mask; writes go to this tile of c.
        unsafe {
            let w_rows: [*const f32; W] = std::array::from_fn(|j| o.w.offset((w + j) as isize * w_stride));
            let x_rows: [*const f32; X] = std::array::from_fn(|i| o.x.offset((x + i) as isize * x_stride));
            let mut sums = [[_mm512_setzero_ps(); X]; W];
            let mut at = 0;
            while at + 16 <= k {
                let xs: [__m512; X] = std::array::from_fn(|i| _mm512_loadu_ps(x_rows[i].add(at)));
                for j in 0..W {
                    let weight = _mm512_loadu_ps(w_rows[j].add(at));
                    for i in 0..X {
                        sums[j][i] = _mm512_fmadd_ps(weight, xs[i], sums[j][i]);
                    }
                }
                at += 16;
            }
            if at < k {
                let mask: __mmask16 = (1 << (k - at)) - 1;
                let xs: [__m512; X] = std::array::from_fn(|i| _mm512_maskz_loadu_ps(mask, x_rows[i].add(at)));
                for j in 0..W {
                    let weight = _mm512_maskz_loadu_ps(mask, w_rows[j].add(at));
                    for i in 0..X {
                        sums[j][i] = _mm512_fmadd_ps(weight, xs[i], sums[j][i]);
                    }
                }
            }
            for i in 0..X {
                let c = o.c.offset((x + i) as isize * c_stride).add(w);
                for j in 0..W {
                    let sum = _mm512_reduce_add_ps(sums[j][i]);
                    *c.add(j) = if o.accumulate { *c.add(j) + sum } else { sum };
                }
            }
        }
    }
}
