//! Panels on a map: title, legend and scale bar.

use super::text::{draw_text, fitting, line_height, text_width};
use super::{canvas::Canvas, colour::Colour, colour::heat_colour, marker::MarkerShape, marker::draw_shape, view::View};

pub(super) const OUTLINE_WIDTH: f64 = 1.8;
const INK: Colour = Colour::from_hex(0x1d2a33);
const MARGIN: f64 = 8.0;
const PADDING: f64 = 6.0;
const SWATCH: f64 = 30.0;
const GAP: f64 = 7.0;
const BETWEEN: f64 = 18.0;
/// Size of the text of a legend, and the height of its lines.
const SIZE: f64 = 12.0;
const LINE: f64 = 18.0;
/// Size of small print.
const SMALL: f64 = 9.0;
/// Pictures narrower than this have smaller titles.
const WIDE: f64 = 500.0;

/// What stands before the words of a legend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Sign {
    Ramp,
    Line(Colour),
    Marker(MarkerShape, Colour),
}

/// A sign with its words.
pub(super) type Item = (Sign, String);

/// Left, top, right and bottom in points.
pub(super) type Box4 = [f64; 4];

/// Items in lines of at most `limit` points, each with its distance from the left; and the width of all.
fn lines(items: &[Item], limit: f64) -> (Vec<Vec<(&Item, f64)>>, f64) {
    let (mut lines, mut end, mut widest): (Vec<Vec<(&Item, f64)>>, f64, f64) = (Vec::new(), 0.0, 0.0);
    for item in items {
        let width = SWATCH + GAP + text_width(&item.1, SIZE);
        match lines.last_mut() {
            Some(line) if end + BETWEEN + width <= limit => {
                line.push((item, end + BETWEEN));
                end += BETWEEN + width;
            }
            _ => {
                lines.push(vec![(item, 0.0)]);
                end = width;
            }
        }
        widest = widest.max(end);
    }
    (lines, widest)
}

/// Height of a legend in lines of at most `limit` points, with its margins.
pub(super) fn legend_height(items: &[Item], limit: f64) -> f64 {
    let (lines, _) = lines(items, limit);
    if lines.is_empty() { 0.0 } else { lines.len() as f64 * LINE + 2.0 * (PADDING + MARGIN) }
}

/// Draws a legend at the lower left: a column, or lines of at most `limit` points. Returns the box that it covers.
pub(super) fn draw_legend(canvas: &mut Canvas, items: &[Item], limit: f64) -> Option<Box4> {
    let (lines, width) = lines(items, limit);
    let (left, bottom) = (MARGIN, canvas.size()[1] - MARGIN);
    let top = bottom - lines.len() as f64 * LINE - 2.0 * PADDING;
    if lines.is_empty() {
        return None;
    }
    let covered = [left, top, left + width + 2.0 * PADDING, bottom];
    panel(canvas, covered);
    let mut ink = canvas.mask();
    for (k, line) in lines.iter().enumerate() {
        let y = top + PADDING + k as f64 * LINE;
        for ((sign, words), right) in line {
            let x = left + PADDING + right;
            draw_sign(canvas, *sign, [x, y + 0.5 * LINE]);
            draw_text(&mut ink, [x + SWATCH + GAP, y + 0.5 * (LINE - line_height(SIZE))], words, SIZE);
        }
    }
    canvas.paint(&ink, INK, 1.0);
    Some(covered)
}

fn panel(canvas: &mut Canvas, covered: Box4) {
    let mut panel = canvas.mask();
    panel.panel(covered, 4.0);
    canvas.paint(&panel, Colour::WHITE, 0.88);
}

/// A sign in a swatch whose left end and middle are given.
fn draw_sign(canvas: &mut Canvas, sign: Sign, [left, middle]: [f64; 2]) {
    let mut mask = canvas.mask();
    match sign {
        Sign::Ramp => {
            let [x0, x1, y0, y1] =
                [left, left + SWATCH, middle - 5.0, middle + 5.0].map(|at| (at * canvas.scale) as usize);
            for x in x0..x1.min(canvas.width) {
                let (colour, opacity) = heat_colour((x - x0) as f64 / (x1 - x0) as f64);
                (y0..y1.min(canvas.height)).for_each(|y| canvas.blend(x, y, colour, opacity));
            }
        }
        Sign::Line(colour) => {
            mask.line([left + 1.0, middle], [left + SWATCH - 1.0, middle], OUTLINE_WIDTH + 0.4);
            canvas.paint(&mask, colour, 1.0);
        }
        Sign::Marker(shape, colour) => draw_shape(canvas, shape, colour, [left + 0.5 * SWATCH, middle]),
    }
}

