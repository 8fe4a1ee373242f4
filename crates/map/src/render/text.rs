//! Text in the embedded font.

use super::canvas::Mask;

static FONT: &[u8] = include_bytes!("../../assets/font.bin");

/// The size of the font's glyphs in pixels.
const FONT_PIXELS: f64 = 24.0;

/// Height of a line of text of a size in points.
pub(super) fn line_height(size: f64) -> f64 {
    f64::from(FONT[0]) * size / FONT_PIXELS
}

struct Glyph {
    width: usize,
    left: i64,
    top: i64,
    advance: i64,
    /// Two pixels in a byte.
    coverage: &'static [u8],
    height: usize,
}

/// The glyph of a character, or a question mark's.
fn glyph(character: char) -> Option<Glyph> {
    find(character).or_else(|| find('?'))
}

fn find(character: char) -> Option<Glyph> {
    let mut rest = &FONT[4..];
    while let Some((head, after)) = rest.split_first_chunk::<7>() {
        let (width, height) = (usize::from(head[2]), usize::from(head[3]));
        let (coverage, next) = after.split_at_checked((width * height).div_ceil(2))?;
        if u32::from(u16::from_le_bytes([head[0], head[1]])) == u32::from(character) {
            let signed = |byte: u8| i64::from(byte.cast_signed());
            let (left, top, advance) = (signed(head[4]), signed(head[5]), i64::from(head[6]));
            return Some(Glyph { width, left, top, advance, coverage, height });
        }
        rest = next;
    }
    None
}

impl Glyph {
    /// Coverage around a position in its own pixels, from the four nearest.
    fn at(&self, x: f64, y: f64) -> f32 {
        let get = |x: f64, y: f64| {
            let is_inside = x >= 0.0 && y >= 0.0 && x < self.width as f64 && y < self.height as f64;
            let index = if is_inside { y as usize * self.width + x as usize } else { return 0.0 };
            f32::from(self.coverage[index / 2] >> (4 * (index % 2)) & 0xf) / 15.0
        };
        let (left, top) = ((x - 0.5).floor(), (y - 0.5).floor());
        let (right, down) = ((x - 0.5 - left) as f32, (y - 0.5 - top) as f32);
        let row = |y: f64| get(left, y) * (1.0 - right) + get(left + 1.0, y) * right;
        row(top) * (1.0 - down) + row(top + 1.0) * down
    }
}

/// Width of a text of a size in points.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    text.chars().filter_map(glyph).map(|glyph| glyph.advance as f64).sum::<f64>() * size / FONT_PIXELS
}

/// A text cut, with an ellipsis, to a width in points.
pub(super) fn fitting(text: &str, size: f64, width: f64) -> String {
    let mut cut = text.to_owned();
    while text_width(&cut, size) > width && !cut.is_empty() {
        let kept = cut.trim_end_matches('…').chars().count().saturating_sub(1);
        cut = if kept == 0 { String::new() } else { text.chars().take(kept).chain(['…']).collect() };
    }
    cut
}

/// Draws a text of a size in points; `x`, `y` is the top left corner of its line.
pub(super) fn draw_text(mask: &mut Mask, [x, y]: [f64; 2], text: &str, size: f64) {
    /// Where a pixel is sampled in each direction.
    const SUB: [f64; 2] = [0.25, 0.75];
    let (mut pen, top, grow) = (x * mask.scale, y * mask.scale, size * mask.scale / FONT_PIXELS);
    for glyph in text.chars().filter_map(glyph) {
        let (left, above) = (pen + grow * glyph.left as f64, top + grow * glyph.top as f64);
        let ends = |from: f64, count: usize| from.floor() as i64..(from + grow * count as f64).ceil() as i64;
        for (row, column) in
            ends(above, glyph.height).flat_map(|row| ends(left, glyph.width).map(move |column| (row, column)))
        {
            let own = |sub: f64, at: i64, from: f64| (at as f64 + sub - from) / grow;
            let samples = SUB.iter().flat_map(|down| SUB.iter().map(move |right| (down, right)));
            let sum: f32 =
                samples.map(|(down, right)| glyph.at(own(*right, column, left), own(*down, row, above))).sum();
            mask.add(column, row, 0.25 * sum);
        }
        pen += grow * glyph.advance as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_knows_latin_letters_and_replaces_the_rest() {
        for character in "Az09 %°ü–≥Łőạ".chars() {
            assert!(find(character).is_some(), "{character}");
        }
        assert!(find('中').is_none());
        assert_eq!(text_width("中", 9.0), text_width("?", 9.0));
        assert!(text_width("WWW", 14.0) > text_width("iii", 14.0));
        assert!((14.0..20.0).contains(&line_height(14.0)));
        assert_eq!((fitting("Łódź", 14.0, 99.0).as_str(), fitting("anywhere", 14.0, 1.0).as_str()), ("Łódź", ""));
        let cut = fitting("Germany, Poland or Czechia", 14.0, 99.0);
        assert!(cut.starts_with("Germany") && cut.ends_with('…') && text_width(&cut, 14.0) <= 99.0, "{cut}");
        let count = usize::from(u16::from_le_bytes([FONT[2], FONT[3]]));
        assert_eq!((0u32..0x3000).filter_map(char::from_u32).filter(|&c| find(c).is_some()).count(), count);
    }
}
