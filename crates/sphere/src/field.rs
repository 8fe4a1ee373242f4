//! A field `F(x) = Σ e_lm Y_lm(x)` evaluated at many points without ever storing Y.

use crate::error::expect_len;
use crate::recurrence::OrderTable;
use crate::simd::{Kernel, Real, dispatch, mul_add};
use crate::{Degree, SphereError, UnitVec};
use rayon::prelude::*;

/// |Y_lm| below this is dropped in f64; with codes of norm ≤ 10⁴ that is far under the rounding of the sum.
const NEGLIGIBLE_F64: f64 = 1e-22;
/// The same in f32.
const NEGLIGIBLE_F32: f64 = 1e-12;

/// Tables to evaluate fields of one degree; make it once, use it for many fields and threads.
///
/// ```
/// use locdiff_sphere::{Degree, FieldPlan, Harmonics, LatLon};
/// let degree = Degree::new(23)?;
/// let place = LatLon::new(-33.86, 151.21)?.to_unit();
/// let code = Harmonics::new(degree).at(place);
/// let plan = FieldPlan::new(degree);
/// let values = plan.values(&code, &[place, place.antipode()])?;
/// assert!((values[0] - degree.peak()).abs() < 1e-10); // the peak of a code's field is its squared norm
/// assert!(values[1] < values[0]);
/// # Ok::<(), locdiff_sphere::SphereError>(())
/// ```
#[derive(Debug)]
pub struct FieldPlan {
    degree: Degree,
    table: OrderTable<f64>,
}

impl FieldPlan {
    /// Tables for `degree`.
    pub fn new(degree: Degree) -> Self {
        Self { degree, table: OrderTable::new(degree.get(), NEGLIGIBLE_F64) }
    }

    /// The degree.
    pub fn degree(&self) -> Degree {
        self.degree
    }

    /// F at each point, on all threads.
    ///
    /// # Errors
    /// When `coefficients` has not `(L+1)²` values.
    pub fn values(&self, coefficients: &[f64], points: &[UnitVec]) -> Result<Vec<f64>, SphereError> {
        expect_len("coefficients", coefficients.len(), self.degree.dimension())?;
        Ok(values_by::<f64, 16>(&self.table, coefficients, points))
    }

    /// F at each point on this thread, for callers that spread the work themselves.
    ///
    /// # Errors
    /// When `coefficients` has not `(L+1)²` values or `out` is not as long as `points`.
    pub fn values_single_thread(
        &self,
        coefficients: &[f64],
        points: &[UnitVec],
        out: &mut [f64],
    ) -> Result<(), SphereError> {
        expect_len("coefficients", coefficients.len(), self.degree.dimension())?;
        expect_len("field output", out.len(), points.len())?;
        let weights = pack_by_order(self.table.lmax, coefficients);
        dispatch(Values::<f64, 16> { table: &self.table, weights: &weights, points, out });
        Ok(())
    }

    pub(crate) fn table(&self) -> &OrderTable<f64> {
        &self.table
    }
}

/// The same with an f32 recurrence: twice as fast, with an absolute error of about `2e-6·(L+1)·|e|` (see the tests),
/// for L up to [`FieldPlanF32::MAX_DEGREE`].
#[derive(Debug)]
pub struct FieldPlanF32 {
    degree: Degree,
    table: OrderTable<f32>,
}

impl FieldPlanF32 {
    /// Beyond this the polynomial part times the plane part leaves the range of f32.
    pub const MAX_DEGREE: usize = 127;

    /// Tables for `degree`.
    ///
    /// # Errors
    /// When the degree is above [`FieldPlanF32::MAX_DEGREE`]; use [`FieldPlan`] there.
    pub fn new(degree: Degree) -> Result<Self, SphereError> {
        if degree.get() > Self::MAX_DEGREE {
            return Err(SphereError::Degree(degree.get()));
        }
        Ok(Self { degree, table: OrderTable::new(degree.get(), NEGLIGIBLE_F32) })
    }

    /// F at each point, on all threads.
    ///
    /// # Errors
    /// When `coefficients` has not `(L+1)²` values.
    pub fn values(&self, coefficients: &[f64], points: &[UnitVec]) -> Result<Vec<f32>, SphereError> {
        expect_len("coefficients", coefficients.len(), self.degree.dimension())?;
        Ok(values_by::<f32, 32>(&self.table, coefficients, points))
    }

    /// F at each point on this thread.
    ///
    /// # Errors
    /// When `coefficients` has not `(L+1)²` values or `out` is not as long as `points`.
    pub fn values_single_thread(
        &self,
        coefficients: &[f64],
        points: &[UnitVec],
        out: &mut [f32],
    ) -> Result<(), SphereError> {
        expect_len("coefficients", coefficients.len(), self.degree.dimension())?;
        expect_len("field output", out.len(), points.len())?;
        let weights = pack_by_order(self.table.lmax, coefficients);
        dispatch(Values::<f32, 32> { table: &self.table, weights: &weights, points, out });
        Ok(())
    }
}

