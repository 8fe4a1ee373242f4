//! The sums of a tile: [`ROWS`] rows times up to [`WIDTH`] columns, every sum taken in order with fused multiplications.

/// Columns in a tile: three registers of AVX-512.
pub(super) const WIDTH: usize = 48;
/// Rows of the left side that a tile is multiplied with at a time.
pub(super) const ROWS: usize = 8;

/// The sums of a tile.
#[cfg(any(test, target_arch = "x86_64"))]
type Sums = [[f32; WIDTH]; ROWS];

/// A part of `c`: up to [`ROWS`] rows and [`WIDTH`] columns.
pub(super) struct Tile {
    pub(super) c: *mut f32,
    pub(super) stride: usize,
    pub(super) rows: usize,
    pub(super) cols: usize,
    pub(super) start: TileStart,
}

/// What the sums of a tile begin with.
#[derive(Clone, Copy)]
pub(super) enum TileStart {
    Zero,
    /// What the tile holds.
    Kept,
    /// The same for all rows: as many numbers as the tile has columns.
    Row(*const f32),
}

impl Tile {
    /// Adds the product of [`ROWS`] rows (side by side) and a tile's block.
    ///
    /// # Safety
    /// The rows and columns must be there, and no one else's; so must the row that the sums begin with.
    pub(super) unsafe fn add(&self, weights: &[f32], x: &[f32]) {
        #[cfg(target_arch = "x86_64")]
        if super::level() == super::Level::Avx512 {
            // SAFETY: the caller's promise, and `level` names only what the processor has.
            return unsafe {
                match self.cols.div_ceil(16) {
                    1 => wide::avx512::<1>(self, weights, x),
                    2 => wide::avx512::<2>(self, weights, x),
                    _ => wide::avx512::<3>(self, weights, x),
                }
            };
        }
        // SAFETY: the caller's promise.
        let line = |r: usize| unsafe { std::slice::from_raw_parts_mut(self.c.add(r * self.stride), self.cols) };
        let mut sums = [[0.0; WIDTH]; ROWS];
        match self.start {
            TileStart::Zero => {}
            TileStart::Kept => (0..self.rows).for_each(|r| sums[r][..self.cols].copy_from_slice(line(r))),
            TileStart::Row(row) => {
                // SAFETY: the caller's promise.
                let row = unsafe { std::slice::from_raw_parts(row, self.cols) };
                for sums in &mut sums {
                    sums[..self.cols].copy_from_slice(row);
                }
            }
        }
        match super::level() {
            // SAFETY: `level` names only what the processor has.
            #[cfg(target_arch = "x86_64")]
            super::Level::Avx2 => unsafe { wide::avx2(&mut sums, weights, x) },
            _ => plain(&mut sums[..self.rows], weights, x),
        }
        (0..self.rows).for_each(|r| line(r).copy_from_slice(&sums[r][..self.cols]));
    }
}

