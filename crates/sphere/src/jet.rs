//! Value, gradient and Hessian of a field at a point of the sphere, pole-safe.

use crate::error::expect_len;
use crate::harmonics::PlanePowers;
use crate::recurrence::{CHUNK, RowTable};
use crate::simd::{Kernel, dispatch, mul_add};
use crate::{Degree, SphereError, UnitVec};

/// A field's second-order behaviour at a point, in the frame (u, v) of [`UnitVec::tangents`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Jet {
    /// F.
    pub value: f64,
    /// ∂F along u and v, per radian.
    pub gradient: [f64; 2],
    /// The Riemannian Hessian (uu, uv, vv), per radian².
    pub hessian: [f64; 3],
}

impl Jet {
    /// Determinant of the Hessian.
    pub fn determinant(&self) -> f64 {
        let [uu, uv, vv] = self.hessian;
        uu * vv - uv * uv
    }

    /// Whether the field is strictly concave here, as at a proper maximum.
    pub fn is_concave(&self) -> bool {
        self.hessian[0] < 0.0 && self.determinant() > 0.0
    }

    /// The Newton step (a, b) towards the stationary point; `None` where the field is not concave.
    pub fn newton_step(&self) -> Option<[f64; 2]> {
        let ([gu, gv], [uu, uv, vv]) = (self.gradient, self.hessian);
        let det = self.determinant();
        self.is_concave().then(|| [-(vv * gu - uv * gv) / det, -(uu * gv - uv * gu) / det])
    }
}

/// Tables to take jets of fields of one degree.
#[derive(Debug)]
pub struct JetPlan {
    degree: Degree,
    table: RowTable,
}

/// One field's coefficients, laid out for [`JetPlan::jet`], with the working memory that it needs.
#[derive(Debug)]
pub struct JetField {
    cos: Vec<[f64; CHUNK]>,
    sin: Vec<[f64; CHUNK]>,
    work: Work,
}

/// Rolling rows of Q, Q′, Q″ and the sums over l for each order.
#[derive(Debug)]
struct Work {
    now: [Vec<[f64; CHUNK]>; 3],
    before: [Vec<[f64; CHUNK]>; 3],
    cos: [Vec<[f64; CHUNK]>; 3],
    sin: [Vec<[f64; CHUNK]>; 3],
}

impl JetPlan {
    /// Tables for `degree`.
    pub fn new(degree: Degree) -> Self {
        Self { degree, table: RowTable::new(degree.get()) }
    }

    /// Lays out one field's coefficients. Reuse `field` for the next vector with [`JetPlan::load`].
    ///
    /// # Errors
    /// When there are not `(L+1)²` coefficients.
    ///
    /// ```
    /// use locdiff_sphere::{Degree, Harmonics, JetPlan, LatLon};
    /// let degree = Degree::new(15)?;
    /// let place = LatLon::new(90.0, 0.0)?.to_unit(); // a pole is a point like any other
    /// let plan = JetPlan::new(degree);
    /// let mut field = plan.field(&Harmonics::new(degree).at(place))?;
    /// let jet = plan.jet(&mut field, place);
    /// assert!(jet.gradient[0].abs() < 1e-10 && jet.gradient[1].abs() < 1e-10);
    /// assert!((jet.hessian[0] + degree.curvature()).abs() < 1e-8);
    /// # Ok::<(), locdiff_sphere::SphereError>(())
    /// ```
    pub fn field(&self, coefficients: &[f64]) -> Result<JetField, SphereError> {
        let zeros = vec![[0.0; CHUNK]; self.table.steps.len()];
        let row = vec![[0.0; CHUNK]; RowTable::chunks(self.table.lmax)];
        let rows = || std::array::from_fn(|_| row.clone());
        let work = Work { now: rows(), before: rows(), cos: rows(), sin: rows() };
        let mut field = JetField { cos: zeros.clone(), sin: zeros, work };
        self.load(&mut field, coefficients)?;
        Ok(field)
    }

    /// Puts another vector into `field`.
    ///
    /// # Errors
    /// When there are not `(L+1)²` coefficients.
    pub fn load(&self, field: &mut JetField, coefficients: &[f64]) -> Result<(), SphereError> {
        expect_len("coefficients", coefficients.len(), self.degree.dimension())?;
        for l in 0..=self.table.lmax {
            let start = self.table.row_start[l] * CHUNK;
            let (sines, cosines) = coefficients[l * l..(l + 1) * (l + 1)].split_at(l);
            field.cos.as_flattened_mut()[start..][..=l].copy_from_slice(cosines);
            let sin = &mut field.sin.as_flattened_mut()[start + 1..][..l];
            sin.iter_mut().zip(sines.iter().rev()).for_each(|(to, from)| *to = *from);
        }
        Ok(())
    }

    /// Value, gradient and Hessian at a point.
    pub fn jet(&self, field: &mut JetField, point: UnitVec) -> Jet {
        dispatch(TakeJet { table: &self.table, field, point })
    }
}

