//! Real orthonormal spherical harmonics at points: the SHDD code of the paper's Eq. for PE_SHDD.

use crate::error::expect_len;
use crate::recurrence::{CHUNK, RowTable};
use crate::simd::{Kernel, dispatch, mul_add};
use crate::{Degree, SphereError, UnitVec};
use rayon::prelude::*;

/// All Y_lm up to a degree: index `l*l + l + m`, no Condon–Shortley sign, ∫ Y² = 1.
///
/// The recurrence runs in f64; f32 output is that value, rounded once.
///
/// ```
/// use locdiff_sphere::{Degree, Harmonics, LatLon};
/// let harmonics = Harmonics::new(Degree::new(47)?);
/// let code = harmonics.at(LatLon::new(39.999, 116.275)?.to_unit());
/// let norm: f64 = code.iter().map(|y| y * y).sum();
/// assert!((norm - 2304.0 / (4.0 * std::f64::consts::PI)).abs() < 1e-11); // (L+1)²/4π everywhere
/// # Ok::<(), locdiff_sphere::SphereError>(())
/// ```
#[derive(Debug)]
pub struct Harmonics {
    degree: Degree,
    table: RowTable,
}

/// A number that harmonics can be written as.
pub trait Scalar: Copy + Default + Send + Sync + 'static {
    /// Rounded from f64.
    fn from_f64(value: f64) -> Self;
}

impl Scalar for f64 {
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value
    }
}

impl Scalar for f32 {
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value as f32
    }
}

impl Harmonics {
    /// Tables for all harmonics up to `degree`.
    pub fn new(degree: Degree) -> Self {
        Self { degree, table: RowTable::new(degree.get()) }
    }

    /// The maximal degree.
    pub fn degree(&self) -> Degree {
        self.degree
    }

    /// All harmonics at one point.
    pub fn at(&self, point: UnitVec) -> Vec<f64> {
        let mut out = vec![0.0; self.degree.dimension()];
        self.write_rows(&[point], &mut out);
        out
    }

    /// All harmonics at many points, one row a point, on all threads. `out` holds `points.len() × (L+1)²` values.
    ///
    /// # Errors
    /// When `out` has another length.
    pub fn write<T: Scalar>(&self, points: &[UnitVec], out: &mut [T]) -> Result<(), SphereError> {
        let dimension = self.degree.dimension();
        expect_len("harmonics output", out.len(), points.len() * dimension)?;
        // A block of points a task: enough work to share, small enough to balance.
        const BLOCK: usize = 64;
        if points.len() <= BLOCK {
            self.write_rows(points, out);
        } else {
            points
                .par_chunks(BLOCK)
                .zip(out.par_chunks_mut(BLOCK * dimension))
                .for_each(|(points, out)| self.write_rows(points, out));
        }
        Ok(())
    }

    /// The same on this thread alone, for callers that spread the work themselves (and for benches).
    ///
    /// # Errors
    /// When `out` has another length.
    pub fn write_single_thread<T: Scalar>(&self, points: &[UnitVec], out: &mut [T]) -> Result<(), SphereError> {
        expect_len("harmonics output", out.len(), points.len() * self.degree.dimension())?;
        self.write_rows(points, out);
        Ok(())
    }

    fn write_rows<T: Scalar>(&self, points: &[UnitVec], out: &mut [T]) {
        dispatch(WriteRows { table: &self.table, points, out });
    }

    /// `Σ_i weight_i · Y(point_i)`: the adjoint of evaluating a field, without storing any row.
    ///
    /// # Errors
    /// When there are not as many weights as points.
    ///
    /// ```
    /// use locdiff_sphere::{Degree, Grid, Harmonics};
    /// // The mean of Y over the sphere is 1/√4π for l = 0 and 0 above.
    /// let degree = Degree::new(9)?;
    /// let grid = Grid::gauss_legendre(degree);
    /// let sums = Harmonics::new(degree).weighted_sum(grid.points(), grid.weights())?;
    /// assert!((sums[0] - (4.0 * std::f64::consts::PI).sqrt()).abs() < 1e-12);
    /// assert!(sums[1..].iter().all(|s| s.abs() < 1e-12));
    /// # Ok::<(), locdiff_sphere::SphereError>(())
    /// ```
    pub fn weighted_sum(&self, points: &[UnitVec], weights: &[f64]) -> Result<Vec<f64>, SphereError> {
        expect_len("weights", weights.len(), points.len())?;
        const BLOCK: usize = 256; // fixed, so that the sum does not depend on the number of threads
        let partial: Vec<Vec<f64>> = points
            .par_chunks(BLOCK)
            .zip(weights.par_chunks(BLOCK))
            .map(|(points, weights)| {
                let mut out = vec![0.0; self.degree.dimension()];
                dispatch(AddRows { table: &self.table, points, weights, out: &mut out });
                out
            })
            .collect();
        let mut out = vec![0.0; self.degree.dimension()];
        for part in partial {
            out.iter_mut().zip(part).for_each(|(o, p)| *o += p);
        }
        Ok(out)
    }
}

/// Powers (x + iy)^m for m = 0…lmax, padded to whole chunks with zeros.
pub(crate) struct PlanePowers {
    pub(crate) re: Vec<[f64; CHUNK]>,
    pub(crate) im: Vec<[f64; CHUNK]>,
}

