//! Harmonics of several points at once, a point in each lane of a register. The same operations in the same order as one point at a
//! time, so the same bits. Degrees follow each other, so that the state of all orders stays in the nearest cache. Finished values
//! become the points' rows before they leave that cache.

use crate::sphere::recurrence::{FLUSH, RowTable};
use crate::sphere::simd::{vectors, vectors_mut};
use crate::sphere::{UnitVec, aligned::Aligned, scalar::Number};
use pulp::{Simd, WithSimd};

/// The highest degree for which this is the faster way; measured, see `bench/benches/codec.rs`.
pub(crate) const HIGHEST: usize = 95;

/// Columns that are written at a time.
const FEWEST: usize = 64;

/// Writes a row of harmonics for each point.
pub(crate) struct WriteByDegree<'a, T> {
    pub(crate) table: &'a RowTable,
    pub(crate) points: &'a [UnitVec],
    pub(crate) out: &'a mut [T],
}

impl<T: Number> WithSimd for WriteByDegree<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (lanes, lmax) = (S::F64_LANES, self.table.lmax);
        let dimension = (lmax + 1) * (lmax + 1);
        let mut state = Aligned::zeros(4 * (lmax + 1) * lanes);
        let mut columns = Aligned::zeros((2 * lmax + 1 + FEWEST) * lanes);
        let mut place = Aligned::zeros(3 * lanes);
        for (points, rows) in self.points.chunks(lanes).zip(self.out.chunks_mut(lanes * dimension)) {
            for lane in 0..lanes {
                let point = points[lane.min(points.len() - 1)];
                (place[lane], place[lanes + lane], place[2 * lanes + lane]) = (point.x(), point.y(), point.z());
            }
            let xyz = vectors::<S>(&place);
            let (legendre, plane) = vectors_mut::<S>(&mut state).split_at_mut(2 * (lmax + 1));
            let ((now, before), (re, im)) = (legendre.split_at_mut(lmax + 1), plane.split_at_mut(lmax + 1));
            powers(simd, xyz[0], xyz[1], re, im);
            // The columns that are not written yet: the first of them, and how many.
            let (mut first, mut waiting) = (0, 0);
            for l in 0..=lmax {
                let ready = waiting + 2 * l + 1;
                let room = &mut vectors_mut::<S>(&mut columns)[waiting..ready];
                degree(simd, self.table, (l, xyz[2]), (&mut *now, &mut *before), (&*re, &*im), room);
                waiting = ready;
                if waiting < FEWEST && l < lmax {
                    continue;
                }
                for (lane, row) in rows.chunks_exact_mut(dimension).enumerate() {
                    let row = &mut row[first..first + waiting];
                    for (value, column) in row.iter_mut().zip(columns.chunks_exact(lanes)) {
                        *value = T::from_f64(column[lane]);
                    }
                }
                (first, waiting) = (first + waiting, 0);
            }
        }
    }
}

/// The powers (x + iy)^m for each lane.
#[inline(always)]
fn powers<S: Simd>(simd: S, x: S::f64s, y: S::f64s, re: &mut [S::f64s], im: &mut [S::f64s]) {
    let zero = simd.splat_f64s(0.0);
    let (mut c, mut s) = (simd.splat_f64s(1.0), zero);
    for (re, im) in re.iter_mut().zip(im) {
        (*re, *im) = (c, s);
        let turned_c = simd.sub_f64s(simd.mul_f64s(c, x), simd.mul_f64s(s, y));
        let turned_s = simd.add_f64s(simd.mul_f64s(c, y), simd.mul_f64s(s, x));
        let size = simd.add_f64s(simd.abs_f64s(turned_c), simd.abs_f64s(turned_s));
        let is_small = simd.less_than_f64s(size, simd.splat_f64s(FLUSH));
        c = simd.select_f64s(is_small, zero, turned_c);
        s = simd.select_f64s(is_small, zero, turned_s);
    }
}

/// The 2l + 1 harmonics of degree l from the two degrees before it.
#[inline(always)]
fn degree<S: Simd>(
    simd: S,
    table: &RowTable,
    (l, z): (usize, S::f64s),
    (now, before): (&mut [S::f64s], &mut [S::f64s]),
    (re, im): (&[S::f64s], &[S::f64s]),
    columns: &mut [S::f64s],
) {
    let zero = simd.splat_f64s(0.0);
    let (a, c) = (&table.a[table.row_start[l]..][..l], &table.c[table.row_start[l]..][..l]);
    let (sine, cosine) = columns.split_at_mut(l);
    (now[l], before[l]) = (simd.splat_f64s(table.diagonal_value(l)), zero);
    let (now, before, re, im) = (&mut now[..=l], &mut before[..l], &re[..=l], &im[..=l]);
    for m in 0..l {
        let rest = simd.mul_add_e_f64s(simd.splat_f64s(c[m]), before[m], zero);
        let next = simd.mul_add_e_f64s(simd.mul_f64s(simd.splat_f64s(a[m]), z), now[m], rest);
        (before[m], now[m]) = (now[m], next);
        cosine[m] = simd.mul_f64s(next, re[m]);
        if m > 0 {
            sine[l - m] = simd.mul_f64s(next, im[m]);
        }
    }
    cosine[l] = simd.mul_f64s(now[l], re[l]);
    if l > 0 {
        sine[0] = simd.mul_f64s(now[l], im[l]);
    }
}
