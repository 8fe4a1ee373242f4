//! Real orthonormal spherical harmonics at points: the SHDD code of the paper's Eq. for PE_SHDD.

use crate::sphere::recurrence::{self, FLUSH, RowTable};
use crate::sphere::simd::{dispatch, vectors, vectors_mut};
use crate::sphere::{Degree, SphereError, UnitVec, aligned::Aligned, by_degree, error::expect_len, scalar::Number};
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

/// Number type of harmonics: f64 or f32.
pub trait Scalar: Number {
    /// Rows of harmonics: compiled here, not in every crate.
    #[doc(hidden)]
    fn write_rows(harmonics: &SphericalHarmonics, points: &[UnitVec], out: &mut [Self]);
}

impl Scalar for f64 {
    fn write_rows(harmonics: &SphericalHarmonics, points: &[UnitVec], out: &mut [Self]) {
        harmonics.write_rows(points, out);
    }
}

impl Scalar for f32 {
    fn write_rows(harmonics: &SphericalHarmonics, points: &[UnitVec], out: &mut [Self]) {
        harmonics.write_rows(points, out);
    }
}

/// All Y_lm up to a degree: index `l*l + l + m`, no Condon–Shortley sign, ∫ Y² = 1.
///
/// The recurrence runs in f64; f32 output is that value, rounded once.
///
/// ```
/// use locdiff_shdd::sphere::{Degree, SphericalHarmonics, LatLon};
/// let harmonics = SphericalHarmonics::new(Degree::new(47)?);
/// let code = harmonics.at(LatLon::new(39.999, 116.275)?.to_unit());
/// let norm: f64 = code.iter().map(|y| y * y).sum();
/// assert!((norm - 2304.0 / (4.0 * std::f64::consts::PI)).abs() < 1e-11); // (L+1)²/4π everywhere
/// # Ok::<(), locdiff_shdd::sphere::SphereError>(())
/// ```
#[derive(Debug)]
pub struct SphericalHarmonics {
    degree: Degree,
    table: RowTable,
}

impl SphericalHarmonics {
    /// Prepares tables for all harmonics up to `degree`.
    pub fn new(degree: Degree) -> Self {
        Self { degree, table: RowTable::new(degree.get()) }
    }

    /// Returns the maximal degree.
    pub fn degree(&self) -> Degree {
        self.degree
    }

    /// The recurrence behind them, for those who evaluate it elsewhere: `Y_lm = Q_lm(z)·C_m(x, y)` with
    /// `Q_lm = a·z·Q_{l−1,m} + c·Q_{l−2,m}`. First `[a, c]` at `l·(L+1) + m`, then `Q_mm`.
    ///
    /// ```
    /// use locdiff_shdd::sphere::{Degree, SphericalHarmonics};
    /// let (steps, diagonal) = SphericalHarmonics::new(Degree::new(1)?).recurrence();
    /// let y10 = steps[2][0] * 1.0 * diagonal[0]; // Y_10 at the north pole: √(3/4π)
    /// assert!((y10 - 0.488_602_511_902_919_9).abs() < 1e-15);
    /// # Ok::<(), locdiff_shdd::sphere::SphereError>(())
    /// ```
    pub fn recurrence(&self) -> (Vec<[f64; 2]>, Vec<f64>) {
        recurrence::plain(self.degree.get())
    }

    /// Returns all harmonics at one point.
    pub fn at(&self, point: UnitVec) -> Vec<f64> {
        let mut out = vec![0.0; self.degree.dimension()];
        f64::write_rows(self, &[point], &mut out);
        out
    }

    /// All harmonics at many points, one row a point, on all threads. `out` holds `points.len() × (L+1)²` values.
    /// Fails if `out` has another length.
    pub fn write<T: Scalar>(&self, points: &[UnitVec], out: &mut [T]) -> Result<(), SphereError> {
        let dimension = self.degree.dimension();
        expect_len("harmonics output", out.len(), points.len() * dimension)?;
        // A block of points a task: enough work to share, small enough to balance.
        const BLOCK: usize = 64;
        if points.len() <= BLOCK {
            T::write_rows(self, points, out);
        } else {
            let rows = points.par_chunks(BLOCK).zip(out.par_chunks_mut(BLOCK * dimension));
            rows.for_each(|(points, out)| T::write_rows(self, points, out));
        }
        Ok(())
    }

