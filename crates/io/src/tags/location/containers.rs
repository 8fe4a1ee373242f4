//! JPEG, PNG and WebP files: their parts that may hold a location.

use super::{boxes, exif, finding::LocationScrub, finding::mentions_location, finding::zone_at, iptc, xmp};
use crate::tags::blocks::{PREFIX, XMP_SEGMENT};
use std::{io::Cursor, ops::Range};

const PHOTOSHOP: &[u8] = b"Photoshop 3.0\0";
/// Segments that are not taken apart, and go if they speak of a location: extended XMP, credentials, GoPro's data.
const OTHERS: [(u8, &[u8]); 3] = [(0xe1, b"http://ns.adobe.com/xmp/extension/\0"), (0xeb, b"JP"), (0xe6, b"GoPro\0")];

/// The picture, and what stands behind it: further pictures, the video of a motion photo.
pub(super) fn jpeg(file: &[u8], scrub: &mut LocationScrub) {
    let (mut start, mut end) = (Some(0), 0);
    while let Some(at) = start {
        if file[at..].starts_with(b"ftyp") {
            scrub.within = "motion photo's ";
            boxes::film(&mut Cursor::new(file), at.saturating_sub(4) as u64..file.len() as u64, scrub);
            break;
        }
        let (segments, after) = segments(file, at);
        if at == 0 && segments.iter().all(|(marker, _)| *marker != 0xda) {
            scrub.damage = Some("it is damaged: no picture follows its tags".to_owned());
        }
        picture(file, &segments, scrub);
        end = after.max(end + 3);
        scrub.within = "second picture's ";
        let is_start = |four: &[u8]| four == b"ftyp" || four.starts_with(b"\xff\xd8\xff");
        start = file.get(end..).and_then(|rest| rest.windows(4).position(is_start)).map(|next| end + next);
        end = start.unwrap_or(end);
    }
    scrub.within = "";
}

/// Markers and payloads of the picture that starts here, and where it ends or breaks off.
fn segments(file: &[u8], start: usize) -> (Vec<(u8, Range<usize>)>, usize) {
    let (mut found, mut at) = (Vec::new(), start + 2);
    while let Some(&[0xff, marker]) = file.get(at..).and_then(<[u8]>::first_chunk) {
        match marker {
            0xff => at += 1, // any number of them may stand before a marker
            0xd9 => return (found, at + 2),
            0x01 | 0xd0..=0xd7 => at += 2,
            _ => {
                let Some(length) = file.get(at + 2..).and_then(<[u8]>::first_chunk) else { break };
                let end = at + 2 + usize::from(u16::from_be_bytes(*length)).max(2);
                if end > file.len() {
                    break;
                }
                found.push((marker, at + 4..end));
                at = end;
                if marker == 0xda {
                    let is_marker = |two: &[u8]| two[0] == 0xff && !matches!(two[1], 0 | 0xd0..=0xd7 | 0xff);
                    at += file[end..].windows(2).position(is_marker).unwrap_or(file.len() - end);
                }
            }
        }
    }
    (found, at.min(file.len()))
}

fn picture(file: &[u8], segments: &[(u8, Range<usize>)], scrub: &mut LocationScrub) {
    for (marker, head) in OTHERS {
        let all = || segments.iter().filter(|(one, range)| *one == marker && file[range.clone()].starts_with(head));
        // A word may stand across the border of two, each of which begins with numbers of up to 40 bytes.
        let words = |(_, range): &(u8, Range<usize>)| file.get(range.start + head.len() + 40..range.end);
        if mentions_location(&all().filter_map(words).collect::<Vec<_>>().concat()) {
            scrub.note_hidden("segment");
            // Zeros, which every reader skips: the places of further pictures stay true.
            for (_, range) in all() {
                let length = &file[range.start - 2..range.start];
                scrub.replace(file, range.start - 3..range.end, [&[0xef], length, &vec![0; range.len()]].concat());
            }
        }
    }
    for (marker, range) in segments {
        let payload = &file[range.clone()];
        let (head, new) = match marker {
            0xe1 if payload.starts_with(PREFIX) => (PREFIX, exif::scrubbed(&payload[PREFIX.len()..], false, scrub)),
            0xe1 if payload.starts_with(XMP_SEGMENT) => {
                (XMP_SEGMENT, xmp::scrubbed(&payload[XMP_SEGMENT.len()..], scrub))
            }
            0xed if payload.starts_with(PHOTOSHOP) => (PHOTOSHOP, iptc::resources(&payload[PHOTOSHOP.len()..], scrub)),
            _ => continue,
        };
        scrub.replace(file, range.start + head.len()..range.end, new);
    }
}

