//! Points on the sphere: geographic coordinates and unit vectors.

use crate::sphere::SphereError;
use rand::{Rng, RngExt};
use std::fmt;

/// A place on Earth in degrees. The latitude is in −90…90; the longitude is wrapped to −180…180.
///
/// ```
/// use locdiff_shdd::sphere::LatLon;
/// let place = LatLon::new(39.999, 476.275)?;
/// assert!((place.lon_deg() - 116.275).abs() < 1e-9);
/// assert_eq!(place.to_string(), "39.9990° N, 116.2750° E");
/// assert!(LatLon::new(91.0, 0.0).is_err());
/// assert!(LatLon::new(0.0, f64::NAN).is_err());
/// # Ok::<(), locdiff_shdd::sphere::SphereError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "Degrees", into = "Degrees")
)]
pub struct LatLon {
    lat_deg: f64,
    lon_deg: f64,
}

/// Numbers beyond this are no longitudes but, say, ten-millionths of a degree.
const MOST_LON_DEG: f64 = 1e6;

impl LatLon {
    /// Creates a location from degrees north and degrees east. The longitude is wrapped. Fails if a number is not finite, the latitude is outside
    /// −90…90, or the longitude is above a million degrees.
    #[inline]
    pub fn new(lat_deg: f64, lon_deg: f64) -> Result<Self, SphereError> {
        if !(-90.0..=90.0).contains(&lat_deg) {
            return Err(SphereError::Latitude(lat_deg));
        }
        if !lon_deg.is_finite() || lon_deg.abs() > MOST_LON_DEG {
            return Err(SphereError::Longitude(lon_deg));
        }
        Ok(Self { lat_deg, lon_deg: wrap_lon_deg(lon_deg) })
    }

    /// Returns the latitude in degrees north, −90…90.
    #[inline]
    pub const fn lat_deg(self) -> f64 {
        self.lat_deg
    }

    /// Returns the longitude in degrees east, from −180 to below 180. An input of exactly 180 stays 180.
    #[inline]
    pub const fn lon_deg(self) -> f64 {
        self.lon_deg
    }

    /// Returns the point on its parallel and another's meridian.
    #[must_use]
    pub const fn on_meridian_of(self, other: Self) -> Self {
        Self { lon_deg: other.lon_deg, ..self }
    }

    /// Returns the location as a unit vector.
    #[inline]
    pub fn to_unit(self) -> UnitVec {
        let (lat_sin, lat_cos) = self.lat_deg.to_radians().sin_cos();
        let (lon_sin, lon_cos) = self.lon_deg.to_radians().sin_cos();
        // cos(90°) is 6e-17 in floating point; at the pole the longitude must not matter.
        let lat_cos = if self.lat_deg.abs() == 90.0 { 0.0 } else { lat_cos };
        UnitVec([lat_cos * lon_cos, lat_cos * lon_sin, lat_sin])
    }
}

/// As people write it: `39.9990° N, 116.2750° E`.
impl fmt::Display for LatLon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let half = |deg: f64, negative, positive| if deg < 0.0 { negative } else { positive };
        let (ns, ew) = (half(self.lat_deg, 'S', 'N'), half(self.lon_deg, 'W', 'E'));
        f.pad(&format!("{:.4}° {ns}, {:.4}° {ew}", self.lat_deg.abs(), self.lon_deg.abs()))
    }
}

/// How a place is written: `{"lat": 48.86, "lon": 2.35}`.
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
struct Degrees {
    lat: f64,
    lon: f64,
}

#[cfg(feature = "serde")]
impl TryFrom<Degrees> for LatLon {
    type Error = SphereError;

    fn try_from(Degrees { lat, lon }: Degrees) -> Result<Self, SphereError> {
        Self::new(lat, lon)
    }
}

#[cfg(feature = "serde")]
impl From<LatLon> for Degrees {
    #[inline]
    fn from(place: LatLon) -> Self {
        Self { lat: place.lat_deg, lon: place.lon_deg }
    }
}

#[inline]
fn wrap_lon_deg(lon_deg: f64) -> f64 {
    if (-180.0..=180.0).contains(&lon_deg) {
        lon_deg
    } else {
        let wrapped = (lon_deg + 180.0).rem_euclid(360.0) - 180.0;
        // rem_euclid may round up to 360 itself for tiny negative arguments.
        if wrapped >= 180.0 { wrapped - 360.0 } else { wrapped }
    }
}