    pub(crate) fn write_rows<T: Number>(&self, points: &[UnitVec], out: &mut [T]) {
        let table = &self.table;
        if points.len() >= 4 && table.lmax <= by_degree::HIGHEST {
            dispatch(by_degree::WriteByDegree { table, points, out });
        } else {
            dispatch(WriteRows { table, points, out });
        }
    }

    /// `Σ_i weight_i · Y(point_i)`: the adjoint of evaluating a field, without storing any row.
    /// Fails if there are not as many weights as points.
    ///
    /// ```
    /// use locdiff_shdd::sphere::{Degree, Grid, SphericalHarmonics};
    /// // The mean of Y over the sphere is 1/√4π for l = 0 and 0 above.
    /// let degree = Degree::new(9)?;
    /// let grid = Grid::gauss_legendre(degree);
    /// let sums = SphericalHarmonics::new(degree).weighted_sum(grid.points(), grid.weights())?;
    /// assert!((sums[0] - (4.0 * std::f64::consts::PI).sqrt()).abs() < 1e-12);
    /// assert!(sums[1..].iter().all(|s| s.abs() < 1e-12));
    /// # Ok::<(), locdiff_shdd::sphere::SphereError>(())
    /// ```
    pub fn weighted_sum(&self, points: &[UnitVec], weights: &[f64]) -> Result<Vec<f64>, SphereError> {
        expect_len("weights", weights.len(), points.len())?;
        const BLOCK: usize = 256; // fixed, so that the sum does not depend on the number of threads
        let sum = |(points, weights): (&[UnitVec], &[f64])| {
            let mut out = vec![0.0; self.degree.dimension()];
            dispatch(AddRows { table: &self.table, points, weights, out: &mut out });
            out
        };
        let partial: Vec<Vec<f64>> = points.par_chunks(BLOCK).zip(weights.par_chunks(BLOCK)).map(sum).collect();
        let mut out = vec![0.0; self.degree.dimension()];
        for part in partial {
            out.iter_mut().zip(part).for_each(|(o, p)| *o += p);
        }
        Ok(out)
    }
}

/// Powers (x + iy)^m for m = 0…lmax, padded like a row.
#[derive(Debug)]
pub(crate) struct PlanePowers {
    pub(crate) re: Aligned,
    pub(crate) im: Aligned,
}

impl PlanePowers {
    pub(crate) fn new(lmax: usize) -> Self {
        let zeros = || Aligned::zeros(RowTable::width(lmax));
        Self { re: zeros(), im: zeros() }
    }

    /// Fills in the powers at (x, y), times `scale`.
    #[inline(always)]
    pub(crate) fn fill(&mut self, lmax: usize, x: f64, y: f64, scale: f64) {
        let (mut c, mut s) = (scale, 0.0);
        for (re, im) in self.re.iter_mut().zip(self.im.iter_mut()).take(lmax + 1) {
            (*re, *im) = (c, s);
            (c, s) = (c * x - s * y, c * y + s * x);
            if c.abs() + s.abs() < FLUSH {
                (c, s) = (0.0, 0.0);
            }
        }
    }
}

/// The last two rows of Q while the recurrence runs at one point.
struct Rows {
    now: Aligned,
    before: Aligned,
}

impl Rows {
    fn new(lmax: usize) -> Self {
        let zeros = || Aligned::zeros(RowTable::width(lmax));
        Self { now: zeros(), before: zeros() }
    }

    /// Starts at degree 0.
    #[inline(always)]
    fn start(&mut self) {
        self.now.fill(0.0);
        self.before.fill(0.0);
    }

