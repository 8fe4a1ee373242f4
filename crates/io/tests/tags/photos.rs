//! Tags written into real files and read back: by this project's own reader, by the crate `exif`, and as pixels.

use crate::tags::common::{bare, decoded, fixture};
use exif::{In, Reader, Tag, Value};
use locdiff_io::tags::{GeoTag, Overwrite, TagError, has_location, tagged, write_copy};
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon};
use proptest::prelude::*;
use std::{fs, io::Cursor, time::Duration, time::SystemTime};

const CAMERAS: [&str; 4] = ["camera.jpg", "camera.png", "camera.webp", "camera.tiff"];

fn beijing() -> GeoTag {
    GeoTag::new(LatLon::new(39.999, 116.275).unwrap()).radius_km(210.0).area("in Beijing, China")
}

fn gps(photo: &[u8]) -> Option<LatLon> {
    decoded(photo).gps()
}

fn pixels(photo: &[u8]) -> Vec<u8> {
    decoded(photo).rgb().to_vec()
}

/// The fixtures' writer leaves a fault in the structure, as many do; it must not matter.
fn fields_of(photo: &[u8]) -> exif::Exif {
    let read = Reader::new().continue_on_error(true).read_from_container(&mut Cursor::new(photo));
    read.or_else(|error| error.distill_partial_result(|_| {})).unwrap()
}

/// All fields but those that must change, as text.
fn other_fields(photo: &[u8]) -> Vec<String> {
    let exif = fields_of(photo);
    let is_gps = |tag: Tag| tag.context() == exif::Context::Gps;
    let others = exif.fields().filter(|field| !is_gps(field.tag));
    let mut fields: Vec<_> =
        others.map(|field| format!("{:?} {:?} {:?}", field.ifd_num, field.tag, field.value)).collect();
    fields.sort();
    fields
}

#[test]
fn the_place_reads_back_and_all_else_stays() {
    for name in CAMERAS {
        let photo = fixture(name);
        assert!(!has_location(&photo) && gps(&photo).is_none(), "{name}");
        let copy = tagged(&photo, name, &beijing(), Overwrite::NEVER).unwrap();
        let place = gps(&copy).unwrap();
        assert!((place.lat_deg() - 39.999).abs() < 1e-8 && (place.lon_deg() - 116.275).abs() < 1e-8, "{name}");
        assert_eq!(pixels(&copy), pixels(&photo), "{name}");
        let fields = other_fields(&photo);
        assert!(fields.len() >= 9 && fields.iter().any(|field| field.contains("37500")), "{name}: {fields:?}");
        assert_eq!(other_fields(&copy), fields, "{name}");
        assert!(has_location(&copy));
    }
}

#[test]
fn all_gps_tags_are_there() {
    let tag = GeoTag::new(LatLon::new(-33.5, -70.25).unwrap()).radius_km(0.1234).area("près de Santiago");
    for name in CAMERAS {
        let copy = tagged(&fixture(name), name, &tag, Overwrite::NEVER).unwrap();
        let exif = fields_of(&copy);
        let field = |tag| &exif.get_field(tag, In::PRIMARY).unwrap().value;
        let text = |tag| match field(tag) {
            Value::Undefined(bytes, _) => bytes.clone(),
            other => panic!("{other:?}"),
        };
        let side = |tag| exif.get_field(tag, In::PRIMARY).unwrap().display_value().to_string();
        assert_eq!([side(Tag::GPSLatitudeRef), side(Tag::GPSLongitudeRef)], ["S", "W"]);
        let Value::Rational(metres) = field(Tag::GPSHPositioningError) else { panic!() };
        assert_eq!((metres[0].num, metres[0].denom), (123, 1));
        assert!(exif.get_field(Tag::GPSProcessingMethod, In::PRIMARY).is_none(), "{name}: no word for estimates");
        let area = text(Tag::GPSAreaInformation);
        let unit = if exif.little_endian() { u16::from_le_bytes } else { u16::from_be_bytes };
        let units: Vec<u16> = area[8..].as_chunks().0.iter().map(|pair| unit(*pair)).collect();
        let said = "près de Santiago (LocDiff estimate)";
        assert_eq!((&area[..8], String::from_utf16(&units).unwrap().as_str()), (&b"UNICODE\0"[..], said));
        let by_hand = tagged(&fixture(name), name, &tag.clone().by_hand(true), Overwrite::NEVER).unwrap();
        let exif = fields_of(&by_hand);
        let Value::Undefined(method, _) = &exif.get_field(Tag::GPSProcessingMethod, In::PRIMARY).unwrap().value else {
            panic!()
        };
        assert_eq!(method, b"ASCII\0\0\0MANUAL", "{name}");
    }
}

/// In a JPEG all bytes but those of the EXIF segment are the same ones, also after the picture's end.
#[test]
fn a_jpeg_keeps_its_other_bytes() {
    let segment = |photo: &[u8]| {
        let at = photo.windows(6).position(|window| window == b"Exif\0\0").unwrap() - 4;
        (at, at + 2 + usize::from(u16::from_be_bytes([photo[at + 2], photo[at + 3]])))
    };
    let photo = fixture("camera.jpg");
    let copy = tagged(&photo, "x", &beijing(), Overwrite::NEVER).unwrap();
    let ((from, to), (new_from, new_to)) = (segment(&photo), segment(&copy));
    assert_eq!(photo[..from], copy[..new_from]);
    assert_eq!(photo[to..], copy[new_to..]);
    assert!(copy.ends_with(b"as of a motion photo"));
}