struct TakeJet<'a> {
    table: &'a RowTable,
    field: &'a mut JetField,
    point: UnitVec,
}

impl Kernel for TakeJet<'_> {
    type Output = Jet;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> Jet {
        let (table, lmax) = (self.table, self.table.lmax);
        let [x, y, z] = self.point.to_array();
        let JetField { cos: e_cos, sin: e_sin, work } = self.field;
        let Work { now, before, cos, sin } = work;
        for rows in [&mut *now, &mut *before, &mut *cos, &mut *sin] {
            rows.iter_mut().for_each(|row| row.fill([0.0; CHUNK]));
        }
        for l in 0..=lmax {
            let (last, lane) = (l / CHUNK, l % CHUNK);
            for k in 0..RowTable::chunks(l) {
                let slot = table.row_start[l] + k;
                let [a, c] = &table.steps[slot];
                let az: [f64; CHUNK] = std::array::from_fn(|i| a[i] * z);
                let [q, q1, q2] = std::array::from_fn(|order| now[order][k]);
                // The recurrence and its first two derivatives in z.
                let mut next: [[f64; CHUNK]; 3] = [
                    std::array::from_fn(|i| mul_add::<FMA, f64>(az[i], q[i], c[i] * before[0][k][i])),
                    std::array::from_fn(|i| {
                        mul_add::<FMA, f64>(az[i], q1[i], mul_add::<FMA, f64>(a[i], q[i], c[i] * before[1][k][i]))
                    }),
                    std::array::from_fn(|i| {
                        let twice = 2.0 * a[i];
                        mul_add::<FMA, f64>(az[i], q2[i], mul_add::<FMA, f64>(twice, q1[i], c[i] * before[2][k][i]))
                    }),
                ];
                if k == last {
                    next[0][lane] = table.diagonal[l];
                }
                for order in 0..3 {
                    let (c_sum, s_sum) = (&mut cos[order][k], &mut sin[order][k]);
                    *c_sum = std::array::from_fn(|i| mul_add::<FMA, f64>(next[order][i], e_cos[slot][i], c_sum[i]));
                    *s_sum = std::array::from_fn(|i| mul_add::<FMA, f64>(next[order][i], e_sin[slot][i], s_sum[i]));
                    before[order][k] = next[order];
                }
            }
            std::mem::swap(now, before);
        }
        let mut plane = PlanePowers::new(lmax);
        plane.fill(lmax, x, y, 1.0);
        combine(lmax, &plane, cos, sin, self.point)
    }
}

/// Sums over m: Cartesian derivatives of `Σ A_m(z) Re(x+iy)^m + B_m(z) Im(x+iy)^m`, then their part along the sphere.
#[inline(always)]
fn combine(
    lmax: usize,
    plane: &PlanePowers,
    cos: &[Vec<[f64; CHUNK]>; 3],
    sin: &[Vec<[f64; CHUNK]>; 3],
    point: UnitVec,
) -> Jet {
    let (re, im) = (plane.re.as_flattened(), plane.im.as_flattened());
    let [a, a1, a2] = std::array::from_fn(|order| cos[order].as_flattened());
    let [b, b1, b2] = std::array::from_fn(|order| sin[order].as_flattened());
    let (mut f, mut fx, mut fy, mut fz) = (0.0, 0.0, 0.0, 0.0);
    let (mut fxx, mut fxy, mut fxz, mut fyz, mut fzz) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for m in 0..=lmax {
        f += a[m] * re[m] + b[m] * im[m];
        fz += a1[m] * re[m] + b1[m] * im[m];
        fzz += a2[m] * re[m] + b2[m] * im[m];
        if m >= 1 {
            let m_f = m as f64;
            let (c, s) = (re[m - 1], im[m - 1]);
            fx += m_f * (a[m] * c + b[m] * s);
            fy += m_f * (b[m] * c - a[m] * s);
            fxz += m_f * (a1[m] * c + b1[m] * s);
            fyz += m_f * (b1[m] * c - a1[m] * s);
        }
        if m >= 2 {
            let m_f = (m * (m - 1)) as f64;
            let (c, s) = (re[m - 2], im[m - 2]);
            fxx += m_f * (a[m] * c + b[m] * s);
            fxy += m_f * (b[m] * c - a[m] * s);
        }
    }
    let fyy = -fxx; // the plane part is harmonic
    let (u, v) = point.tangents();
    let along = |t: [f64; 3]| t[0] * fx + t[1] * fy + t[2] * fz;
    let bend = |s: [f64; 3], t: [f64; 3]| {
        s[0] * (fxx * t[0] + fxy * t[1] + fxz * t[2])
            + s[1] * (fxy * t[0] + fyy * t[1] + fyz * t[2])
            + s[2] * (fxz * t[0] + fyz * t[1] + fzz * t[2])
    };
    let outward = along(point.to_array());
    Jet { value: f, gradient: [along(u), along(v)], hessian: [bend(u, u) - outward, bend(u, v), bend(v, v) - outward] }
}
