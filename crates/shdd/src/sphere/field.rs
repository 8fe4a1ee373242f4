//! A field `F(x) = Σ e_lm Y_lm(x)` evaluated at many points without ever storing Y.

use crate::sphere::simd::{dispatch, vectors, vectors_mut};
use crate::sphere::{Degree, SphereError, UnitVec, error::expect_len, recurrence::OrderTable};
use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use std::sync::Arc;

/// |Y_lm| below this is dropped; with codes of norm ≤ 10⁴ that is far under the rounding of the sum.
const NEGLIGIBLE: f64 = 1e-22;

/// Registers a tile: enough to hide latency, few enough that nothing spills.
const GROUPS: usize = 3;

/// Tables to evaluate fields of one degree; make it once, use it for many fields and threads.
///
/// ```
/// use locdiff_shdd::sphere::{Degree, FieldPlan, SphericalHarmonics, LatLon};
/// let degree = Degree::new(23)?;
/// let place = LatLon::new(-33.86, 151.21)?.to_unit();
/// let code = SphericalHarmonics::new(degree).at(place);
/// let plan = FieldPlan::new(degree);
/// let values = plan.values(&code, &[place, place.antipode()])?;
/// assert!((values[0] - degree.peak()).abs() < 1e-10); // the peak of a code's field is its squared norm
/// assert!(values[1] < values[0]);
/// # Ok::<(), locdiff_shdd::sphere::SphereError>(())
/// ```
#[derive(Debug)]
pub struct FieldPlan {
    degree: Degree,
    pub(crate) table: Arc<OrderTable>,
}

/// A field ready to be evaluated anywhere: coefficients that were checked and packed once, with the tables they need.
///
/// ```
/// use locdiff_shdd::sphere::{Degree, FieldPlan, UnitVec};
/// let plan = FieldPlan::new(Degree::new(3)?);
/// let field = plan.field(&[1.0; 16])?;
/// assert_eq!(field.values(&[UnitVec::NORTH]), plan.values(&[1.0; 16], &[UnitVec::NORTH])?);
/// assert!(plan.field(&[1.0; 15]).is_err());
/// # Ok::<(), locdiff_shdd::sphere::SphereError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Field {
    pub(crate) table: Arc<OrderTable>,
    pub(crate) weights: Vec<[f64; 2]>,
}

impl Field {
    /// Returns F at each point, on all threads.
    pub fn values(&self, points: &[UnitVec]) -> Vec<f64> {
        packed_values(&self.table, &self.weights, points)
    }
}

impl FieldPlan {
    /// Prepares tables for `degree`.
    pub fn new(degree: Degree) -> Self {
        Self { degree, table: Arc::new(OrderTable::new(degree.get(), NEGLIGIBLE)) }
    }

    /// Returns the degree.
    pub fn degree(&self) -> Degree {
        self.degree
    }

    /// Prepares the field of these coefficients for many evaluations. Fails unless there are `(L+1)²` coefficients.
    pub fn field(&self, coefficients: &[f64]) -> Result<Field, SphereError> {
        Ok(Field { weights: pack_checked(&self.table, coefficients)?, table: Arc::clone(&self.table) })
    }

    /// Returns F at each point, on all threads. Fails unless there are `(L+1)²` coefficients.
    pub fn values(&self, coefficients: &[f64], points: &[UnitVec]) -> Result<Vec<f64>, SphereError> {
        Ok(packed_values(&self.table, &pack_checked(&self.table, coefficients)?, points))
    }
}

/// F at each point, on all threads.
fn packed_values(table: &OrderTable, weights: &[[f64; 2]], points: &[UnitVec]) -> Vec<f64> {
    const BLOCK: usize = 256;
    let mut out = vec![0.0; points.len()];
    points.par_chunks(BLOCK).zip(out.par_chunks_mut(BLOCK)).for_each(|(points, out)| {
        dispatch(Values { table, weights, points, out });
    });
    out
}

fn pack_checked(table: &OrderTable, coefficients: &[f64]) -> Result<Vec<[f64; 2]>, SphereError> {
    expect_len("coefficients", coefficients.len(), (table.lmax + 1) * (table.lmax + 1))?;
    Ok(pack_by_order(table.lmax, coefficients))
}

