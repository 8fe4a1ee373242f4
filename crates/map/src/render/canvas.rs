//! Pixels, and masks that say how much of each pixel a shape covers.

use super::colour::Colour;
use std::ops::Range;

/// An image in sRGB, channels 0…255. Its size is in pixels. Shapes and text are given in points, `scale` pixels each.
pub(super) struct Canvas {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) scale: f64,
    pixels: Vec<[f32; 3]>,
}

impl Canvas {
    pub(super) fn new(width: usize, height: usize, scale: f64, background: Colour) -> Self {
        Self { width, height, scale, pixels: vec![background.channels(); width * height] }
    }

    /// Width and height in points.
    pub(super) fn size(&self) -> [f64; 2] {
        [self.width, self.height].map(|pixels| pixels as f64 / self.scale)
    }

    /// Draws a picture of red, green and blue bytes into a box in points.
    pub(super) fn picture(&mut self, (rgb, width): (&[u8], usize), [left, top, right, bottom]: [f64; 4]) {
        /// Samples of a pixel in each direction.
        const SUB: usize = 3;
        let (pixels, _) = rgb.as_chunks::<3>();
        let Some(height) = pixels.len().checked_div(width).filter(|height| *height > 0) else { return };
        let ends = |from: f64, to: f64, most: usize| {
            let [from, to] = [from, to].map(|at| (self.scale * at).round().clamp(0.0, most as f64) as usize);
            (from, to)
        };
        let ((x0, x1), (y0, y1)) = (ends(left, right, self.width), ends(top, bottom, self.height));
        let source = |k: usize, sub: usize, from: usize, to: usize, count: usize| {
            (((k - from) * SUB + sub) * count / ((to - from) * SUB)).min(count - 1)
        };
        for (y, x) in (y0..y1).flat_map(|y| (x0..x1).map(move |x| (y, x))) {
            let mut sum = [0.0; 3];
            for sub in 0..SUB * SUB {
                let (row, column) = (source(y, sub / SUB, y0, y1, height), source(x, sub % SUB, x0, x1, width));
                let found = pixels[row * width + column];
                sum.iter_mut().zip(found).for_each(|(sum, channel)| *sum += f32::from(channel));
            }
            self.pixels[y * self.width + x] = sum.map(|sum| sum / (SUB * SUB) as f32);
        }
    }

    /// Mixes a colour into a pixel.
    pub(super) fn blend(&mut self, x: usize, y: usize, colour: [f32; 3], opacity: f32) {
        let pixel = &mut self.pixels[y * self.width + x];
        for channel in 0..3 {
            pixel[channel] += opacity * (colour[channel] - pixel[channel]);
        }
    }

    /// Paints a shape.
    pub(super) fn paint(&mut self, mask: &Mask, colour: Colour, opacity: f32) {
        let colour = colour.channels();
        let [columns, rows] = mask.touched.clone();
        for y in rows {
            for x in columns.clone() {
                let coverage = mask.coverage[y * self.width + x];
                if coverage > 0.0 {
                    self.blend(x, y, colour, opacity * coverage.min(1.0));
                }
            }
        }
    }

    /// A mask of this size.
    pub(super) fn mask(&self) -> Mask {
        let coverage = vec![0.0; self.width * self.height];
        let touched = [self.width..0, self.height..0];
        Mask { width: self.width, height: self.height, scale: self.scale, coverage, touched }
    }

    /// Red, green and blue of every pixel.
    pub(super) fn bytes(&self) -> Vec<u8> {
        self.pixels.iter().flatten().map(|channel| channel.round() as u8).collect()
    }
}

/// Coverage of every pixel, 0…1. Shapes drawn into one mask are painted as one: where lines meet nothing is doubled.
pub(super) struct Mask {
    width: usize,
    height: usize,
    pub(super) scale: f64,
    coverage: Vec<f32>,
    /// The columns and rows that may be covered: a small marker costs little on a large image.
    touched: [Range<usize>; 2],
}

impl Mask {
    /// A straight line with round ends, antialiased by the distance to its middle.
    pub(super) fn line(&mut self, from: [f64; 2], to: [f64; 2], line_width: f64) {
        let [ax, ay] = from;
        let (dx, dy) = (to[0] - ax, to[1] - ay);
        let length_squared = dx * dx + dy * dy;
        let distance = |x: f64, y: f64| {
            let along = if length_squared > 0.0 { ((x - ax) * dx + (y - ay) * dy) / length_squared } else { 0.0 };
            let along = along.clamp(0.0, 1.0);
            (x - ax - along * dx).hypot(y - ay - along * dy)
        };
        let reach = 0.5 * line_width + 1.0;
        let bounds = [ax.min(to[0]) - reach, ay.min(to[1]) - reach, ax.max(to[0]) + reach, ay.max(to[1]) + reach];
        self.shape(bounds, |x, y| 0.5 * line_width - distance(x, y));
    }

    /// A filled circle.
    pub(super) fn disc(&mut self, [cx, cy]: [f64; 2], radius: f64) {
        let reach = radius + 1.0;
        self.shape([cx - reach, cy - reach, cx + reach, cy + reach], |x, y| radius - (x - cx).hypot(y - cy));
    }

    /// The outline of a circle.
    pub(super) fn circle(&mut self, [cx, cy]: [f64; 2], radius: f64, line_width: f64) {
        let reach = radius + line_width + 1.0;
        self.shape([cx - reach, cy - reach, cx + reach, cy + reach], |x, y| {
            0.5 * line_width - ((x - cx).hypot(y - cy) - radius).abs()
        });
    }