#[test]
fn photos_without_exif_get_it() {
    let names = "rgb.jpg grey.jpg progressive.jpg rgb.png palette.png lossy.webp lossless.webp rgba.webp lzw.tiff";
    for name in names.split(' ') {
        let photo = bare(name);
        let copy = tagged(&photo, name, &beijing(), Overwrite::NEVER).unwrap();
        assert!(gps(&copy).is_some(), "{name}");
        assert_eq!(pixels(&copy), pixels(&photo), "{name}");
    }
}

#[test]
fn an_old_place_is_kept_unless_forced() {
    let photo = fixture("gps.jpg");
    assert!(has_location(&photo));
    assert_eq!(gps(&photo), Some(LatLon::new(10.5, 20.25).unwrap()));
    let error = tagged(&photo, "gps.jpg", &beijing(), Overwrite::NEVER).unwrap_err();
    assert!(matches!(error, TagError::HasLocation { .. }) && error.to_string().contains("gps.jpg"));
    let copy = tagged(&photo, "gps.jpg", &beijing(), Overwrite::FORCE).unwrap();
    assert!((gps(&copy).unwrap().lat_deg() - 39.999).abs() < 1e-8);
    let exif = fields_of(&copy);
    assert!(exif.get_field(Tag::GPSAltitude, In::PRIMARY).is_none(), "the old place's altitude");
    assert_eq!(other_fields(&copy), other_fields(&photo));

    let photo = fixture("gps_time.jpg");
    let copy = tagged(&photo, "x", &beijing(), Overwrite::NEVER).unwrap();
    let exif = fields_of(&copy);
    assert!(exif.get_field(Tag::GPSDateStamp, In::PRIMARY).is_some(), "a time without a place stays");

    let photo = fixture("xmp_gps.jpg");
    assert!(has_location(&photo));
    let message = |overwrite| tagged(&photo, "x.jpg", &beijing(), overwrite).unwrap_err().to_string();
    assert!(message(Overwrite::NEVER).contains("already has a GPS tag"));
    assert!(message(Overwrite::FORCE).contains("XMP"));
}

#[test]
fn what_cannot_hold_a_tag_is_named() {
    for (name, part) in [("animated.gif", "not a JPEG"), ("rgb.bmp", "not a JPEG")] {
        let message = tagged(&bare(name), name, &beijing(), Overwrite::NEVER).unwrap_err().to_string();
        assert!(message.contains(part) && message.contains(name) && message.contains("sidecar"), "{message}");
    }
    let long = beijing().area(&"long ".repeat(14_000));
    let message = tagged(&fixture("camera.jpg"), "camera.jpg", &long, Overwrite::NEVER).unwrap_err().to_string();
    assert!(message.contains("no room"), "{message}");
}

/// Cut and damaged files give an error or a photo with a place, never a panic.
#[test]
fn damaged_photos_are_survived() {
    for name in CAMERAS.into_iter().chain(["gps.jpg", "xmp_gps.jpg"]) {
        let photo = fixture(name);
        for end in 0..photo.len() {
            let _ = tagged(&photo[..end], name, &beijing(), Overwrite::FORCE);
        }
        let mut state = 1u32;
        for _ in 0..4000 {
            let mut damaged = photo.clone();
            for _ in 0..3 {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let at = (state >> 8) as usize % damaged.len().min(900);
                damaged[at] = state as u8;
            }
            let _ = has_location(&damaged);
            let _ = tagged(&damaged, name, &beijing(), Overwrite::FORCE);
        }
    }
}

#[test]
fn a_copy_has_the_photos_times_and_permissions() {
    let folder = tempfile::tempdir().unwrap();
    let [original, copy] = ["a.jpg", "b.jpg"].map(|name| folder.path().join(name));
    fs::write(&original, fixture("camera.jpg")).unwrap();
    let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    fs::File::options().write(true).open(&original).unwrap().set_modified(then).unwrap();
    #[cfg(unix)]
    fs::set_permissions(&original, std::os::unix::fs::PermissionsExt::from_mode(0o640)).unwrap();
    write_copy(&original, &copy, &beijing(), Overwrite::NEVER).unwrap();
    let (old, new) = (fs::metadata(&original).unwrap(), fs::metadata(&copy).unwrap());
    assert_eq!((new.modified().unwrap(), new.permissions()), (then, old.permissions()));
}

proptest! {
    #[test]
    fn any_place_survives(lat in -90.0..=90.0f64, lon in -180.0..=180.0f64) {
        let place = LatLon::new(lat, lon).unwrap();
        let copy = tagged(&bare("rgb.png"), "x", &GeoTag::new(place), Overwrite::NEVER).unwrap();
        let back = gps(&copy).unwrap();
        prop_assert!(back.to_unit().angle_rad(place.to_unit()) * EARTH_RADIUS_KM < 1e-6);
    }
}
