//! Files of every kind that hold a location in every way: found, removed, pixels as they were; exiftool agrees.
#![allow(
    clippy::case_sensitive_file_extension_comparisons,
    clippy::trivially_copy_pass_by_ref,
    reason = "names are the test's own"
)]

use crate::tags::common::{bare, decoded, fixture, skipped};
use img_parts::{Bytes, png::PngChunk, riff::RiffChunk, riff::RiffContent, webp::WebP};
use locdiff_io::tags::{GeoTag, LocationScrub, Overwrite, TagError, copy_paths, tagged};
use locdiff_shdd::sphere::LatLon;
use std::{fs, path::Path, process::Command};

fn xmp() -> Vec<u8> {
    let text = "<x:xmpmeta xmlns:x='adobe:ns:meta/'><r:RDF xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>\
        <r:Description r:about='' xmlns:e='http://ns.adobe.com/exif/1.0/' xmlns:p='http://ns.adobe.com/photoshop/1.0/' \
        xmlns:x='http://ns.adobe.com/xap/1.0/' e:GPSLatitude='55,42.17N' e:GPSLongitude='13,11.6E' p:City='Lund' x:Rating='5' \
        x:CreateDate='2024-05-12T13:45:10+02:00'><i:LocationShown xmlns:i='http://iptc.org/std/Iptc4xmpExt/2008-02-29/'><r:Bag>\
        <r:li r:parseType='Resource'><i:CountryName>Sweden</i:CountryName></r:li></r:Bag></i:LocationShown></r:Description></r:RDF>\
        </x:xmpmeta>";
    text.as_bytes().to_vec()
}

fn sized(kind: &[u8], body: &[u8]) -> Vec<u8> {
    [&(body.len() as u32 + 8).to_be_bytes(), kind, body].concat()
}

fn film(brand: &[u8], moov: &[u8], outer: &[u8]) -> Vec<u8> {
    let moov = sized(b"moov", &[&sized(b"mvhd", &[0; 100])[..], moov].concat());
    [&sized(b"ftyp", &[brand, b"\0\0\0\0"].concat())[..], &sized(b"mdat", &[7; 99]), &moov, outer].concat()
}

fn apple() -> Vec<u8> {
    let pairs = [("location.ISO6709", "-33.8568+151.2153+005.000/"), ("creationdate", "2024-05-12T23:45:10+1000")];
    let keys: Vec<u8> =
        pairs.iter().flat_map(|(key, _)| sized(b"mdta", format!("com.apple.quicktime.{key}").as_bytes())).collect();
    let value = |(k, (_, text)): (usize, &(&str, &str))| {
        let data = sized(b"data", &[&[0, 0, 0, 1, 0, 0, 0, 0], text.as_bytes()].concat());
        sized(&(k as u32 + 1).to_be_bytes(), &data)
    };
    let ilst: Vec<u8> = pairs.iter().enumerate().flat_map(value).collect();
    let keys = [&[0, 0, 0, 0, 0, 0, 0, 2], &keys[..]].concat();
    let handler = sized(b"hdlr", b"\0\0\0\0\0\0\0\0mdta\0\0\0\0\0\0\0\0\0\0\0\0\0");
    sized(b"meta", &[handler, sized(b"keys", &keys), sized(b"ilst", &ilst)].concat())
}

/// A little-endian structure of tags, types and values; after it `next`, to which its first directory's chain leads.
fn tiff(entries: &[(u16, u16, &[u8])], next: &[u8]) -> Vec<u8> {
    let mut values = 8 + 6 + 12 * entries.len();
    let (mut directory, mut after) = (vec![entries.len() as u8, 0], Vec::new());
    for (tag, kind, value) in entries {
        let count = value.len() as u32 / if *kind == 4 { 4 } else { 1 };
        directory.extend([&tag.to_le_bytes()[..], &kind.to_le_bytes(), &count.to_le_bytes()].concat());
        directory.extend(if value.len() > 4 { (values as u32).to_le_bytes() } else { value[..4].try_into().unwrap() });
        if value.len() > 4 {
            values += value.len();
            after.extend(*value);
        }
    }
    directory.extend(if next.is_empty() { [0; 4] } else { (values as u32).to_le_bytes() });
    [b"II*\0\x08\0\0\0", &directory[..], &after, next].concat()
}

