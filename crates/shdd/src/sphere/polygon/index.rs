//! Polygons that answer quickly whether they hold a point.

use super::{Polygon, is_east_of};
use crate::sphere::LatLon;

/// Edges are kept by the whole degrees of latitude they pass through.
const BANDS: usize = 180;

/// Polygons with their edges in bands of latitude, so that a query tests one band. Longitudes may leave −180…180.
///
/// ```
/// use locdiff_shdd::sphere::{LatLon, Polygon, PolygonIndex};
/// let fiji = vec![[176.0, -21.0], [182.0, -21.0], [182.0, -12.0], [176.0, -12.0], [176.0, -21.0]];
/// let index = PolygonIndex::new(vec![Polygon { outer: fiji, holes: vec![] }]);
/// assert_eq!(index.polygon_at(LatLon::new(-17.0, -179.5)?), Some(0));
/// assert_eq!(index.polygon_at(LatLon::new(-17.0, 0.0)?), None);
/// # Ok::<(), locdiff_shdd::sphere::SphereError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PolygonIndex {
    polygons: Vec<Polygon>,
    bands: Vec<Vec<Edge>>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Edge {
    polygon: u32,
    /// Counts all rings of all polygons.
    ring: u32,
    from: [f64; 2],
    to: [f64; 2],
}

impl PolygonIndex {
    /// Indexes the polygons' edges.
    pub fn new(polygons: Vec<Polygon>) -> Self {
        let mut bands = vec![Vec::new(); BANDS];
        let mut ring = 0;
        for (polygon, parts) in polygons.iter().enumerate() {
            for positions in parts.rings() {
                ring += 1;
                for pair in positions.windows(2).filter(|pair| pair[0][1] != pair[1][1]) {
                    let (from, to) = (pair[0], pair[1]);
                    let edge = Edge { polygon: polygon as u32, ring, from, to };
                    let (low, high) = (band(from[1].min(to[1])), band(from[1].max(to[1])));
                    bands[low..=high].iter_mut().for_each(|band| band.push(edge));
                }
            }
        }
        Self { polygons, bands }
    }

    /// Returns the polygons, in the order given.
    pub fn polygons(&self) -> &[Polygon] {
        &self.polygons
    }

    /// Returns the first polygon that holds a location: inside its outer ring and outside its holes, by the even-odd rule.
    pub fn polygon_at(&self, place: LatLon) -> Option<usize> {
        // A ring holds what lies below its upper edge; at the pole itself that would be nothing.
        let lat_deg = place.lat_deg().min(90.0 - 1e-9);
        let turns = [-360.0, 0.0, 360.0].map(|turn| place.lon_deg() + turn);
        let edges = &self.bands[band(lat_deg)];
        // The band's edges lie ring after ring, polygon after polygon.
        for polygon in edges.chunk_by(|a, b| a.polygon == b.polygon) {
            let is_around = |ring: &&[Edge], lon_deg: f64| {
                ring.iter().filter(|edge| is_east_of(edge.from, edge.to, [lon_deg, lat_deg])).count() % 2 == 1
            };
            let rings = polygon.chunk_by(|a, b| a.ring == b.ring);
            if rings.filter(|ring| turns.iter().any(|&lon_deg| is_around(ring, lon_deg))).count() % 2 == 1 {
                return Some(polygon[0].polygon as usize);
            }
        }
        None
    }
}

fn band(lat_deg: f64) -> usize {
    ((lat_deg + 90.0).max(0.0) as usize).min(BANDS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rectangle(west: f64, south: f64, east: f64, north: f64) -> Vec<[f64; 2]> {
        vec![[west, south], [east, south], [east, north], [west, north], [west, south]]
    }

    proptest! {
        /// The bands change nothing: the plain rule over all edges says the same.
        #[test]
        fn bands_agree_with_the_plain_rule(
            corners in prop::collection::vec((-180.0..180.0f64, -90.0..90.0f64), 3..12),
            lat in -90.0..90.0f64, lon in -180.0..180.0f64,
        ) {
            let mut outer: Vec<[f64; 2]> = corners.iter().map(|&(lon, lat)| [lon, lat]).collect();
            outer.push(outer[0]);
            let polygon = Polygon { outer, holes: vec![] };
            let place = LatLon::new(lat, lon).unwrap();
            prop_assert_eq!(PolygonIndex::new(vec![polygon.clone()]).polygon_at(place).is_some(), polygon.contains(place));
        }
    }

    #[test]
    fn holes_turns_and_poles() {
        let shape = PolygonIndex::new(vec![
            Polygon { outer: rectangle(170.0, -20.0, 200.0, 10.0), holes: vec![rectangle(-176.0, -5.0, -172.0, 5.0)] },
            Polygon { outer: rectangle(-180.0, 80.0, 180.0, 90.0), holes: vec![] },
            Polygon { outer: rectangle(-180.0, -90.0, 180.0, -80.0), holes: vec![] },
        ]);
        let at = |lat, lon| shape.polygon_at(LatLon::new(lat, lon).unwrap());
        assert_eq!((at(0.0, 175.0), at(-10.0, -174.0), at(0.0, -174.0), at(0.0, 0.0)), (Some(0), Some(0), None, None));
        assert_eq!((at(90.0, 0.0), at(-90.0, 77.0), at(85.0, 180.0)), (Some(1), Some(2), Some(1)));
    }
}
