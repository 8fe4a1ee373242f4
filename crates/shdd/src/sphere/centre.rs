//! Centres of point sets and paths between points.

use crate::sphere::UnitVec;

/// The point at the share `fraction` of the great circle from `a` to `b` (0 gives `a`, 1 gives `b`).
///
/// Between antipodes every great circle is shortest; one of them is taken.
///
/// ```
/// use locdiff_shdd::sphere::{LatLon, interpolate};
/// let a = LatLon::new(0.0, 170.0)?.to_unit();
/// let b = LatLon::new(0.0, -170.0)?.to_unit();
/// assert!((interpolate(a, b, 0.75).to_latlon().lon_deg() + 175.0).abs() < 1e-9);
/// # Ok::<(), locdiff_shdd::sphere::SphereError>(())
/// ```
pub fn interpolate(a: UnitVec, b: UnitVec, fraction: f64) -> UnitVec {
    let angle = a.angle_rad(b);
    let (u, v) = a.tangents();
    let dot = |t: [f64; 3]| t[0] * b.x() + t[1] * b.y() + t[2] * b.z();
    let (mut along_u, mut along_v) = (dot(u), dot(v));
    let length = along_u.hypot(along_v);
    if length == 0.0 {
        if angle == 0.0 {
            return a;
        }
        (along_u, along_v) = (1.0, 0.0);
    } else {
        (along_u, along_v) = (along_u / length, along_v / length);
    }
    a.step(along_u * angle * fraction, along_v * angle * fraction)
}

/// The spherical mean: the direction of the sum of the vectors. The paper averages its 16 samples so.
///
/// `None` for an empty set, or one that is balanced so that no direction remains.
///
/// ```
/// use locdiff_shdd::sphere::{LatLon, spherical_mean};
/// let points = [LatLon::new(10.0, 179.0)?.to_unit(), LatLon::new(10.0, -179.0)?.to_unit()];
/// let mean = spherical_mean(&points).unwrap().to_latlon();
/// assert!((mean.lon_deg().abs() - 180.0).abs() < 1e-9); // not 0, as the mean of the numbers would be
/// # Ok::<(), locdiff_shdd::sphere::SphereError>(())
/// ```
pub fn spherical_mean(points: &[UnitVec]) -> Option<UnitVec> {
    let sum = points.iter().fold([0.0; 3], |s, p| [s[0] + p.x(), s[1] + p.y(), s[2] + p.z()]);
    let norm = (sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]).sqrt();
    (norm > 1e-12 * points.len() as f64).then(|| UnitVec::normalized(sum))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sphere::LatLon;
    use proptest::prelude::*;

    fn at(lat: f64, lon: f64) -> UnitVec {
        LatLon::new(lat, lon).unwrap().to_unit()
    }

    #[test]
    fn empty_and_balanced_sets_have_no_mean() {
        assert_eq!(spherical_mean(&[]), None);
        assert_eq!(spherical_mean(&[at(10.0, 20.0), at(10.0, 20.0).antipode()]), None);
    }

    proptest! {
        #[test]
        fn interpolation_divides_the_arc(
            a in -90.0..=90.0f64, b in -180.0..180.0f64, c in -90.0..=90.0f64, d in -180.0..180.0f64, t in 0.0..=1.0f64,
        ) {
            let (p, q) = (at(a, b), at(c, d));
            let r = interpolate(p, q, t);
            let whole = p.angle_rad(q);
            prop_assert!((p.angle_rad(r) - t * whole).abs() < 1e-9);
            prop_assert!((r.angle_rad(q) - (1.0 - t) * whole).abs() < 1e-9);
        }
    }
}
