//! Several maps as one picture.

use super::canvas::Canvas;
use super::colour::Colour;
use super::legend::{draw_credit, draw_legend, draw_title, legend_height};
use super::{MapImage, encode_png};
use crate::MapError;

/// Pixels between maps.
const GAP: usize = 8;
/// Room for a title above the maps, in points.
const TITLE: f64 = 44.0;

/// Maps of one size in a grid, as one PNG. Fails if there are no maps, they differ in size, or `columns` is 0.
pub fn sheet_png(images: &[MapImage], columns: usize) -> Result<Vec<u8>, MapError> {
    sheet(images, columns, None)
}

/// Maps as [`sheet_png`] puts them together, with a title above them and the legend of the maps below, once for all.
/// Fails as that does.
///
/// ```
/// use locdiff_map::{MapImage, Window, photos_png};
/// let map = MapImage::new(Window::globe(90, 180)?).scale(2.0);
/// assert_eq!(&photos_png(&[map.clone(), map], 2, "2 photos")?[1..4], b"PNG");
/// # Ok::<(), locdiff_map::MapError>(())
/// ```
pub fn photos_png(images: &[MapImage], columns: usize, title: &str) -> Result<Vec<u8>, MapError> {
    sheet(images, columns, Some(title))
}

fn sheet(images: &[MapImage], columns: usize, title: Option<&str>) -> Result<Vec<u8>, MapError> {
    let sizes: Vec<(usize, usize)> = images.iter().map(|image| (image.window.columns(), image.window.rows())).collect();
    let Some(&(width, height)) = sizes.first().filter(|size| columns > 0 && sizes.iter().all(|s| s == *size)) else {
        return Err(MapError::Sheet { maps: images.len(), columns });
    };
    let columns = columns.min(images.len());
    let rows = images.len().div_ceil(columns);
    let scale = images[0].scale;
    let sheet_width = columns * (width + GAP) - GAP;
    // What the markers of any map mean.
    let mut legend = Vec::new();
    for item in images.iter().filter(|_| title.is_some()).flat_map(MapImage::legend) {
        if !legend.contains(&item) {
            legend.push(item);
        }
    }
    let limit = sheet_width as f64 / scale - 40.0;
    let above = title.map_or(0, |_| (scale * TITLE) as usize);
    let below = (scale * legend_height(&legend, limit)) as usize;
    let mut canvas = Canvas::new(sheet_width, above + rows * (height + GAP) - GAP + below, scale, Colour::WHITE);
    for (index, image) in images.iter().enumerate() {
        let corner = [index % columns * (width + GAP), above + index / columns * (height + GAP)];
        let [left, top, right, bottom] = [corner[0], corner[1], corner[0] + width, corner[1] + height];
        let map = MapImage { has_legend: title.is_none(), ..image.clone() };
        canvas.picture((&map.to_rgb(), width), [left, top, right, bottom].map(|pixel| pixel as f64 / scale));
    }
    draw_title(&mut canvas, title.unwrap_or_default(), sheet_width as f64 / scale);
    if draw_legend(&mut canvas, &legend, limit).is_some() {
        draw_credit(&mut canvas);
    }
    Ok(encode_png(canvas.width, canvas.height, &canvas.bytes(), None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Marker, Window};
    use locdiff_shdd::sphere::LatLon;

    #[test]
    fn maps_lie_where_they_should() {
        let map = MapImage::new(Window::globe(20, 40).unwrap());
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

    /// The title and one legend for all make a sheet higher, however many maps explain the same marker.
    #[test]
    fn a_sheet_of_photos_has_one_legend() {
        let map = MapImage::new(Window::globe(50, 100).unwrap()).scale(2.0);
        let marked = map.clone().marker(Marker::new(LatLon::new(1.0, 2.0).unwrap()).legend("answer"));
        let size = |maps: &[MapImage]| {
            let (width, height, _) = crate::render::decode_png(&photos_png(maps, 2, "photos").unwrap());
            (width, height)
        };
        let (plain, one, both) =
            (size(&[map.clone(), map.clone()]), size(&[map, marked.clone()]), size(&[marked.clone(), marked]));
        assert_eq!((plain, one), ((208, 50 + 2 * TITLE as u32), both));
        assert!(one.1 > plain.1 + 60 && one.1 < plain.1 + 120, "{one:?}");
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
