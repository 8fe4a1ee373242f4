//! Land and country borders from Natural Earth, embedded. `assets/README.md` tells their origin.

use locdiff_shdd::sphere::Unpacker;
use std::sync::OnceLock;

/// How fine the lines are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Detail {
    /// 1:110 million, for thumbnails of the world.
    Coarse,
    /// 1:50 million, for everything else.
    Fine,
}

impl Detail {
    /// The detail that a picture shows.
    pub fn for_degrees_per_pixel(degrees: f64) -> Self {
        if degrees > 0.6 { Self::Coarse } else { Self::Fine }
    }

    /// The lines as they are packed, for pages that unpack them.
    pub const fn bytes(self) -> &'static [u8] {
        match self {
            Self::Coarse => include_bytes!("../assets/coast_110m.bin"),
            Self::Fine => include_bytes!("../assets/coast_50m.bin"),
        }
    }
}

/// A shore: land within it, or water when it is a hole. Not closed explicitly.
#[derive(Debug, Clone, PartialEq)]
pub struct LandRing {
    /// Whether water lies within: the Caspian Sea.
    pub is_hole: bool,
    /// `[longitude, latitude]` in degrees. Neighbours are at most 180° apart, so a ring over the antimeridian leaves
    /// −180…180; Antarctica runs once around and is closed along −90°.
    pub points: Vec<[f64; 2]>,
}

/// Shores and borders.
#[derive(Debug, Clone, PartialEq)]
pub struct Coast {
    /// Land.
    pub land: Vec<LandRing>,
    /// Lines between countries, `[longitude, latitude]` in degrees.
    pub borders: Vec<Vec<[f64; 2]>>,
}

impl Coast {
    /// Unpacks the embedded lines.
    pub fn load(detail: Detail) -> Self {
        Self::unpack(detail.bytes())
    }

    /// Lines of 1:10 million, for maps that are zoomed in. The first call unpacks them.
    pub fn finest() -> &'static Self {
        static FINEST: OnceLock<Coast> = OnceLock::new();
        FINEST.get_or_init(|| Self::unpack(include_bytes!("../assets/coast_10m.bin")))
    }

    /// What lies in a box of degrees. Rings are closed along its edges.
    #[must_use]
    pub fn within(&self, [west, south]: [f64; 2], [east, north]: [f64; 2]) -> Self {
        let is_in = |[x, y]: &[f64; 2]| (west..=east).contains(x) && (south..=north).contains(y);
        let mut found = Self { land: Vec::new(), borders: Vec::new() };
        for turn in [0.0, -360.0, 360.0] {
            let turned = |points: &[[f64; 2]]| points.iter().map(|[x, y]| [x + turn, *y]).collect::<Vec<_>>();
            found.land.extend(self.land.iter().filter_map(|ring| {
                let sides = [(0, west, 1.0), (0, east, -1.0), (1, south, 1.0), (1, north, -1.0)];
                let points = sides.into_iter().fold(turned(&ring.points), |points, side| clipped(&points, side));
                (points.len() > 2).then_some(LandRing { points, ..*ring })
            }));
            let lines = self.borders.iter().map(|line| turned(line));
            found.borders.extend(lines.filter(|line| line.iter().any(is_in)));
        }
        found
    }

    fn unpack(bytes: &[u8]) -> Self {
        let mut unpacker = Unpacker::new(bytes);
        let land = (0..unpacker.number())
            .map(|_| {
                let head = unpacker.number();
                LandRing { is_hole: head % 2 == 1, points: unpacker.positions(head / 2) }
            })
            .collect();
        let borders = (0..unpacker.number())
            .map(|_| {
                let count = unpacker.number();
                unpacker.positions(count)
            })
            .collect();
        debug_assert!(unpacker.is_at_end(), "the whole asset is read");
        Self { land, borders }
    }
}

