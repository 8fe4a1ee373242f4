//! RAW files of each make, made on the spot: their previews are decoded upright, and they say where and when.

use crate::tags::common::{bare, decoded, exiftool, fixture};
use locdiff_io::tags::write_sidecar;
use locdiff_io::tags::{GeoTag, Overwrite, PhotoFacts, TagError, raw_kind, raw_preview, sidecar_only, tagged};
use locdiff_shdd::sphere::LatLon;
use std::{fs, path::Path};

/// A TIFF structure that is built from its end: values first, then the directory that names them.
struct Builder(Vec<u8>);

type Entry = (u16, u16, Vec<u8>);

fn short(tag: u16, value: u16) -> Entry {
    (tag, 3, value.to_le_bytes().to_vec())
}

fn longs(tag: u16, values: &[u32]) -> Entry {
    (tag, 4, values.iter().flat_map(|value| value.to_le_bytes()).collect())
}

fn ascii(tag: u16, text: &str) -> Entry {
    (tag, 2, [text.as_bytes(), b"\0"].concat())
}

fn rationals(tag: u16, values: [u32; 3]) -> Entry {
    (tag, 5, values.iter().flat_map(|value| [value.to_le_bytes(), 1_u32.to_le_bytes()].concat()).collect())
}

fn gps_entries() -> Vec<Entry> {
    vec![ascii(1, "N"), rationals(2, [10, 30, 0]), ascii(3, "E"), rationals(4, [20, 15, 0])]
}

fn main_entries(maker: &str) -> Vec<Entry> {
    vec![ascii(0x10f, maker), ascii(0x110, "R 5"), short(0x112, 6)]
}

impl Builder {
    fn new(head: &[u8]) -> Self {
        Self(head.to_vec())
    }

    fn data(&mut self, bytes: &[u8]) -> u32 {
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self.0.extend(bytes);
        (self.0.len() - bytes.len()) as u32
    }

    fn directory(&mut self, mut entries: Vec<Entry>, next: u32) -> u32 {
        entries.sort_by_key(|entry| entry.0);
        let mut bytes = (entries.len() as u16).to_le_bytes().to_vec();
        for (tag, kind, value) in entries {
            let count = value.len() / [1, 1, 1, 2, 4, 8, 1, 1][usize::from(kind)];
            bytes.extend([&tag.to_le_bytes()[..], &kind.to_le_bytes(), &(count as u32).to_le_bytes()].concat());
            let held = if value.len() > 4 { self.data(&value).to_le_bytes().to_vec() } else { value };
            bytes.extend([&held[..], &[0; 4]].concat()[..4].to_vec());
        }
        bytes.extend(next.to_le_bytes());
        self.data(&bytes)
    }

    /// What every camera writes; directories of EXIF and GPS.
    fn facts(&mut self, maker: &str, note: Option<Entry>) -> Vec<Entry> {
        let time = ascii(0x9003, "2024:05:12 13:45:10");
        let exif = self.directory([time, ascii(0x9011, "+02:00")].into_iter().chain(note).collect(), 0);
        let gps = self.directory(gps_entries(), 0);
        let pointers = [longs(0x8769, &[exif]), longs(0x8825, &[gps])];
        main_entries(maker).into_iter().chain(pointers).collect()
    }

    fn done(mut self, first: u32) -> Vec<u8> {
        self.0[4..8].copy_from_slice(&first.to_le_bytes());
        self.0
    }
}

/// The preview, a smaller one, and sensor data that look like a JPEG file.
fn pictures() -> [Vec<u8>; 3] {
    let sensor = b"\xff\xd8\xff\xc3\x00\x0b\x0e\x20\x00\x20\x00\x01\x01\x11\x00\xff\xda\x00\x00\xff\xd9".to_vec();
    let small = decoded(&bare("rgb.jpg")).thumbnail(12, 10_000).unwrap();
    [bare("rgb.jpg"), small, sensor]
}

fn jpeg(builder: &mut Builder, picture: &[u8]) -> Vec<Entry> {
    let at = builder.data(picture);
    vec![short(0x103, 6), longs(0x201, &[at]), longs(0x202, &[picture.len() as u32])]
}

fn strip(builder: &mut Builder, picture: &[u8], compression: u16) -> Vec<Entry> {
    let at = builder.data(picture);
    vec![short(0x103, compression), longs(0x111, &[at]), longs(0x117, &[picture.len() as u32])]
}

