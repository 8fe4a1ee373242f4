//! Marked places.

use super::text::{draw_text, line_height, text_width};
use super::{canvas::Canvas, canvas::Mask, colour::Colour, view::View};
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
    /// A disc with a number in it: so many photos.
    Count(usize),
    /// The same with a rim alone: so many guesses.
    Guesses(usize),
}

/// A marked place.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Marker {
    place: LatLon,
    shape: MarkerShape,
    colour: Colour,
    label: String,
    legend: String,
}

impl From<LatLon> for Marker {
    fn from(place: LatLon) -> Self {
        Self::new(place)
    }
}

impl Marker {
    /// A crosshair without a label, in the colour of answers.
    pub fn new(place: LatLon) -> Self {
        let (label, legend) = (String::new(), String::new());
        Self { place, shape: MarkerShape::Crosshair, colour: Colour::ANSWER, label, legend }
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

    /// Says in the legend what markers of this shape and colour are.
    pub fn legend(mut self, words: &str) -> Self {
        words.clone_into(&mut self.legend);
        self
    }

    /// The sign and words for the legend.
    pub(super) fn meaning(&self) -> Option<(MarkerShape, Colour, &str)> {
        (!self.legend.is_empty()).then_some((self.shape, self.colour, &self.legend))
    }

    /// Draws it. Returns the box that it covers, if it is on the map.
    pub(super) fn draw(&self, canvas: &mut Canvas, view: &View) -> Option<[f64; 4]> {
        let center = view.place(self.place)?;
        draw_shape(canvas, self.shape, self.colour, center);
        let ([x, y], reach) = (center, self.shape.reach());
        if self.label.is_empty() {
            return Some([x - reach, y - reach, x + reach, y + reach]);
        }
        Some(self.draw_label(canvas, center))
    }

    fn draw_label(&self, canvas: &mut Canvas, [x, y]: [f64; 2]) -> [f64; 4] {
        const SIZE: f64 = 12.0;
        let ([canvas_width, canvas_height], high) = (canvas.size(), line_height(SIZE));
        let (width, away) = (text_width(&self.label, SIZE), self.shape.reach() + 6.0);
        // To the right, or to the left where the image ends.
        let left = if x + away + 3.0 + width < canvas_width { x + away } else { x - away - width };
        let top = (y - 0.5 * high).clamp(0.0, (canvas_height - high).max(0.0));
        let mut panel = canvas.mask();
        panel.panel([left - 4.0, top, left + width + 4.0, top + high], 4.0);
        canvas.paint(&panel, Colour::WHITE, 0.8);
        let mut text = canvas.mask();
        draw_text(&mut text, [left, top], &self.label, SIZE);
        canvas.paint(&text, self.colour, 1.0);
        [x.min(left) - 11.0, y - 11.0, x.max(left + width) + 11.0, y + 11.0]
    }
}

impl MarkerShape {
    /// How far it reaches from its middle, in points.
    pub(crate) fn reach(self) -> f64 {
        match self {
            Self::Crosshair => 9.0,
            Self::Circle => 7.5,
            Self::Dot => 3.0,
            Self::Count(number) | Self::Guesses(number) => (7.0 + 2.2 * (number.max(1) as f64).log2()).min(22.0),
        }
    }

    /// The shape for a legend, without a number.
    pub(super) fn plain(self) -> Self {
        match self {
            Self::Count(_) => Self::Count(1),
            Self::Guesses(_) => Self::Guesses(1),
            other => other,
        }
    }

    fn cover(self, mask: &mut Mask, [x, y]: [f64; 2], line_width: f64) {
        match self {
            Self::Crosshair => {
                for (dx, dy) in [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)] {
                    mask.line([x + 3.0 * dx, y + 3.0 * dy], [x + 8.5 * dx, y + 8.5 * dy], line_width);
                }
            }
            Self::Circle => mask.circle([x, y], 6.5, line_width),
            Self::Dot => mask.disc([x, y], 1.5 + 0.5 * line_width),
            Self::Count(_) => mask.disc([x, y], self.reach() + 0.5 * line_width - 1.0),
            Self::Guesses(_) => mask.circle([x, y], self.reach() - 1.0, line_width),
        }
    }
}

/// Draws a shape with a white halo, and the number of one that counts.
pub(super) fn draw_shape(canvas: &mut Canvas, shape: MarkerShape, colour: Colour, center: [f64; 2]) {
    const LINE_WIDTH: f64 = 2.0;
    let (mut halo, mut line, mut text) = (canvas.mask(), canvas.mask(), canvas.mask());
    shape.cover(&mut halo, center, LINE_WIDTH + 3.0);
    shape.cover(&mut line, center, LINE_WIDTH);
    let (number, ink) = match shape {
        MarkerShape::Count(number) => (number, Colour::WHITE),
        MarkerShape::Guesses(number) => {
            halo.disc(center, shape.reach());
            (number, colour)
        }
        _ => (1, colour),
    };
    if number > 1 {
        let size = if number > 999 { 10.0 } else { 12.0 };
        let corner = [center[0] - 0.5 * text_width(&number.to_string(), size), center[1] - 0.5 * line_height(size)];
        draw_text(&mut text, corner, &number.to_string(), size);
    }
    canvas.paint(&halo, Colour::WHITE, 0.9);
    canvas.paint(&line, colour, 1.0);
    canvas.paint(&text, ink, 1.0);
}
