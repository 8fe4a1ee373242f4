//! A density as a picture in Mercator's projection, ready to be stretched over a map.

use crate::{Raster, render::encode_png, render::heat_colour, render::heat_share};
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use serde_json::{Value, json};
use std::f64::consts::{PI, TAU};

/// Where Mercator's map is as high as wide.
const MAX_LAT_DEG: f64 = 85.051128779806;
/// More would make pages large without showing more.
const MOST_PIXELS: usize = 1024;
/// Steps of the scale; the first is transparent.
const STEPS: f64 = 63.0;

/// A picture, and its place on a world of 1 × 1 from −180° and 85° north. It may reach beyond the eastern edge.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct HeatImage {
    /// Empty when nothing has colour.
    png: Vec<u8>,
    x: [f64; 2],
    y: [f64; 2],
}

impl HeatImage {
    pub(super) fn new(raster: &Raster) -> Self {
        let (window, nothing) = (raster.window(), Self { png: Vec::new(), x: [0.0; 2], y: [0.0; 2] });
        let (north, south) = (window.north_deg().min(MAX_LAT_DEG), window.south_deg().max(-MAX_LAT_DEG));
        if north <= south {
            return nothing; // all of it about a pole
        }
        let (x, y) = ([world_x(window.west_deg()), world_x(window.east_deg())], [world_y(north), world_y(south)]);
        // As fine as the raster's columns, where the limit allows.
        let per_world = (360.0 / window.cell_width_deg())
            .min(MOST_PIXELS as f64 / (x[1] - x[0]))
            .min(MOST_PIXELS as f64 / (y[1] - y[0]));
        let pixels = |span: f64| ((span * per_world).round() as usize).clamp(1, MOST_PIXELS);
        let (width, height) = (pixels(x[1] - x[0]), pixels(y[1] - y[0]));
        let peak = raster.max();
        let across = |column: usize| (column as f64 + 0.5) / width as f64 * window.columns() as f64;
        let columns: Vec<_> = (0..width).map(|column| raster.columns_about(across(column))).collect();
        let mut indices = Vec::with_capacity(width * height);
        for row in 0..height {
            let lat = latitude(y[0] + (row as f64 + 0.5) / height as f64 * (y[1] - y[0]));
            let rows = raster.rows_about((window.north_deg() - lat) / window.cell_height_deg());
            indices.extend(columns.iter().map(|columns| {
                let share = heat_share(raster.mixed(rows, *columns), peak).unwrap_or(0.0);
                (share.clamp(0.0, 1.0) * STEPS).round() as u8
            }));
        }
        if indices.iter().all(|step| *step == 0) {
            return nothing;
        }
        Self { png: indexed_png(width, height, &indices), x, y }
    }

    pub(super) fn json(&self) -> Value {
        if self.png.is_empty() {
            return Value::Null;
        }
        let uri = format!("data:image/png;base64,{}", BASE64.encode(&self.png));
        json!({ "uri": uri, "x0": self.x[0], "x1": self.x[1], "y0": self.y[0], "y1": self.y[1] })
    }
}

fn world_x(lon_deg: f64) -> f64 {
    lon_deg / 360.0 + 0.5
}

fn world_y(lat_deg: f64) -> f64 {
    0.5 - (PI / 4.0 + lat_deg.to_radians() / 2.0).tan().ln() / TAU
}

fn latitude(y: f64) -> f64 {
    2.0 * ((0.5 - y) * TAU).exp().atan().to_degrees() - 90.0
}

/// Colours of the scale, for a style sheet.
pub(super) fn css_ramp() -> Vec<String> {
    let colour = |step| {
        let ([red, green, blue], opacity) = heat_colour(f64::from(step) / 10.0);
        format!("rgba({red:.0},{green:.0},{blue:.0},{opacity:.2})")
    };
    (0..=10).map(colour).collect()
}

/// A picture whose pixels are steps of the scale.
fn indexed_png(width: usize, height: usize, indices: &[u8]) -> Vec<u8> {
    let (mut palette, mut opacities) = (Vec::new(), Vec::new());
    for step in 0..=STEPS as u32 {
        let (colour, opacity) = heat_colour(f64::from(step) / STEPS);
        palette.extend(colour.map(|channel| channel.round() as u8));
        opacities.push((255.0 * opacity).round() as u8);
    }
    encode_png(width, height, indices, Some((palette, opacities)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Window;
    use locdiff_shdd::sphere::LatLon;

    /// A density about a place, in a window of 40° by 60° about it.
    fn bump(lat: f64, lon: f64, kappa: f64) -> Raster {
        let centre = LatLon::new(lat, lon).unwrap().to_unit();
        let [south, north] = [-20.0, 20.0].map(|step: f64| (lat + step).clamp(-90.0, 90.0));
        let window = Window::new(south, north, lon - 30.0, lon + 30.0, 160, 240).unwrap();
        Raster::from_fn(window, |point| kappa * point.dot(centre))
    }

    #[test]
    fn mercator_is_its_own_inverse() {
        for lat in [-85.0, -40.0, 0.0, 12.5, 84.9] {
            assert!((latitude(world_y(lat)) - lat).abs() < 1e-9);
        }
        assert!(world_y(MAX_LAT_DEG).abs() < 1e-9 && (world_y(-MAX_LAT_DEG) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn pictures_lie_where_the_density_is() {
        for (lat, lon) in [(0.0, 0.0), (48.0, -179.7), (-30.0, 179.6), (60.0, -100.0), (-45.0, 90.0)] {
            let image = HeatImage::new(&bump(lat, lon, 800.0));
            assert!(image.y[0] < world_y(lat) && world_y(lat) < image.y[1]);
            // The darkest pixel is the density's peak.
            let (width, height, pixels) = crate::render::decode_png(&image.png);
            let darkest = (0..pixels.len()).max_by_key(|&at| pixels[at]).unwrap();
            let across = (darkest % width as usize) as f64 + 0.5;
            let x = image.x[0] + across / f64::from(width) * (image.x[1] - image.x[0]);
            assert!(((x - world_x(lon) + 0.5).rem_euclid(1.0) - 0.5).abs() < 1.5 / 360.0, "{lon}: {x}");
            let row = (darkest / width as usize) as f64 + 0.5;
            let peak = latitude(image.y[0] + row / f64::from(height) * (image.y[1] - image.y[0]));
            assert!((peak - lat).abs() < 1.5, "{lat}: {peak}");
        }
    }

    #[test]
    fn everywhere_and_nowhere() {
        let globe = Raster::from_fn(Window::globe(90, 180).unwrap(), |_| 0.0);
        assert_eq!(HeatImage::new(&globe).x, [0.0, 1.0]);
        let window = Window::globe(4, 8).unwrap();
        let nowhere = HeatImage::new(&Raster::new(window, vec![f64::NAN; 32]).unwrap());
        assert_eq!(nowhere.json(), Value::Null);
        assert_eq!(HeatImage::new(&bump(90.0, 0.0, 4000.0)).json(), Value::Null);
        let part = Raster::from_fn(Window::new(-10.0, 10.0, 170.0, 200.0, 20, 30).unwrap(), |_| 0.0);
        let image = HeatImage::new(&part);
        assert!((image.x[0] - world_x(170.0)).abs() < 1e-12 && (image.x[1] - world_x(200.0)).abs() < 1e-12);
    }
}