fn cr2() -> Vec<u8> {
    let [large, small, sensor] = pictures();
    let mut file = Builder::new(b"II*\0\0\0\0\0CR\x02\0\0\0\0\0");
    let sensor = strip(&mut file, &sensor, 6);
    let third = file.directory(sensor, 0);
    let small = jpeg(&mut file, &small);
    let second = file.directory(small, third);
    let first = [strip(&mut file, &large, 6), file.facts("Canon", None)].concat();
    let first = file.directory(first, second);
    file.done(first)
}

/// With the preview in a subdirectory (NEF, DNG) or the first one (ARW), and sensor data in another.
fn tiff_based(maker: &str, compression: u16, preview_below: bool, more: Vec<Entry>) -> Vec<u8> {
    let [large, small, sensor] = pictures();
    let mut file = Builder::new(b"II*\0\0\0\0\0");
    let sensor = [strip(&mut file, &sensor, compression), vec![longs(0xfe, &[0]), short(0x106, 32803)]].concat();
    let sensor = file.directory(sensor, 0);
    let mut first = [file.facts(maker, None), more].concat();
    if preview_below {
        let preview = if maker == "NIKON" { jpeg(&mut file, &large) } else { strip(&mut file, &large, 7) };
        let preview = file.directory([preview, vec![longs(0xfe, &[1])]].concat(), 0);
        first.push(longs(0x14a, &[preview, sensor]));
    } else {
        first.extend(jpeg(&mut file, &large));
        first.push(longs(0x14a, &[sensor]));
    }
    let small = jpeg(&mut file, &small);
    let second = file.directory(small, 0);
    let first = file.directory(first, second);
    file.done(first)
}

