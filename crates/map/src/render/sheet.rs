//! Several maps as one picture.

use super::{MapImage, encode_png};
use crate::MapError;

/// Pixels between maps.
const GAP: usize = 8;
const WHITE: u8 = 255;

/// Maps of one size in a grid, as one PNG. Fails if there are no maps, they differ in size, or `columns` is 0.
pub fn sheet_png(images: &[MapImage], columns: usize) -> Result<Vec<u8>, MapError> {
    let sizes: Vec<(usize, usize)> = images.iter().map(|image| (image.window.columns(), image.window.rows())).collect();
    let Some(&(width, height)) = sizes.first().filter(|size| columns > 0 && sizes.iter().all(|s| s == *size)) else {
        return Err(MapError::Sheet { maps: images.len(), columns });
    };
    let columns = columns.min(images.len());
    let rows = images.len().div_ceil(columns);
    let sheet_width = columns * (width + GAP) - GAP;
    let sheet_height = rows * (height + GAP) - GAP;
    let mut pixels = vec![WHITE; 3 * sheet_width * sheet_height];
    for (index, image) in images.iter().enumerate() {
        let (left, top) = (index % columns * (width + GAP), index / columns * (height + GAP));
        for (y, line) in image.to_rgb().chunks_exact(3 * width).enumerate() {
            pixels[3 * ((top + y) * sheet_width + left)..][..3 * width].copy_from_slice(line);
        }
    }
    Ok(encode_png(sheet_width, sheet_height, &pixels, None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Window;

    #[test]
    fn maps_lie_where_they_should() {
        let map = MapImage::new(Window::globe(20, 40).unwrap()).graticule(0.0);
        let png = sheet_png(&[map.clone(), map.clone(), map.clone()], 2).unwrap();
        let (width, height, pixels) = crate::render::decode_png(&png);
        assert_eq!((width, height), (88, 48));
        let line = |y: usize, x: usize| &pixels[3 * (y * 88 + x)..][..120];
        let own = map.to_rgb();
        for (y, expected) in own.chunks_exact(120).enumerate() {
            assert_eq!((line(y, 0), line(y, 48), line(y + 28, 0)), (expected, expected, expected));
        }
        assert_eq!(line(28, 48), [255; 120]);
    }

    #[test]
    fn odd_sheets_are_refused() {
        let (one, other) =
            (MapImage::new(Window::globe(20, 40).unwrap()), MapImage::new(Window::globe(10, 20).unwrap()));
        assert!(sheet_png(&[], 2).is_err());
        assert!(sheet_png(std::slice::from_ref(&one), 0).is_err());
        let message = sheet_png(&[one, other], 2).unwrap_err().to_string();
        assert!(message.starts_with("2 maps in 2 columns"), "{message}");
    }
}
