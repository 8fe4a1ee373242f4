//! Pictures: an equirectangular map with land, a density, outlines and markers.

mod canvas;
mod colour;
mod crowd;
mod globe;
mod heat;
mod legend;
mod marker;
mod names;
mod sheet;
mod text;
mod view;

pub use colour::Colour;
pub(crate) use colour::heat_colour;
pub use crowd::crowd_image;
pub(crate) use globe::GlobeImage;
pub(crate) use heat::heat_share;
pub use marker::{Marker, MarkerShape};
pub use sheet::photos_png;

use crate::{Coast, Detail, Raster, Window, label::MapLabel, seam::is_edge_of_region};
use canvas::Canvas;
use legend::{Item, Sign};
use locdiff_shdd::sphere::Polygon;
use view::View;

const SEA: Colour = Colour::from_hex(0xdde7ee);
const LAND: Colour = Colour::from_hex(0xf7f5ef);
const SHORE: Colour = Colour::from_hex(0x7c8a94);
const BORDER: Colour = Colour::from_hex(0xa9a294);
const GRID: Colour = Colour::from_hex(0x44525c);
/// Maps with names whose points are smaller than this have the finest shores.
const FINEST_DEG: f64 = 0.03;
/// Outlines in the order in which they are added, as on the pages: the innermost first.
const OUTLINES: [Colour; 3] = [Colour::from_hex(0x1f78c8), Colour::from_hex(0x08306b), Colour::from_hex(0x5fb3e6)];

/// A map to be drawn. Its window's cells are the pixels; heat may have any other window. The title stands at the upper
/// left, the legend at the lower left, the scale at the lower right.
#[derive(Debug, Clone)]
#[must_use]
pub struct MapImage {
    window: Window,
    heat: Option<Raster>,
    outlines: Vec<(Vec<Polygon>, String)>,
    markers: Vec<Marker>,
    title: String,
    scale: f64,
    names: Vec<MapLabel>,
    photo: Option<(Vec<u8>, usize)>,
    meaning: &'static str,
    has_legend: bool,
}

impl MapImage {
    /// A map of a window; each cell is a pixel.
    pub fn new(window: Window) -> Self {
        Self {
            window,
            heat: None,
            outlines: Vec::new(),
            markers: Vec::new(),
            title: String::new(),
            scale: 1.0,
            names: Vec::new(),
            photo: None,
            meaning: "density, from 1/1000 of its peak",
            has_legend: true,
        }
    }

    /// Lays a density over the map, given as log densities up to a constant.
    pub fn heat(self, raster: Raster) -> Self {
        Self { heat: Some(raster), ..self }
    }

    /// Draws the edge of a region (see [`crate::contour_polygons`]); its label goes into the legend.
    pub fn outline(mut self, region: Vec<Polygon>, label: &str) -> Self {
        self.outlines.push((region, label.to_owned()));
        self
    }

    /// Marks a place.
    pub fn marker(mut self, marker: impl Into<Marker>) -> Self {
        self.markers.push(marker.into());
        self
    }

    /// A line of text at the top; what follows a line break is a smaller line below it.
    pub fn title(mut self, title: &str) -> Self {
        title.clone_into(&mut self.title);
        self
    }

    /// Pixels of a point, in which text, lines and markers are measured; 1 unless set. With 2, a picture is sharp at half
    /// of its width.
    pub fn scale(mut self, scale: f64) -> Self {
        self.scale = scale;
        self
    }

    /// Names on the map; of two that would overlap, the earlier is drawn.
    pub fn names(mut self, names: impl IntoIterator<Item = MapLabel>) -> Self {
        self.names.extend(names);
        self
    }

    /// The photo that it is about, as red, green and blue bytes of so many pixels a row: see [`photos_png`].
    pub fn photo(mut self, rgb: Vec<u8>, width: usize) -> Self {
        self.photo = (width > 0 && rgb.len() >= 3 * width).then_some((rgb, width));
        self
    }

    /// Draws the map. PNG, 8-bit RGB.
    pub fn to_png(&self) -> Vec<u8> {
        encode_png(self.window.columns(), self.window.rows(), &self.to_rgb(), None)
    }