/// A point on the unit sphere: x towards (0° N, 0° E), y towards (0° N, 90° E), z towards the north pole.
///
/// ```
/// use locdiff_shdd::sphere::UnitVec;
/// let north = UnitVec::new(0.0, 0.0, 7.0)?;
/// assert_eq!(north.to_latlon().lat_deg(), 90.0);
/// # Ok::<(), locdiff_shdd::sphere::SphereError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnitVec(pub(crate) [f64; 3]);

impl UnitVec {
    /// The north pole.
    pub const NORTH: UnitVec = UnitVec([0.0, 0.0, 1.0]);

    /// Creates the point in the direction of a vector. Fails if the vector is zero or not finite.
    #[inline]
    pub fn new(x: f64, y: f64, z: f64) -> Result<Self, SphereError> {
        let largest = x.abs().max(y.abs()).max(z.abs());
        let sum = x + y + z; // NaN and ∞ survive a sum, but not a max
        if !(largest > 0.0 && largest.is_finite() && !sum.is_nan()) {
            return Err(SphereError::Direction(x, y, z));
        }
        Ok(Self::normalized([x / largest, y / largest, z / largest]))
    }

    /// Normalises a vector that is known to be of ordinary size.
    #[inline]
    pub(crate) fn normalized([x, y, z]: [f64; 3]) -> Self {
        let scale = 1.0 / (x * x + y * y + z * z).sqrt();
        Self([x * scale, y * scale, z * scale])
    }

    /// From height `z` and longitude.
    #[inline]
    pub(crate) fn from_z_lon(z: f64, lon_rad: f64) -> Self {
        let s = ((1.0 - z) * (1.0 + z)).max(0.0).sqrt();
        let (sin, cos) = lon_rad.sin_cos();
        Self([s * cos, s * sin, z])
    }

    /// Draws a point uniformly on the sphere (Archimedes: z and the longitude are independent and uniform).
    pub fn random<R: Rng + ?Sized>(rng: &mut R) -> Self {
        let z = rng.random_range(-1.0..=1.0);
        Self::from_z_lon(z, rng.random_range(0.0..std::f64::consts::TAU))
    }

    /// Returns x, towards (0° N, 0° E).
    #[inline]
    pub const fn x(self) -> f64 {
        self.0[0]
    }

    /// Returns y, towards (0° N, 90° E).
    #[inline]
    pub const fn y(self) -> f64 {
        self.0[1]
    }

    /// Returns z, the sine of the latitude.
    #[inline]
    pub const fn z(self) -> f64 {
        self.0[2]
    }

    /// Returns x, y and z.
    #[inline]
    pub const fn to_array(self) -> [f64; 3] {
        self.0
    }

    /// Returns the point in degrees. At a pole the longitude is 0.
    #[inline]
    pub fn to_latlon(self) -> LatLon {
        let [x, y, z] = self.0;
        let s = x.hypot(y);
        let lon_deg = if s == 0.0 { 0.0 } else { y.atan2(x).to_degrees() };
        LatLon { lat_deg: z.atan2(s).to_degrees().clamp(-90.0, 90.0), lon_deg }
    }

    /// Returns the scalar product, the cosine of the angle between two points.
    #[inline]
    pub fn dot(self, other: Self) -> f64 {
        self.0[0] * other.0[0] + self.0[1] * other.0[1] + self.0[2] * other.0[2]
    }

    /// Returns the angle between two points in radians, accurate near 0 and near π.
    #[inline]
    pub fn angle_rad(self, other: Self) -> f64 {
        let [ax, ay, az] = self.0;
        let [bx, by, bz] = other.0;
        let difference = ((ax - bx).powi(2) + (ay - by).powi(2) + (az - bz).powi(2)).sqrt();
        let sum = ((ax + bx).powi(2) + (ay + by).powi(2) + (az + bz).powi(2)).sqrt();
        2.0 * difference.atan2(sum)
    }

    /// Returns the antipode.
    #[must_use]
    #[inline]
    pub fn antipode(self) -> Self {
        Self([-self.0[0], -self.0[1], -self.0[2]])
    }

