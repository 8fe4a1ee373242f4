//! Whom a photo's facts are taken from.

use crate::tags::common::{bare, decoded, fixture};
use locdiff_io::tags::{GeoTag, Overwrite, PhotoFacts, has_location, tagged, write_sidecar};
use locdiff_shdd::sphere::LatLon;
use locdiff_vision::{Photo, PhotoLimits};
use std::fs;

fn packet(lat: f64, more: &str) -> String {
    format!(
        "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"><rdf:Description \
         rdf:about=\"\" xmlns:exif=\"http://ns.adobe.com/exif/1.0/\" exif:GPSLatitude=\"{lat},0N\" exif:GPSLongitude=\"5,0E\" {more}/>\
         </rdf:RDF></x:xmpmeta>"
    )
}

/// A JPEG file with a packet in a segment of its own.
fn jpeg_with(photo: &[u8], packet: &str) -> Vec<u8> {
    let body = [b"http://ns.adobe.com/xap/1.0/\0", packet.as_bytes()].concat();
    [&photo[..2], &[0xff, 0xe1], &(body.len() as u16 + 2).to_be_bytes(), &body, &photo[2..]].concat()
}

fn png_with(photo: &[u8], packet: &str) -> Vec<u8> {
    let body = [b"XML:com.adobe.xmp\0\0\0\0\0", packet.as_bytes()].concat();
    let chunk = [&(body.len() as u32).to_be_bytes(), &b"iTXt"[..], &body, &[0; 4]].concat();
    [&photo[..33], &chunk, &photo[33..]].concat()
}

fn webp_with(photo: &[u8], packet: &str) -> Vec<u8> {
    let padding = vec![0; packet.len() % 2];
    let mut file = [photo, b"XMP ", &(packet.len() as u32).to_le_bytes(), packet.as_bytes(), &padding].concat();
    let length = file.len() as u32 - 8;
    file[4..8].copy_from_slice(&length.to_le_bytes());
    file
}

fn lat(facts: &PhotoFacts) -> Option<f64> {
    facts.gps.map(LatLon::lat_deg)
}

#[test]
fn sidecars_before_xmp_before_exif() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jpg");
    let exif = fixture("gps.jpg");
    assert_eq!(lat(&PhotoFacts::read(&exif)), Some(10.5));
    let both = jpeg_with(&exif, &packet(41.0, "exif:DateTimeOriginal=\"2024-05-06T07:08:09\""));
    fs::write(&path, &both).unwrap();
    let read = || {
        let photo = Photo::open(&path, &PhotoLimits::default()).unwrap();
        (photo.gps().unwrap().lat_deg(), photo.taken().clone())
    };
    let (at, taken) = read();
    assert_eq!((at, taken.time.as_deref()), (41.0, Some("2024-05-06T07:08:09")));
    assert_eq!(taken.camera.as_deref(), Some("Example Camera 5"), "EXIF's");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("a.xmp", &packet(42.0, "exif:DateTimeOriginal=\"2024-05-06T07:08:09+02:00\""));
    assert_eq!((read().0, read().1.offset.as_deref()), (42.0, Some("+02:00")));
    write("a.jpg.xmp", &packet(43.0, ""));
    assert_eq!((read().0, read().1.offset.as_deref()), (43.0, Some("+02:00")), "what it leaves open stays");
    write("a.jpg.xmp", &packet(43.0, "exif:DateTimeOriginal=\"2025-01-01T00:00:00\""));
    assert_eq!(read().1.offset, None, "another time has another offset");
    write("a.jpg.xmp", "no XMP");
    write("a.xmp", &packet(0.0, "").replace("5,0E", "0,0E"));
    assert_eq!(read().0, 41.0, "0, 0 is no place");
}

#[test]
fn embedded_xmp_is_read_in_every_container() {
    let text = packet(41.0, "");
    for (name, photo) in [
        ("JPEG", jpeg_with(&bare("rgb.jpg"), &text)),
        ("PNG", png_with(&bare("rgb.png"), &text)),
        ("WebP", webp_with(&bare("lossy.webp"), &text)),
    ] {
        assert_eq!(lat(&PhotoFacts::read(&photo)), Some(41.0), "{name}");
        assert!(has_location(&photo), "{name}");
    }
    assert_eq!(decoded(&fixture("xmp_gps.jpg")).gps(), LatLon::new(10.5, 20.25).ok());
}

/// A camera without a fix writes 0, 0: that is in nobody's way.
#[test]
fn zero_is_replaced() {
    let zero = GeoTag::new(LatLon::new(0.0, 4e-7).unwrap());
    let there = GeoTag::new(LatLon::new(41.0, 5.0).unwrap());
    for name in ["rgb.jpg", "rgb.png", "lossy.webp", "lzw.tiff"] {
        let photo = tagged(&bare(name), name, &zero, Overwrite::NEVER).unwrap();
        assert!(!has_location(&photo) && decoded(&photo).gps().is_none(), "{name}");
        let photo = tagged(&photo, name, &there, Overwrite::NEVER).unwrap();
        assert_eq!(lat(&PhotoFacts::read(&photo)), Some(41.0), "{name}");
    }
    let folder = tempfile::tempdir().unwrap();
    let photo = folder.path().join("a.jpg");
    fs::write(&photo, bare("rgb.jpg")).unwrap();
    fs::write(folder.path().join("a.jpg.xmp"), packet(0.0, "").replace("5,0E", "0,0E")).unwrap();
    let sidecar = write_sidecar(&photo, &there, Overwrite::NEVER).unwrap();
    assert!(fs::read_to_string(sidecar).unwrap().matches("GPSLatitude>").count() == 2, "once, with its end");
    assert!(write_sidecar(&photo, &there, Overwrite::NEVER).unwrap_err().is_has_location());
}
