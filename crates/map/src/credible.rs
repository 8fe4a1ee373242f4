//! Outlines of credible regions: the density on windows just large and fine enough, contoured.

use crate::{MapError, Raster, Window, contour_polygons};
use locdiff_shdd::{CodeDensity, CredibleRegion, RegionCell, sphere::Polygon, sphere::UnitVec};

/// A window has at most this many cells.
const MOST_CELLS: f64 = 300_000.0;
/// With more separate parts than this, one world raster serves better.
const MOST_PARTS: usize = 24;

/// The polygons of a credible region. Fails for a window that cannot be; never for a density of finite numbers.
pub fn region_polygons(density: &CodeDensity<'_>, region: &CredibleRegion) -> Result<Vec<Polygon>, MapError> {
    let parts = clusters(density.region_cells(region.log_density));
    if parts.len() > MOST_PARTS {
        return Ok(contour_polygons(&globe_log_density(density, 720, 1440)?, region.log_density));
    }
    let mut polygons = Vec::new();
    for part in parts {
        let window = window_around(&part)?;
        let raster = Raster::new(window, density.log_density(&window.points()))?;
        polygons.extend(contour_polygons(&raster, region.log_density));
    }
    Ok(polygons)
}

/// log q on a raster of the whole Earth, by the fast transform. Fails for no cells, or too many.
pub fn globe_log_density(density: &CodeDensity<'_>, rows: usize, columns: usize) -> Result<Raster, MapError> {
    Raster::new(Window::globe(rows, columns)?, density.raster_log_density(rows, columns))
}

/// Cells that touch, directly or through others.
fn clusters(mut cells: Vec<RegionCell>) -> Vec<Vec<RegionCell>> {
    let mut clusters = Vec::new();
    while let Some(seed) = cells.pop() {
        let mut cluster = vec![seed];
        let mut next = 0;
        while next < cluster.len() {
            let here: RegionCell = cluster[next];
            next += 1;
            let touches = |c: &RegionCell| here.center.angle_rad(c.center) <= 1.05 * (here.radius_rad + c.radius_rad);
            cluster.extend(cells.extract_if(.., |cell| touches(cell)));
        }
        clusters.push(cluster);
    }
    clusters
}

/// A window that holds all cells with a margin, fine enough for the smallest.
fn window_around(cells: &[RegionCell]) -> Result<Window, MapError> {
    let (finest, widest) = cells.iter().fold((f64::INFINITY, 0.0_f64), |(least, most), cell| {
        (least.min(cell.radius_rad.to_degrees()), most.max(cell.radius_rad.to_degrees()))
    });
    let centers: Vec<UnitVec> = cells.iter().map(|cell| cell.center).collect();
    let [south, north, west, width] = Window::bounds(&centers, 1.2 * widest);
    let step = (finest / 6.0).max(((north - south) * width / MOST_CELLS).sqrt());
    let count = |span: f64| ((span / step).ceil() as usize).max(24);
    Window::new(south, north, west, west + width, count(north - south), count(width))
}

#[cfg(test)]
mod tests {
    use super::*;
    use locdiff_shdd::{Codec, sphere::Degree, sphere::LatLon};

    /// The outlined area is the region's area, wherever the peak is.
    #[test]
    fn outlines_have_the_area_of_the_region() {
        for (degree, lat, lon) in [(47, 40.0, 116.3), (47, -17.8, 179.99), (23, 89.9, 20.0), (11, -70.0, -100.0)] {
            let codec = Codec::new(Degree::new(degree).unwrap());
            let code = codec.encode(LatLon::new(lat, lon).unwrap());
            let density = codec.density(&code).unwrap();
            for p in [0.5, 0.9] {
                let region = density.credible_region(p).unwrap();
                let polygons = region_polygons(&density, &region).unwrap();
                let area: f64 = polygons.iter().map(Polygon::area_km2).sum();
                assert!((area / region.area_km2 - 1.0).abs() < 0.03, "{lat} {lon} {p}: {area} {}", region.area_km2);
            }
        }
    }

    #[test]
    fn separate_cells_make_separate_parts() {
        let cell = |lat, lon| RegionCell { center: LatLon::new(lat, lon).unwrap().to_unit(), radius_rad: 0.02 };
        let parts = clusters(vec![cell(0.0, 179.0), cell(0.0, -179.5), cell(50.0, 0.0)]);
        assert_eq!(parts.len(), 2);
        assert_eq!(parts.iter().map(Vec::len).max(), Some(2));
    }
}