impl PlanePowers {
    pub(crate) fn new(lmax: usize) -> Self {
        let zeros = vec![[0.0; CHUNK]; RowTable::chunks(lmax)];
        Self { re: zeros.clone(), im: zeros }
    }

    /// Fills in the powers at (x, y), times `scale`.
    #[inline(always)]
    pub(crate) fn fill(&mut self, lmax: usize, x: f64, y: f64, scale: f64) {
        // Below this the product with any Q_lm is far under rounding, and denormal arithmetic is slow.
        const FLUSH: f64 = 1e-280;
        let (re, im) = (self.re.as_flattened_mut(), self.im.as_flattened_mut());
        let (mut c, mut s) = (scale, 0.0);
        for m in 0..=lmax {
            (re[m], im[m]) = (c, s);
            (c, s) = (c * x - s * y, c * y + s * x);
            if c.abs() + s.abs() < FLUSH {
                (c, s) = (0.0, 0.0);
            }
        }
    }
}

/// Runs the recurrence at one point, row by row, and hands each chunk of Q_l to `sink(l, chunk, q)`.
#[inline(always)]
fn rows<const FMA: bool>(
    table: &RowTable,
    z: f64,
    now: &mut Vec<[f64; CHUNK]>,
    before: &mut Vec<[f64; CHUNK]>,
    mut sink: impl FnMut(usize, usize, &[f64; CHUNK]),
) {
    now.fill([0.0; CHUNK]);
    before.fill([0.0; CHUNK]);
    for l in 0..=table.lmax {
        let chunks = RowTable::chunks(l);
        let steps = &table.steps[table.row_start[l]..][..chunks];
        let (last, lane) = (l / CHUNK, l % CHUNK);
        for (k, ([a, c], (q1, q2))) in steps.iter().zip(now.iter().zip(before.iter_mut())).enumerate() {
            let mut q: [f64; CHUNK] =
                std::array::from_fn(|i| mul_add::<FMA, f64>(a[i] * z, q1[i], c[i] * q2[i]));
            if k == last {
                q[lane] = table.diagonal[l];
            }
            *q2 = q;
            sink(l, k, &q);
        }
        std::mem::swap(now, before);
    }
}

struct WriteRows<'a, T> {
    table: &'a RowTable,
    points: &'a [UnitVec],
    out: &'a mut [T],
}

impl<T: Scalar> Kernel for WriteRows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let lmax = self.table.lmax;
        let mut plane = PlanePowers::new(lmax);
        let mut now = vec![[0.0; CHUNK]; RowTable::chunks(lmax)];
        let mut before = now.clone();
        for (point, out) in self.points.iter().zip(self.out.chunks_exact_mut((lmax + 1) * (lmax + 1))) {
            plane.fill(lmax, point.x(), point.y(), 1.0);
            let (re, im) = (&plane.re, &plane.im);
            rows::<FMA>(self.table, point.z(), &mut now, &mut before, |l, k, q| {
                let centre = l * l + l;
                let m = k * CHUNK;
                let cos: [T; CHUNK] = std::array::from_fn(|i| T::from_f64(q[i] * re[k][i]));
                let sin: [T; CHUNK] =
                    std::array::from_fn(|i| T::from_f64(q[CHUNK - 1 - i] * im[k][CHUNK - 1 - i]));
                // The sine half of chunk 0 also covers m = 0, which the cosine half then overwrites.
                if l + 1 >= m + CHUNK {
                    out[centre + 1 - m - CHUNK..][..CHUNK].copy_from_slice(&sin);
                    out[centre + m..][..CHUNK].copy_from_slice(&cos);
                } else {
                    let valid = l + 1 - m;
                    out[centre - l..][..valid].copy_from_slice(&sin[CHUNK - valid..]);
                    out[centre + m..][..valid].copy_from_slice(&cos[..valid]);
                }
            });
        }
    }
}

struct AddRows<'a> {
    table: &'a RowTable,
    points: &'a [UnitVec],
    weights: &'a [f64],
    out: &'a mut [f64],
}

impl Kernel for AddRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let lmax = self.table.lmax;
        let chunks = RowTable::chunks(lmax);
        let mut plane = PlanePowers::new(lmax);
        let mut now = vec![[0.0; CHUNK]; chunks];
        let mut before = now.clone();
        // Sums in the padded row layout, so that every access is a whole chunk; unpacked once at the end.
        let mut cos = vec![[0.0; CHUNK]; self.table.steps.len()];
        let mut sin = cos.clone();
        for (point, weight) in self.points.iter().zip(self.weights) {
            plane.fill(lmax, point.x(), point.y(), *weight);
            let (re, im) = (&plane.re, &plane.im);
            rows::<FMA>(self.table, point.z(), &mut now, &mut before, |l, k, q| {
                let slot = self.table.row_start[l] + k;
                let (c, s) = (&mut cos[slot], &mut sin[slot]);
                *c = std::array::from_fn(|i| mul_add::<FMA, f64>(q[i], re[k][i], c[i]));
                *s = std::array::from_fn(|i| mul_add::<FMA, f64>(q[i], im[k][i], s[i]));
            });
        }
        for l in 0..=lmax {
            let centre = l * l + l;
            let start = self.table.row_start[l] * CHUNK;
            let (cos, sin) = (&cos.as_flattened()[start..], &sin.as_flattened()[start..]);
            self.out[centre] = cos[0];
            for m in 1..=l {
                (self.out[centre + m], self.out[centre - m]) = (cos[m], sin[m]);
            }
        }
    }
}
