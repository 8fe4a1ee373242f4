//! Pixels that cover a region, as fine as the region is small.

use locdiff_map::places::Region;
use locdiff_shdd::sphere::{LatLon, Pixel, Polygon, UnitVec};
use std::collections::BTreeSet;

/// A region that holds fewer pixels than this is covered by finer ones.
pub(crate) const ENOUGH: usize = 1000;
/// Pixels six metres wide are fine enough for anything.
const DEEPEST: u8 = 20;
/// No finer pixels once there are this many: a line, or a region where nothing is possible, would be cut without end.
const MOST: usize = 50_000;
/// Points along an outline stand closer than this share of a pixel's width.
const SPACING: f64 = 0.4;

/// Pixels with possible centres, at least [`ENOUGH`] if the regions are large enough: `coarse` are those of depth
/// `depth`, to which the ones that an outline passes are added.
pub(crate) fn cover(
    regions: &[Region],
    coarse: Vec<u64>,
    mut depth: u8,
    is_possible: impl Fn(UnitVec) -> bool,
) -> Vec<Pixel> {
    let mut kept: BTreeSet<Pixel> = coarse.into_iter().map(|index| Pixel { depth, index }).collect();
    kept.extend(touched(regions, depth));
    loop {
        let inside: Vec<Pixel> = kept.iter().copied().filter(|pixel| is_possible(pixel.centre())).collect();
        if inside.len() >= ENOUGH || depth == DEEPEST || kept.is_empty() || kept.len() > MOST {
            return inside;
        }
        depth += 1;
        let rim = touched(regions, depth);
        let children = kept.iter().flat_map(|pixel| pixel.children());
        kept = children.filter(|pixel| rim.contains(pixel) || is_possible(pixel.centre())).collect();
    }
}

/// The pixels that some outline passes and that are, for every region, passed by its outline or inside it.
fn touched(regions: &[Region], depth: u8) -> BTreeSet<Pixel> {
    let passed: Vec<BTreeSet<Pixel>> = regions.iter().map(|region| outline(region, depth)).collect();
    let is_held = |pixel: &Pixel| {
        let pairs = regions.iter().zip(&passed);
        pairs.into_iter().all(|(region, own)| own.contains(pixel) || region.contains(pixel.centre().to_latlon()))
    };
    passed.iter().flatten().filter(|pixel| is_held(pixel)).copied().collect()
}

/// The pixels that a region's outline passes.
fn outline(region: &Region, depth: u8) -> BTreeSet<Pixel> {
    let spacing_deg = (SPACING * Pixel::width_rad(depth)).to_degrees();
    let mut passed = BTreeSet::new();
    for ring in region.polygons().iter().flat_map(Polygon::rings) {
        for edge in ring.windows(2) {
            let ([lon_a, lat_a], [lon_b, lat_b]) = (edge[0], edge[1]);
            let length = (lon_b - lon_a).abs().max((lat_b - lat_a).abs());
            let steps = (length / spacing_deg).ceil().max(1.0);
            for k in 0..=steps as usize {
                let part = k as f64 / steps;
                let (lat, lon) = (lat_a + part * (lat_b - lat_a), lon_a + part * (lon_b - lon_a));
                let lon = (lon + 180.0).rem_euclid(360.0) - 180.0;
                passed.extend(LatLon::new(lat, lon).map(|place| Pixel::holding(place, depth)));
            }
        }
    }
    passed
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A large region where nothing is possible is given up, not cut down to metres.
    #[test]
    fn a_region_without_any_possible_place_ends_soon() {
        let russia = Region::parse("Russia").unwrap();
        assert!(cover(std::slice::from_ref(&russia), Vec::new(), 6, |_| false).is_empty());
    }

    /// A box of two kilometres, one of some tens and a long thin one are covered to the area they have.
    #[test]
    fn the_area_is_that_of_the_region() {
        for text in ["43.73,7.41,43.75,7.43", "1.2,103.6,1.47,104.1", "10,20,10.01,24", "-0.001,179.99,0.5,-179.99"] {
            let region = Region::parse(text).unwrap();
            let exact: f64 = region.polygons().iter().map(Polygon::area_sr).sum();
            let pixels = cover(std::slice::from_ref(&region), Vec::new(), 6, |p| region.contains(p.to_latlon()));
            let area = pixels.len() as f64 * Pixel::area_sr(pixels[0].depth);
            assert!(pixels.len() >= ENOUGH, "{text}: {}", pixels.len());
            assert!((area / exact - 1.0).abs() < 0.1, "{text}: {area} {exact}");
        }
    }
}
