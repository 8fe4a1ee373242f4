//! A density as a picture in Mercator's projection, ready to be stretched over a map.

use crate::{Heat, Raster, render::encode_png, render::heat_colour};
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
    pub(super) fn new(raster: &Raster, heat: Heat) -> Self {
        let window = raster.window();
        let Some([top, bottom, left, right]) = coloured_cells(raster, heat) else {
            return Self { png: Vec::new(), x: [0.0; 2], y: [0.0; 2] };
        };
        let north = (window.north_deg() - top as f64 * window.cell_height_deg()).min(MAX_LAT_DEG);
        let south = (window.north_deg() - bottom as f64 * window.cell_height_deg()).max(-MAX_LAT_DEG);
        if north <= south {
            return Self { png: Vec::new(), x: [0.0; 2], y: [0.0; 2] }; // all of it about a pole
        }
        let lon = |column: usize| window.west_deg() + column as f64 * window.cell_width_deg();
        let x = [world_x(lon(left)), world_x(lon(right))];
        let y = [world_y(north), world_y(south)];
        // As fine as the raster's columns, where the limit allows.
        let per_world = (360.0 / window.cell_width_deg())
            .min(MOST_PIXELS as f64 / (x[1] - x[0]))
            .min(MOST_PIXELS as f64 / (y[1] - y[0]));
        let pixels = |span: f64| ((span * per_world).round() as usize).clamp(1, MOST_PIXELS);
        let (width, height) = (pixels(x[1] - x[0]), pixels(y[1] - y[0]));
        let peak = raster.max();
        let across = |column: usize| left as f64 + (column as f64 + 0.5) / width as f64 * (right - left) as f64;
        let columns: Vec<_> = (0..width).map(|column| raster.columns_about(across(column))).collect();
        let mut indices = Vec::with_capacity(width * height);
        for row in 0..height {
            let lat = latitude(y[0] + (row as f64 + 0.5) / height as f64 * (y[1] - y[0]));
            let rows = raster.rows_about((window.north_deg() - lat) / window.cell_height_deg());
            indices.extend(columns.iter().map(|columns| {
                let share = heat.share(raster.mixed(rows, *columns), peak).unwrap_or(0.0);
                (share.clamp(0.0, 1.0) * STEPS).round() as u8
            }));
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

/// Top, bottom, left and right edge of coloured cells with a margin; the right one may lie beyond the last column.
fn coloured_cells(raster: &Raster, heat: Heat) -> Option<[usize; 4]> {
    let window = raster.window();
    let (rows, columns) = (window.rows(), window.columns());
    let peak = raster.max();
    let (mut in_row, mut in_column) = (vec![false; rows], vec![false; columns]);
    for row in 0..rows {
        for column in 0..columns {
            if heat.share(raster.get(row, column), peak).is_some_and(|share| share > 0.0) {
                (in_row[row], in_column[column]) = (true, true);
            }
        }
    }
    let top = in_row.iter().position(|&used| used)?.saturating_sub(1);
    let bottom = (in_row.iter().rposition(|&used| used)? + 2).min(rows);
    let (first, last) = (in_column.iter().position(|&used| used)?, in_column.iter().rposition(|&used| used)?);
    if !window.goes_around() {
        return Some([top, bottom, first.saturating_sub(1), (last + 2).min(columns)]);
    }
    // The widest gap, also over the seam: the picture begins where it ends.
    let used: Vec<usize> = (0..columns).filter(|&column| in_column[column]).collect();
    let after = |index: usize| if index + 1 < used.len() { used[index + 1] } else { used[0] + columns };
    let widest = (0..used.len()).max_by_key(|&index| after(index) - used[index])?;
    let (begin, end) = (after(widest) % columns, used[widest]);
    let end = if end < begin { end + columns } else { end };
    if end - begin + 4 > columns {
        return Some([top, bottom, 0, columns]);
    }
    let begin = if begin == 0 { columns - 1 } else { begin - 1 };
    let end = if end < begin { end + columns } else { end };
    Some([top, bottom, begin, end + 2])
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

    fn bump(lat: f64, lon: f64, kappa: f64) -> Raster {
        let centre = LatLon::new(lat, lon).unwrap().to_unit();
        Raster::from_fn(Window::globe(180, 360).unwrap(), |point| kappa * point.dot(centre))
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
            let image = HeatImage::new(&bump(lat, lon, 800.0), Heat::log_density());
            let middle = 0.5 * (image.x[0] + image.x[1]);
            let offset = (middle - world_x(lon) + 0.5).rem_euclid(1.0) - 0.5;
            assert!(offset.abs() < 1.0 / 360.0, "{lat} {lon}: {:?}", image.x);
            assert!(image.y[0] < world_y(lat) && world_y(lat) < image.y[1]);
            assert!(image.x[1] - image.x[0] < 0.2);
            // The darkest pixel is the density's peak.
            let (width, height, pixels) = crate::render::decode_png(&image.png);
            let darkest = (0..pixels.len()).max_by_key(|&at| pixels[at]).unwrap();
            let row = (darkest / width as usize) as f64 + 0.5;
            let peak = latitude(image.y[0] + row / f64::from(height) * (image.y[1] - image.y[0]));
            assert!((peak - lat).abs() < 1.5, "{lat}: {peak}");
        }
    }

    #[test]
    fn everywhere_and_nowhere() {
        let everywhere = HeatImage::new(&bump(0.0, 0.0, 0.0), Heat::log_density());
        assert_eq!(everywhere.x, [0.0, 1.0]);
        let window = Window::globe(4, 8).unwrap();
        let nowhere = HeatImage::new(&Raster::new(window, vec![f64::NAN; 32]).unwrap(), Heat::log_density());
        assert_eq!(nowhere.json(), Value::Null);
        assert_eq!(HeatImage::new(&bump(90.0, 0.0, 4000.0), Heat::log_density()).json(), Value::Null);
        let part = Raster::from_fn(Window::new(-10.0, 10.0, 170.0, 200.0, 20, 30).unwrap(), |_| 0.0);
        let image = HeatImage::new(&part, Heat::log_density());
        assert!((image.x[0] - world_x(170.0)).abs() < 1e-12 && (image.x[1] - world_x(200.0)).abs() < 1e-12);
    }
}