    /// Draws the map: three bytes a pixel, row after row from the top.
    pub fn to_rgb(&self) -> Vec<u8> {
        self.draw().bytes()
    }

    fn draw(&self) -> Canvas {
        let view = View { window: self.window, scale: self.scale };
        let mut canvas = Canvas::new(self.window.columns(), self.window.rows(), self.scale, SEA);
        let fine;
        let degrees = self.scale * self.window.cell_width_deg();
        let coast = if degrees < FINEST_DEG && !self.names.is_empty() {
            Coast::finest()
        } else {
            fine = Coast::load(Detail::for_degrees_per_pixel(degrees));
            &fine
        };
        let land = view.land(&canvas, coast);
        canvas.paint(&land, LAND, 1.0);
        if let Some(raster) = &self.heat {
            heat::draw_heat(&mut canvas, &view, raster);
        }
        self.draw_lines(&mut canvas, &view, coast);
        self.draw_outlines(&mut canvas, &view);
        let mut taken: Vec<_> = self.markers.iter().filter_map(|marker| marker.draw(&mut canvas, &view)).collect();
        taken.extend(legend::draw_title(&mut canvas, &self.title));
        taken.extend(legend::draw_scale(&mut canvas, &view));
        if self.has_legend {
            taken.extend(legend::draw_legend(&mut canvas, &self.legend(), 0.0));
            taken.extend((!self.names.is_empty()).then(|| legend::draw_credit(&mut canvas)));
        }
        names::draw_names(&mut canvas, &view, &self.names, taken);
        canvas
    }

    /// What the signs on the map mean.
    fn legend(&self) -> Vec<Item> {
        let heat = self.heat.iter().map(|_| (Sign::Ramp, self.meaning.to_owned()));
        let outlines = self.outlines.iter().zip(OUTLINES.iter().cycle());
        let outlines = outlines.map(|((_, label), colour)| (Sign::Line(*colour), label.clone()));
        let mut items: Vec<Item> = heat.chain(outlines).collect();
        for (shape, colour, words) in self.markers.iter().filter_map(Marker::meaning) {
            if items.iter().all(|item| item.1 != words) {
                items.push((Sign::Marker(shape.plain(), colour), words.to_owned()));
            }
        }
        items
    }

    fn draw_lines(&self, canvas: &mut Canvas, view: &View, coast: &Coast) {
        let mut grid = canvas.mask();
        let spacing_deg = usual_spacing_deg(&self.window);
        if spacing_deg > 0.0 {
            let (west, east) = (self.window.west_deg(), self.window.east_deg());
            let (south, north) = (self.window.south_deg(), self.window.north_deg());
            let steps = |from: f64, to: f64| {
                let first = (from / spacing_deg).floor() as i64 + 1;
                let last = (to / spacing_deg).ceil() as i64;
                (first..last).take(1000).map(|step| step as f64 * spacing_deg)
            };
            for lon in steps(west, east) {
                grid.line(view.point([lon, south]), view.point([lon, north]), 1.0);
            }
            for lat in steps(south, north) {
                grid.line(view.point([west, lat]), view.point([east, lat]), 1.0);
            }
        }
        canvas.paint(&grid, GRID, 0.16);

        let mut borders = canvas.mask();
        for line in &coast.borders {
            view.polyline(&mut borders, line, 0.7, |_, _| true);
        }
        canvas.paint(&borders, BORDER, 0.6);

        let mut shores = canvas.mask();
        for ring in &coast.land {
            let closed: Vec<_> = ring.points.iter().chain(ring.points.first()).copied().collect();
            // Antarctica is closed along the pole, which is no shore.
            view.polyline(&mut shores, &closed, 0.9, |a, b| a[1] > -89.9 && b[1] > -89.9);
        }
        canvas.paint(&shores, SHORE, 0.85);
    }

