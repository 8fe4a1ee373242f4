//! Resizing against Pillow and PyTorch.

use crate::common::{bytes, floats};
use locdiff_vision::resize::{ResizeFilter, half_pixel_bilinear, resize};
use locdiff_vision::{CentreCrop, CropRounding, Photo, Preprocessing, ResizeRule, VisionError};
use safetensors::SafeTensors;

fn size(name: &str) -> (u32, u32) {
    let (width, height) = name.rsplit_once('_').unwrap().1.split_once('x').unwrap();
    (width.parse().unwrap(), height.parse().unwrap())
}

#[test]
fn equals_pillow_to_the_bit_and_pytorch_to_rounding() {
    let contents = bytes("resize.safetensors");
    let file = SafeTensors::deserialize(&contents).unwrap();
    let photo = Photo::from_rgb(61, 47, file.tensor("input").unwrap().data().to_vec()).unwrap();
    let mut checked = 0;
    for name in file.names().into_iter().filter(|&name| name != "input") {
        let (width, height) = size(name);
        if name.starts_with("half_pixel") {
            let got = half_pixel_bilinear(&photo, width, height);
            let expected = floats(&file, name);
            assert_eq!(got.len(), expected.len());
            assert!(got.iter().zip(&expected).all(|(g, e)| (g - e).abs() < 1e-3), "{name}");
        } else {
            let filter = if name.starts_with("bicubic") { ResizeFilter::Bicubic } else { ResizeFilter::Bilinear };
            let got = resize(&photo, width, height, filter).unwrap();
            assert!(got.rgb() == file.tensor(name).unwrap().data(), "{name}");
        }
        checked += 1;
    }
    assert_eq!(checked, 28);
}

/// The middle 21 × 21 pixels after the shorter side became so many.
fn to_21(side: u32) -> Preprocessing {
    Preprocessing {
        resize: ResizeRule::ShortSide(side),
        filter: ResizeFilter::Bicubic,
        crop: Some(CentreCrop { width: 21, height: 21, rounding: CropRounding::Even }),
        input_side: 21,
        scale: 1.0,
        mean: [0.0; 3],
        std: [1.0; 3],
    }
}

#[test]
fn the_short_side_decides_and_the_crop_is_central() {
    let photo = |width: u32, height: u32| {
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| [x as u8, y as u8, 0]));
        Photo::from_rgb(width, height, pixels.flatten().collect()).unwrap()
    };
    // Width and height after resizing, and where the crop begins: half a margin, rounded to even as torchvision's round() does.
    let cases = [
        ((64, 43), (35, 24), (7, 2)),
        ((43, 64), (24, 35), (2, 7)),
        ((20, 90), (24, 108), (2, 44)),
        ((24, 24), (24, 24), (2, 2)),
    ];
    for ((width, height), (to_width, to_height), (left, top)) in cases {
        let photo = photo(width, height);
        let whole = resize(&photo, to_width, to_height, ResizeFilter::Bicubic).unwrap();
        let rows = whole.rgb().chunks_exact(3 * to_width as usize).skip(top).take(21);
        let steps: Vec<f32> =
            rows.flat_map(|row| &row[3 * left..3 * (left + 21)]).map(|&byte| f32::from(byte)).collect();
        assert_eq!(to_21(24).apply(&photo).unwrap(), steps);
    }
    assert!(matches!(resize(&photo(9, 20), 0, 10, ResizeFilter::Bicubic), Err(VisionError::PixelCount { .. })));
    assert!(matches!(to_21(240).apply(&photo(60000, 1)), Err(VisionError::TooThin { .. })));
}
