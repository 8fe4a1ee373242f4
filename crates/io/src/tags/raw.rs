//! RAW files of cameras: the JPEG preview in them, and what they say. They are never written: their places go into sidecars.

use crate::tags::{iso::IsoBox, iso::boxes, tiff::ByteOrder, tiff::Directory, tiff::Tiff};
use crate::{tags::exif::EXIF_POINTER, tags::exif::facts_of, tags::facts::PhotoFacts};
use std::{collections::HashSet, io::Cursor};

const COMPRESSION: u16 = 0x103;
const PHOTOMETRIC: u16 = 0x106;
const STRIPS: [u16; 2] = [0x111, 0x117]; // offsets, lengths
const JPEG: [u16; 2] = [0x201, 0x202]; // offset, length
const SUB_DIRECTORIES: u16 = 0x14a;
const DNG_VERSION: u16 = 0xc612;
const MAKER_NOTE: u16 = 0x927c;
const OLYMPUS_SETTINGS: u16 = 0x2020;
const OLYMPUS_PREVIEW: [u16; 2] = [0x101, 0x102]; // offset, length
/// Photometric interpretations and compressions of sensor data: colour filters, linear; Sony's, Nikon's.
const SENSOR: [u32; 4] = [32803, 34892, 32767, 34713];
/// No camera writes more directories.
const MOST_DIRECTORIES: usize = 64;

const RAF: &[u8] = b"FUJIFILMCCD-RAW ";
/// Boxes of Canon's: metadata, preview, and Adobe's for XMP.
const CR3_METADATA: [u8; 16] = 0x85c0_b687_820f_11e0_8111_f4ce_462b_6a48_u128.to_be_bytes();
const CR3_PREVIEW: [u8; 16] = 0xeaf4_2b5e_1c98_4b88_b9fb_b7dc_406e_4d16_u128.to_be_bytes();
const XMP: [u8; 16] = 0xbe7a_cfcb_97a9_42e8_9c71_9994_91e3_afac_u128.to_be_bytes();

/// Which RAW file it is, by its content: "CR2", "CR3", "DNG", "ORF", "RAF", or "RAW" for what is made alike (NEF, ARW).
pub fn raw_kind(contents: &[u8]) -> Option<&'static str> {
    let tiff = match contents {
        _ if contents.starts_with(RAF) => return Some("RAF"),
        _ if contents.get(4..12) == Some(b"ftypcrx ") => return Some("CR3"),
        _ => Tiff::parse(contents).ok()?,
    };
    let is_sensor = |directory: &Directory| {
        [PHOTOMETRIC, COMPRESSION].iter().any(|tag| tiff.numbers(directory, *tag).iter().any(|n| SENSOR.contains(n)))
    };
    match contents.first_chunk() {
        Some(b"II*\0" | b"MM\0*") if contents.get(8..10) == Some(b"CR") => Some("CR2"),
        Some(b"II*\0" | b"MM\0*") if tiff.first().ok()?.find(DNG_VERSION).is_some() => Some("DNG"),
        Some(b"II*\0" | b"MM\0*") => directories(&tiff).iter().any(is_sensor).then_some("RAW"),
        _ => Some("ORF"),
    }
}

/// The largest JPEG picture in a RAW file, which the camera made of it; `None` where there is none, or the file is no RAW file.
pub fn raw_preview(contents: &[u8]) -> Option<&[u8]> {
    let number = |at: usize| contents.get(at..)?.first_chunk().map(|four| u32::from_be_bytes(*four));
    let spans: Vec<(usize, usize)> = match raw_kind(contents)? {
        "RAF" => vec![(number(84)? as usize, number(88)? as usize)],
        "CR3" => cr3_pictures(contents),
        _ => tiff_pictures(&Tiff::parse(contents).ok()?),
    };
    let pictures = spans.into_iter().filter_map(|(start, length)| contents.get(start..start.checked_add(length)?));
    let sized = pictures.filter_map(|picture| Some((jpeg_pixels(picture)?, picture)));
    sized.max_by_key(|(pixels, _)| *pixels).map(|(_, picture)| picture)
}

fn directories(tiff: &Tiff<'_>) -> Vec<Directory> {
    let mut waiting: Vec<u32> = tiff.first_offset().into_iter().collect();
    let (mut seen, mut found) = (HashSet::new(), Vec::new());
    while let Some(offset) = waiting.pop() {
        if offset == 0 || found.len() == MOST_DIRECTORIES || !seen.insert(offset) {
            continue;
        }
        let Ok(directory) = tiff.directory(offset) else { continue };
        waiting.push(directory.next);
        waiting.extend(tiff.numbers(&directory, SUB_DIRECTORIES).into_iter().take(MOST_DIRECTORIES));
        found.push(directory);
    }
    found
}

fn tiff_pictures(tiff: &Tiff<'_>) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = olympus_picture(tiff).into_iter().collect();
    for directory in directories(tiff) {
        let [start, length] = JPEG.map(|tag| tiff.numbers(&directory, tag));
        found.extend(start.iter().zip(&length).map(|(start, length)| (*start as usize, *length as usize)));
        let [starts, lengths] = STRIPS.map(|tag| tiff.numbers(&directory, tag));
        if let (&[6 | 7], &[start], &[length]) = (&tiff.numbers(&directory, COMPRESSION)[..], &starts[..], &lengths[..])
        {
            found.push((start as usize, length as usize));
        }
    }
    found
}

