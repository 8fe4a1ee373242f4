//! HEIC and AVIF with the system's libheif, and without.
#![cfg(feature = "heif")]

use crate::common::{fixture, skipped};
use locdiff_vision::{Photo, PhotoLimits, VisionError};
use safetensors::SafeTensors;
use std::fs;

/// Whether the library is there; says so where it is not.
fn opened(name: &str, limits: &PhotoLimits) -> Option<Result<Photo, VisionError>> {
    match Photo::open(&fixture(name), limits) {
        Err(error @ (VisionError::NoLibheif { .. } | VisionError::NoHeifCodec { .. })) => {
            skipped(&format!("{name}: {error}"));
            None
        }
        other => Some(other),
    }
}

#[test]
fn photos_are_upright_and_say_where() {
    let expected = fs::read(fixture("heif.safetensors")).unwrap();
    let expected = SafeTensors::deserialize(&expected).unwrap();
    for end in ["heic", "avif"] {
        let Some(photo) = opened(&format!("turned.{end}"), &PhotoLimits::default()) else { continue };
        let photo = photo.unwrap();
        assert_eq!((photo.width(), photo.height()), (64, 96), "turned by the container alone");
        let pixels = expected.tensor(end).unwrap();
        assert_eq!(pixels.shape(), [96, 64, 3]);
        // Versions of the library round colours differently.
        let off = photo.rgb().iter().zip(pixels.data()).map(|(a, b)| u32::from(a.abs_diff(*b)));
        let mean = f64::from(off.sum::<u32>()) / pixels.data().len() as f64;
        assert!(mean < 3.0, "{end}: {mean}");
        let place = photo.gps().unwrap();
        assert!((place.lat_deg() - (39.0 + 59.5 / 60.0)).abs() < 1e-6, "{place}");
        assert!((place.lon_deg() - (116.0 + 16.5 / 60.0)).abs() < 1e-6, "{place}");
    }
}

#[test]
fn limits_hold_before_decoding() {
    let limits = PhotoLimits { max_pixels: 6000, ..PhotoLimits::default() };
    for name in ["turned.heic", "turned.avif"] {
        let Some(refused) = opened(name, &limits) else { continue };
        assert!(matches!(refused, Err(VisionError::TooManyPixels { .. })), "{refused:?}");
    }
    let limits = PhotoLimits { max_bytes: 10_000, ..PhotoLimits::default() };
    let Some(refused) = opened("turned.heic", &limits) else { return };
    assert!(matches!(refused, Err(VisionError::TooManyBytes { .. })), "{refused:?}");
}

#[test]
fn cut_and_damaged_files_are_errors() {
    for name in ["turned.heic", "turned.avif"] {
        if opened(name, &PhotoLimits::default()).is_none() {
            continue;
        }
        let whole = fs::read(fixture(name)).unwrap();
        for end in (32..whole.len() - 1).step_by(17) {
            let _ = Photo::decode(&whole[..end], name, &PhotoLimits::default());
        }
        let cut = Photo::decode(&whole[..whole.len() / 2], name, &PhotoLimits::default());
        let message = cut.unwrap_err().to_string();
        assert!(message.contains(name) && message.contains("again"), "{message}");
        for at in 12..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x55;
            let _ = Photo::decode(&damaged, name, &PhotoLimits { max_pixels: 100_000, max_bytes: 1 << 20 });
        }
    }
}