fn orf() -> Vec<u8> {
    let [large, ..] = pictures();
    let mut note = Builder::new(b"OLYMPUS\0II\x03\0");
    // The first directory of the note stands right behind its head.
    note.0.extend([1, 0, 0x20, 0x20, 13, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let preview = note.data(&large);
    let settings =
        note.directory(vec![longs(0x100, &[1]), longs(0x101, &[preview]), longs(0x102, &[large.len() as u32])], 0);
    note.0[22..26].copy_from_slice(&settings.to_le_bytes());
    let mut file = Builder::new(b"IIRO\0\0\0\0");
    let facts = file.facts("OLYMPUS", Some((0x927c, 7, note.0)));
    let first = file.directory(facts, 0);
    file.done(first)
}

fn raf() -> Vec<u8> {
    let preview = fixture("gps.jpg");
    let mut head = b"FUJIFILMCCD-RAW 0201FF383501".to_vec();
    head.resize(84, 0);
    head.extend([(92_u32).to_be_bytes(), (preview.len() as u32).to_be_bytes()].concat());
    [&head[..], &preview, b"sensor"].concat()
}

fn cr3() -> Vec<u8> {
    let sized = |kind: &[u8], body: &[u8]| [&(body.len() as u32 + 8).to_be_bytes(), kind, body].concat();
    let [large, small, _] = pictures();
    let alone = |entries: Vec<Entry>| {
        let mut part = Builder::new(b"II*\0\0\0\0\0");
        let first = part.directory(entries, 0);
        part.done(first)
    };
    let main = alone(main_entries("Canon"));
    let exif = alone(vec![ascii(0x9003, "2024:05:12 13:45:10"), ascii(0x9011, "+02:00")]);
    let gps = alone(gps_entries());
    let picture = |kind: &[u8], picture: &[u8]| sized(kind, &[&[0; 16], picture].concat());
    let id = 0x85c0_b687_820f_11e0_8111_f4ce_462b_6a48_u128.to_be_bytes();
    let parts = [sized(b"CMT1", &main), sized(b"CMT2", &exif), sized(b"CMT4", &gps), picture(b"THMB", &small)].concat();
    let moov = sized(b"moov", &sized(b"uuid", &[&id[..], &parts].concat()));
    let id = 0xeaf4_2b5e_1c98_4b88_b9fb_b7dc_406e_4d16_u128.to_be_bytes();
    let preview = sized(b"uuid", &[&id[..], &[0, 0, 0, 0, 0, 0, 0, 1], &picture(b"PRVW", &large)].concat());
    [sized(b"ftyp", b"crx \0\0\0\x01crx isom"), moov, preview, sized(b"mdat", b"sensor")].concat()
}

fn all() -> [(&'static str, &'static str, Vec<u8>); 7] {
    [
        ("a.cr2", "CR2", cr2()),
        ("a.cr3", "CR3", cr3()),
        ("a.nef", "RAW", tiff_based("NIKON", 34713, true, vec![])),
        ("a.arw", "RAW", tiff_based("SONY", 32767, false, vec![])),
        ("a.dng", "DNG", tiff_based("Example", 7, true, vec![(0xc612, 1, vec![1, 4, 0, 0])])),
        ("a.orf", "ORF", orf()),
        ("a.raf", "RAF", raf()),
    ]
}

#[test]
fn previews_are_upright_and_files_say_where_and_when() {
    for (name, kind, file) in all() {
        assert_eq!(raw_kind(&file), Some(kind), "{name}");
        assert!(sidecar_only(Path::new(name)));
        let wanted = if name == "a.raf" { fixture("gps.jpg") } else { bare("rgb.jpg") };
        assert!(raw_preview(&file).unwrap().starts_with(&wanted), "{name}");
        let (photo, preview) = (decoded(&file), decoded(&wanted));
        // Fuji's preview says itself how it was held.
        let (size, time) = match name {
            "a.raf" => ((preview.width(), preview.height()), "2024:05:06 07:08:09"),
            _ => ((preview.height(), preview.width()), "2024:05:12 13:45:10"),
        };
        assert_eq!((photo.width(), photo.height()), size, "{name}");
        assert_eq!((photo.gps(), photo.taken().time.as_deref()), (LatLon::new(10.5, 20.25).ok(), Some(time)), "{name}");
    }
}

/// They are never written, also not by force; the sidecar that Adobe's programs made is added to.
#[test]
fn places_go_into_sidecars() {
    let folder = tempfile::tempdir().unwrap();
    let tag = GeoTag::new(LatLon::new(1.5, 2.5).unwrap());
    for (name, _, file) in all() {
        let error = tagged(&file, name, &tag, Overwrite::FORCE).unwrap_err();
        assert!(matches!(error, TagError::SidecarOnly { .. }) && error.to_string().contains("sidecar"), "{error}");
        let photo = folder.path().join(name);
        fs::write(&photo, &file).unwrap();
        let sidecar = write_sidecar(&photo, &tag, Overwrite::FORCE).unwrap();
        assert_eq!(PhotoFacts::read(&file).with_sidecars(&photo).gps, LatLon::new(1.5, 2.5).ok(), "{name}");
        let adobe = photo.with_extension("xmp");
        fs::rename(&sidecar, &adobe).unwrap();
        assert_eq!(write_sidecar(&photo, &tag, Overwrite::FORCE).unwrap(), adobe);
        fs::remove_file(adobe).unwrap();
        assert_eq!(fs::read(&photo).unwrap(), file);
    }
}

/// exiftool finds the same preview, place and time.
#[test]
fn exiftool_agrees() {
    let folder = tempfile::tempdir().unwrap();
    for (name, _, file) in all() {
        let path = folder.path().join(name);
        fs::write(&path, &file).unwrap();
        let Some(said) = exiftool(&path) else { return };
        let length = format!("(Binary data {} bytes", raw_preview(&file).unwrap().len());
        assert!(said.to_string().contains(&length), "{name}: {said}");
        let place = ["GPSLatitude", "GPSLongitude"].map(|tag| said[tag].as_f64());
        assert_eq!(place, [Some(10.5), Some(20.25)], "{name}: {said}");
    }
}

#[test]
fn damaged_files_are_survived() {
    for (name, _, file) in all() {
        let mut state = 1_u32;
        for at in 0..file.len().min(3000) {
            let mut damaged = file.clone();
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            damaged[at] = (state >> 24) as u8;
            for bytes in [&damaged[..], &file[..at]] {
                let (_, _) = (raw_preview(bytes), PhotoFacts::read(bytes));
            }
        }
        let sensor_only = tiff_based("x", 7, true, vec![]);
        let broken: Vec<u8> = sensor_only.iter().map(|&byte| if byte == 0xd8 { 0 } else { byte }).collect();
        let refused = locdiff_vision::Photo::decode(&broken, name, &locdiff_vision::PhotoLimits::default());
        assert!(refused.unwrap_err().to_string().contains("without a preview"), "{name}");
    }
}