/// The part of a ring on one side of a line: where a coordinate is over a limit, or with a negative sign under it.
fn clipped(ring: &[[f64; 2]], (axis, limit, sign): (usize, f64, f64)) -> Vec<[f64; 2]> {
    let is_in = |point: &[f64; 2]| sign * (point[axis] - limit) >= 0.0;
    let mut kept = Vec::new();
    for (from, to) in ring.iter().cycle().skip(ring.len().saturating_sub(1)).zip(ring) {
        if is_in(from) != is_in(to) {
            let part = (limit - from[axis]) / (to[axis] - from[axis]);
            let mut cut = [0, 1].map(|k| from[k] + part * (to[k] - from[k]));
            cut[axis] = limit;
            kept.push(cut);
        }
        kept.extend(is_in(to).then_some(*to));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use locdiff_shdd::sphere::{ring_area_sr, ring_contains};

    fn is_land(coast: &Coast, lat: f64, lon: f64) -> bool {
        let inside = |ring: &LandRing| {
            let closed: Vec<_> = ring.points.iter().chain(ring.points.first()).copied().collect();
            [-360.0, 0.0, 360.0].iter().any(|turn| ring_contains(&closed, [lon + turn, lat]))
        };
        coast.land.iter().filter(|ring| inside(ring)).map(|ring| if ring.is_hole { -1 } else { 1 }).sum::<i32>() > 0
    }

    #[test]
    fn well_known_places_are_on_land_or_at_sea() {
        for detail in [Detail::Coarse, Detail::Fine] {
            let coast = Coast::load(detail);
            for (lat, lon) in
                [(48.86, 2.35), (-25.0, 134.0), (-89.9, 0.0), (-86.0, 179.9), (66.5, -179.0), (67.0, 179.0)]
            {
                assert!(is_land(&coast, lat, lon), "{detail:?} {lat} {lon}");
            }
            for (lat, lon) in [(0.0, 0.0), (42.0, 51.0), (90.0, 0.0), (-50.0, 180.0), (30.0, -40.0)] {
                assert!(!is_land(&coast, lat, lon), "{detail:?} {lat} {lon}");
            }
        }
    }

    #[test]
    fn the_finest_lines_of_a_box_know_what_the_fine_ones_miss() {
        let corners = [[12.0, 45.0], [13.0, 46.0]];
        let near = Coast::finest().within(corners[0], corners[1]);
        let fine = Coast::load(Detail::Fine);
        // An island off Venice, and its lagoon.
        for (lat, lon, land) in [(45.425, 12.4, true), (45.3, 12.2, false), (45.9, 12.5, true), (45.3, 12.9, false)] {
            assert_eq!(is_land(&near, lat, lon), land, "{lat} {lon}");
        }
        assert!(!is_land(&fine, 45.425, 12.4) && is_land(&fine, 45.3, 12.2));
        let mut points = near.land.iter().flat_map(|ring| &ring.points);
        assert!(points.all(|[x, y]| (12.0..=13.0).contains(x) && (45.0..=46.0).contains(y)));
        // Over the antimeridian, and where nothing is.
        assert!(is_land(&Coast::finest().within([178.0, 66.0], [180.0, 68.0]), 67.0, 179.0));
        assert!(Coast::finest().within([-41.0, 29.0], [-39.0, 31.0]).land.is_empty());
    }

    #[test]
    fn land_is_29_percent_of_the_globe() {
        for detail in [Detail::Coarse, Detail::Fine] {
            let coast = Coast::load(detail);
            let area = |ring: &LandRing| {
                let closed: Vec<_> = ring.points.iter().chain(ring.points.first()).copied().collect();
                if ring.is_hole { -ring_area_sr(&closed).abs() } else { ring_area_sr(&closed).abs() }
            };
            let share = coast.land.iter().map(area).sum::<f64>() / (4.0 * std::f64::consts::PI);
            assert!((0.28..0.30).contains(&share), "{detail:?}: {share}");
        }
    }
}
