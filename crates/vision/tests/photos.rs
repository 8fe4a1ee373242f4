//! Photos against Pillow, and files that are not what they should be.

use crate::common::{bytes, fixture};
use locdiff_vision::{Photo, PhotoLimits, VisionError};
use safetensors::SafeTensors;

fn decode(contents: &[u8]) -> Result<Photo, VisionError> {
    Photo::decode(contents, "photo", &PhotoLimits::default())
}

#[test]
fn every_kind_of_picture_has_pillows_pixels() {
    let contents = bytes("photos.safetensors");
    let expected = SafeTensors::deserialize(&contents).unwrap();
    assert_eq!(expected.len(), 28);
    for (name, tensor) in expected.iter() {
        let (photo, worst, average) = compared(name, tensor.data());
        let shape = [photo.height() as usize, photo.width() as usize, 3];
        assert_eq!(shape, tensor.shape(), "{name}");
        // Lossless files are exact; decoders of lossy ones round differently.
        let lossy =
            matches!(name.rsplit_once('.'), Some((_, "jpg"))) || name == "lossy.webp" || name.starts_with("cmyk");
        let (most, mean) = if lossy { (6, 1.0) } else { (0, 0.0) };
        assert!(worst <= most && average <= mean, "{name}: worst {worst}, mean {average}");
    }
}

/// A photo, and how far its bytes are from the expected ones: at most, and in the mean.
fn compared(name: &str, expected: &[u8]) -> (Photo, u8, f64) {
    let photo = Photo::open(&fixture(name), &PhotoLimits::default()).unwrap();
    let differences = || photo.rgb().iter().zip(expected).map(|(a, b)| a.abs_diff(*b));
    let mean = differences().map(f64::from).sum::<f64>() / expected.len() as f64;
    let worst = differences().max().unwrap();
    (photo, worst, mean)
}

#[test]
fn profiles_are_brought_to_srgb_as_little_cms_does() {
    let contents = bytes("profiles.safetensors");
    let expected = SafeTensors::deserialize(&contents).unwrap();
    assert_eq!(expected.len(), 7);
    for (name, tensor) in expected.iter() {
        let (_, worst, mean) = compared(name, tensor.data());
        println!("{name}: worst {worst}, mean {mean:.3}");
        // sRGB and damaged profiles change nothing; two colour engines round differently, two JPEG decoders more so.
        let most = match name {
            "profile_srgb.png" | "profile_damaged.png" => 0,
            "profile_adobe.jpg" => 6,
            _ => 2,
        };
        assert!(worst <= most && mean <= 1.0, "{name}: worst {worst}, mean {mean}");
    }
}

#[test]
fn the_place_in_a_photo_is_reported() {
    let place = |name: &str| Photo::open(&fixture(name), &PhotoLimits::default()).unwrap().gps();
    let found = place("turned_6.jpg").unwrap();
    assert!((found.lat_deg() + (33.0 + 51.0 / 60.0 + 24.84 / 3600.0)).abs() < 1e-9);
    assert!((found.lon_deg() + (151.0 + 12.0 / 60.0 + 54.0 / 3600.0)).abs() < 1e-9);
    assert_eq!(place("turned_5.jpg"), None);
    assert_eq!(place("lzw.tiff"), None);
}

#[test]
fn bad_files_get_one_line_that_names_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("holiday.jpg");
    let open = || Photo::open(&path, &PhotoLimits::default()).unwrap_err();
    let check = |error: &VisionError, words: &str| {
        let message = error.to_string();
        assert!(message.contains("holiday.jpg") && message.contains(words), "{message}");
        assert!(!message.contains('\n'), "{message}");
    };
    check(&open(), "check the path");
    std::fs::write(&path, "<html>404</html>").unwrap();
    check(&open(), "not a JPEG, PNG, WebP, TIFF, GIF, BMP, HEIC, AVIF or RAW");
    for (brands, kind) in [("heicmif1", "HEIC"), ("mif1msf1avif", "AVIF"), ("avis", "AVIF")] {
        let mut start = (brands.len() as u32 + 8).to_be_bytes().to_vec();
        start.extend([b"ftyp", brands.as_bytes(), b"\0\0\x02\0meta"].concat());
        std::fs::write(&path, start).unwrap();
        // Without the library it is named; with it the file is damaged.
        let message = open().to_string();
        let named = message.contains(&format!("is {kind}, which needs the library libheif"));
        assert!(named || message.contains("again"), "{message}");
    }
}

#[test]
fn a_picture_above_the_limits_is_refused_with_its_size() {
    let message = decode(&locdiff_testing::fixture_bytes("hostile/bomb.png")).unwrap_err().to_string();
    assert!(message.contains("30000×30000") && message.contains("100000000"), "{message}");
    let tight = PhotoLimits { max_pixels: 24 * 17 - 1, ..PhotoLimits::default() };
    for name in ["rgb.jpg", "rgb.png", "lossy.webp", "lzw.tiff", "animated.gif", "rgb.bmp"] {
        let error = Photo::open(&fixture(name), &tight).unwrap_err();
        assert!(matches!(error, VisionError::TooManyPixels { width: 24, height: 17, .. }), "{error}");
    }
    let tight = PhotoLimits { max_bytes: 1223, ..PhotoLimits::default() };
    for (name, size) in [("rgb.png", 1224), ("china.jpg", 196_653)] {
        let error = Photo::open(&fixture(name), &tight).unwrap_err();
        assert!(matches!(error, VisionError::TooManyBytes { bytes, .. } if bytes == size), "{error}");
    }
}

/// Bytes changed at random and files cut at random: an error or a picture, never a panic, never above the limit.
#[test]
fn damaged_files_never_panic() {
    let limits = PhotoLimits { max_pixels: 100_000, max_bytes: 1 << 20 };
    let mut state = 1_u32;
    let mut random = |below: usize| {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        (state >> 8) as usize % below
    };
    let contents = bytes("photos.safetensors");
    let names = SafeTensors::deserialize(&contents).unwrap();
    let mut names: Vec<_> = names.names().into_iter().map(str::to_owned).collect();
    names.sort();
    for name in names {
        let whole = bytes(&name);
        for round in 0..300 {
            let mut damaged = whole.clone();
            for _ in 0..=random(4) {
                let at = random(damaged.len());
                damaged[at] = random(256) as u8;
            }
            if round % 4 == 0 {
                damaged.truncate(random(whole.len()));
            }
            if let Ok(photo) = Photo::decode(&damaged, &name, &limits) {
                let pixels = u64::from(photo.width()) * u64::from(photo.height());
                assert!(pixels <= limits.max_pixels && photo.rgb().len() as u64 == 3 * pixels);
            }
        }
    }
}
