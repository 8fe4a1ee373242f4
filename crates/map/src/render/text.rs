//! Text in the embedded font.

use super::canvas::Mask;

static FONT: &[u8] = include_bytes!("../../assets/font.bin");

/// Height of a line in pixels.
pub(super) fn line_height() -> f64 {
    f64::from(FONT[0])
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

/// Width of a text in pixels.
pub(super) fn text_width(text: &str) -> f64 {
    text.chars().filter_map(glyph).map(|glyph| glyph.advance as f64).sum()
}

/// Draws a text; `x`, `y` is the top left corner of its line.
pub(super) fn draw_text(mask: &mut Mask, x: f64, y: f64, text: &str) {
    let (mut pen, top) = (x.round() as i64, y.round() as i64);
    for glyph in text.chars().filter_map(glyph) {
        for index in 0..glyph.width * glyph.height {
            let nibble = glyph.coverage[index / 2] >> (4 * (index % 2)) & 0xf;
            if nibble > 0 {
                let (right, down) = ((index % glyph.width) as i64, (index / glyph.width) as i64);
                mask.add(pen + glyph.left + right, top + glyph.top + down, f32::from(nibble) / 15.0);
            }
        }
        pen += glyph.advance;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_knows_latin_letters_and_replaces_the_rest() {
        for character in "Az09 %°ü–≥".chars() {
            assert!(find(character).is_some(), "{character}");
        }
        assert!(find('中').is_none());
        assert_eq!(text_width("中"), text_width("?"));
        assert!(text_width("WWW") > text_width("iii"));
        assert!((10.0..30.0).contains(&line_height()));
        let count = usize::from(u16::from_le_bytes([FONT[2], FONT[3]]));
        assert_eq!((0u32..0x3000).filter_map(char::from_u32).filter(|&c| find(c).is_some()).count(), count);
    }
}
