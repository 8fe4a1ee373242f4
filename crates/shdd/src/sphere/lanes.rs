//! Harmonics of several points at once, a point in each lane of a register: for low degrees, whose rows of orders are too short to
//! fill one. The same operations in the same order as one point at a time, so the same bits.

use crate::sphere::recurrence::{FLUSH, OrderTable};
use crate::sphere::simd::{vectors, vectors_mut};
use crate::sphere::{UnitVec, aligned::Aligned, scalar::Number};
use pulp::{Simd, WithSimd};

/// The highest degree whose harmonics stay in the nearest cache meanwhile, for which this is the fastest way; measured, see `bench/benches/codec.rs`.
pub(crate) const HIGHEST: usize = 23;

/// Writes a row of harmonics for each point.
pub(crate) struct WriteLanes<'a, T> {
    pub(crate) table: &'a OrderTable,
    pub(crate) points: &'a [UnitVec],
    pub(crate) out: &'a mut [T],
}

impl<T: Number> WithSimd for WriteLanes<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (lanes, lmax) = (S::F64_LANES, self.table.lmax);
        let dimension = (lmax + 1) * (lmax + 1);
        let mut columns = Aligned::zeros(dimension * lanes);
        let mut place = Aligned::zeros(3 * lanes);
        for (points, rows) in self.points.chunks(lanes).zip(self.out.chunks_mut(lanes * dimension)) {
            for lane in 0..lanes {
                let point = points[lane.min(points.len() - 1)];
                (place[lane], place[lanes + lane], place[2 * lanes + lane]) = (point.x(), point.y(), point.z());
            }
            let xyz = vectors::<S>(&place);
            fill(simd, self.table, [xyz[0], xyz[1], xyz[2]], vectors_mut::<S>(&mut columns));
            for (lane, row) in rows.chunks_exact_mut(dimension).enumerate() {
                for (value, column) in row.iter_mut().zip(columns.chunks_exact(lanes)) {
                    *value = T::from_f64(column[lane]);
                }
            }
        }
    }
}

/// Every harmonic at the points of one register: `columns[l*l + l + m]`.
#[inline(always)]
fn fill<S: Simd>(simd: S, table: &OrderTable, [x, y, z]: [S::f64s; 3], columns: &mut [S::f64s]) {
    let zero = simd.splat_f64s(0.0);
    let (mut re, mut im) = (simd.splat_f64s(1.0), zero);
    for m in 0..=table.lmax {
        let (mut before, mut now) = (zero, simd.splat_f64s(table.diagonal[m]));
        let steps = &table.steps[table.order_start[m]..][..table.lmax - m];
        let mut centre = m * m + m;
        columns[centre + m] = simd.mul_f64s(now, re);
        if m > 0 {
            columns[centre - m] = simd.mul_f64s(now, im);
        }
        for (l, [a, c]) in (m + 1..).zip(steps) {
            let rest = simd.mul_add_e_f64s(simd.splat_f64s(*c), before, zero);
            let next = simd.mul_add_e_f64s(simd.mul_f64s(simd.splat_f64s(*a), z), now, rest);
            (before, now) = (now, next);
            centre = l * l + l;
            columns[centre + m] = simd.mul_f64s(now, re);
            if m > 0 {
                columns[centre - m] = simd.mul_f64s(now, im);
            }
        }
        let turned_re = simd.sub_f64s(simd.mul_f64s(re, x), simd.mul_f64s(im, y));
        let turned_im = simd.add_f64s(simd.mul_f64s(re, y), simd.mul_f64s(im, x));
        let size = simd.add_f64s(simd.abs_f64s(turned_re), simd.abs_f64s(turned_im));
        let is_small = simd.less_than_f64s(size, simd.splat_f64s(FLUSH));
        re = simd.select_f64s(is_small, zero, turned_re);
        im = simd.select_f64s(is_small, zero, turned_im);
    }
}
