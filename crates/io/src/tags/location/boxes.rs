//! Videos (MP4, MOV and their kin), HEIC and AVIF. Boxes with a location become free space of the same length.

use super::{exif, finding::LocationScrub, finding::mentions_location, finding::zone_at, xmp};
use crate::tags::{blocks::PREFIX, heif::Heif, iso::boxes, iso::read_at, video::iso6709, video::location};
use std::{borrow::Cow, io::Cursor, io::Read, io::Seek, ops::Range};

const PART: &str = "film's tags";
const XMP_ID: [u8; 16] = 0xbe7a_cfcb_97a9_42e8_9c71_9994_91e3_afac_u128.to_be_bytes();
/// Tracks of measurements: GoPro, Google, Sony, DJI.
const TRACKS: [&[u8; 4]; 5] = [b"gpmd", b"camm", b"rtmd", b"djmd", b"dbgi"];
/// Tables of a video are smaller, in bytes.
const MOST_BYTES: u64 = 1 << 28;
const DEPTH: usize = 8;

/// The boxes of a video in a part of a file, of which only its tables are read; whether they fill it.
pub(super) fn film(file: &mut (impl Read + Seek), part: Range<u64>, scrub: &mut LocationScrub) -> bool {
    let (outer, is_whole) = boxes(file, part);
    for one in outer.iter().filter(|one| matches!(&one.kind, b"moov" | b"udta" | b"uuid" | b"meta")) {
        let range = one.start..one.body.end;
        let bytes = Some(range.clone()).filter(|range| range.end - range.start <= MOST_BYTES);
        let Some(bytes) = bytes.and_then(|range| read_at(file, range)) else {
            scrub.damage = Some("its tables are too large".to_owned());
            continue;
        };
        let mut new = bytes.clone();
        inside(&mut new, *b"file", &[], 0, scrub);
        if bytes != new {
            scrub.patches.push((range, new));
        }
    }
    is_whole && outer.iter().any(|one| matches!(&one.kind, b"moov" | b"meta"))
}

/// A file that is a video.
pub(super) fn film_file(file: &mut (impl Read + Seek), length: u64, scrub: &mut LocationScrub) {
    if !film(file, 0..length, scrub) {
        scrub.damage = Some("it is cut off, or not a video".to_owned());
    }
}

/// Looks at the boxes in `data`, those of a box `parent`. `keys` are the names of the values of an `ilst`.
fn inside(data: &mut [u8], parent: [u8; 4], keys: &[String], depth: usize, scrub: &mut LocationScrub) {
    // In MP4 files `meta` has a version, in MOV files it has none.
    let skip = if parent == *b"meta" && data.get(4..8) != Some(b"hdlr") { 4 } else { 0 };
    let length = data.len() as u64;
    let (all, _) = boxes(&mut Cursor::new(&*data), skip.min(length)..length);
    let mut names = Cow::Borrowed(keys);
    for one in all {
        let body = &mut data[one.body.start as usize..one.body.end as usize];
        let is_value = parent == *b"ilst" || parent == *b"udta";
        let goes = match &one.kind {
            b"moov" | b"trak" | b"udta" | b"meta" | b"ilst" | b"mdia" | b"minf" | b"stbl" if depth < DEPTH => {
                inside(body, one.kind, &names, depth + 1, scrub);
                false
            }
            b"keys" => {
                let list = body.get(8..).unwrap_or_default();
                let (keys, _) = boxes(&mut Cursor::new(list), 0..list.len() as u64);
                names = keys.iter().map(|key| String::from_utf8_lossy(key.of(list)).to_lowercase()).collect();
                false
            }
            b"stsd" => {
                let kind = body.get(12..16).unwrap_or_default();
                if TRACKS.iter().any(|known| *known == kind) || (kind == b"mebx" && mentions_location(body)) {
                    scrub.note("gps", "film's track", "a track of measurements, which may hold positions");
                    scrub.damage = Some("it has a track of measurements, which LocDiff does not remove".to_owned());
                }
                false
            }
            b"XMP_" | b"uuid" if one.kind == *b"XMP_" || body.starts_with(&XMP_ID) => {
                let packet = &mut body[if one.kind == *b"uuid" { 16 } else { 0 }..];
                let new = xmp::scrubbed(packet, scrub);
                packet.copy_from_slice(&new);
                false
            }
            b"\xa9xyz" if is_value => {
                let text = String::from_utf8_lossy(body);
                position(text.find(['+', '-']).map_or("", |at| &text[at..]), scrub)
            }
            b"loci" if is_value => {
                scrub.note_position(PART, location(body), 1.0 / 65_536.0, 0.0);
                true
            }
            b"uuid" | b"GPMF" | b"CNTH" | b"NCDT" | b"----" if mentions_location(body) || parent == *b"udta" => {
                scrub.note_hidden("maker's box"); // of GoPro, Canon, Nikon and others
                true
            }
            kind if parent == *b"ilst" => {
                let name = names.get((u32::from_be_bytes(*kind) as usize).wrapping_sub(1));
                name.is_some_and(|name| value(name, body, scrub))
            }
            _ => false,
        };
        if goes {
            body.fill(0);
            data[one.start as usize + 4..one.start as usize + 8].copy_from_slice(b"free");
        }
    }
}

