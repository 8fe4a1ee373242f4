//! Where a photo says it was taken. It is reported beside a prediction and never used for one.

use exif::{Exif, In, Rational, Reader, Tag, Value};
use locdiff_sphere::LatLon;

/// The place in a block of EXIF data (a TIFF structure), if it holds a valid one.
pub(crate) fn place(exif: Vec<u8>) -> Option<LatLon> {
    // Widespread writers leave faults elsewhere in the structure that do not touch the place.
    let read = Reader::new().continue_on_error(true).read_raw(exif);
    let exif = read.or_else(|error| error.distill_partial_result(|_| {})).ok()?;
    let lat_deg = degrees(&exif, Tag::GPSLatitude, Tag::GPSLatitudeRef, b'S')?;
    let lon_deg = degrees(&exif, Tag::GPSLongitude, Tag::GPSLongitudeRef, b'W')?;
    // Cameras without a fix write 0, 0.
    if lat_deg == 0.0 && lon_deg == 0.0 {
        return None;
    }
    LatLon::new(lat_deg, lon_deg).ok()
}

/// Degrees, minutes and seconds as signed degrees; negative where the reference begins with `negative`.
fn degrees(exif: &Exif, tag: Tag, reference: Tag, negative: u8) -> Option<f64> {
    let Value::Rational(parts) = &exif.get_field(tag, In::PRIMARY)?.value else { return None };
    let mut sum = 0.0;
    let mut unit = 1.0;
    for &Rational { num, denom } in parts.iter().take(3) {
        // Some writers give unused seconds as 0/0.
        if num != 0 {
            sum += f64::from(num) / f64::from(denom) / unit;
        }
        unit *= 60.0;
    }
    let Value::Ascii(letters) = &exif.get_field(reference, In::PRIMARY)?.value else { return None };
    let letter = letters.first()?.first()?.to_ascii_uppercase();
    let signed = if letter == negative { -sum } else { sum };
    (!parts.is_empty() && signed.is_finite()).then_some(signed)
}