/// Draws a title, in smaller print from its second line on, at the upper left. Returns the box that it covers.
pub(super) fn draw_title(canvas: &mut Canvas, title: &str) -> Option<Box4> {
    let ([wide, high], lines) = (canvas.size(), title.lines().enumerate());
    let sizes = text_sizes(wide);
    let height: f64 = lines.clone().map(|(k, _)| line_height(sizes[k.min(1)])).sum();
    let width = lines.map(|(k, line)| text_width(line, sizes[k.min(1)])).reduce(f64::max)?;
    let width = width.min(wide - 2.0 * (MARGIN + PADDING));
    let covered = [MARGIN, MARGIN, MARGIN + width + 2.0 * PADDING, (MARGIN + height + 2.0 * PADDING).min(high)];
    panel(canvas, covered);
    draw_words(canvas, title, [MARGIN + PADDING, MARGIN + PADDING], width + 1.0, sizes);
    Some(covered)
}

/// Sizes of a title and of what follows it on a map so wide.
pub(super) fn text_sizes(width: f64) -> [f64; 2] {
    if width < WIDE { [13.0, 11.0] } else { [19.0, 13.0] }
}

/// Draws lines of text from a corner, the first larger and in two lines if it is wider than `room`, the rest cut there.
pub(super) fn draw_words(canvas: &mut Canvas, text: &str, [left, mut top]: [f64; 2], room: f64, sizes: [f64; 2]) {
    let mut ink = canvas.mask();
    for (k, line) in text.lines().enumerate() {
        let size = sizes[k.min(1)];
        let is_wide = k == 0 && text_width(line, size) > room;
        let mut gaps = line.match_indices(' ').map(|(at, _)| at).rev().filter(|_| is_wide);
        let end = gaps.find(|at| text_width(&line[..*at], size) <= room).unwrap_or(line.len());
        let (first, rest) = line.split_at(end);
        for part in [first, rest.trim_start()].into_iter().filter(|part| !part.is_empty()) {
            draw_text(&mut ink, [left, top], &fitting(part, size, room), size);
            top += line_height(size);
        }
    }
    canvas.paint(&ink, INK, 1.0);
}

/// Draws the sources of shores and names in small print at the lower right. Returns the box that they cover.
pub(super) fn draw_credit(canvas: &mut Canvas) -> Box4 {
    const WORDS: &str = "Natural Earth; GeoNames, CC BY 4.0";
    let ([width, height], mut ink) = (canvas.size(), canvas.mask());
    let (left, top) = (width - MARGIN - text_width(WORDS, SMALL), height - 2.0 - line_height(SMALL));
    draw_text(&mut ink, [left, top], WORDS, SMALL);
    canvas.paint(&ink, INK, 0.85);
    [left, top, width, height]
}

/// Draws a scale bar at the lower right. Returns the box that it covers. On a map of more than 100° there is none: its scale
/// is not one.
pub(super) fn draw_scale(canvas: &mut Canvas, view: &View) -> Option<Box4> {
    const KM_PER_DEGREE: f64 = 111.195;
    let ([width, height], window) = (canvas.size(), &view.window);
    let middle_rad = (0.5 * (window.south_deg() + window.north_deg())).to_radians();
    let km_per_point = KM_PER_DEGREE * window.width_deg() * middle_rad.cos() / width;
    let most = 0.22 * width * km_per_point;
    let power = 10_f64.powf(most.log10().floor());
    let km = [5.0, 2.0, 1.0].map(|step| step * power).into_iter().find(|km| *km <= most && *km >= 1.0)?;
    if window.width_deg() > 100.0 {
        return None;
    }
    let (right, bottom, words) = (width - MARGIN, height - 6.0 - line_height(SMALL), format!("{km} km"));
    let (left, top) = (right - km / km_per_point, bottom - 6.0 - line_height(SIZE));
    let mut ink = canvas.mask();
    for line in
        [[left, bottom, right, bottom], [left, bottom - 5.0, left, bottom], [right, bottom - 5.0, right, bottom]]
    {
        ink.line([line[0], line[1]], [line[2], line[3]], 1.5);
    }
    draw_text(&mut ink, [0.5 * (left + right - text_width(&words, SIZE)), top], &words, SIZE);
    canvas.paint(&ink, INK, 0.85);
    Some([left, top, right, bottom])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_stand_in_a_column_or_in_lines() {
        let item = |words: &str| (Sign::Line(INK), words.to_owned());
        let items = [item("smallest region that holds 50 %"), item("GPS tag"), item("answer")];
        assert_eq!(lines(&items, 0.0).0.iter().map(Vec::len).collect::<Vec<_>>(), [1, 1, 1]);
        assert_eq!(lines(&items, 340.0).0.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1]);
        assert!(legend_height(&items, 0.0) > 2.0 * legend_height(&items, 900.0) - 30.0);
        assert_eq!(legend_height(&[], 0.0), 0.0);
    }

    #[test]
    fn nothing_to_say_draws_nothing() {
        let mut canvas = Canvas::new(50, 50, 1.0, Colour::WHITE);
        assert_eq!((draw_legend(&mut canvas, &[], 0.0), draw_title(&mut canvas, "")), (None, None));
        assert_eq!(canvas.bytes(), vec![255; 7500]);
        draw_legend(&mut canvas, &[(Sign::Ramp, "words wider than the image".to_owned())], 0.0);
        assert_ne!(canvas.bytes(), vec![255; 7500]);
    }
}