fn segment(photo: &[u8], marker: u8, payload: &[u8]) -> Vec<u8> {
    [&[0xff, 0xd8, 0xff, marker], &(payload.len() as u16 + 2).to_be_bytes()[..], payload, &photo[2..]].concat()
}

fn chunk(photo: &[u8], kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let chunk = PngChunk::new(*kind, Bytes::copy_from_slice(data)).encoder().bytes();
    [&photo[..33], &chunk, &photo[33..]].concat()
}

fn iptc() -> Vec<u8> {
    let record = |set: u8, text: &str| [&[0x1c, 2, set, 0, text.len() as u8], text.as_bytes()].concat();
    let records = [record(5, "Title"), record(90, "Lund"), record(101, "Sweden"), record(60, "134510+0200")].concat();
    let size = (records.len() as u32).to_be_bytes();
    [&b"Photoshop 3.0\x008BIM\x04\x04\0\0"[..], &size, &records, &[0][..records.len() % 2]].concat()
}

/// Files, and which kinds of findings they have.
fn files() -> Vec<(String, Vec<u8>, &'static str)> {
    let tag = GeoTag::new(LatLon::new(55.7029, 13.1929).unwrap());
    let mut files = Vec::new();
    for name in "rgb.jpg rgb.png lossy.webp lossless.webp lzw.tiff turned.heic turned.avif".split(' ') {
        files.push((format!("exif-{name}"), tagged(&bare(name), name, &tag, Overwrite::FORCE).unwrap(), "gps"));
    }
    for name in ["camera.jpg", "camera.png", "camera.webp", "camera.tiff"] {
        files.push((name.to_owned(), tagged(&fixture(name), name, &tag, Overwrite::FORCE).unwrap(), "gps hidden"));
    }
    let mut add = |name: &str, file: Vec<u8>, kinds| files.push((name.to_owned(), file, kinds));
    let (jpeg, png) = (bare("rgb.jpg"), bare("rgb.png"));
    let all = "gps place-name time-zone";
    let head = b"http://ns.adobe.com/xap/1.0/\0";
    add("xmp.jpg", segment(&jpeg, 0xe1, &[head, &xmp()[..]].concat()), all);
    add("broken-xmp.jpg", segment(&jpeg, 0xe1, &[head, &xmp()[..500]].concat()), "hidden");
    add("xmp.png", chunk(&png, b"iTXt", &[b"XML:com.adobe.xmp\0\0\0\0\0", &xmp()[..]].concat()), all);
    let with_exif = tagged(&bare("lossless.webp"), "x", &tag, Overwrite::NEVER).unwrap();
    let mut webp = WebP::from_bytes(with_exif.into()).unwrap();
    webp.chunks_mut().push(RiffChunk::new(*b"XMP ", RiffContent::Data(xmp().into())));
    add("xmp.webp", webp.encoder().bytes().to_vec(), all);
    add("xmp.tif", tiff(&[(256, 4, &[1, 0, 0, 0]), (700, 1, &xmp())], b""), all);
    add("iptc.tif", tiff(&[(0x83bb, 7, &iptc()[26..]), (256, 4, &[1, 0, 0, 0])], b""), "place-name time-zone");
    add("iptc.jpg", segment(&jpeg, 0xed, &iptc()), "place-name time-zone");
    let times = [
        &[2, 0, 3, 0x90, 2, 0, 20, 0, 0, 0, 56, 0, 0, 0, 0x11, 0x90, 2, 0, 7, 0, 0, 0, 76, 0, 0, 0, 0, 0, 0, 0][..],
        b"2024:05:12 13:45:10\0+02:00\0",
    ];
    let exif = tiff(&[(0x8769, 4, &[26, 0, 0, 0])], &times.concat());
    add("zone.jpg", segment(&jpeg, 0xe1, &[b"Exif\0\0", &exif[..]].concat()), "time-zone");
    let small = fixture("gps.jpg");
    // The second directory stands at 26, the thumbnail behind it.
    let second =
        [&[2, 0, 1, 2, 4, 0, 1, 0, 0, 0, 56, 0, 0, 0, 2, 2, 4, 0, 1, 0, 0, 0][..], &(small.len() as u32).to_le_bytes()];
    let thumbnail = tiff(&[(0x112, 4, &[1, 0, 0, 0])], &[&second.concat()[..], &[0; 4], &small].concat());
    add("thumbnail.jpg", segment(&jpeg, 0xe1, &[b"Exif\0\0", &thumbnail[..]].concat()), "gps hidden");
    add("second.jpg", [&jpeg[..], &small].concat(), "gps hidden");
    add("gopro.jpg", segment(&jpeg, 0xe6, &[b"GoPro\0", &[0; 40][..], b"GPS5"].concat()), "hidden");
    let extended = [b"http://ns.adobe.com/xmp/extension/\0", &[b'0'; 40][..], &xmp()].concat();
    add("extended.jpg", segment(&jpeg, 0xe1, &extended), "hidden");
    add("profile.png", chunk(&png, b"zTXt", b"Raw profile type exif\0\0xyz"), "hidden");
    add("text.png", chunk(&png, b"tEXt", b"Location\0Lund"), "place-name");
    add("date.png", chunk(&png, b"tEXt", b"date:create\x002024-05-12T13:45:10+02:00"), "time-zone");
    let xyz = sized(b"udta", &sized(b"\xa9xyz", b"\0\x12\x15\xc7+48.8577+002.2950/"));
    add("motion.jpg", [&jpeg[..], &film(b"mp42", &xyz, b"")].concat(), "gps");
    add("xyz.mp4", film(b"mp42", &xyz, b""), "gps");
    let loci =
        [&[0, 0, 0, 0, 0x55, 0xc4], &b"Lima\0\0"[..], &[0xff, 0xb3, 0, 0, 0xff, 0xf4, 0, 0, 0, 0, 0, 0], b"earth\0\0"];
    add("loci.mp4", film(b"3gp4", &sized(b"udta", &sized(b"loci", &loci.concat())), b""), "gps");
    add("apple.mov", film(b"qt  ", &apple(), b""), "gps time-zone");
    add("udta.mov", film(b"qt  ", &sized(b"udta", &sized(b"XMP_", &xmp())), b""), all);
    let id = 0xbe7a_cfcb_97a9_42e8_9c71_9994_91e3_afac_u128.to_be_bytes();
    add("uuid.mp4", film(b"mp42", b"", &sized(b"uuid", &[&id, &xmp()[..]].concat())), all);
    add("maker.mp4", film(b"mp42", &sized(b"udta", &sized(b"GPMF", b"GPS5")), b""), "hidden");
    files
}