fn values_by<T: Real + Send + Sync, const B: usize>(
    table: &OrderTable<T>,
    coefficients: &[f64],
    points: &[UnitVec],
) -> Vec<T> {
    let weights = pack_by_order(table.lmax, coefficients);
    let mut out = vec![T::ZERO; points.len()];
    const BLOCK: usize = 256;
    if points.len() <= BLOCK {
        dispatch(Values::<T, B> { table, weights: &weights, points, out: &mut out });
    } else {
        points.par_chunks(BLOCK).zip(out.par_chunks_mut(BLOCK)).for_each(|(points, out)| {
            dispatch(Values::<T, B> { table, weights: &weights, points, out });
        });
    }
    out
}

/// (cosine, sine) coefficients, order by order: m = 0: l = 0…L, m = 1: l = 1…L, …
pub(crate) fn pack_by_order<T: Real>(lmax: usize, e: &[f64]) -> Vec<[T; 2]> {
    let mut packed = Vec::with_capacity((lmax + 1) * (lmax + 2) / 2);
    for m in 0..=lmax {
        for l in m..=lmax {
            let centre = l * l + l;
            let sine = if m == 0 { 0.0 } else { e[centre - m] };
            packed.push([T::from_f64(e[centre + m]), T::from_f64(sine)]);
        }
    }
    packed
}

/// Where order m starts in the packing of [`pack_by_order`].
#[inline(always)]
pub(crate) fn packed_start(lmax: usize, m: usize) -> usize {
    m * (lmax + 1) - m * (m.max(1) - 1) / 2
}

/// `Σ_l e_lm Q_lm(z)` for the cosine and the sine coefficients of one order, at a tile of `B` heights.
#[inline(always)]
pub(crate) fn order_sums<const FMA: bool, T: Real, const B: usize>(
    table: &OrderTable<T>,
    weights: &[[T; 2]],
    m: usize,
    z: &[T; B],
) -> ([T; B], [T; B]) {
    let count = table.lmax - m;
    let weights = &weights[packed_start(table.lmax, m)..][..=count];
    let steps = &table.steps[table.order_start[m]..][..count];
    let (mut before, mut now) = ([T::ZERO; B], [table.diagonal[m]; B]);
    let mut cos: [T; B] = std::array::from_fn(|i| now[i] * weights[0][0]);
    let mut sin: [T; B] = std::array::from_fn(|i| now[i] * weights[0][1]);
    for ([a, c], [e_cos, e_sin]) in steps.iter().zip(&weights[1..]) {
        let next: [T; B] = std::array::from_fn(|i| mul_add::<FMA, T>(*a * z[i], now[i], *c * before[i]));
        cos = std::array::from_fn(|i| mul_add::<FMA, T>(next[i], *e_cos, cos[i]));
        sin = std::array::from_fn(|i| mul_add::<FMA, T>(next[i], *e_sin, sin[i]));
        (before, now) = (now, next);
    }
    (cos, sin)
}

struct Values<'a, T, const B: usize> {
    table: &'a OrderTable<T>,
    weights: &'a [[T; 2]],
    points: &'a [UnitVec],
    out: &'a mut [T],
}

impl<T: Real, const B: usize> Kernel for Values<'_, T, B> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        for (points, out) in self.points.chunks(B).zip(self.out.chunks_mut(B)) {
            let mut lanes = [points[0]; B];
            lanes[..points.len()].copy_from_slice(points);
            let x: [T; B] = std::array::from_fn(|i| T::from_f64(lanes[i].x()));
            let y: [T; B] = std::array::from_fn(|i| T::from_f64(lanes[i].y()));
            let z: [T; B] = std::array::from_fn(|i| T::from_f64(lanes[i].z()));
            let sine = lanes.iter().fold(0f64, |s, p| s.max(p.x().hypot(p.y())));
            let (mut re, mut im, mut sum) = ([T::ONE; B], [T::ZERO; B], [T::ZERO; B]);
            for m in 0..self.table.orders(sine) {
                if m > 0 {
                    let next: [T; B] =
                        std::array::from_fn(|i| mul_add::<FMA, T>(re[i], x[i], -(im[i] * y[i])));
                    im = std::array::from_fn(|i| mul_add::<FMA, T>(re[i], y[i], im[i] * x[i]));
                    re = next;
                }
                let (cos, sin) = order_sums::<FMA, T, B>(self.table, self.weights, m, &z);
                sum = std::array::from_fn(|i| {
                    mul_add::<FMA, T>(cos[i], re[i], mul_add::<FMA, T>(sin[i], im[i], sum[i]))
                });
            }
            out.copy_from_slice(&sum[..out.len()]);
        }
    }
}
