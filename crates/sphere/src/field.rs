//! A field `F(x) = Σ e_lm Y_lm(x)` evaluated at many points without ever storing Y.

use crate::error::expect_len;
use crate::recurrence::OrderTable;
use crate::simd::{Real, dispatch};
use crate::{Degree, SphereError, UnitVec};
use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use std::sync::Arc;

/// |Y_lm| below this is dropped in f64; with codes of norm ≤ 10⁴ that is far under the rounding of the sum.
const NEGLIGIBLE_F64: f64 = 1e-22;
/// The same in f32.
const NEGLIGIBLE_F32: f64 = 1e-12;

/// Registers a tile: enough to hide latency, few enough that nothing spills.
const GROUPS: usize = 3;

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
    table: Arc<OrderTable<f64>>,
}

/// A field ready to be evaluated anywhere: coefficients that were checked and packed once, with the tables they need.
///
/// ```
/// use locdiff_sphere::{Degree, FieldPlan, UnitVec};
/// let plan = FieldPlan::new(Degree::new(3)?);
/// let field = plan.field(&[1.0; 16])?;
/// assert_eq!(field.values(&[UnitVec::NORTH]), plan.values(&[1.0; 16], &[UnitVec::NORTH])?);
/// assert!(plan.field(&[1.0; 15]).is_err());
/// # Ok::<(), locdiff_sphere::SphereError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Field {
    table: Arc<OrderTable<f64>>,
    weights: Vec<[f64; 2]>,
}

impl Field {
    /// F at each point, on all threads.
    pub fn values(&self, points: &[UnitVec]) -> Vec<f64> {
        packed_values(&self.table, &self.weights, points)
    }

    pub(crate) fn table(&self) -> &OrderTable<f64> {
        &self.table
    }

    pub(crate) fn weights(&self) -> &[[f64; 2]] {
        &self.weights
    }
}

impl FieldPlan {
    /// Tables for `degree`.
    pub fn new(degree: Degree) -> Self {
        Self { degree, table: Arc::new(OrderTable::new(degree.get(), NEGLIGIBLE_F64)) }
    }

    /// The degree.
    pub fn degree(&self) -> Degree {
        self.degree
    }

    /// The field of these coefficients, to be evaluated many times.
    /// Errors: when `coefficients` has not `(L+1)²` values.
    pub fn field(&self, coefficients: &[f64]) -> Result<Field, SphereError> {
        Ok(Field { weights: pack_checked(&self.table, coefficients)?, table: Arc::clone(&self.table) })
    }

    /// F at each point, on all threads.
    /// Errors: when `coefficients` has not `(L+1)²` values.
    pub fn values(&self, coefficients: &[f64], points: &[UnitVec]) -> Result<Vec<f64>, SphereError> {
        values(&self.table, coefficients, points)
    }

    /// F at each point on this thread, for callers that spread the work themselves.
    /// Errors: when `coefficients` has not `(L+1)²` values or `out` is not as long as `points`.
    pub fn values_single_thread(
        &self,
        coefficients: &[f64],
        points: &[UnitVec],
        out: &mut [f64],
    ) -> Result<(), SphereError> {
        values_into(&self.table, coefficients, points, out)
    }

    pub(crate) fn table(&self) -> &OrderTable<f64> {
        &self.table
    }
}

/// The same with an f32 recurrence: twice as fast, with an absolute error of about `2e-6·(L+1)·|e|` (see the tests),
/// for L up to [`FieldPlanF32::MAX_DEGREE`].
#[derive(Debug)]
pub struct FieldPlanF32 {
    table: OrderTable<f32>,
}

impl FieldPlanF32 {
    /// Beyond this the polynomial part times the plane part leaves the range of f32.
    pub const MAX_DEGREE: usize = 127;

    /// Tables for `degree`.
    /// Errors: when the degree is above [`FieldPlanF32::MAX_DEGREE`]; use [`FieldPlan`] there.
    pub fn new(degree: Degree) -> Result<Self, SphereError> {
        if degree.get() > Self::MAX_DEGREE {
            return Err(SphereError::Degree(degree.get()));
        }
        Ok(Self { table: OrderTable::new(degree.get(), NEGLIGIBLE_F32) })
    }

    /// F at each point, on all threads.
    /// Errors: when `coefficients` has not `(L+1)²` values.
    pub fn values(&self, coefficients: &[f64], points: &[UnitVec]) -> Result<Vec<f32>, SphereError> {
        values(&self.table, coefficients, points)
    }

    /// F at each point on this thread.
    /// Errors: when `coefficients` has not `(L+1)²` values or `out` is not as long as `points`.
    pub fn values_single_thread(
        &self,
        coefficients: &[f64],
        points: &[UnitVec],
        out: &mut [f32],
    ) -> Result<(), SphereError> {
        values_into(&self.table, coefficients, points, out)
    }
}

/// F at each point, on all threads.
fn values<T: Real>(
    table: &OrderTable<T>,
    coefficients: &[f64],
    points: &[UnitVec],
) -> Result<Vec<T>, SphereError> {
    Ok(packed_values(table, &pack_checked(table, coefficients)?, points))
}