    /// A rectangle with round corners.
    pub(super) fn panel(&mut self, [left, top, right, bottom]: [f64; 4], radius: f64) {
        let (cx, cy) = (0.5 * (left + right), 0.5 * (top + bottom));
        let (half_width, half_height) = (0.5 * (right - left) - radius, 0.5 * (bottom - top) - radius);
        self.shape([left, top, right, bottom], |x, y| {
            let (dx, dy) = ((x - cx).abs() - half_width, (y - cy).abs() - half_height);
            radius - dx.max(0.0).hypot(dy.max(0.0)) - dx.max(dy).min(0.0)
        });
    }

    /// The most of what is there and `depth`: how far inside a pixel's middle is. All lengths are in points.
    fn shape(&mut self, [left, top, right, bottom]: [f64; 4], depth: impl Fn(f64, f64) -> f64) {
        let scale = self.scale;
        let limit = |value: f64, size: usize| value.clamp(0.0, size as f64) as usize;
        let columns = limit((scale * left).floor(), self.width)..limit((scale * right).ceil(), self.width);
        let rows = limit((scale * top).floor(), self.height)..limit((scale * bottom).ceil(), self.height);
        self.touch(&columns, &rows);
        for y in rows {
            for x in columns.clone() {
                let inside = depth((x as f64 + 0.5) / scale, (y as f64 + 0.5) / scale);
                let covered = (scale * inside + 0.5).clamp(0.0, 1.0) as f32;
                let pixel = &mut self.coverage[y * self.width + x];
                *pixel = pixel.max(covered);
            }
        }
    }

    /// Adds `weight` times the covered part of each pixel of a row between two columns, in pixels.
    pub(super) fn add_span(&mut self, y: usize, from: f64, to: f64, weight: f32) {
        let (from, to) = (from.clamp(0.0, self.width as f64), to.clamp(0.0, self.width as f64));
        let columns = from as usize..to.ceil() as usize;
        self.touch(&columns, &(y..y + 1));
        for x in columns {
            let pixel = &mut self.coverage[y * self.width + x];
            let covered = to.min(x as f64 + 1.0) - from.max(x as f64);
            *pixel += weight * covered.max(0.0) as f32;
        }
    }

    /// Adds coverage to a pixel; what lies outside the image is ignored.
    pub(super) fn add(&mut self, x: i64, y: i64, coverage: f32) {
        if (0..self.width as i64).contains(&x) && (0..self.height as i64).contains(&y) {
            let (x, y) = (x as usize, y as usize);
            self.touch(&(x..x + 1), &(y..y + 1));
            let pixel = &mut self.coverage[y * self.width + x];
            *pixel = pixel.max(coverage);
        }
    }

    fn touch(&mut self, columns: &Range<usize>, rows: &Range<usize>) {
        if !columns.is_empty() && !rows.is_empty() {
            for (touched, new) in self.touched.iter_mut().zip([columns, rows]) {
                *touched = touched.start.min(new.start)..touched.end.max(new.end);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(mask: &Mask) -> f32 {
        mask.coverage.iter().sum()
    }

    #[test]
    fn shapes_cover_their_area() {
        let canvas = Canvas::new(40, 40, 1.0, Colour::WHITE);
        let mut line = canvas.mask();
        line.line([5.0, 10.3], [35.0, 10.3], 2.0);
        assert!((sum(&line) - 62.0).abs() < 2.0, "{}", sum(&line));
        let mut disc = canvas.mask();
        disc.disc([20.2, 19.7], 8.0);
        assert!((sum(&disc) / (64.0 * std::f32::consts::PI) - 1.0).abs() < 0.02, "{}", sum(&disc));
        let mut panel = canvas.mask();
        panel.panel([3.0, 4.0, 23.0, 14.0], 3.0);
        assert!((sum(&panel) - (200.0 - (4.0 - std::f32::consts::PI) * 9.0)).abs() < 3.0, "{}", sum(&panel));
    }

    #[test]
    fn spans_are_exact_and_nothing_falls_off_the_image() {
        let mut mask = Canvas::new(10, 2, 1.0, Colour::WHITE).mask();
        mask.add_span(0, 1.25, 3.5, 1.0);
        assert_eq!(mask.coverage[..5], [0.0, 0.75, 1.0, 0.5, 0.0]);
        mask.add_span(1, -50.0, 50.0, 0.5);
        assert_eq!(mask.coverage[10..], [0.5; 10]);
        mask.line([-1e9, 5.0], [1e9, -3.0], 3.0);
        mask.disc([1e12, f64::NAN], 5.0);
        mask.add(-1, 0, 1.0);
        mask.add(10, 0, 1.0);
    }

    #[test]
    fn painting_mixes() {
        let mut canvas = Canvas::new(1, 1, 1.0, Colour::WHITE);
        let mut mask = canvas.mask();
        mask.add(0, 0, 0.5);
        canvas.paint(&mask, Colour::from_hex(0), 1.0);
        assert_eq!(canvas.bytes(), [128, 128, 128]);
    }

    #[test]
    fn shapes_and_pictures_grow_with_the_scale() {
        let mut canvas = Canvas::new(80, 80, 2.0, Colour::WHITE);
        let mut disc = canvas.mask();
        disc.disc([20.0, 20.0], 8.0);
        assert!((sum(&disc) / (256.0 * std::f32::consts::PI) - 1.0).abs() < 0.02, "{}", sum(&disc));
        canvas.picture((&[0, 0, 0, 255, 0, 0], 2), [10.0, 10.0, 20.0, 15.0]);
        let pixel = |x: usize, y: usize| canvas.pixels[y * 80 + x];
        assert_eq!((pixel(20, 20), pixel(39, 29), pixel(40, 29)), ([0.0; 3], [255.0, 0.0, 0.0], [255.0; 3]));
    }
}
