//! Polygons in longitude and latitude.

mod index;

pub use index::PolygonIndex;

use crate::sphere::{EARTH_RADIUS_KM, LatLon};

/// A closed line of `[longitude, latitude]` in degrees; the last position repeats the first.
pub type Ring = Vec<[f64; 2]>;

/// An outer ring, counterclockwise, and the holes in it, clockwise (RFC 7946). Edges are straight in longitude and
/// latitude. No polygon crosses the antimeridian: a region that does is several polygons.
#[derive(Debug, Clone, PartialEq)]
pub struct Polygon {
    /// The outer ring.
    pub outer: Ring,
    /// The holes.
    pub holes: Vec<Ring>,
}

impl Polygon {
    /// Returns the area in steradian.
    pub fn area_sr(&self) -> f64 {
        ring_area_sr(&self.outer) + self.holes.iter().map(|hole| ring_area_sr(hole)).sum::<f64>()
    }

    /// Returns the area in km² on a sphere of Earth's mean radius.
    ///
    /// ```
    /// use locdiff_shdd::sphere::Polygon;
    /// let octant = Polygon { outer: vec![[0.0, 0.0], [90.0, 0.0], [90.0, 90.0], [0.0, 90.0], [0.0, 0.0]], holes: vec![] };
    /// assert!((octant.area_km2() / 510_064_472.0 - 0.125).abs() < 1e-6);
    /// ```
    pub fn area_km2(&self) -> f64 {
        self.area_sr() * EARTH_RADIUS_KM * EARTH_RADIUS_KM
    }

    /// Returns whether a location lies inside.
    pub fn contains(&self, place: LatLon) -> bool {
        let point = [place.lon_deg(), place.lat_deg()];
        ring_contains(&self.outer, point) && !self.holes.iter().any(|hole| ring_contains(hole, point))
    }

    /// Iterates over all rings, the outer one first.
    pub fn rings(&self) -> impl Iterator<Item = &Ring> {
        std::iter::once(&self.outer).chain(&self.holes)
    }
}

/// Returns the signed area in steradian, positive if counterclockwise: −∮ sin(lat) dlon, exact for straight edges.
pub fn ring_area_sr(ring: &[[f64; 2]]) -> f64 {
    let over_edge = |edge: &[[f64; 2]]| {
        let ([lon_a, lat_a], [lon_b, lat_b]) = (edge[0], edge[1]);
        let (middle_rad, half_rad) = ((0.5 * (lat_a + lat_b)).to_radians(), (0.5 * (lat_b - lat_a)).to_radians());
        let slack = if half_rad.abs() < 1e-8 { 1.0 } else { half_rad.sin() / half_rad };
        -(lon_b - lon_a).to_radians() * middle_rad.sin() * slack // the mean of the sine along the edge
    };
    ring.windows(2).map(over_edge).sum()
}

/// Returns whether a ring holds a position, by the even-odd rule in the plane of longitude and latitude.
pub fn ring_contains(ring: &[[f64; 2]], position: [f64; 2]) -> bool {
    ring.windows(2).filter(|edge| is_east_of(edge[0], edge[1], position)).count() % 2 == 1
}

/// Whether the parallel, followed eastward from a position, crosses the edge between two others.
fn is_east_of([ax, ay]: [f64; 2], [bx, by]: [f64; 2], [lon_deg, lat_deg]: [f64; 2]) -> bool {
    (ay > lat_deg) != (by > lat_deg) && lon_deg < (bx - ax) * (lat_deg - ay) / (by - ay) + ax
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    fn square(west: f64, south: f64, size: f64) -> Ring {
        let (east, north) = (west + size, south + size);
        vec![[west, south], [east, south], [east, north], [west, north], [west, south]]
    }

    #[test]
    fn areas_are_signed_and_exact() {
        let globe = vec![[-180.0, -90.0], [180.0, -90.0], [180.0, 90.0], [-180.0, 90.0], [-180.0, -90.0]];
        assert!((ring_area_sr(&globe) - 4.0 * PI).abs() < 1e-12);
        let mut hole = square(10.0, 30.0, 10.0);
        hole.reverse();
        let exact = 10f64.to_radians() * (40f64.to_radians().sin() - 30f64.to_radians().sin());
        assert!((ring_area_sr(&hole) + exact).abs() < 1e-12);
        let polygon = Polygon { outer: square(0.0, 20.0, 30.0), holes: vec![hole] };
        let outer = 30f64.to_radians() * (50f64.to_radians().sin() - 20f64.to_radians().sin());
        assert!((polygon.area_sr() - (outer - exact)).abs() < 1e-12);
        // A triangle with a slanted edge: half of the square would be the answer in the plane only.
        let triangle = vec![[0.0, 0.0], [90.0, 0.0], [0.0, 90.0], [0.0, 0.0]];
        assert!((ring_area_sr(&triangle) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn holes_are_outside() {
        let polygon = Polygon { outer: square(0.0, 0.0, 30.0), holes: vec![square(10.0, 10.0, 10.0)] };
        let contains = |lat, lon| polygon.contains(LatLon::new(lat, lon).unwrap());
        assert!(contains(5.0, 5.0) && !contains(15.0, 15.0) && !contains(-1.0, 5.0));
    }
}