/// Tags by which exiftool says where a file of a folder was taken, behind the file's name, and how many files it read; `None` if it
/// is not installed.
fn exiftool(folder: &Path) -> Option<(Vec<String>, usize)> {
    let Ok(output) = Command::new("exiftool").args(["-j", "-n", "-a", "-ee", "-G1"]).arg(folder).output() else {
        skipped("exiftool is not installed: it did not look for locations in cleaned files");
        return None;
    };
    let read: Vec<serde_json::Map<String, serde_json::Value>> = serde_json::from_slice(&output.stdout).unwrap();
    let words = "gps latitude longitude city state country location offsettime timezone makernote thumbnail";
    let is_place = |key: &&String| words.split(' ').any(|word| key.to_lowercase().contains(word));
    let places = |file: &serde_json::Map<String, serde_json::Value>| {
        let keys: Vec<&str> = file.keys().filter(is_place).map(String::as_str).collect();
        (!keys.is_empty()).then(|| format!("{}: {}", file["SourceFile"], keys.join(" ")))
    };
    Some((read.iter().filter_map(places).collect(), read.len()))
}

#[test]
fn thirty_files_lose_their_location_and_keep_their_pixels() {
    let folder = tempfile::tempdir().unwrap();
    let (given, cleaned) = (folder.path().join("given"), folder.path().join("cleaned"));
    fs::create_dir(&given).unwrap();
    let files = files();
    for (name, file, kinds) in &files {
        let (path, copy) = (given.join(name), cleaned.join(name));
        fs::write(&path, file).unwrap();
        let scrub = LocationScrub::read(&path).unwrap();
        let mut found: Vec<&str> = scrub.findings.iter().map(|finding| finding.kind).collect();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.join(" "), *kinds, "{name}: {:?}", scrub.findings);
        let write = || scrub.write_clean(&path, &copy, Overwrite::NEVER, None);
        write().unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(matches!(write(), Err(TagError::Exists { .. })), "{name}");
        let clean = fs::read(&copy).unwrap();
        assert_eq!((LocationScrub::of(&clean).findings, &fs::read(&path).unwrap()), (Vec::new(), file), "{name}");
        assert!(clean.len() == file.len() || name.ends_with(".png"), "{name}");
        if [".jpg", ".png", ".webp", ".tiff"].iter().any(|end| name.ends_with(end)) {
            assert_eq!(decoded(&clean).rgb(), decoded(file).rgb(), "{name}");
        } else if name.ends_with(".mp4") || name.ends_with(".mov") {
            assert!(clean.windows(99).any(|pixels| pixels == [7; 99]), "{name}");
        }
    }
    let (Some((before, all)), Some((after, again))) = (exiftool(&given), exiftool(&cleaned)) else { return };
    assert!(all >= 30 && (all, again) == (files.len(), files.len()), "{all} {again}");
    assert!(before.len() >= 22, "{before:?}");
    assert_eq!(after, Vec::<String>::new());
}