/// The same sums in plain Rust.
fn plain(sums: &mut [[f32; WIDTH]], weights: &[f32], x: &[f32]) {
    for (weights, x) in weights.chunks_exact(WIDTH).zip(x.chunks_exact(ROWS)) {
        for (sums, x) in sums.iter_mut().zip(x) {
            sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum = weight.mul_add(*x, *sum));
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use super::{ROWS, Sums, Tile, TileStart, WIDTH};
    use std::arch::x86_64::{
        __m256, __m512, __mmask16, _MM_HINT_T0, _mm_prefetch, _mm256_broadcast_ss, _mm256_fmadd_ps, _mm256_loadu_ps,
        _mm256_storeu_ps, _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_mask_storeu_ps, _mm512_maskz_loadu_ps,
        _mm512_set1_ps, _mm512_setzero_ps,
    };

    /// Weights are fetched from the second cache this many rows before their turn: ten per cent faster, measured.
    const AHEAD: usize = 6;

    /// Eight times `WIDE` sums in registers, read from and written to `c` itself.
    ///
    /// # Safety
    /// As [`Tile::add`].
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
    pub(super) unsafe fn avx512<const WIDE: usize>(tile: &Tile, weights: &[f32], x: &[f32]) {
        let masks: [__mmask16; WIDE] = std::array::from_fn(|v| match tile.cols.saturating_sub(16 * v) {
            some if some >= 16 => __mmask16::MAX,
            some => (1 << some) - 1,
        });
        let line = |r: usize| tile.c.wrapping_add(r * tile.stride);
        // SAFETY: lanes outside the tile are masked and never touched, rows outside it neither; weights and x are cut into
        // pieces of known size.
        unsafe {
            let mut sums = [[_mm512_setzero_ps(); WIDE]; ROWS];
            match tile.start {
                TileStart::Zero => {}
                TileStart::Kept => {
                    for r in 0..tile.rows {
                        for v in 0..WIDE {
                            sums[r][v] = _mm512_maskz_loadu_ps(masks[v], line(r).wrapping_add(16 * v));
                        }
                    }
                }
                TileStart::Row(row) => {
                    let row: [__m512; WIDE] =
                        std::array::from_fn(|v| _mm512_maskz_loadu_ps(masks[v], row.wrapping_add(16 * v)));
                    sums = [row; ROWS];
                }
            }
            for (weights, x) in weights.chunks_exact(WIDTH).zip(x.chunks_exact(ROWS)) {
                for v in 0..WIDE {
                    _mm_prefetch::<_MM_HINT_T0>(weights.as_ptr().wrapping_add(AHEAD * WIDTH + 16 * v).cast());
                }
                let weights: [__m512; WIDE] = std::array::from_fn(|v| _mm512_loadu_ps(weights.as_ptr().add(16 * v)));
                for r in 0..ROWS {
                    let value = _mm512_set1_ps(*x.get_unchecked(r));
                    for v in 0..WIDE {
                        sums[r][v] = _mm512_fmadd_ps(weights[v], value, sums[r][v]);
                    }
                }
            }
            for r in 0..tile.rows {
                for v in 0..WIDE {
                    _mm512_mask_storeu_ps(line(r).wrapping_add(16 * v), masks[v], sums[r][v]);
                }
            }
        }
    }

    /// Four rows and half the columns at a time: twelve sums in registers.
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn avx2(sums: &mut Sums, weights: &[f32], x: &[f32]) {
        const WIDE: usize = WIDTH / 16;
        const FEW: usize = ROWS / 2;
        for first in [0, FEW] {
            for half in [0, WIDTH / 2] {
                // SAFETY: a half row of sums holds three registers; weights and x are cut into pieces of known size.
                unsafe {
                    let load = |from: *const f32| -> [__m256; WIDE] {
                        std::array::from_fn(|v| _mm256_loadu_ps(from.add(8 * v)))
                    };
                    let mut kept: [[__m256; WIDE]; FEW] =
                        std::array::from_fn(|r| load(sums[first + r].as_ptr().add(half)));
                    for (weights, x) in weights.chunks_exact(WIDTH).zip(x.chunks_exact(ROWS)) {
                        let weights = load(weights.as_ptr().add(half));
                        for r in 0..FEW {
                            let value = _mm256_broadcast_ss(&x[first + r]);
                            for v in 0..WIDE {
                                kept[r][v] = _mm256_fmadd_ps(weights[v], value, kept[r][v]);
                            }
                        }
                    }
                    for (row, kept) in sums[first..].iter_mut().zip(kept) {
                        for (v, sum) in kept.into_iter().enumerate() {
                            _mm256_storeu_ps(row.as_mut_ptr().add(half + 8 * v), sum);
                        }
                    }
                }
            }
        }
    }
}

/// Numbers that look random, for tests.
#[cfg(test)]
pub(super) fn numbers(count: usize, salt: u32) -> Vec<f32> {
    let word = |i: u32| i.wrapping_mul(2_654_435_761).wrapping_add(salt) >> 8;
    (0..count as u32).map(|i| word(i) as f32 / 16_777_216.0 - 0.5).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every instruction set takes the sums in the same order, so that an answer is the same on every processor.
    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        let (weights, x, start) = (numbers(97 * WIDTH, 3), numbers(97 * ROWS, 4), numbers(ROWS * WIDTH, 5));
        let run = |kernel: &dyn Fn(&mut Sums)| {
            let mut sums = [[0.0; WIDTH]; ROWS];
            sums.iter_mut().zip(start.chunks_exact(WIDTH)).for_each(|(sums, start)| sums.copy_from_slice(start));
            kernel(&mut sums);
            sums
        };
        let expected = run(&|sums| plain(sums, &weights, &x));
        let add = |sums: &mut Sums| {
            let c = sums.as_flattened_mut().as_mut_ptr();
            let tile = Tile { c, stride: WIDTH, rows: ROWS, cols: WIDTH, start: TileStart::Kept };
            // SAFETY: the tile is the whole of `sums`.
            unsafe { tile.add(&weights, &x) };
        };
        assert!(run(&add) == expected);
        #[cfg(target_arch = "x86_64")]
        if super::super::level() >= super::super::Level::Avx2 {
            // SAFETY: the processor has AVX2 and FMA.
            assert!(run(&|sums| unsafe { wide::avx2(sums, &weights, &x) }) == expected);
        }
    }
}