    /// The next row, Q_l from Q_{l−1} and Q_{l−2}.
    #[inline(always)]
    fn next<S: Simd>(&mut self, simd: S, table: &RowTable, l: usize, z: S::f64s) -> &[f64] {
        let (start, width) = (table.row_start[l], RowTable::width(l));
        let a = vectors::<S>(&table.a[start..][..width]);
        let c = vectors::<S>(&table.c[start..][..width]);
        let now = vectors::<S>(&self.now[..width]);
        let before = vectors_mut::<S>(&mut self.before[..width]);
        for k in 0..a.len() {
            // The diagonal comes in by an addition: a scalar store would stall the next row's vector load.
            let rest = simd.mul_add_e_f64s(c[k], before[k], table.diagonal(simd, l, k));
            before[k] = simd.mul_add_e_f64s(simd.mul_f64s(a[k], z), now[k], rest);
        }
        std::mem::swap(&mut self.now, &mut self.before);
        &self.now[..width]
    }
}

struct WriteRows<'a, T> {
    table: &'a RowTable,
    points: &'a [UnitVec],
    out: &'a mut [T],
}

impl<T: Number> WithSimd for WriteRows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let lmax = self.table.lmax;
        let mut plane = PlanePowers::new(lmax);
        let mut rows = Rows::new(lmax);
        for (point, out) in self.points.iter().zip(self.out.chunks_exact_mut((lmax + 1) * (lmax + 1))) {
            plane.fill(lmax, point.x(), point.y(), 1.0);
            rows.start();
            let z = simd.splat_f64s(point.z());
            for l in 0..=lmax {
                let q = &rows.next(simd, self.table, l, z)[..=l];
                let (sin, cos) = out[l * l..(l + 1) * (l + 1)].split_at_mut(l);
                for (o, (q, p)) in cos.iter_mut().zip(q.iter().zip(plane.re.iter())) {
                    *o = Number::from_f64(q * p);
                }
                for (o, (q, p)) in sin.iter_mut().rev().zip(q[1..].iter().zip(&plane.im[1..])) {
                    *o = Number::from_f64(q * p);
                }
            }
        }
    }
}

struct AddRows<'a> {
    table: &'a RowTable,
    points: &'a [UnitVec],
    weights: &'a [f64],
    out: &'a mut [f64],
}

impl WithSimd for AddRows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let lmax = self.table.lmax;
        let mut plane = PlanePowers::new(lmax);
        let mut rows = Rows::new(lmax);
        // Sums in the padded row layout, so that every access is a whole register; unpacked once at the end.
        let mut cos = Aligned::zeros(self.table.a.len());
        let mut sin = Aligned::zeros(self.table.a.len());
        for (point, weight) in self.points.iter().zip(self.weights) {
            plane.fill(lmax, point.x(), point.y(), *weight);
            rows.start();
            let z = simd.splat_f64s(point.z());
            for l in 0..=lmax {
                let q = rows.next(simd, self.table, l, z);
                let (start, width) = (self.table.row_start[l], q.len());
                let sums = vectors_mut::<S>(&mut cos[start..][..width])
                    .iter_mut()
                    .zip(vectors_mut::<S>(&mut sin[start..][..width]));
                let plane = vectors::<S>(&plane.re[..width]).iter().zip(vectors::<S>(&plane.im[..width]));
                for ((q, (re, im)), (c, s)) in vectors::<S>(q).iter().zip(plane).zip(sums) {
                    *c = simd.mul_add_e_f64s(*q, *re, *c);
                    *s = simd.mul_add_e_f64s(*q, *im, *s);
                }
            }
        }
        for l in 0..=lmax {
            let centre = l * l + l;
            let (cos, sin) = (&cos[self.table.row_start[l]..], &sin[self.table.row_start[l]..]);
            self.out[centre] = cos[0];
            for m in 1..=l {
                (self.out[centre + m], self.out[centre - m]) = (cos[m], sin[m]);
            }
        }
    }
}