#[test]
fn radii_follow_the_digits() {
    for (lat, km) in [("55,42N", 0.927), ("55,42.1N", 0.0927), ("55,42.17000N", 0.00927), ("55,42.170001N", 0.005)] {
        let packet = String::from_utf8(xmp()).unwrap().replace("55,42.17N", lat).replace("13,11.6E", "13,12E");
        let file = film(b"qt  ", &sized(b"udta", &sized(b"XMP_", packet.as_bytes())), b"");
        let radius_km = LocationScrub::of(&file).findings[0].radius_km.unwrap();
        assert!((radius_km / km - 1.0).abs() < 0.01, "{lat}: {radius_km}");
    }
}

#[test]
fn hostile_files_never_panic_and_what_is_cleaned_is_clean() {
    let cyclic = tiff(&[(0x8769, 4, &[8, 0, 0, 0]), (0x8825, 4, &[8, 0, 0, 0]), (0x14a, 4, &[8, 0, 0, 0])], b"");
    let huge = tiff(&[(0x927c, 7, &[0xff; 12]), (700, 1, &[b'<'; 40]), (0x111, 4, &[0xff; 8])], b"");
    let (mut tried, mut state) = (Vec::new(), 1_u32);
    for block in [cyclic, huge] {
        for at in 0..block.len() {
            let mut bad = block.clone();
            bad[at..].iter_mut().take(4).for_each(|byte| *byte = 0xff);
            tried.extend([segment(&bare("rgb.jpg"), 0xe1, &[b"Exif\0\0", &bad[..]].concat()), bad]);
        }
    }
    for (_, file, _) in files() {
        for k in 0..120 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let (mut bad, at) = (file.clone(), (state >> 8) as usize % file.len().min(3000));
            bad[at] = (state >> 16) as u8;
            bad.truncate(if k % 4 == 0 { at } else { file.len() });
            tried.push(bad);
        }
    }
    let cleaned = tried.iter().filter_map(|file| LocationScrub::of(file).cleaned(file, "x").ok());
    let clean = cleaned.filter(|clean| LocationScrub::of(clean).findings.is_empty()).count();
    assert!(clean > 1000, "{clean} of {}", tried.len());
}

#[test]
fn copies_keep_the_tree_and_raw_files_are_refused() {
    let paths = copy_paths(&[], &["a/x.jpg".into(), "a/sub/x.jpg".into()], Path::new("out"));
    assert_eq!(paths, ["out/x.jpg", "out/x-2.jpg"].map(Path::new));
    let raw = [&b"FUJIFILMCCD-RAW "[..], &[0; 99]].concat();
    let refused = LocationScrub::of(&raw).cleaned(&raw, "a.raf").unwrap_err().to_string();
    assert_eq!(refused, "a.raf is not cleaned: RAW files are never changed");
}