    /// Returns two orthonormal tangent vectors at this point, (u, v) with u × v pointing outwards. Well defined at the poles.
    #[inline]
    pub fn tangents(self) -> ([f64; 3], [f64; 3]) {
        let [x, y, z] = self.0;
        // Duff et al., "Building an Orthonormal Basis, Revisited": no branch but the sign, no singular point.
        let sign = 1f64.copysign(z);
        let a = -1.0 / (sign + z);
        let b = x * y * a;
        ([1.0 + sign * x * x * a, sign * b, -sign * x], [b, sign + y * y * a, -y])
    }

    /// Returns the end of the great-circle step `a·u + b·v` (in radians) along [`UnitVec::tangents`].
    #[must_use]
    #[inline]
    pub fn step(self, a: f64, b: f64) -> Self {
        let (u, v) = self.tangents();
        let length = a.hypot(b);
        if length == 0.0 {
            return self;
        }
        let (sin, cos) = length.sin_cos();
        let along = sin / length;
        Self::normalized(std::array::from_fn(|i| cos * self.0[i] + along * (a * u[i] + b * v[i])))
    }
}

impl From<LatLon> for UnitVec {
    #[inline]
    fn from(place: LatLon) -> Self {
        place.to_unit()
    }
}

impl From<UnitVec> for LatLon {
    #[inline]
    fn from(point: UnitVec) -> Self {
        point.to_latlon()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bad_numbers_are_rejected() {
        for (lat, lon) in [(90.0001, 0.0), (f64::NAN, 0.0), (f64::INFINITY, 0.0)] {
            assert!(matches!(LatLon::new(lat, lon), Err(SphereError::Latitude(_))));
        }
        for lon in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(matches!(LatLon::new(0.0, lon), Err(SphereError::Longitude(_))));
        }
        let inf = f64::INFINITY;
        for (x, y, z) in [(0.0, 0.0, 0.0), (f64::NAN, 1.0, 0.0), (inf, 0.0, 1.0), (1.0, f64::NAN, 1.0)] {
            assert!(UnitVec::new(x, y, z).is_err(), "{x} {y} {z}");
        }
    }

    #[test]
    fn longitudes_wrap() {
        for (lon, wrapped) in [(180.0, 180.0), (-180.0, -180.0), (181.0, -179.0), (-541.0, 179.0), (360.0, 0.0)] {
            assert_eq!(LatLon::new(0.0, lon).unwrap().lon_deg(), wrapped);
        }
        assert!(LatLon::new(0.0, 5e9).is_err());
        assert!(LatLon::new(0.0, -1e-300 - 180.0).unwrap().lon_deg() <= 180.0);
    }

    #[test]
    fn huge_and_tiny_vectors_have_a_direction() {
        assert_eq!(UnitVec::new(0.0, 1e300, 0.0).unwrap().y(), 1.0);
        assert_eq!(UnitVec::new(0.0, 0.0, 1e-310).unwrap(), UnitVec::NORTH);
    }

    proptest! {
        #[test]
        fn degrees_and_vectors_round_trip(lat in -90.0..=90.0f64, lon in -180.0..180.0f64) {
            let place = LatLon::new(lat, lon).unwrap();
            let back = place.to_unit().to_latlon().to_unit();
            prop_assert!(place.to_unit().angle_rad(back) < 1e-15);
        }

        #[test]
        fn tangents_are_orthonormal(lat in -90.0..=90.0f64, lon in -180.0..180.0f64) {
            let p = LatLon::new(lat, lon).unwrap().to_unit();
            let (u, v) = p.tangents();
            let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
            for (value, expected) in [
                (dot(u, u), 1.0), (dot(v, v), 1.0), (dot(u, v), 0.0), (dot(u, p.0), 0.0), (dot(v, p.0), 0.0),
            ] {
                prop_assert!((value - expected).abs() < 1e-14);
            }
        }

        #[test]
        fn a_step_goes_as_far_as_it_says(lat in -90.0..=90.0f64, lon in -180.0..180.0f64, a in -1.5..1.5f64, b in -1.5..1.5f64) {
            let p = LatLon::new(lat, lon).unwrap().to_unit();
            prop_assert!((p.angle_rad(p.step(a, b)) - a.hypot(b)).abs() < 1e-14);
        }
    }
}
