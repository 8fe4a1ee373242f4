//! Several maps as one picture.

use super::legend::{draw_credit, draw_legend, draw_title, draw_words, legend_height, text_sizes};
use super::{MapImage, canvas::Canvas, colour::Colour, encode_png, text::line_height};
use crate::MapError;

/// Pixels between maps.
const GAP: usize = 8;

/// Maps of photos in a grid, as one PNG: above each its photo and title, below all the legend, above all a title if it is not
/// empty. Fails if there are no maps, they differ in size, or `columns` is 0.
///
/// ```
/// use locdiff_map::{MapImage, Window, photos_png};
/// let map = MapImage::new(Window::globe(90, 180)?).scale(2.0).title("Japan");
/// assert_eq!(&photos_png(&[map.clone(), map], 2, "2 photos")?[1..4], b"PNG");
/// # Ok::<(), locdiff_map::MapError>(())
/// ```
pub fn photos_png(images: &[MapImage], columns: usize, title: &str) -> Result<Vec<u8>, MapError> {
    let sizes: Vec<(usize, usize)> = images.iter().map(|image| (image.window.columns(), image.window.rows())).collect();
    let Some(&(width, height)) = sizes.first().filter(|size| columns > 0 && sizes.iter().all(|s| s == *size)) else {
        return Err(MapError::Sheet { maps: images.len(), columns });
    };
    let columns = columns.min(images.len());
    let rows = images.len().div_ceil(columns);
    let scale = images[0].scale;
    let sheet_width = columns * (width + GAP) - GAP;
    let (wide, map_wide) = (sheet_width as f64 / scale, width as f64 / scale);
    let mut legend = Vec::new();
    for item in images.iter().flat_map(MapImage::legend) {
        if !legend.contains(&item) {
            legend.push(item);
        }
    }
    // Room for a photo and three lines of text above each map.
    let [size, small] = text_sizes(map_wide);
    let photo = images.iter().any(|image| image.photo.is_some());
    let card = if photo { 5.0 } else { 1.4 } * line_height(size) + line_height(small);
    let pixels = |points: f64| (scale * points) as usize;
    let (card, below) = (pixels(card), pixels(legend_height(&legend, wide - 40.0)));
    let above = if title.is_empty() { 0 } else { pixels(44.0) };
    let sheet_height = above + rows * (card + height + GAP) - GAP + below;
    let mut canvas = Canvas::new(sheet_width, sheet_height, scale, Colour::WHITE);
    for (index, image) in images.iter().enumerate() {
        let [left, top] = [index % columns * (width + GAP), above + index / columns * (card + height + GAP)];
        let mut map = image.clone();
        (map.title, map.has_legend) = (String::new(), false);
        draw_card(&mut canvas, image, [left, top, left + width, top + card].map(|pixel| pixel as f64 / scale));
        let covered = [left, top + card, left + width, top + card + height];
        canvas.picture((&map.to_rgb(), width), covered.map(|pixel| pixel as f64 / scale));
    }
    draw_title(&mut canvas, title);
    if draw_legend(&mut canvas, &legend, wide - 40.0).is_some() {
        draw_credit(&mut canvas);
    }
    Ok(encode_png(canvas.width, canvas.height, &canvas.bytes(), None))
}

/// Draws a map's photo and, beside it, its title into a box.
fn draw_card(canvas: &mut Canvas, image: &MapImage, [left, top, right, bottom]: [f64; 4]) {
    const MARGIN: f64 = 6.0;
    let (mut text, high) = (left + MARGIN, bottom - top - 2.0 * MARGIN);
    if let Some((rgb, columns)) = &image.photo {
        let aspect = (rgb.len() / (3 * columns)) as f64 / *columns as f64;
        let wide = (high / aspect).min(0.4 * (right - left));
        canvas.picture((rgb, *columns), [left, top + MARGIN, left + wide, top + MARGIN + aspect * wide]);
        text = left + wide + 2.0 * MARGIN;
    }
    draw_words(canvas, &image.title, [text, top + MARGIN], right - text - MARGIN, text_sizes(right - left));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Marker, Window};
    use locdiff_shdd::sphere::LatLon;

    #[test]
    fn maps_lie_where_they_should() {
        let map = MapImage::new(Window::globe(20, 40).unwrap());
        let png = photos_png(&[map.clone(), map.clone(), map.clone()], 2, "").unwrap();
        let (width, height, pixels) = crate::render::decode_png(&png);
        // Above each map is room for its title.
        let card = height as usize / 2 - 24;
        assert_eq!((width, height as usize), (88, 48 + 2 * card));
        let line = |y: usize, x: usize| &pixels[3 * (y * 88 + x)..][..120];
        let own = map.to_rgb();
        for (y, expected) in own.chunks_exact(120).enumerate().map(|(y, expected)| (y + card, expected)) {
            assert_eq!((line(y, 0), line(y, 48), line(y + card + 28, 0)), (expected, expected, expected));
        }
        assert_eq!(line(2 * card + 28, 48), [255; 120]);
    }

    /// One legend for all makes a sheet higher, however many maps explain the same marker; photos and a title do, too.
    #[test]
    fn a_sheet_of_photos_has_cards_and_one_legend() {
        let map = MapImage::new(Window::globe(50, 100).unwrap()).scale(2.0);
        let marked = map.clone().marker(Marker::new(LatLon::new(1.0, 2.0).unwrap()).legend("answer"));
        let height = |maps: &[MapImage], title: &str| {
            let (width, height, _) = crate::render::decode_png(&photos_png(maps, 2, title).unwrap());
            assert_eq!(width, 208);
            height
        };
        let plain = height(&[map.clone(), map.clone()], "");
        assert!((100..130).contains(&plain), "{plain}");
        assert_eq!(height(&[map.clone(), marked.clone()], ""), plain + 92);
        assert_eq!(height(&[marked.clone(), marked.clone()], "2 photos"), plain + 92 + 88);
        assert!(height(&[map.clone(), map.photo(vec![9; 12], 2)], "") > plain + 80);
    }

    #[test]
    fn odd_sheets_are_refused() {
        let (one, other) =
            (MapImage::new(Window::globe(20, 40).unwrap()), MapImage::new(Window::globe(10, 20).unwrap()));
        assert!(photos_png(&[], 2, "").is_err());
        assert!(photos_png(std::slice::from_ref(&one), 0, "").is_err());
        let message = photos_png(&[one, other], 2, "").unwrap_err().to_string();
        assert!(message.starts_with("2 maps in 2 columns"), "{message}");
    }
}