    fn draw_outlines(&self, canvas: &mut Canvas, view: &View) {
        // The outermost (last) first, so that the innermost is never covered.
        for (index, (region, _)) in self.outlines.iter().enumerate().rev() {
            let (mut halo, mut line) = (canvas.mask(), canvas.mask());
            for ring in region.iter().flat_map(Polygon::rings) {
                view.polyline(&mut halo, ring, legend::OUTLINE_WIDTH + 2.4, is_edge_of_region);
                view.polyline(&mut line, ring, legend::OUTLINE_WIDTH, is_edge_of_region);
            }
            canvas.paint(&halo, Colour::WHITE, 0.65);
            canvas.paint(&line, OUTLINES[index % OUTLINES.len()], 1.0);
        }
    }
}

/// PNG, 8-bit RGB, or indices into a palette of colours and their opacities.
pub(crate) fn encode_png(w: usize, h: usize, pixels: &[u8], palette: Option<(Vec<u8>, Vec<u8>)>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, w as u32, h as u32);
    encoder.set_color(if palette.is_some() { png::ColorType::Indexed } else { png::ColorType::Rgb });
    encoder.set_depth(png::BitDepth::Eight);
    if let Some((colours, opacities)) = palette {
        encoder.set_palette(colours);
        encoder.set_trns(opacities);
    }
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(pixels));
    written.expect("an image of a checked size goes into memory");
    bytes
}

/// Width, height and pixels of a PNG.
#[cfg(test)]
pub(crate) fn decode_png(png: &[u8]) -> (u32, u32, Vec<u8>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    (info.width, info.height, pixels)
}

/// 30°, or what gives a small window some four lines.
fn usual_spacing_deg(window: &Window) -> f64 {
    const SPACINGS_DEG: [f64; 9] = [30.0, 10.0, 5.0, 2.0, 1.0, 0.5, 0.2, 0.1, 0.05];
    let largest_deg = window.width_deg().max(window.height_deg()) / 3.0;
    SPACINGS_DEG.into_iter().find(|spacing| *spacing <= largest_deg).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contour_polygons;
    use locdiff_shdd::sphere::LatLon;

    #[test]
    fn a_plain_map_shows_land_and_sea() {
        let map = MapImage::new(Window::globe(360, 720).unwrap());
        let (width, height, pixels) = decode_png(&map.to_png());
        assert_eq!((width, height), (720, 360));
        let pixel = |lat: f64, lon: f64| {
            let index = 3 * ((90.0 - lat) as usize * 2 * 720 + (lon + 180.0) as usize * 2);
            [pixels[index], pixels[index + 1], pixels[index + 2]].map(f32::from)
        };
        assert_eq!(pixel(-25.0, 134.0), LAND.channels());
        assert_eq!(pixel(28.0, -40.0), SEA.channels());
    }

    #[test]
    fn everything_at_once_draws_in_any_window() {
        let place = LatLon::new(-17.8, 178.5).unwrap();
        let raster = Raster::from_fn(Window::globe(60, 120).unwrap(), |point| 40.0 * point.dot(place.to_unit()));
        for window in [
            Window::globe(90, 180).unwrap(),
            Window::of_picture(Window::bounds(&[place.to_unit()], 18.0), 150, 120).unwrap(),
            Window::new(60.0, 90.0, -180.0, 180.0, 40, 200).unwrap(),
            Window::globe(1, 1).unwrap(),
            Window::new(-17.8, -17.799, 178.5, 178.501, 30, 30).unwrap(),
        ] {
            let image = MapImage::new(window)
                .heat(raster.clone())
                .outline(contour_polygons(&raster, raster.max() + 0.5_f64.ln()), "50 %")
                .outline(contour_polygons(&raster, raster.max() + 0.1_f64.ln()), "90 %")
                .marker(place)
                .marker(Marker::new(LatLon::new(89.0, 0.0).unwrap()).shape(MarkerShape::Circle).label("far away"))
                .title("Fiji – λ unknown");
            let (width, height, _) = decode_png(&image.to_png());
            assert_eq!((width as usize, height as usize), (window.columns(), window.rows()));
        }
    }

    #[test]
    fn the_same_map_is_the_same_bytes() {
        let image = MapImage::new(Window::globe(50, 100).unwrap()).title("twice");
        assert_eq!(image.to_png(), image.to_png());
    }
}
