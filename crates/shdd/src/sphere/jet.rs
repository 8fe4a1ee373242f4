//! Value, gradient and Hessian of a field at a point of the sphere, pole-safe.

use crate::sphere::simd::{dispatch, vectors, vectors_mut};
use crate::sphere::{
    Degree, SphereError, UnitVec, aligned::Aligned, error::expect_len, harmonics::PlanePowers, recurrence::RowTable,
};
use pulp::{Simd, WithSimd};

/// A field's second-order behaviour at a point, in the frame (u, v) of [`UnitVec::tangents`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Jet {
    /// Value of F.
    pub value: f64,
    /// Derivatives of F along u and v, per radian.
    pub gradient: [f64; 2],
    /// The Riemannian Hessian (uu, uv, vv), per radian².
    pub hessian: [f64; 3],
}

impl Jet {
    /// Returns the Newton step (a, b) towards the stationary point; `None` if the field is not strictly concave.
    #[inline]
    pub fn newton_step(&self) -> Option<[f64; 2]> {
        let ([gu, gv], [uu, uv, vv]) = (self.gradient, self.hessian);
        let det = uu * vv - uv * uv;
        (uu < 0.0 && det > 0.0).then(|| [-(vv * gu - uv * gv) / det, -(uu * gv - uv * gu) / det])
    }
}

/// Tables for [`Jet`]s of fields of one degree.
#[derive(Debug)]
pub struct JetPlan {
    degree: Degree,
    table: RowTable,
}

/// A field's coefficients in the layout of [`JetPlan::jet`], with its working memory.
#[derive(Debug)]
pub struct JetField {
    cos: Aligned,
    sin: Aligned,
    work: Work,
}

/// Rolling rows of Q, Q′, Q″ and the sums over l for each order.
#[derive(Debug)]
struct Work {
    now: [Aligned; 3],
    before: [Aligned; 3],
    cos: [Aligned; 3],
    sin: [Aligned; 3],
    plane: PlanePowers,
    /// m·(x+iy)^(m−1).
    first: PlanePowers,
    /// m·(m−1)·(x+iy)^(m−2).
    second: PlanePowers,
}

impl JetPlan {
    /// Prepares tables for `degree`.
    pub fn new(degree: Degree) -> Self {
        Self { degree, table: RowTable::new(degree.get()) }
    }

    /// Lays out one field's coefficients. Reuse `field` for the next vector with [`JetPlan::load`].
    /// Fails if there are not `(L+1)²` coefficients.
    ///
    /// ```
    /// use locdiff_shdd::sphere::{Degree, SphericalHarmonics, JetPlan, LatLon};
    /// let degree = Degree::new(15)?;
    /// let place = LatLon::new(90.0, 0.0)?.to_unit(); // a pole is a point like any other
    /// let plan = JetPlan::new(degree);
    /// let mut field = plan.field(&SphericalHarmonics::new(degree).at(place))?;
    /// let jet = plan.jet(&mut field, place);
    /// assert!(jet.gradient[0].abs() < 1e-10 && jet.gradient[1].abs() < 1e-10);
    /// assert!((jet.hessian[0] + degree.curvature()).abs() < 1e-8);
    /// # Ok::<(), locdiff_shdd::sphere::SphereError>(())
    /// ```
    pub fn field(&self, coefficients: &[f64]) -> Result<JetField, SphereError> {
        let zeros = || Aligned::zeros(self.table.a.len());
        let rows = || std::array::from_fn(|_| Aligned::zeros(RowTable::width(self.table.lmax)));
        let [plane, first, second] = std::array::from_fn(|_| PlanePowers::new(self.table.lmax));
        let work = Work { now: rows(), before: rows(), cos: rows(), sin: rows(), plane, first, second };
        let mut field = JetField { cos: zeros(), sin: zeros(), work };
        self.load(&mut field, coefficients)?;
        Ok(field)
    }