/// The same for coefficients that are packed already.
fn packed_values<T: Real>(table: &OrderTable<T>, weights: &[[T; 2]], points: &[UnitVec]) -> Vec<T> {
    const BLOCK: usize = 256;
    let mut out = vec![T::default(); points.len()];
    points.par_chunks(BLOCK).zip(out.par_chunks_mut(BLOCK)).for_each(|(points, out)| {
        dispatch(Values { table, weights, points, out });
    });
    out
}

/// F at each point, on this thread.
fn values_into<T: Real>(
    table: &OrderTable<T>,
    coefficients: &[f64],
    points: &[UnitVec],
    out: &mut [T],
) -> Result<(), SphereError> {
    expect_len("field output", out.len(), points.len())?;
    let weights = pack_checked(table, coefficients)?;
    dispatch(Values { table, weights: &weights, points, out });
    Ok(())
}

fn pack_checked<T: Real>(table: &OrderTable<T>, coefficients: &[f64]) -> Result<Vec<[T; 2]>, SphereError> {
    expect_len("coefficients", coefficients.len(), (table.lmax + 1) * (table.lmax + 1))?;
    Ok(pack_by_order(table.lmax, coefficients))
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

/// Sums over the cosine and over the sine coefficients, on `G` registers.
pub(crate) type CosSin<V, const G: usize> = ([V; G], [V; G]);

/// `Σ_l e_lm Q_lm(z)` for the cosine and the sine coefficients of one order, at `G` registers of heights.
#[inline(always)]
pub(crate) fn order_sums<S: Simd, T: Real, const G: usize>(
    simd: S,
    table: &OrderTable<T>,
    weights: &[[T; 2]],
    m: usize,
    z: &[T::Vector<S>; G],
) -> CosSin<T::Vector<S>, G> {
    let count = table.lmax - m;
    let weights = &weights[packed_start(table.lmax, m)..][..=count];
    let steps = &table.steps[table.order_start[m]..][..count];
    let diagonal = T::splat(simd, table.diagonal[m]);
    let mut cos = [T::mul(simd, diagonal, T::splat(simd, weights[0][0])); G];
    let mut sin = [T::mul(simd, diagonal, T::splat(simd, weights[0][1])); G];
    let (mut before, mut now) = ([T::splat(simd, T::default()); G], [diagonal; G]);
    for (step, weight) in steps.iter().zip(&weights[1..]) {
        let (a, c) = (T::splat(simd, step[0]), T::splat(simd, step[1]));
        let (e_cos, e_sin) = (T::splat(simd, weight[0]), T::splat(simd, weight[1]));
        for g in 0..G {
            // a·z and c·before are off the critical path: one multiply-add a degree remains on it.
            let (az, c_before) = (T::mul(simd, a, z[g]), T::mul(simd, c, before[g]));
            let next = T::mul_add(simd, az, now[g], c_before);
            cos[g] = T::mul_add(simd, next, e_cos, cos[g]);
            sin[g] = T::mul_add(simd, next, e_sin, sin[g]);
            (before[g], now[g]) = (now[g], next);
        }
    }
    (cos, sin)
}

struct Values<'a, T> {
    table: &'a OrderTable<T>,
    weights: &'a [[T; 2]],
    points: &'a [UnitVec],
    out: &'a mut [T],
}

impl<T: Real> WithSimd for Values<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        const LARGEST: usize = 16 * GROUPS;
        let size = T::lanes::<S>() * GROUPS;
        for (points, out) in self.points.chunks(size).zip(self.out.chunks_mut(size)) {
            let mut parts = [[T::default(); LARGEST]; 3];
            let mut sine = 0f64;
            for (i, point) in points.iter().enumerate() {
                let [x, y, z] = point.to_array();
                sine = sine.max(x * x + y * y);
                (parts[0][i], parts[1][i], parts[2][i]) = (T::from_f64(x), T::from_f64(y), T::from_f64(z));
            }
            let zero = T::splat(simd, T::default());
            let (mut x, mut y, mut z) = ([zero; GROUPS], [zero; GROUPS], [zero; GROUPS]);
            x.copy_from_slice(T::vectors::<S>(&parts[0][..size]));
            y.copy_from_slice(T::vectors::<S>(&parts[1][..size]));
            z.copy_from_slice(T::vectors::<S>(&parts[2][..size]));
            let (mut re, mut im, mut sum) =
                ([T::splat(simd, T::from_f64(1.0)); GROUPS], [zero; GROUPS], [zero; GROUPS]);
            for m in 0..self.table.orders(sine.sqrt()) {
                if m > 0 {
                    for g in 0..GROUPS {
                        let next = T::sub(simd, T::mul(simd, re[g], x[g]), T::mul(simd, im[g], y[g]));
                        im[g] = T::mul_add(simd, re[g], y[g], T::mul(simd, im[g], x[g]));
                        re[g] = next;
                    }
                }
                let (cos, sin) = order_sums::<S, T, GROUPS>(simd, self.table, self.weights, m, &z);
                for g in 0..GROUPS {
                    sum[g] = T::mul_add(simd, cos[g], re[g], T::mul_add(simd, sin[g], im[g], sum[g]));
                }
            }
            let mut lanes = [T::default(); LARGEST];
            T::vectors_mut::<S>(&mut lanes[..size]).copy_from_slice(&sum);
            out.copy_from_slice(&lanes[..out.len()]);
        }
    }
}
