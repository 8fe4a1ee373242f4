//! The Earth as seen from afar, with a density on it.

use super::marker::{MarkerShape, draw_shape};
use super::{canvas::Canvas, colour::Colour, colour::heat_colour, heat::heat_share, legend::draw_title};
use crate::Raster;
use locdiff_shdd::sphere::LatLon;

/// Orthographic pictures of the Earth, square and all of one size.
pub(crate) struct GlobeImage {
    /// Red, green and blue of a map of the world, twice as wide as high.
    world: Vec<u8>,
    rows: usize,
    side: usize,
}

impl GlobeImage {
    /// Pictures of `side` pixels from a map of the world of `rows` rows of pixels.
    pub(crate) fn new(world: Vec<u8>, rows: usize, side: usize) -> Self {
        Self { world, rows, side }
    }

    /// The Earth with `centre` in the middle, a raster of log densities of the whole world, a title and, if it is on this
    /// side, a marked place: three bytes a pixel.
    pub(crate) fn draw(&self, raster: &Raster, centre: LatLon, title: &str, marked: Option<LatLon>) -> Vec<u8> {
        let (side, top, window) = (self.side, raster.max(), raster.window());
        let (middle, radius) = (0.5 * side as f64, 0.43 * side as f64);
        let ((sin_lat, cos_lat), (sin_lon, cos_lon)) =
            (centre.lat_deg().to_radians().sin_cos(), centre.lon_deg().to_radians().sin_cos());
        let (east, north) = ([-sin_lon, cos_lon, 0.0], [-sin_lat * cos_lon, -sin_lat * sin_lon, cos_lat]);
        let out = centre.to_unit().to_array();
        let mut canvas = Canvas::new(side, side, 1.0, Colour::WHITE);
        for (y, x) in (0..side).flat_map(|y| (0..side).map(move |x| (y, x))) {
            let (right, up) = ((x as f64 + 0.5 - middle) / radius, (middle - y as f64 - 0.5) / radius);
            let covered = ((1.0 - right.hypot(up)) * radius + 0.5).clamp(0.0, 1.0) as f32;
            if covered == 0.0 {
                continue;
            }
            let near = (1.0 - right * right - up * up).max(0.0).sqrt();
            let at: [f64; 3] = std::array::from_fn(|k| right * east[k] + up * north[k] + near * out[k]);
            let down_deg = 90.0 - at[2].clamp(-1.0, 1.0).asin().to_degrees();
            let right_deg = at[1].atan2(at[0]).to_degrees() + 180.0;
            let cell = |deg: f64, most: usize| ((deg / 180.0 * self.rows as f64) as usize).min(most - 1);
            let pixel = 3 * (cell(down_deg, self.rows) * 2 * self.rows + cell(right_deg, 2 * self.rows));
            // Darker towards the rim: it is a ball.
            let shade = (0.75 + 0.25 * near) as f32;
            canvas.blend(x, y, std::array::from_fn(|k| shade * f32::from(self.world[pixel + k])), covered);
            let value = raster.sample(down_deg / window.cell_height_deg(), right_deg / window.cell_width_deg());
            if let Some(share) = heat_share(value, top) {
                let (colour, opacity) = heat_colour(share);
                canvas.blend(x, y, colour, opacity * covered);
            }
        }
        if let Some(place) = marked.map(|place| place.to_unit().to_array()) {
            let along = |axis: [f64; 3]| axis.iter().zip(place).map(|(a, b)| a * b).sum::<f64>();
            if along(out) > 0.0 {
                let at = [middle + radius * along(east), middle - radius * along(north)];
                draw_shape(&mut canvas, MarkerShape::Crosshair, Colour::ANSWER, at);
            }
        }
        draw_title(&mut canvas, title);
        canvas.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Window;

    #[test]
    fn the_density_is_where_it_should_be() {
        let globe = GlobeImage::new(vec![255; 3 * 20 * 40], 20, 100);
        let place = LatLon::new(40.0, 170.0).unwrap();
        let raster = Raster::from_fn(Window::globe(90, 180).unwrap(), |p| 300.0 * p.dot(place.to_unit()));
        let dark = |centre: LatLon, x: usize, y: usize| {
            let pixel = 3 * (y * 100 + x);
            globe.draw(&raster, centre, "", None)[pixel..pixel + 3].iter().all(|channel| *channel < 160)
        };
        // In the middle; 35° to the west, across the antimeridian; on the far side.
        assert!(dark(place, 50, 50) && !dark(place, 75, 50));
        assert!(dark(LatLon::new(40.0, -155.0).unwrap(), 32, 46));
        let far = LatLon::new(-40.0, -10.0).unwrap();
        assert!((20..80).all(|x| !dark(far, x, 50)));
    }
}
