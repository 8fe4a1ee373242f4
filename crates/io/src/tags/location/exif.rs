//! EXIF data and TIFF files without location. Entries are taken out of directories in place, so that no offset changes.

use super::{finding::LocationScrub, iptc, xmp};
use crate::tags::exif::{DATE_STAMP, EXIF_POINTER, GPS_POINTER, LATITUDE, LONGITUDE, TIME_STAMP};
use crate::tags::tiff::{Directory, Entry, MOST_TEXT, RATIONAL, SIGNED_RATIONAL, Tiff};
use crate::tags::{blocks::PREFIX, blocks::XMP_SEGMENT, exif::facts, exif::place, exif::rationals, raw::jpeg_segments};
use std::{collections::HashSet, ops::Range};

const MAKER_NOTE: u16 = 0x927c;
/// What goes: also offsets from UTC and GeoTIFF's tags.
const GONE: [u16; 13] =
    [GPS_POINTER, MAKER_NOTE, 0x882a, 0x9010, 0x9011, 0x9012, 33550, 33922, 34264, 34735, 34736, 34737, 42112];
const TIE_POINTS: u16 = 33922;
/// Directories below one: subdirectories, EXIF, interoperability.
const BELOW: [u16; 3] = [0x14a, EXIF_POINTER, 0xa005];
/// Offsets and lengths of picture data: strips, tiles, a JPEG.
const PICTURES: [[u16; 2]; 3] = [[0x111, 0x117], [0x144, 0x145], [0x201, 0x202]];
/// No file has more.
const MOST_DIRECTORIES: usize = 10_000;
const POSITIONING_ERROR: u16 = 0x1f;
/// Entries of a GPS directory that tell no place: version, times, datum.
const EMPTY_GPS: [u16; 4] = [0, TIME_STAMP, DATE_STAMP, 0x12];

/// A TIFF structure without location, of the same length: no GPS directory, maker note and offset from UTC. EXIF data also lose the
/// thumbnail and what nothing points to; if they cannot be read, all. A TIFF file that cannot be read is damaged.
pub(super) fn scrubbed(block: &[u8], is_file: bool, scrub: &mut LocationScrub) -> Vec<u8> {
    let tiff = match Tiff::parse(block).and_then(|tiff| tiff.first().map(|_| tiff)) {
        Ok(tiff) => tiff,
        Err(reason) if is_file => {
            scrub.damage = Some(reason);
            return Vec::new();
        }
        Err(_) if block.iter().all(|byte| *byte == 0) => return block.to_vec(),
        Err(_) => {
            scrub.note_hidden("EXIF");
            return vec![0; block.len()];
        }
    };
    facts(&tiff).taken.offset.iter().for_each(|zone| scrub.note("time-zone", "EXIF", zone));
    let first = tiff.first_offset().unwrap_or_default();
    let (mut gone, mut kept, mut directories) =
        (Vec::new(), vec![(0, block[..8].to_vec())], Vec::<(usize, Vec<u8>)>::new());
    let (mut waiting, mut seen, mut length, mut is_damaged) = (vec![(first, true)], HashSet::new(), 0, false);
    while let Some((offset, is_page)) = waiting.pop() {
        if offset == 0 || !seen.insert(offset) {
            continue;
        }
        let Ok(directory) = tiff.directory(offset) else {
            is_damaged = true;
            continue;
        };
        let own = own_range(&tiff, offset, &directory, is_page);
        let is_shared = |(at, bytes): &(usize, Vec<u8>)| own.start < at + bytes.len() && *at < own.end;
        if directories.len() > MOST_DIRECTORIES || directories.iter().any(is_shared) {
            is_damaged = true;
            continue;
        }
        let (go, stay): (Vec<Entry>, Vec<Entry>) =
            directory.entries.iter().partition(|entry| GONE.contains(&entry.tag));
        let mut removed: Vec<_> =
            go.iter().filter_map(|entry| value_range(&tiff, entry)).chain([own.clone()]).collect();
        if let Some(entry) = directory.find(GPS_POINTER) {
            removed.extend(gps(&tiff, tiff.pointer(entry), scrub));
        }
        directory.find(MAKER_NOTE).iter().for_each(|_| scrub.note_hidden("maker note"));
        directory.find(TIE_POINTS).iter().for_each(|_| scrub.note("gps", "GeoTIFF", "the place of a map"));
        let values: Vec<_> = stay.iter().filter_map(|entry| Some((entry.tag, value_range(&tiff, entry)?))).collect();
        // In sound files nothing stands twice.
        length += removed.iter().chain(values.iter().map(|(_, range)| range)).map(Range::len).sum::<usize>();
        let touches = |one: &Range<usize>| removed.iter().any(|range| range.start < one.end && one.start < range.end);
        if length > 2 * block.len() || (is_file && pictures(&tiff, &directory).iter().any(touches)) {
            is_damaged = true;
            break;
        }
        gone.extend(removed);
        for (tag, range) in values {
            let value = &block[range.clone()];
            let value = match tag {
                700 => xmp::scrubbed(value, scrub),
                0x83bb => iptc::records(value, scrub),
                0x8649 => iptc::resources(value, scrub),
                _ => value.to_vec(),
            };
            kept.push((range.start, value));
        }
        waiting.extend(BELOW.iter().flat_map(|tag| tiff.numbers(&directory, *tag)).map(|below| (below, false)));
        let next = if is_file { directory.next } else { 0 };
        waiting.extend(is_page.then_some((next, true)));
        if offset == first && next != directory.next && scrub.within.is_empty() {
            thumbnail(&tiff, directory.next, scrub);
        }
        let entries = stay.iter().flat_map(|entry| [&tiff.order.u16(entry.tag)[..], &entry.rest].concat());
        let mut bytes: Vec<u8> = tiff.order.u16(stay.len() as u16).into_iter().chain(entries).collect();
        bytes.extend(tiff.order.u32(next).into_iter().filter(|_| is_page));
        bytes.resize(own.len(), 0);
        directories.push((own.start, bytes));
    }
    if is_file && is_damaged {
        scrub.damage = Some("its directories are damaged".to_owned());
    }
    let mut new = if is_file { block.to_vec() } else { vec![0; block.len()] };
    gone.into_iter().for_each(|range| new[range].fill(0));
    let all = kept.into_iter().chain(directories);
    all.for_each(|(at, bytes)| new[at..at + bytes.len()].copy_from_slice(&bytes));
    new
}

