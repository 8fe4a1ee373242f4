//! Distances on Earth: great circle on the sphere, geodesic on the WGS-84 ellipsoid.

use crate::sphere::LatLon;
use geographiclib_rs::{Geodesic, InverseGeodesic};
use std::sync::LazyLock;

/// Radius of the sphere that every distance in km refers to.
pub const EARTH_RADIUS_KM: f64 = 6371.0;

static WGS84: LazyLock<Geodesic> = LazyLock::new(Geodesic::wgs84);

/// Great-circle distance on the sphere of [`EARTH_RADIUS_KM`].
///
/// ```
/// use locdiff_shdd::sphere::{LatLon, haversine_km};
/// let paris = LatLon::new(48.8566, 2.3522)?;
/// let tokyo = LatLon::new(35.6762, 139.6503)?;
/// assert!((haversine_km(paris, tokyo) - 9711.8).abs() < 0.5);
/// # Ok::<(), locdiff_shdd::sphere::SphereError>(())
/// ```
#[inline]
pub fn haversine_km(a: LatLon, b: LatLon) -> f64 {
    let half = |d: f64| (d.to_radians() / 2.0).sin().powi(2);
    let h = half(b.lat_deg() - a.lat_deg())
        + a.lat_deg().to_radians().cos() * b.lat_deg().to_radians().cos() * half(b.lon_deg() - a.lon_deg());
    2.0 * EARTH_RADIUS_KM * h.clamp(0.0, 1.0).sqrt().asin()
}

/// Geodesic distance on the WGS-84 ellipsoid (Karney's algorithm).
pub fn geodesic_km(a: LatLon, b: LatLon) -> f64 {
    let metres: f64 = WGS84.inverse(a.lat_deg(), a.lon_deg(), b.lat_deg(), b.lon_deg());
    metres / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn geodesic_matches_published_values() {
        // Karney (2013), and the quarter meridian of WGS-84: 10,001.965 729 km.
        let at = |lat, lon| LatLon::new(lat, lon).unwrap();
        assert!((geodesic_km(at(0.0, 0.0), at(90.0, 0.0)) - 10_001.965_729).abs() < 1e-6);
        assert!((geodesic_km(at(40.6, -73.8), at(51.6, -0.5)) - 5_551.759_4).abs() < 1e-4);
        assert!((geodesic_km(at(0.0, 179.5), at(0.0, -179.5)) - 111.319_491).abs() < 1e-5);
    }

    #[test]
    fn haversine_matches_the_formula_behind_published_scores() {
        let at = |lat, lon| LatLon::new(lat, lon).unwrap();
        assert!((haversine_km(at(0.0, 0.0), at(0.0, 180.0)) - 20_015.086_796).abs() < 1e-5);
        assert!((haversine_km(at(90.0, 10.0), at(-90.0, 99.0)) - 20_015.086_796).abs() < 1e-5);
        assert_eq!(haversine_km(at(12.0, 34.0), at(12.0, 34.0)), 0.0);
    }

    proptest! {
        #[test]
        fn haversine_is_the_angle_times_the_radius(
            a in -90.0..=90.0f64, b in -180.0..180.0f64, c in -90.0..=90.0f64, d in -180.0..180.0f64,
        ) {
            let (p, q) = (LatLon::new(a, b).unwrap(), LatLon::new(c, d).unwrap());
            let angle_km = p.to_unit().angle_rad(q.to_unit()) * EARTH_RADIUS_KM;
            prop_assert!((haversine_km(p, q) - angle_km).abs() < 1e-4);
            prop_assert_eq!(haversine_km(p, q), haversine_km(q, p));
            // The ellipsoid differs from the sphere by at most about 0.6 %.
            prop_assert!((geodesic_km(p, q) - angle_km).abs() <= 0.0075 * angle_km + 25.0);
        }
    }
}