/// EXIF data, before which some writers put JPEG's prefix.
fn exif_chunk(data: &[u8], scrub: &mut LocationScrub) -> Vec<u8> {
    let (head, exif) = data.split_at(if data.starts_with(PREFIX) { PREFIX.len() } else { 0 });
    [head, &exif::scrubbed(exif, false, scrub)].concat()
}

/// Chunks of PNG (length, kind, data, checksum) or WebP (kind, length, data, an even number of bytes).
pub(super) fn chunks(file: &[u8], is_png: bool, scrub: &mut LocationScrub) {
    let mut at = if is_png { 8 } else { 12 };
    while let Some(&[a, b, c, d, e, f, g, h]) = file.get(at..).and_then(<[u8]>::first_chunk) {
        let (kind, length) = if is_png {
            ([e, f, g, h], u32::from_be_bytes([a, b, c, d]) as usize)
        } else {
            ([a, b, c, d], u32::from_le_bytes([e, f, g, h]) as usize)
        };
        let range = at + 8..(at + 8).saturating_add(length);
        let end = range.end.saturating_add(if is_png { 4 } else { length % 2 });
        let Some(data) = file.get(range.clone()).filter(|_| end <= file.len()) else { break };
        let new = match &kind {
            b"EXIF" | b"eXIf" => Some(exif_chunk(data, scrub)),
            b"XMP " => Some(xmp::scrubbed(data, scrub)),
            b"caBX" | b"C2PA" if mentions_location(data) => {
                scrub.note_hidden("credentials");
                None
            }
            b"tEXt" | b"zTXt" | b"iTXt" => text_chunk(kind, data, scrub),
            _ => Some(data.to_vec()),
        };
        match new {
            None if is_png => scrub.replace(file, at..end, Vec::new()),
            None => scrub.replace(file, range, vec![0; length]),
            Some(new) if is_png && new != data => {
                let sum = crc32(kind.iter().chain(&new)).to_be_bytes();
                scrub.replace(file, range.start..end, [&new[..], &sum].concat());
            }
            Some(new) => scrub.replace(file, range, new),
        }
        at = end;
        if kind == *b"IEND" {
            return;
        }
    }
    if is_png || at < file.len() {
        scrub.damage = Some("it is cut off".to_owned());
    }
}

/// What a chunk of text becomes; `None` if it goes.
fn text_chunk(kind: [u8; 4], data: &[u8], scrub: &mut LocationScrub) -> Option<Vec<u8>> {
    const XMP: &[u8] = b"XML:com.adobe.xmp\0\0\0\0\0"; // not compressed
    if let Some(packet) = data.strip_prefix(XMP).filter(|_| kind == *b"iTXt") {
        return Some([XMP, &xmp::scrubbed(packet, scrub)].concat());
    }
    let (key, value) = data.split_at(data.iter().position(|byte| *byte == 0).unwrap_or(data.len()));
    let value = String::from_utf8_lossy(value);
    let value = value.trim_matches('\0');
    let is_profile = key.starts_with(b"Raw profile type ") && !key.ends_with(b"icc") && !key.ends_with(b"icm");
    match zone_at(value) {
        Some(at) => scrub.note("time-zone", "PNG text", &value[at..]),
        None if mentions_location(key) && kind == *b"tEXt" => scrub.note("place-name", "PNG text", value),
        None if is_profile || mentions_location(key) || key == &XMP[..17] => scrub.note_hidden("PNG text"),
        None => return Some(data.to_vec()),
    }
    None
}

fn crc32<'a>(bytes: impl Iterator<Item = &'a u8>) -> u32 {
    let step = |sum: u32, _| if sum & 1 == 1 { 0xedb8_8320 ^ (sum >> 1) } else { sum >> 1 };
    !bytes.fold(u32::MAX, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), step))
}
