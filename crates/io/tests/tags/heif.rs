//! HEIC and AVIF: the place goes into their EXIF item, and exiftool and libheif read the result.

use crate::tags::common::{bare, exiftool, skipped};
use locdiff_io::tags::{GeoTag, Overwrite, PhotoFacts, has_location, tagged};
use locdiff_shdd::sphere::LatLon;
use locdiff_vision::{Photo, PhotoLimits, VisionError};
use std::fs;

const FILES: [&str; 2] = ["turned.heic", "turned.avif"];

fn place() -> LatLon {
    LatLon::new(-33.8568, 151.2153).unwrap()
}

/// The same photo without EXIF data: its item is of a kind that nobody knows.
fn without_exif(photo: &[u8]) -> Vec<u8> {
    let mut bare = photo.to_vec();
    let at = photo.windows(6).position(|window| window == b"\0\0Exif").unwrap();
    bare[at + 2..at + 6].copy_from_slice(b"none");
    bare
}

/// The photo's pixels by libheif, where that is installed.
fn pixels(photo: &[u8]) -> Option<Vec<u8>> {
    match Photo::decode(photo, "photo", &PhotoLimits::default()) {
        Err(error @ (VisionError::NoLibheif { .. } | VisionError::NoHeifCodec { .. })) => {
            skipped(&format!("pixels of tagged HEIC and AVIF photos: {error}"));
            None
        }
        decoded => Some(decoded.unwrap().rgb().to_vec()),
    }
}

#[test]
fn the_place_reads_back_and_all_else_stays() {
    let folder = tempfile::tempdir().unwrap();
    let tag = GeoTag::new(place()).radius_km(12.0).area("in Sydney");
    for name in FILES {
        let located = bare(name);
        assert!(has_location(&located), "{name}");
        assert!(tagged(&located, name, &tag, Overwrite::NEVER).unwrap_err().is_has_location());
        for (photo, overwrite) in [(located.clone(), Overwrite::FORCE), (without_exif(&located), Overwrite::NEVER)] {
            let copy = tagged(&photo, name, &tag, overwrite).unwrap();
            let read = PhotoFacts::read(&copy).gps.unwrap();
            assert!((read.lat_deg() - place().lat_deg()).abs() < 1e-6, "{name}: {read}");
            let data = photo.windows(4).position(|window| window == b"mdat").unwrap() - 4;
            assert!(copy.ends_with(&photo[data..]), "{name}: the picture's bytes");
            if let (Some(before), Some(after)) = (pixels(&photo), pixels(&copy)) {
                assert!(before == after, "{name}: pixels");
            }
            let file = folder.path().join(name);
            fs::write(&file, &copy).unwrap();
            let Some(said) = exiftool(&file) else { continue };
            for (tag, wanted) in
                [("GPSLatitude", -33.8568), ("GPSLongitude", 151.2153), ("GPSHPositioningError", 12000.0)]
            {
                let number = said[tag].as_f64().unwrap_or_else(|| panic!("{name} {tag}: {said}"));
                assert!((number - wanted).abs() < 1e-6, "{name} {tag}: {number}");
            }
            assert_eq!(said["GPSAreaInformation"], "in Sydney (LocDiff estimate)", "{name}");
            assert!(said.get("Warning").is_none() && said.get("Error").is_none(), "{name}: {said}");
        }
    }
}

#[test]
fn bad_boxes_are_clear_errors() {
    let tag = GeoTag::new(place());
    for name in FILES {
        let photo = bare(name);
        for end in 0..photo.len() {
            let refused = tagged(&photo[..end], name, &tag, Overwrite::FORCE).unwrap_err().to_string();
            assert!(refused.contains(name) && !refused.contains('\n'), "{refused}");
        }
    }
}