    /// Replaces the coefficients of `field`. Fails if there are not `(L+1)²` coefficients.
    pub fn load(&self, field: &mut JetField, coefficients: &[f64]) -> Result<(), SphereError> {
        expect_len("coefficients", coefficients.len(), self.degree.dimension())?;
        for l in 0..=self.table.lmax {
            let start = self.table.row_start[l];
            let (sines, cosines) = coefficients[l * l..(l + 1) * (l + 1)].split_at(l);
            field.cos[start..][..=l].copy_from_slice(cosines);
            let sin = &mut field.sin[start + 1..][..l];
            sin.iter_mut().zip(sines.iter().rev()).for_each(|(to, from)| *to = *from);
        }
        Ok(())
    }

    /// Returns value, gradient and Hessian at a point.
    pub fn jet(&self, field: &mut JetField, point: UnitVec) -> Jet {
        dispatch(TakeJet { table: &self.table, field, point })
    }
}

struct TakeJet<'a> {
    table: &'a RowTable,
    field: &'a mut JetField,
    point: UnitVec,
}

impl WithSimd for TakeJet<'_> {
    type Output = Jet;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Jet {
        let (table, lmax) = (self.table, self.table.lmax);
        let [x, y, z] = self.point.to_array();
        let JetField { cos: e_cos, sin: e_sin, work } = self.field;
        let Work { now, before, cos, sin, plane, first, second } = work;
        [&mut *now, &mut *before, &mut *cos, &mut *sin].into_iter().flatten().for_each(|row| row.fill(0.0));
        let z = simd.splat_f64s(z);
        for l in 0..=lmax {
            let (start, width) = (table.row_start[l], RowTable::width(l));
            let a = row::<S>(&table.a, start, width);
            let c = row::<S>(&table.c, start, width);
            let e_cos = row::<S>(e_cos, start, width);
            let e_sin = row::<S>(e_sin, start, width);
            let [q, q1, q2] = rows::<S>(now, width);
            let [b, b1, b2] = rows_mut::<S>(before, width);
            // The recurrence and its first two derivatives in z.
            let [cos0, cos1, cos2] = rows_mut::<S>(cos, width);
            let [sin0, sin1, sin2] = rows_mut::<S>(sin, width);
            for k in 0..a.len() {
                let az = simd.mul_f64s(a[k], z);
                let twice = simd.add_f64s(a[k], a[k]);
                let rest = simd.mul_add_e_f64s(c[k], b[k], table.diagonal(simd, l, k));
                let rest1 = simd.mul_add_e_f64s(a[k], q[k], simd.mul_f64s(c[k], b1[k]));
                let rest2 = simd.mul_add_e_f64s(twice, q1[k], simd.mul_f64s(c[k], b2[k]));
                let next = simd.mul_add_e_f64s(az, q[k], rest);
                let next1 = simd.mul_add_e_f64s(az, q1[k], rest1);
                let next2 = simd.mul_add_e_f64s(az, q2[k], rest2);
                (b[k], b1[k], b2[k]) = (next, next1, next2);
                cos0[k] = simd.mul_add_e_f64s(next, e_cos[k], cos0[k]);
                sin0[k] = simd.mul_add_e_f64s(next, e_sin[k], sin0[k]);
                cos1[k] = simd.mul_add_e_f64s(next1, e_cos[k], cos1[k]);
                sin1[k] = simd.mul_add_e_f64s(next1, e_sin[k], sin1[k]);
                cos2[k] = simd.mul_add_e_f64s(next2, e_cos[k], cos2[k]);
                sin2[k] = simd.mul_add_e_f64s(next2, e_sin[k], sin2[k]);
            }
            std::mem::swap(now, before);
        }
        plane.fill(lmax, x, y, 1.0);
        for m in 1..=lmax {
            let (m_f, again) = (m as f64, (m * (m - 1)) as f64);
            (first.re[m], first.im[m]) = (m_f * plane.re[m - 1], m_f * plane.im[m - 1]);
            if m >= 2 {
                (second.re[m], second.im[m]) = (again * plane.re[m - 2], again * plane.im[m - 2]);
            }
        }
        // ∂Re(x+iy)^m = m·(Re, −Im)(x+iy)^(m−1) in x and y, ∂Im likewise m·(Im, Re).
        let (value, _) = products(simd, &cos[0], &sin[0], plane);
        let (z, _) = products(simd, &cos[1], &sin[1], plane);
        let (zz, _) = products(simd, &cos[2], &sin[2], plane);
        let (x, y) = products(simd, &cos[0], &sin[0], first);
        let (xz, yz) = products(simd, &cos[1], &sin[1], first);
        let (xx, xy) = products(simd, &cos[0], &sin[0], second);
        let derivatives = Cartesian {
            value,
            gradient: [x, y, z],
            hessian: [[xx, xy, xz], [xy, -xx, yz], [xz, yz, zz]], // the plane part is harmonic: yy = −xx
        };
        derivatives.along_sphere(self.point)
    }
}

