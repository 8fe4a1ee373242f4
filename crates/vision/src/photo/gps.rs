//! Where a photo says it was taken. It is reported beside a prediction and never used for one.

use exif::{Exif, In, Rational, Reader, Tag, Value};
use locdiff_sphere::LatLon;

/// The place in a block of EXIF data (a TIFF structure), if it holds a valid one.
pub(crate) fn place(exif: Vec<u8>) -> Option<LatLon> {
    // Widespread writers leave faults elsewhere in the structure that do not touch the place.
    let read = Reader::new().continue_on_error(true).read_raw(exif);
    let exif = read.or_else(|error| error.distill_partial_result(|_| {})).ok()?;
    let lat_deg = degrees(&exif, Tag::GPSLatitude, Tag::GPSLatitudeRef, [b'N', b'S'])?;
    let lon_deg = degrees(&exif, Tag::GPSLongitude, Tag::GPSLongitudeRef, [b'E', b'W'])?;
    // Cameras without a fix write 0, 0.
    if lat_deg == 0.0 && lon_deg == 0.0 {
        return None;
    }
    LatLon::new(lat_deg, lon_deg).ok()
}

/// Degrees, minutes and seconds as signed degrees: positive and negative where the reference begins with the one or the
/// other letter, nothing where it begins with neither.
fn degrees(exif: &Exif, tag: Tag, reference: Tag, [positive, negative]: [u8; 2]) -> Option<f64> {
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
    let signed = match letter {
        _ if letter == positive => sum,
        _ if letter == negative => -sum,
        _ => return None,
    };
    (!parts.is_empty() && signed.is_finite()).then_some(signed)
}

#[cfg(test)]
mod tests {
    use super::place;

    /// EXIF data with these references and 10° 30' of latitude, 20° 15' of longitude.
    fn exif(lat_ref: [u8; 2], lon_ref: [u8; 2]) -> Vec<u8> {
        let mut bytes = b"II*\0\x08\0\0\0".to_vec();
        let entry = |tag: u16, kind: u16, count: u32, value: [u8; 4]| {
            [&tag.to_le_bytes()[..], &kind.to_le_bytes(), &count.to_le_bytes(), &value].concat()
        };
        bytes.extend([1, 0]);
        bytes.extend(entry(0x8825, 4, 1, 26_u32.to_le_bytes()));
        bytes.extend([0; 4]);
        bytes.extend([4, 0]);
        bytes.extend(entry(1, 2, 2, [lat_ref[0], lat_ref[1], 0, 0]));
        bytes.extend(entry(2, 5, 3, 80_u32.to_le_bytes()));
        bytes.extend(entry(3, 2, 2, [lon_ref[0], lon_ref[1], 0, 0]));
        bytes.extend(entry(4, 5, 3, 104_u32.to_le_bytes()));
        bytes.extend([0; 4]);
        for number in [10, 1, 30, 1, 0, 1, 20, 1, 15, 1, 0, 1_u32] {
            bytes.extend(number.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn only_the_four_directions_are_taken() {
        let of = |lat: &[u8; 2], lon: &[u8; 2]| place(exif(*lat, *lon)).map(|p| (p.lat_deg(), p.lon_deg()));
        assert_eq!(of(b"N\0", b"E\0"), Some((10.5, 20.25)));
        assert_eq!(of(b"s\0", b"w\0"), Some((-10.5, -20.25)));
        for (lat, lon) in [(b"X\0", b"E\0"), (b"N\0", b"Y\0"), (b"E\0", b"N\0"), (b"\0\0", b"E\0"), (b"+\0", b"+\0")] {
            assert_eq!(of(lat, lon), None, "{lat:?} {lon:?}");
        }
    }
}