/// (cosine, sine) coefficients, order by order: m = 0: l = 0…L, m = 1: l = 1…L, …
pub(crate) fn pack_by_order(lmax: usize, e: &[f64]) -> Vec<[f64; 2]> {
    let mut packed = Vec::with_capacity((lmax + 1) * (lmax + 2) / 2);
    for m in 0..=lmax {
        for l in m..=lmax {
            let centre = l * l + l;
            let sine = if m == 0 { 0.0 } else { e[centre - m] };
            packed.push([e[centre + m], sine]);
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
pub(crate) fn order_sums<S: Simd, const G: usize>(
    simd: S,
    table: &OrderTable,
    weights: &[[f64; 2]],
    m: usize,
    z: &[S::f64s; G],
) -> CosSin<S::f64s, G> {
    let count = table.lmax - m;
    let weights = &weights[packed_start(table.lmax, m)..][..=count];
    let steps = &table.steps[table.order_start[m]..][..count];
    let diagonal = simd.splat_f64s(table.diagonal[m]);
    let mut cos = [simd.mul_f64s(diagonal, simd.splat_f64s(weights[0][0])); G];
    let mut sin = [simd.mul_f64s(diagonal, simd.splat_f64s(weights[0][1])); G];
    let (mut before, mut now) = ([simd.splat_f64s(0.0); G], [diagonal; G]);
    for (step, weight) in steps.iter().zip(&weights[1..]) {
        let (a, c) = (simd.splat_f64s(step[0]), simd.splat_f64s(step[1]));
        let (e_cos, e_sin) = (simd.splat_f64s(weight[0]), simd.splat_f64s(weight[1]));
        for g in 0..G {
            // a·z and c·before are off the critical path: one multiply-add a degree remains on it.
            let (az, c_before) = (simd.mul_f64s(a, z[g]), simd.mul_f64s(c, before[g]));
            let next = simd.mul_add_e_f64s(az, now[g], c_before);
            cos[g] = simd.mul_add_e_f64s(next, e_cos, cos[g]);
            sin[g] = simd.mul_add_e_f64s(next, e_sin, sin[g]);
            (before[g], now[g]) = (now[g], next);
        }
    }
    (cos, sin)
}

struct Values<'a> {
    table: &'a OrderTable,
    weights: &'a [[f64; 2]],
    points: &'a [UnitVec],
    out: &'a mut [f64],
}

impl WithSimd for Values<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        const LARGEST: usize = 8 * GROUPS;
        let size = S::F64_LANES * GROUPS;
        for (points, out) in self.points.chunks(size).zip(self.out.chunks_mut(size)) {
            let mut parts = [[0.0; LARGEST]; 3];
            let mut sine = 0f64;
            for (i, point) in points.iter().enumerate() {
                let [x, y, z] = point.to_array();
                sine = sine.max(x * x + y * y);
                (parts[0][i], parts[1][i], parts[2][i]) = (x, y, z);
            }
            let zero = simd.splat_f64s(0.0);
            let (mut x, mut y, mut z) = ([zero; GROUPS], [zero; GROUPS], [zero; GROUPS]);
            x.copy_from_slice(vectors::<S>(&parts[0][..size]));
            y.copy_from_slice(vectors::<S>(&parts[1][..size]));
            z.copy_from_slice(vectors::<S>(&parts[2][..size]));
            let (mut re, mut im, mut sum) = ([simd.splat_f64s(1.0); GROUPS], [zero; GROUPS], [zero; GROUPS]);
            for m in 0..self.table.orders(sine.sqrt()) {
                if m > 0 {
                    for g in 0..GROUPS {
                        let next = simd.sub_f64s(simd.mul_f64s(re[g], x[g]), simd.mul_f64s(im[g], y[g]));
                        im[g] = simd.mul_add_e_f64s(re[g], y[g], simd.mul_f64s(im[g], x[g]));
                        re[g] = next;
                    }
                }
                let (cos, sin) = order_sums::<S, GROUPS>(simd, self.table, self.weights, m, &z);
                for g in 0..GROUPS {
                    sum[g] = simd.mul_add_e_f64s(cos[g], re[g], simd.mul_add_e_f64s(sin[g], im[g], sum[g]));
                }
            }
            let mut lanes = [0.0; LARGEST];
            vectors_mut::<S>(&mut lanes[..size]).copy_from_slice(&sum);
            out.copy_from_slice(&lanes[..out.len()]);
        }
    }
}
