//! The panel at the lower left: a title, the colour scale and the outlines.

use super::colour::{Colour, heat_colour};
use super::text::{draw_text, line_height, text_width};
use super::{canvas::Canvas, heat::Heat};

pub(super) const OUTLINE_WIDTH: f64 = 1.8;
const INK: Colour = Colour::from_hex(0x1d2a33);
const MARGIN: f64 = 10.0;
const PADDING: f64 = 8.0;
const GAP: f64 = 7.0;
const BAR_WIDTH: f64 = 120.0;
const SWATCH_WIDTH: f64 = 22.0;
const BETWEEN: f64 = 18.0;

/// Draws what there is; nothing when there is nothing.
pub(super) fn draw(canvas: &mut Canvas, title: &str, heat: Option<&Heat>, outlines: &[(&str, Colour)]) {
    let scale = heat.map(|heat| (share_text(heat.floor_share()), "1 × peak density"));
    let scale_width = scale.as_ref().map(|(low, high)| text_width(low) + BAR_WIDTH + text_width(high) + 2.0 * GAP);
    let outline_widths = outlines.iter().map(|(label, _)| SWATCH_WIDTH + GAP + text_width(label));
    let items: Vec<f64> = scale_width.into_iter().chain(outline_widths).collect();
    let items_width = items.iter().sum::<f64>() + BETWEEN * items.len().saturating_sub(1) as f64;
    let lines = usize::from(!title.is_empty()) + usize::from(!items.is_empty());
    if lines == 0 {
        return;
    }
    let width = items_width.max(text_width(title)) + 2.0 * PADDING;
    let height = lines as f64 * line_height() + (lines - 1) as f64 * 4.0 + 2.0 * PADDING - 4.0;
    let (left, bottom) = (MARGIN, canvas.height as f64 - MARGIN);
    let top = bottom - height;
    let mut panel = canvas.mask();
    panel.panel([left, top, left + width, bottom], 5.0);
    canvas.paint(&panel, Colour::WHITE, 0.86);

    let mut ink = canvas.mask();
    let mut y = top + PADDING - 2.0;
    if !title.is_empty() {
        draw_text(&mut ink, left + PADDING, y, title);
        y += line_height() + 4.0;
    }
    let mut x = left + PADDING;
    let middle = y + 0.5 * line_height();
    if let Some((low, high)) = scale {
        draw_text(&mut ink, x, y, &low);
        x += text_width(&low) + GAP;
        draw_bar(canvas, x, middle);
        x += BAR_WIDTH + GAP;
        draw_text(&mut ink, x, y, high);
        x += text_width(high) + BETWEEN;
    }
    for &(label, colour) in outlines {
        let mut swatch = canvas.mask();
        swatch.line([x + 1.0, middle + 0.5], [x + SWATCH_WIDTH - 1.0, middle + 0.5], OUTLINE_WIDTH + 0.4);
        canvas.paint(&swatch, colour, 1.0);
        x += SWATCH_WIDTH + GAP;
        draw_text(&mut ink, x, y, label);
        x += text_width(label) + BETWEEN;
    }
    canvas.paint(&ink, INK, 1.0);
}

/// The colour scale, over white as the panel is.
fn draw_bar(canvas: &mut Canvas, left: f64, middle: f64) {
    let (left, top) = (left.round() as usize, (middle - 4.0).round().max(0.0) as usize);
    for step in 0..BAR_WIDTH as usize {
        let (colour, opacity) = heat_colour((step as f64 + 0.5) / BAR_WIDTH);
        for y in top..(top + 10).min(canvas.height) {
            if left + step < canvas.width {
                canvas.blend(left + step, y, colour, opacity);
            }
        }
    }
}

/// `1/1000`, or a power of ten.
fn share_text(share: f64) -> String {
    let one_in = 1.0 / share;
    if one_in < 999_999.5 { format!("1/{}", one_in.round()) } else { format!("1e{}", share.log10().round()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_short() {
        assert_eq!(share_text(Heat::density().floor_share()), "1/1000");
        assert_eq!(share_text(Heat::density().range_nats(30.0).floor_share()), "1e-13");
    }

    #[test]
    fn nothing_to_say_draws_nothing() {
        let mut canvas = Canvas::new(50, 50, Colour::WHITE);
        draw(&mut canvas, "", None, &[]);
        assert_eq!(canvas.bytes(), vec![255; 7500]);
        draw(&mut canvas, "a title wider than the image", Some(&Heat::density()), &[("50 %", INK)]);
        assert_ne!(canvas.bytes(), vec![255; 7500]);
    }
}