/// Whether a value of a video's list says where, or gives an offset from UTC.
fn value(name: &str, body: &[u8], scrub: &mut LocationScrub) -> bool {
    let says = String::from_utf8_lossy(body.get(16..).unwrap_or_default());
    if name.contains("iso6709") {
        return position(&says, scrub);
    }
    let is_place = name.contains("location") || name.contains("gps");
    match zone_at(&says) {
        _ if is_place => scrub.note("place-name", PART, &says),
        Some(at) => scrub.note("time-zone", PART, &says[at..]),
        None => return false,
    }
    true
}

/// A position of ISO 6709, whose digits say how exact it is.
fn position(text: &str, scrub: &mut LocationScrub) -> bool {
    let latitude = text.get(1..).and_then(|rest| rest.split(['+', '-', '/']).next()).unwrap_or_default();
    let digits = latitude.split_once('.').map_or(0, |(_, digits)| digits.len());
    scrub.note_position(PART, iso6709(text), 10_f64.powi(-(digits as i32)), 0.0);
    true
}

/// HEIC and AVIF: the items with EXIF data and XMP, and boxes as in videos.
pub(super) fn heif(file: &[u8], scrub: &mut LocationScrub) {
    let is_whole = film(&mut Cursor::new(file), 0..file.len() as u64, scrub);
    let items = Heif::parse(file).and_then(|heif| heif.metadata()).ok();
    let length =
        |items: &Vec<(bool, Vec<Range<usize>>)>| items.iter().flat_map(|item| &item.1).map(Range::len).sum::<usize>();
    let items = items.filter(|items| is_whole && length(items) <= file.len());
    if items.is_none() {
        scrub.damage = Some("it is cut off or damaged".to_owned());
    }
    for (is_exif, extents) in items.unwrap_or_default() {
        let old: Vec<u8> = extents.iter().flat_map(|range| &file[range.clone()]).copied().collect();
        // How many bytes to skip stands before EXIF data.
        let skip = old.first_chunk().map_or(0, |four| u32::from_be_bytes(*four) as usize);
        let mut head = if is_exif { skip.saturating_add(4).min(old.len()) } else { 0 };
        head += if old[head..].starts_with(PREFIX) { PREFIX.len() } else { 0 };
        let rest = &old[head..];
        let new = if is_exif { exif::scrubbed(rest, false, scrub) } else { xmp::scrubbed(rest, scrub) };
        let new = [&old[..head], &new].concat();
        let mut at = 0;
        for range in extents {
            at += range.len();
            scrub.replace(file, range.clone(), new[at - range.len()..at].to_vec());
        }
    }
}
