//! Names of countries and towns on a map.

use super::text::{draw_text, line_height, text_width};
use super::{canvas::Canvas, colour::Colour, legend::Box4, view::View};
use crate::label::MapLabel;

const TOWN: Colour = Colour::from_hex(0x3b4248);
const COUNTRY: Colour = Colour::from_hex(0x7a7263);
const SIZE: f64 = 11.0;

/// Draws the names that the map's scale has room for, the first of two that overlap; none over what is `taken`.
pub(super) fn draw_names(canvas: &mut Canvas, view: &View, names: &[MapLabel], mut taken: Vec<Box4>) {
    let ([width, height], window) = (canvas.size(), &view.window);
    // A world of 256 points has level 0.
    let level = (360.0 * height / window.height_deg() / 256.0).log2();
    let (mut halo, mut towns, mut countries) = (canvas.mask(), canvas.mask(), canvas.mask());
    for name in names.iter().filter(|name| name.least_zoom <= level) {
        let Some([x, y]) = view.place(name.place) else { continue };
        let wide = text_width(&name.text, SIZE);
        let [left, top] = if name.is_town { [x + 4.0, y - 0.5 * line_height(SIZE)] } else { [x - 0.5 * wide, y - 6.0] };
        let own = [left - 5.0, top, left + wide + 2.0, top + line_height(SIZE)];
        let is_inside = own[0] > 0.0 && own[1] > 0.0 && own[2] < width && own[3] < height;
        let overlaps = |other: &Box4| own[0] < other[2] && other[0] < own[2] && own[1] < other[3] && other[1] < own[3];
        if !is_inside || taken.iter().any(overlaps) {
            continue;
        }
        taken.push(own);
        for (dx, dy) in [(-1.0, 0.0), (1.0, 0.0), (0.0, -1.0), (0.0, 1.0)] {
            draw_text(&mut halo, [left + dx, top + dy], &name.text, SIZE);
        }
        let mask = if name.is_town { &mut towns } else { &mut countries };
        draw_text(mask, [left, top], &name.text, SIZE);
        if name.is_town {
            halo.disc([x, y], 3.0);
            mask.disc([x, y], 1.8);
        }
    }
    canvas.paint(&halo, Colour::WHITE, 0.75);
    canvas.paint(&countries, COUNTRY, 1.0);
    canvas.paint(&towns, TOWN, 1.0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Window;
    use locdiff_shdd::sphere::LatLon;

    #[test]
    fn names_keep_clear_of_each_other_and_of_panels() {
        let view = View { window: Window::new(40.0, 50.0, 0.0, 20.0, 200, 400).unwrap(), scale: 2.0 };
        let town = |lon| MapLabel::town(LatLon::new(45.0, lon).unwrap(), "Lyon", 9_000_000);
        let drawn = |names: &[MapLabel], taken: Vec<Box4>| {
            let mut canvas = Canvas::new(400, 200, 2.0, Colour::WHITE);
            draw_names(&mut canvas, &view, names, taken);
            canvas.bytes().iter().filter(|byte| **byte < 128).count()
        };
        let one = drawn(&[town(5.0)], Vec::new());
        assert!(one > 50, "{one}");
        assert_eq!(drawn(&[town(5.0), town(5.2)], Vec::new()), one);
        assert_eq!(drawn(&[town(5.0), town(12.0)], Vec::new()), 2 * one);
        assert_eq!(drawn(&[town(5.0)], vec![[0.0, 0.0, 200.0, 100.0]]), 0);
        assert_eq!(drawn(&[MapLabel::town(LatLon::new(45.0, 5.0).unwrap(), "Lyon", 20_000)], Vec::new()), 0);
    }
}
