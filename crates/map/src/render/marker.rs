//! Marked places.

use super::canvas::{Canvas, Mask};
use super::text::{draw_text, line_height, text_width};
use super::{colour::Colour, view::View};
use locdiff_shdd::sphere::LatLon;

/// The shape of a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MarkerShape {
    /// Four strokes around a place that stays visible: an estimate.
    Crosshair,
    /// A circle: the truth.
    Circle,
    /// A small disc: one of many.
    Dot,
}

/// A marked place.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Marker {
    place: LatLon,
    shape: MarkerShape,
    colour: Colour,
    label: String,
}

impl From<LatLon> for Marker {
    fn from(place: LatLon) -> Self {
        Self::new(place)
    }
}

impl Marker {
    /// A dark crosshair without a label.
    pub fn new(place: LatLon) -> Self {
        Self { place, shape: MarkerShape::Crosshair, colour: Colour::from_hex(0x14202b), label: String::new() }
    }

    /// Sets the shape.
    pub fn shape(mut self, shape: MarkerShape) -> Self {
        self.shape = shape;
        self
    }

    /// Sets the colour.
    pub fn colour(mut self, colour: Colour) -> Self {
        self.colour = colour;
        self
    }

    /// Writes a text beside it.
    pub fn label(mut self, label: &str) -> Self {
        label.clone_into(&mut self.label);
        self
    }

    pub(super) fn draw(&self, canvas: &mut Canvas, view: &View) {
        const LINE_WIDTH: f64 = 2.0;
        let Some(center) = view.place(self.place) else { return };
        let (mut halo, mut line) = (canvas.mask(), canvas.mask());
        self.draw_shape(&mut halo, center, LINE_WIDTH + 3.0);
        self.draw_shape(&mut line, center, LINE_WIDTH);
        canvas.paint(&halo, Colour::WHITE, 0.9);
        canvas.paint(&line, self.colour, 1.0);
        if !self.label.is_empty() {
            self.draw_label(canvas, center);
        }
    }

    fn draw_shape(&self, mask: &mut Mask, [x, y]: [f64; 2], line_width: f64) {
        match self.shape {
            MarkerShape::Crosshair => {
                for (dx, dy) in [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)] {
                    mask.line([x + 4.0 * dx, y + 4.0 * dy], [x + 11.0 * dx, y + 11.0 * dy], line_width);
                }
            }
            MarkerShape::Circle => mask.circle([x, y], 6.5, line_width),
            MarkerShape::Dot => mask.disc([x, y], 1.5 + 0.5 * line_width),
        }
    }

    fn draw_label(&self, canvas: &mut Canvas, [x, y]: [f64; 2]) {
        let width = text_width(&self.label);
        // To the right, or to the left where the image ends.
        let left = if x + 20.0 + width < canvas.width as f64 { x + 17.0 } else { x - 17.0 - width };
        let top = (y - 0.5 * line_height()).clamp(0.0, (canvas.height as f64 - line_height()).max(0.0)).round();
        let mut panel = canvas.mask();
        panel.panel([left - 4.0, top, left + width + 4.0, top + line_height()], 4.0);
        canvas.paint(&panel, Colour::WHITE, 0.8);
        let mut text = canvas.mask();
        draw_text(&mut text, left, top, &self.label);
        canvas.paint(&text, self.colour, 1.0);
    }
}
