//! Resizing against Pillow and PyTorch.

use crate::common::{bytes, floats};
use locdiff_vision::resize::{ResizeFilter, centre_crop, half_pixel_bilinear, resize, resize_short_side};
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

#[test]
fn the_short_side_decides_and_the_crop_is_central() {
    let photo = |width: u32, height: u32| {
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| [x as u8, y as u8, 0]));
        Photo::from_rgb(width, height, pixels.flatten().collect()).unwrap()
    };
    let small = resize_short_side(&photo(64, 43), 24, ResizeFilter::Bicubic).unwrap();
    assert_eq!((small.width(), small.height()), (35, 24));
    let small = resize_short_side(&photo(43, 64), 24, ResizeFilter::Bicubic).unwrap();
    assert_eq!((small.width(), small.height()), (24, 35));
    // Margins of 5 and 3: torchvision's round() gives 2 and 2.
    let crop = centre_crop(&photo(15, 13), 10).unwrap();
    assert_eq!(crop.rgb()[..6], [2, 2, 0, 3, 2, 0]);
    for (width, height) in [(64, 43), (43, 64), (20, 90), (24, 24), (10, 7)] {
        let photo = photo(width, height);
        let steps = centre_crop(&resize_short_side(&photo, 24, ResizeFilter::Bicubic).unwrap(), 21).unwrap();
        let at_once = Preprocessing {
            resize: ResizeRule::ShortSide(24),
            filter: ResizeFilter::Bicubic,
            crop: Some(CentreCrop { width: 21, height: 21, rounding: CropRounding::Even }),
            input_side: 21,
            scale: 1.0,
            mean: [0.0; 3],
            std: [1.0; 3],
        };
        let steps: Vec<f32> = steps.rgb().iter().map(|&byte| f32::from(byte)).collect();
        assert_eq!(at_once.apply(&photo).unwrap(), steps);
    }
    assert!(matches!(centre_crop(&photo(9, 20), 10), Err(VisionError::PixelCount { .. })));
    assert!(matches!(resize(&photo(9, 20), 0, 10, ResizeFilter::Bicubic), Err(VisionError::PixelCount { .. })));
    let thin = resize_short_side(&photo(60000, 1), 240, ResizeFilter::Bicubic);
    assert!(matches!(thin, Err(VisionError::TooThin { .. })));
}
