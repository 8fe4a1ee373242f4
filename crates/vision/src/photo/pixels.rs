//! Pixels of every kind as RGB bytes, and turned upright. `image` can do both; it is compiled without optimisation (see the release profile),
//! since all else that we use of it is generic and compiled here.

use image::{DynamicImage, RgbImage, metadata::Orientation};

/// RGB bytes as Pillow's `convert("RGB")` makes them: alpha is dropped, 16-bit samples keep their high byte.
pub(super) fn to_rgb(decoded: DynamicImage) -> RgbImage {
    let (width, height) = (decoded.width(), decoded.height());
    let high = |value: u16| (value >> 8) as u8;
    let bytes = match decoded {
        DynamicImage::ImageRgb8(rgb) => return rgb,
        DynamicImage::ImageLuma8(image) => each(image.as_raw(), |[grey]| [grey; 3]),
        DynamicImage::ImageLumaA8(image) => each(image.as_raw(), |[grey, _]| [grey; 3]),
        DynamicImage::ImageRgba8(image) => each(image.as_raw(), |[r, g, b, _]| [r, g, b]),
        DynamicImage::ImageLuma16(image) => each(image.as_raw(), |[grey]| [high(grey); 3]),
        DynamicImage::ImageLumaA16(image) => each(image.as_raw(), |[grey, _]| [high(grey); 3]),
        DynamicImage::ImageRgb16(image) => each(image.as_raw(), |[r, g, b]| [r, g, b].map(high)),
        DynamicImage::ImageRgba16(image) => each(image.as_raw(), |[r, g, b, _]| [r, g, b].map(high)),
        other => return other.into_rgb8(),
    };
    RgbImage::from_raw(width, height, bytes).expect("three bytes a pixel")
}

fn each<T: Copy, const N: usize>(samples: &[T], rgb: impl Fn([T; N]) -> [u8; 3]) -> Vec<u8> {
    let pixels = samples.as_chunks::<N>().0;
    let mut bytes = vec![0; 3 * pixels.len()];
    bytes.as_chunks_mut::<3>().0.iter_mut().zip(pixels).for_each(|(to, from)| *to = rgb(*from));
    bytes
}

/// The picture as its EXIF orientation wants it seen: width, height, bytes.
pub(super) fn upright(picture: RgbImage, orientation: Orientation) -> (u32, u32, Vec<u8>) {
    let (width, height) = picture.dimensions();
    let (w, h) = (width as usize, height as usize);
    let rgb = picture.into_raw();
    // Where the pixel at (x, y) comes from.
    match orientation {
        Orientation::NoTransforms => (width, height, rgb),
        Orientation::FlipHorizontal => (width, height, turned(&rgb, w, [w, h], |x, y| (w - 1 - x, y))),
        Orientation::FlipVertical => (width, height, turned(&rgb, w, [w, h], |x, y| (x, h - 1 - y))),
        Orientation::Rotate180 => (width, height, turned(&rgb, w, [w, h], |x, y| (w - 1 - x, h - 1 - y))),
        Orientation::Rotate90 => (height, width, turned(&rgb, w, [h, w], |x, y| (y, h - 1 - x))),
        Orientation::Rotate270 => (height, width, turned(&rgb, w, [h, w], |x, y| (w - 1 - y, x))),
        Orientation::Rotate90FlipH => (height, width, turned(&rgb, w, [h, w], |x, y| (y, x))),
        Orientation::Rotate270FlipH => (height, width, turned(&rgb, w, [h, w], |x, y| (w - 1 - y, h - 1 - x))),
    }
}

/// Pixels of a picture `row` wide in another order, in squares whose rows and columns lie in the caches.
fn turned<F: Fn(usize, usize) -> (usize, usize)>(rgb: &[u8], row: usize, size: [usize; 2], from: F) -> Vec<u8> {
    let [width, height] = size;
    const SIDE: usize = 32;
    let source = rgb.as_chunks::<3>().0;
    let mut bytes = vec![0; rgb.len()];
    let target = bytes.as_chunks_mut::<3>().0;
    for top in (0..height).step_by(SIDE) {
        for left in (0..width).step_by(SIDE) {
            for y in top..height.min(top + SIDE) {
                for x in left..width.min(left + SIDE) {
                    let (from_x, from_y) = from(x, y);
                    target[y * width + x] = source[from_y * row + from_x];
                }
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every orientation and kind of pixel against `image`'s own, on sides that are no multiple of the squares.
    #[test]
    fn as_image_does_it() {
        let (width, height) = (67, 41);
        let sample = |i: u32| (i.wrapping_mul(2_654_435_761) >> 16) as u16;
        let samples = (0..width * height * 4).map(sample).collect();
        let wide = image::ImageBuffer::<image::Rgba<u16>, _>::from_raw(width, height, samples);
        let picture = DynamicImage::ImageRgba16(wide.unwrap());
        for kind in [
            DynamicImage::ImageRgb8(picture.to_rgb8()),
            DynamicImage::ImageRgba8(picture.to_rgba8()),
            DynamicImage::ImageLuma8(picture.to_luma8()),
            DynamicImage::ImageLumaA8(picture.to_luma_alpha8()),
        ] {
            assert_eq!(to_rgb(kind.clone()), kind.into_rgb8());
        }
        for kind in [DynamicImage::ImageRgb16(picture.to_rgb16()), picture.clone()] {
            let bytes: Vec<u8> = kind.to_rgb16().iter().map(|value| (value >> 8) as u8).collect();
            assert_eq!(to_rgb(kind).into_raw(), bytes);
        }
        let grey =
            [DynamicImage::ImageLuma16(picture.to_luma16()), DynamicImage::ImageLumaA16(picture.to_luma_alpha16())];
        for kind in grey {
            let bytes: Vec<u8> = kind.to_luma16().iter().flat_map(|value| [(value >> 8) as u8; 3]).collect();
            assert_eq!(to_rgb(kind).into_raw(), bytes);
        }
        for exif in 1..=8 {
            let orientation = Orientation::from_exif(exif).unwrap();
            let mut expected = DynamicImage::ImageRgb8(picture.to_rgb8());
            expected.apply_orientation(orientation);
            let (width, height, bytes) = upright(picture.to_rgb8(), orientation);
            assert_eq!((width, height), (expected.width(), expected.height()), "{orientation:?}");
            assert!(bytes == expected.into_rgb8().into_raw(), "{orientation:?}");
        }
    }
}