/// Where a directory stands. Some writers leave out the pointer at its end, which only pages need.
fn own_range(tiff: &Tiff<'_>, offset: u32, directory: &Directory, is_page: bool) -> Range<usize> {
    let length = 2 + 12 * directory.entries.len() + if is_page { 4 } else { 0 };
    offset as usize..(offset as usize + length).min(tiff.bytes.len())
}

/// Where an entry's value lies, if not in the entry itself.
fn value_range(tiff: &Tiff<'_>, entry: &Entry) -> Option<Range<usize>> {
    const SIZES: [usize; 14] = [1, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4];
    let [a, b, c, d, e, f, ..] = entry.rest;
    let size = SIZES.get(usize::from(tiff.order.read_u16([a, b]))).copied().unwrap_or(1);
    let length = (tiff.order.read_u32([c, d, e, f]) as usize).checked_mul(size)?;
    let start = tiff.pointer(entry) as usize;
    let end = start.checked_add(length).filter(|end| *end <= tiff.bytes.len())?;
    (length > 4).then_some(start..end)
}

/// Where picture data lie; of strips and tiles the first thousand.
fn pictures(tiff: &Tiff<'_>, directory: &Directory) -> Vec<Range<usize>> {
    let spans = PICTURES.map(|tags| tags.map(|tag| tiff.numbers(directory, tag)));
    let spans = spans.iter().flat_map(|[starts, lengths]| starts.iter().zip(lengths));
    spans.map(|(start, length)| *start as usize..(*start as usize).saturating_add(*length as usize)).collect()
}

/// What a GPS directory says; where it and its values lie.
fn gps(tiff: &Tiff<'_>, offset: u32, scrub: &mut LocationScrub) -> Vec<Range<usize>> {
    let Ok(gps) = tiff.directory(offset) else { return Vec::new() };
    if gps.entries.iter().any(|entry| !EMPTY_GPS.contains(&entry.tag)) {
        let error_m = rationals(tiff, &gps, POSITIONING_ERROR).and_then(|parts| parts.first().copied());
        let error_km = error_m.filter(|metres| metres.is_finite()).unwrap_or(0.0) / 1000.0;
        let unit_deg = [LATITUDE, LONGITUDE].into_iter().filter_map(|tag| unit(tiff, &gps, tag)).reduce(f64::min);
        scrub.note_position("EXIF", place(tiff, &gps), unit_deg.unwrap_or(0.0), error_km);
    }
    let values = gps.entries.iter().filter_map(|entry| value_range(tiff, entry));
    values.chain([own_range(tiff, offset, &gps, false)]).collect()
}

/// What the last digit of a coordinate is worth, in degrees: of the last of degrees, minutes and seconds that is not 0.
fn unit(tiff: &Tiff<'_>, gps: &Directory, tag: u16) -> Option<f64> {
    let bytes = tiff.value(gps, tag, &[RATIONAL, SIGNED_RATIONAL], MOST_TEXT)?;
    let number = |four: &[u8]| four.first_chunk().map_or(0, |four| tiff.order.read_u32(*four));
    let parts = bytes.as_chunks::<8>().0.iter().map(|eight| (number(eight), number(&eight[4..]).max(1)));
    let ((mut above, mut below), unit) = parts.zip([1.0, 60.0, 3600.0]).rfind(|((above, _), _)| *above > 0)?;
    while above % 10 == 0 && below % 10 == 0 {
        (above, below) = (above / 10, below / 10);
    }
    Some(1.0 / (unit * f64::from(below)))
}

/// What the thumbnail of EXIF data says about itself.
fn thumbnail(tiff: &Tiff<'_>, offset: u32, scrub: &mut LocationScrub) {
    let Ok(directory) = tiff.directory(offset) else { return };
    scrub.within = "thumbnail's ";
    directory.find(GPS_POINTER).iter().for_each(|entry| drop(gps(tiff, tiff.pointer(entry), scrub)));
    let pictures = pictures(tiff, &directory).into_iter().take(1).filter_map(|range| tiff.bytes.get(range));
    for (_, segment) in pictures.flat_map(jpeg_segments).filter(|(marker, _)| *marker == 0xe1) {
        segment.strip_prefix(PREFIX).iter().for_each(|exif| drop(scrubbed(exif, false, scrub)));
        segment.strip_prefix(XMP_SEGMENT).iter().for_each(|packet| drop(xmp::scrubbed(packet, scrub)));
    }
    scrub.within = "";
}
