//! Regions above a level, as polygons.

mod march;
mod nest;
mod nodes;

use crate::Raster;
use locdiff_shdd::sphere::Polygon;

/// The regions at or above `level`, as RFC 7946 polygons: linear marching squares, closed along the window's edges.
///
/// A region that crosses the antimeridian is cut there into several polygons, so they may go into a `MultiPolygon` as they
/// are (RFC 7946 §3.1.9). In a window that goes around the globe the two sides of the cut meet, and a region that holds
/// a pole is closed along ±90°. NaN is below every level.
pub fn contour_polygons(raster: &Raster, level: f64) -> Vec<Polygon> {
    nodes::node_grids(raster).iter().flat_map(|grid| nest::polygons(march::rings(grid, level))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Window;
    use locdiff_shdd::sphere::{LatLon, ring_area_sr, ring_contains};
    use proptest::prelude::*;
    use std::f64::consts::{PI, TAU};

    fn cap(window: Window, lat: f64, lon: f64, radius_rad: f64) -> Vec<Polygon> {
        let center = LatLon::new(lat, lon).unwrap().to_unit();
        contour_polygons(&Raster::from_fn(window, |point| -point.angle_rad(center)), -radius_rad)
    }

    fn area_sr(polygons: &[Polygon]) -> f64 {
        polygons.iter().map(Polygon::area_sr).sum()
    }

    #[track_caller]
    fn assert_sound(polygons: &[Polygon]) {
        for polygon in polygons {
            assert!(ring_area_sr(&polygon.outer) > 0.0, "outer rings are counterclockwise");
            for hole in &polygon.holes {
                assert!(ring_area_sr(hole) < 0.0, "holes are clockwise");
                assert!(hole.iter().all(|p| { ring_contains(&polygon.outer, *p) || polygon.outer.contains(p) }));
            }
            for ring in polygon.rings() {
                assert!(ring.len() >= 4 && ring.first() == ring.last());
                assert!(ring.windows(2).all(|edge| edge[0] != edge[1]), "no position is repeated");
                assert!(ring.iter().all(|[lon, lat]| lon.abs() <= 180.0 && lat.abs() <= 90.0), "{ring:?}");
            }
        }
    }

    #[test]
    fn caps_have_their_area_at_poles_and_the_antimeridian() {
        let globe = Window::globe(360, 720).unwrap();
        let shifted = Window::new(-90.0, 90.0, 33.3, 393.3, 360, 720).unwrap();
        for (lat, lon) in
            [(0.0, 0.0), (45.0, 179.0), (-17.0, -180.0), (90.0, 0.0), (-90.0, 0.0), (84.0, 120.0), (-80.0, 178.0)]
        {
            for radius_rad in [0.1f64, 0.3, 1.0, 2.5] {
                for window in [globe, shifted] {
                    let polygons = cap(window, lat, lon, radius_rad);
                    assert_sound(&polygons);
                    let ratio = area_sr(&polygons) / (TAU * (1.0 - radius_rad.cos()));
                    assert!((ratio - 1.0).abs() < 0.01, "{lat} {lon} {radius_rad}: {ratio}");
                }
            }
        }
    }

    #[test]
    fn a_cap_over_the_antimeridian_is_two_halves_that_meet() {
        let odd = Window::new(-30.0, 30.0, 150.3, 209.1, 60, 60);
        for window in [Window::globe(180, 360), Window::new(-30.0, 30.0, 150.0, 210.0, 60, 60), odd] {
            let polygons = cap(window.unwrap(), 0.0, 180.0, 0.2);
            assert_eq!(polygons.len(), 2);
            let on_cut = |polygon: &Polygon| {
                let mut lats: Vec<f64> = polygon.outer.iter().filter(|p| p[0].abs() == 180.0).map(|p| p[1]).collect();
                lats.sort_by(f64::total_cmp);
                lats.dedup();
                lats
            };
            assert_eq!(on_cut(&polygons[0]), on_cut(&polygons[1]));
            assert!(on_cut(&polygons[0]).len() > 10);
        }
    }

    #[test]
    fn a_pole_is_closed_along_the_edge() {
        let polygons = cap(Window::globe(180, 360).unwrap(), 90.0, 0.0, 0.3);
        assert_eq!(polygons.len(), 1);
        assert!([[-180.0, 90.0], [180.0, 90.0]].iter().all(|corner| polygons[0].outer.contains(corner)));
        assert!(polygons[0].contains(LatLon::new(89.99, 77.0).unwrap()));
    }

    #[test]
    fn everything_nothing_and_nan() {
        let window = Window::new(0.0, 2.0, 10.0, 14.0, 2, 4).unwrap();
        let flat = |value| contour_polygons(&Raster::new(window, vec![value; 8]).unwrap(), 0.0);
        assert!([-1.0, f64::NAN, f64::NEG_INFINITY].iter().all(|value| flat(*value).is_empty()));
        let whole = flat(0.0);
        assert_sound(&whole);
        let exact = 4f64.to_radians() * 2f64.to_radians().sin();
        assert!(whole.len() == 1 && (area_sr(&whole) - exact).abs() < 1e-12);
        assert_eq!(flat(f64::INFINITY), whole);
        let globe = contour_polygons(&Raster::from_fn(Window::globe(1, 1).unwrap(), |_| 1.0), 0.0);
        assert!((area_sr(&globe) - 4.0 * PI).abs() < 1e-12);
    }

    #[test]
    fn rings_within_rings() {
        let window = Window::new(-30.0, 30.0, -30.0, 30.0, 240, 240).unwrap();
        let centre = LatLon::new(0.0, 0.0).unwrap();
        // Above 0 in a disc, an annulus around it, and another: a hole lies in an outer ring that lies in a hole.
        let raster = Raster::from_fn(window, |point| (point.angle_rad(centre.to_unit()) * 50.0).cos());
        let polygons = contour_polygons(&raster, 0.0);
        assert_sound(&polygons);
        assert_eq!(polygons.iter().filter(|polygon| polygon.holes.is_empty() && polygon.contains(centre)).count(), 1);
        assert!(polygons.iter().filter(|polygon| polygon.holes.len() == 1).count() >= 3);
        for (lat, inside) in [(0.0, true), (3.0, false), (7.0, true), (10.5, false), (14.4, true)] {
            let place = LatLon::new(lat, 0.0).unwrap();
            assert_eq!(polygons.iter().any(|polygon| polygon.contains(place)), inside, "{lat}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_cap_has_its_area_and_its_points(
            lat in -90.0..=90.0f64, lon in -180.0..180.0f64, radius_rad in 0.15..2.8f64,
            west in -180.0..180.0f64, bearing in 0.0..TAU,
        ) {
            let window = Window::new(-90.0, 90.0, west, west + 360.0, 240, 480).unwrap();
            let polygons = cap(window, lat, lon, radius_rad);
            assert_sound(&polygons);
            let ratio = area_sr(&polygons) / (TAU * (1.0 - radius_rad.cos()));
            prop_assert!((ratio - 1.0).abs() < 0.01, "{}", ratio);
            let center = LatLon::new(lat, lon).unwrap().to_unit();
            for (share, inside) in [(0.9, true), (1.1, false)] {
                let reach_rad = radius_rad * share;
                let place = center.step(reach_rad * bearing.cos(), reach_rad * bearing.sin()).to_latlon();
                prop_assert_eq!(polygons.iter().any(|polygon| polygon.contains(place)), inside);
            }
        }

        #[test]
        fn any_raster_gives_sound_polygons(
            values in prop::collection::vec(prop_oneof![Just(0.0), -1.0..1.0f64, Just(f64::NAN), Just(1.0)], 42),
            west in -180.0..180.0f64, width in 1.0..=360.0f64, level in prop_oneof![Just(0.5), Just(0.0), Just(1.0)],
        ) {
            let window = Window::new(-90.0, 90.0, west, west + width, 6, 7).unwrap();
            let polygons = contour_polygons(&Raster::new(window, values.clone()).unwrap(), level);
            for polygon in &polygons {
                prop_assert!(polygon.area_sr() > -1e-12);
                for ring in polygon.rings() {
                    prop_assert!(ring.len() >= 4 && ring.first() == ring.last());
                }
            }
            for (index, &value) in values.iter().enumerate() {
                if !value.is_nan() && (value - level).abs() > 1e-9 {
                    let place = window.center(index / 7, index % 7);
                    prop_assert_eq!(polygons.iter().any(|polygon| polygon.contains(place)), value >= level);
                }
            }
        }
    }
}
