//! Outlines of credible regions: the density on a raster of the whole Earth, contoured.

use crate::{MapError, Raster, Window, contour_polygons};
use locdiff_shdd::{CodeDensity, CredibleRegion, sphere::Polygon};

/// Rows of the raster that outlines follow: cells of 14 km, finer than the details of codes of 2,304 numbers.
const ROWS: usize = 1440;

/// The polygons of a credible region. Never fails for a density of finite numbers.
pub fn region_polygons(density: &CodeDensity<'_>, region: &CredibleRegion) -> Result<Vec<Polygon>, MapError> {
    Ok(contour_polygons(&globe_log_density(density, ROWS, 2 * ROWS)?, region.log_density))
}

/// log q on a raster of the whole Earth, by the fast transform. Fails for no cells, or too many.
pub fn globe_log_density(density: &CodeDensity<'_>, rows: usize, columns: usize) -> Result<Raster, MapError> {
    Raster::new(Window::globe(rows, columns)?, density.raster_log_density(rows, columns))
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
}