/// Olympus has its preview in the maker note, whose offsets count from its own beginning.
fn olympus_picture(tiff: &Tiff<'_>) -> Option<(usize, usize)> {
    let exif = tiff.below(&tiff.first().ok()?, EXIF_POINTER)?;
    let note_at = tiff.pointer(exif.find(MAKER_NOTE)?) as usize;
    let note = tiff.bytes.get(note_at..)?;
    let heads = [(&b"OLYMPUS\0"[..], 8), (b"OM SYSTEM\0", 12)];
    let (_, order_at) = heads.into_iter().find(|(head, _)| note.starts_with(head))?;
    let order = if note.get(order_at..)?.starts_with(b"MM") { ByteOrder::Big } else { ByteOrder::Little };
    let note = Tiff::part(note, order);
    let settings = note.pointer(note.directory(order_at as u32 + 4).ok()?.find(OLYMPUS_SETTINGS)?);
    let settings = note.directory(settings).ok()?;
    let [start, length] = OLYMPUS_PREVIEW.map(|tag| note.numbers(&settings, tag).first().map(|&n| n as usize));
    Some((note_at.checked_add(start?)?, length?))
}

/// The boxes with a number in a CR3 file: `uuid` boxes of the file or, for metadata, of `moov`.
fn cr3_box(file: &[u8], id: [u8; 16]) -> Option<IsoBox> {
    let (mut all, _) = boxes(&mut Cursor::new(file), 0..file.len() as u64);
    if let Some(moov) = all.iter().find(|found| found.kind == *b"moov") {
        all.extend(boxes(&mut Cursor::new(file), moov.body.clone()).0);
    }
    all.into_iter().find(|found| found.kind == *b"uuid" && found.of(file).starts_with(&id))
}

/// The boxes in such a box, so many bytes behind its number.
fn cr3_boxes(file: &[u8], id: [u8; 16], skip: u64) -> Vec<IsoBox> {
    let Some(outer) = cr3_box(file, id) else { return Vec::new() };
    boxes(&mut Cursor::new(file), outer.body.start + 16 + skip..outer.body.end).0
}

fn cr3_pictures(file: &[u8]) -> Vec<(usize, usize)> {
    /// Sizes stand before the picture.
    const HEAD: usize = 64;
    let previews = cr3_boxes(file, CR3_PREVIEW, 8).into_iter().chain(cr3_boxes(file, CR3_METADATA, 0));
    let start = |found: IsoBox| {
        let body = found.of(file);
        let at = body.windows(3).take(HEAD).position(|three| three == b"\xff\xd8\xff")?;
        Some((found.body.start as usize + at, body.len() - at))
    };
    previews.filter(|found| matches!(&found.kind, b"PRVW" | b"THMB")).filter_map(start).collect()
}

pub(crate) fn cr3_xmp(file: &[u8]) -> Option<&[u8]> {
    cr3_box(file, XMP).map(|found| &found.of(file)[16..])
}

/// What a CR3 file says; each directory is a structure of its own.
pub(crate) fn cr3_facts(file: &[u8]) -> PhotoFacts {
    let all = cr3_boxes(file, CR3_METADATA, 0);
    let part = |kind: &[u8; 4]| Tiff::parse(all.iter().find(|found| found.kind == *kind)?.of(file)).ok();
    let tiffs = [b"CMT1", b"CMT2", b"CMT4"].map(part);
    facts_of(tiffs.each_ref().map(|tiff| tiff.as_ref().and_then(|tiff| Some((tiff, tiff.first().ok()?)))))
}

/// Markers and payloads up to the start of the compressed data.
pub(crate) fn jpeg_segments(file: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    let mut rest = file.strip_prefix(b"\xff\xd8").unwrap_or_default();
    std::iter::from_fn(move || {
        while rest.get(1) == Some(&0xff) {
            rest = &rest[1..]; // any number of 0xFF may stand before a marker
        }
        let (&[start, marker, high, low], _) = rest.split_first_chunk()?;
        if start != 0xff || matches!(marker, 0xd9 | 0xda) {
            return None;
        }
        let end = 2 + usize::from(u16::from_be_bytes([high, low]));
        let payload = rest.get(4..end)?;
        rest = &rest[end..];
        Some((marker, payload))
    })
}

/// Pixels of a picture that every decoder reads: no lossless one, as RAW files have.
fn jpeg_pixels(file: &[u8]) -> Option<u64> {
    let is_frame = |marker| matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc);
    let (marker, frame) = jpeg_segments(file).find(|(marker, _)| is_frame(*marker))?;
    let &[_, a, b, c, d] = frame.first_chunk()?;
    let pixels = u64::from(u16::from_be_bytes([a, b])) * u64::from(u16::from_be_bytes([c, d]));
    (marker <= 0xc2 && pixels > 0).then_some(pixels)
}
