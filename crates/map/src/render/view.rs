//! From degrees to pixels, and land and lines in them.

use super::canvas::{Canvas, Mask};
use crate::{Coast, Window};
use locdiff_shdd::sphere::LatLon;

/// Scanlines in a pixel, for the smooth edge of land.
const SCANLINES: usize = 4;

/// An equirectangular view: the window's cells are the pixels, `scale` of which are a point.
#[derive(Clone, Copy)]
pub(super) struct View {
    pub(super) window: Window,
    pub(super) scale: f64,
}

impl View {
    /// A position in points from the top left corner, not wrapped.
    pub(super) fn point(&self, [lon_deg, lat_deg]: [f64; 2]) -> [f64; 2] {
        let x = (lon_deg - self.window.west_deg()) / self.window.cell_width_deg();
        let y = (self.window.north_deg() - lat_deg) / self.window.cell_height_deg();
        [x / self.scale, y / self.scale]
    }

    /// A place in points, at the turn in which it lies in the window; `None` outside.
    pub(super) fn place(&self, place: LatLon) -> Option<[f64; 2]> {
        let [x, y] = self.point([place.lon_deg(), place.lat_deg()]);
        let x = x.rem_euclid(self.turn());
        let [width, height] = [self.window.columns(), self.window.rows()].map(|pixels| pixels as f64 / self.scale);
        (x <= width && (0.0..=height).contains(&y)).then_some([x, y])
    }

    /// Points around the world.
    fn turn(&self) -> f64 {
        360.0 / self.window.cell_width_deg() / self.scale
    }

    /// The shifts, in points, at which something that reaches from `from` to `to` meets the window.
    fn turns(&self, from: f64, to: f64) -> impl Iterator<Item = f64> {
        let (turn, width) = (self.turn(), self.window.columns() as f64 / self.scale);
        (-2..=2)
            .map(move |count| f64::from(count) * turn)
            .filter(move |shift| to + shift > -9.0 && from + shift < width + 9.0)
    }

    /// Draws a line through positions, wherever the window shows it.
    pub(super) fn polyline(&self, on: &mut Mask, line: &[[f64; 2]], width: f64, keep: fn([f64; 2], [f64; 2]) -> bool) {
        for edge in line.windows(2).filter(|edge| keep(edge[0], edge[1])) {
            let (from, to) = (self.point(edge[0]), self.point(edge[1]));
            for shift in self.turns(from[0].min(to[0]), from[0].max(to[0])) {
                on.line([from[0] + shift, from[1]], [to[0] + shift, to[1]], width);
            }
        }
    }

    /// The land's share of every pixel.
    pub(super) fn land(&self, canvas: &Canvas, coast: &Coast) -> Mask {
        let mut mask = canvas.mask();
        for ring in &coast.land {
            let pixels: Vec<[f64; 2]> =
                ring.points.iter().map(|&point| self.point(point).map(|part| part * self.scale)).collect();
            let crossings = self.crossings(&pixels);
            let (from, to) = pixels
                .iter()
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), p| (low.min(p[0]), high.max(p[0])));
            let weight = if ring.is_hole { -1.0 } else { 1.0 } / SCANLINES as f32;
            for shift in self.turns(from / self.scale, to / self.scale).map(|shift| shift * self.scale) {
                for pair in crossings.chunks_exact(2) {
                    mask.add_span(pair[0].0 / SCANLINES, pair[0].1 + shift, pair[1].1 + shift, weight);
                }
            }
        }
        mask
    }

    /// Where a closed line crosses the scanlines, in pairs between which lies its inside.
    fn crossings(&self, pixels: &[[f64; 2]]) -> Vec<(usize, f64)> {
        let scanlines = (self.window.rows() * SCANLINES) as f64;
        let mut crossings = Vec::new();
        for (index, &[ax, ay]) in pixels.iter().enumerate() {
            let [bx, by] = pixels[(index + 1) % pixels.len()];
            // Scanline s lies at (s + 1/2) / SCANLINES; those with a < s ≤ b are crossed.
            let scan = |y: f64| (y * SCANLINES as f64 + 0.5).floor().clamp(0.0, scanlines) as usize;
            let (first, last) = (scan(ay.min(by)), scan(ay.max(by)));
            for line in first..last {
                let y = (line as f64 + 0.5) / SCANLINES as f64;
                crossings.push((line, ax + (y - ay) / (by - ay) * (bx - ax)));
            }
        }
        crossings.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        crossings
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Detail, render::colour::Colour};

    #[test]
    fn places_find_their_pixel_across_the_antimeridian() {
        let view = View { window: Window::new(-10.0, 10.0, 170.0, 190.0, 20, 20).unwrap(), scale: 2.0 };
        assert_eq!(view.place(LatLon::new(0.0, -175.0).unwrap()), Some([7.5, 5.0]));
        assert_eq!(view.place(LatLon::new(0.0, 160.0).unwrap()), None);
        assert_eq!(view.place(LatLon::new(20.0, 175.0).unwrap()), None);
    }

    #[test]
    fn land_covers_its_share_in_every_window() {
        for (west, scale, detail) in [
            (-180.0, 1.0, Detail::Coarse),
            (-180.0, 1.0, Detail::Fine),
            (0.0, 2.0, Detail::Fine),
            (77.7, 1.5, Detail::Fine),
        ] {
            let view = View { window: Window::new(-90.0, 90.0, west, west + 360.0, 90, 180).unwrap(), scale };
            let mut canvas = Canvas::new(180, 90, scale, Colour::from_hex(0));
            let mask = view.land(&canvas, &Coast::load(detail));
            canvas.paint(&mask, Colour::WHITE, 1.0);
            let bytes = canvas.bytes();
            let white = |row: usize| (0..180).map(|x| f64::from(bytes[3 * (row * 180 + x)]) / 255.0).sum::<f64>();
            let land: f64 = (0..90).map(|row| white(row) * view.window.cell_area_sr(row)).sum();
            let share = land / (4.0 * std::f64::consts::PI);
            assert!((0.28..0.30).contains(&share), "{west} {detail:?}: {share}");
        }
    }
}