// Closures are compiled without the vector instructions of the kernel around them; these functions are inlined.

#[inline(always)]
fn row<S: Simd>(table: &[f64], start: usize, width: usize) -> &[S::f64s] {
    vectors::<S>(&table[start..][..width])
}

#[inline(always)]
fn rows<S: Simd>([a, b, c]: &[Aligned; 3], width: usize) -> [&[S::f64s]; 3] {
    [row::<S>(a, 0, width), row::<S>(b, 0, width), row::<S>(c, 0, width)]
}

#[inline(always)]
fn rows_mut<S: Simd>([a, b, c]: &mut [Aligned; 3], width: usize) -> [&mut [S::f64s]; 3] {
    [vectors_mut::<S>(&mut a[..width]), vectors_mut::<S>(&mut b[..width]), vectors_mut::<S>(&mut c[..width])]
}

/// Real and imaginary part of `Σ_m (cos_m + i·sin_m)·conj(plane_m)`.
#[inline(always)]
fn products<S: Simd>(simd: S, cos: &[f64], sin: &[f64], plane: &PlanePowers) -> (f64, f64) {
    let (cos, sin) = (vectors::<S>(cos), vectors::<S>(sin));
    let (re, im) = (vectors::<S>(&plane.re), vectors::<S>(&plane.im));
    let zero = simd.splat_f64s(0.0);
    let (mut even, mut odd, mut odd_minus) = (zero, zero, zero);
    for k in 0..cos.len() {
        even = simd.mul_add_e_f64s(cos[k], re[k], simd.mul_add_e_f64s(sin[k], im[k], even));
        odd = simd.mul_add_e_f64s(sin[k], re[k], odd);
        odd_minus = simd.mul_add_e_f64s(cos[k], im[k], odd_minus);
    }
    (simd.reduce_sum_f64s(even), simd.reduce_sum_f64s(simd.sub_f64s(odd, odd_minus)))
}

/// Derivatives of the polynomial that the field is in x, y, z.
struct Cartesian {
    value: f64,
    gradient: [f64; 3],
    hessian: [[f64; 3]; 3],
}

impl Cartesian {
    /// Their part along the sphere: the Hessian loses the normal derivative, since the sphere bends away.
    #[inline(always)]
    fn along_sphere(&self, point: UnitVec) -> Jet {
        let (u, v) = point.tangents();
        let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        let bend = |a: [f64; 3], b: [f64; 3]| dot(a, self.hessian.map(|row| dot(row, b)));
        let outward = dot(point.to_array(), self.gradient);
        Jet {
            value: self.value,
            gradient: [dot(u, self.gradient), dot(v, self.gradient)],
            hessian: [bend(u, u) - outward, bend(u, v), bend(v, v) - outward],
        }
    }
}
