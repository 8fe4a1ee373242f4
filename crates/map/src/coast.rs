//! Land and country borders from Natural Earth, embedded. `assets/README.md` tells their origin.

use locdiff_shdd::sphere::Unpacker;

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
        let mut unpacker = Unpacker::new(detail.bytes());
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
