//! The GPS directory of EXIF 2.32.

use crate::tags::exif::{DATE_STAMP, GPS_POINTER, LATITUDE, LATITUDE_REF, LONGITUDE, LONGITUDE_REF, TIME_STAMP, place};
use crate::tags::tiff::{ASCII, BYTE, ByteOrder, Directory, Entry, LONG, RATIONAL, Reason, Tiff, UNDEFINED};
use crate::tags::{GeoTag, Overwrite, error::Refusal, exif::rationals, tag::DATUM};
use locdiff_base::ensure;

const VERSION: u16 = 0;
const MAP_DATUM: u16 = 0x12;
const PROCESSING_METHOD: u16 = 0x1b;
const AREA_INFORMATION: u16 = 0x1c;
const POSITIONING_ERROR: u16 = 0x1f;

/// Writes a place into EXIF data. Other GPS tags stay where there was no position; with an old position its altitude and
/// direction go too, and only the time stays, which tells the clock's offset. A position that is none, such as 0, 0 of a
/// camera without a fix, is in nobody's way; one that cannot be read is not overwritten unasked.
pub(crate) fn with_location(mut tiff: Tiff<'_>, tag: &GeoTag, overwrite: Overwrite) -> Result<Vec<u8>, Refusal> {
    let mut first = tiff.first()?;
    let mut kept = Vec::new();
    if let Some(old) = first.find(GPS_POINTER).map(|entry| tiff.directory(tiff.pointer(entry))).transpose()? {
        let has_position = old.find(LATITUDE).is_some() || old.find(LONGITUDE).is_some();
        ensure!(!has_position || overwrite.locations || place(&tiff, &old).is_none(), Refusal::HasLocation);
        if has_position && !overwrite.locations && rationals(&tiff, &old, LATITUDE).is_none() {
            return Err("it has a GPS tag that cannot be read here".to_owned().into());
        }
        kept = old.entries;
        let stays =
            |tag: u16| if has_position { [TIME_STAMP, DATE_STAMP].contains(&tag) } else { tag != PROCESSING_METHOD };
        kept.retain(|entry| stays(entry.tag));
    }
    let mut directory = Directory { entries: kept, next: 0 };
    entries(&mut tiff, tag)?.into_iter().for_each(|entry| directory.put(entry));
    let gps_offset = tiff.append_directory(directory)?;
    let pointer = tiff.order.u32(gps_offset);
    first.put(tiff.entry(GPS_POINTER, LONG, 1, &pointer)?);
    let first_offset = tiff.append_directory(first)?;
    tiff.set_first(first_offset);
    Ok(tiff.bytes.into_owned())
}

fn entries(tiff: &mut Tiff<'_>, tag: &GeoTag) -> Result<Vec<Entry>, Reason> {
    let order = tiff.order;
    let (lat_deg, lon_deg) = (tag.place.lat_deg(), tag.place.lon_deg());
    let ascii = |text: &str| [text.as_bytes(), b"\0"].concat();
    let mut values: Vec<(u16, u16, u32, Vec<u8>)> = vec![
        (VERSION, BYTE, 4, vec![2, 3, 0, 0]),
        (LATITUDE_REF, ASCII, 2, ascii(if lat_deg < 0.0 { "S" } else { "N" })),
        (LATITUDE, RATIONAL, 3, degrees(lat_deg, order)),
        (LONGITUDE_REF, ASCII, 2, ascii(if lon_deg < 0.0 { "W" } else { "E" })),
        (LONGITUDE, RATIONAL, 3, degrees(lon_deg, order)),
        (MAP_DATUM, ASCII, DATUM.len() as u32 + 1, ascii(DATUM)),
    ];
    let comment = |tag: u16, text: &str| {
        let bytes = coded_text(text, order);
        (tag, UNDEFINED, bytes.len() as u32, bytes)
    };
    values.extend(tag.method().map(|method| comment(PROCESSING_METHOD, method)));
    values.extend(tag.area_text().map(|area| comment(AREA_INFORMATION, &area)));
    let error = |metres| (POSITIONING_ERROR, RATIONAL, 1, [order.u32(metres), order.u32(1)].concat());
    values.extend(tag.radius_m().map(error));
    values.into_iter().map(|(tag, kind, count, value)| tiff.entry(tag, kind, count, &value)).collect()
}

/// Degrees, minutes and seconds, these to 0.3 mm, as rational numbers.
fn degrees(signed_deg: f64, order: ByteOrder) -> Vec<u8> {
    const PARTS: u64 = 100_000;
    let parts = (signed_deg.abs() * 3600.0 * PARTS as f64).round() as u64;
    let (minutes, seconds) = (parts / (60 * PARTS), parts % (60 * PARTS));
    let numbers = [minutes / 60, 1, minutes % 60, 1, seconds, PARTS];
    numbers.iter().flat_map(|&number| order.u32(number as u32)).collect()
}

/// Text with the code that EXIF puts before it: ASCII where that suffices, else UCS-2.
fn coded_text(text: &str, order: ByteOrder) -> Vec<u8> {
    if text.is_ascii() {
        return [b"ASCII\0\0\0", text.as_bytes()].concat();
    }
    let mut bytes = b"UNICODE\0".to_vec();
    bytes.extend(text.encode_utf16().flat_map(|unit| order.u16(unit)));
    bytes
}
