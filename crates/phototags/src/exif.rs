//! What EXIF data say.

use crate::facts::{PhotoFacts, Taken, real_place, tidy};
use crate::tiff::{ASCII, Directory, MOST_TEXT, RATIONAL, Tiff};
use locdiff_sphere::LatLon;

pub(crate) const EXIF_POINTER: u16 = 0x8769;
pub(crate) const GPS_POINTER: u16 = 0x8825;
pub(crate) const LATITUDE_REF: u16 = 1;
pub(crate) const LATITUDE: u16 = 2;
pub(crate) const LONGITUDE_REF: u16 = 3;
pub(crate) const LONGITUDE: u16 = 4;
const ORIENTATION: u16 = 0x0112;
const MAKE: u16 = 0x010f;
const MODEL: u16 = 0x0110;
const TIMES: [u16; 2] = [0x9003, 0x9004]; // original, digitized
const OFFSETS: [u16; 2] = [0x9011, 0x9010]; // of the original, of the file
const SERIAL: u16 = 0xa431;

/// A directory and the structure that it stands in.
type Part<'a> = Option<(&'a Tiff<'a>, Directory)>;

/// What a TIFF structure says. Faults elsewhere in it, which widespread writers leave, do not matter.
pub(crate) fn facts(tiff: &Tiff<'_>) -> PhotoFacts {
    let first = tiff.first().ok();
    let below = |tag| Some((tiff, tiff.below(first.as_ref()?, tag)?));
    let (exif, gps) = (below(EXIF_POINTER), below(GPS_POINTER));
    facts_of([first.map(|first| (tiff, first)), exif, gps])
}

/// What the main, the EXIF and the GPS directory say.
pub(crate) fn facts_of([first, exif, gps]: [Part<'_>; 3]) -> PhotoFacts {
    let say = |part: &Part<'_>, tag| part.as_ref().and_then(|(tiff, directory)| text(tiff, directory, tag));
    let one_of = |tags: [u16; 2]| tags.into_iter().find_map(|tag| say(&exif, tag));
    let camera: Vec<String> =
        [say(&first, MAKE), say(&first, MODEL), say(&exif, SERIAL)].into_iter().flatten().collect();
    let turn = first.as_ref().and_then(|(tiff, first)| tiff.numbers(first, ORIENTATION).first().copied());
    PhotoFacts {
        gps: gps.and_then(|(tiff, gps)| place(tiff, &gps)),
        taken: Taken {
            time: one_of(TIMES),
            offset: one_of(OFFSETS),
            camera: (!camera.is_empty()).then(|| camera.join(" ")),
        },
        orientation: turn.and_then(|turn| u8::try_from(turn).ok()).filter(|turn| (1..=8).contains(turn)),
    }
}

fn text(tiff: &Tiff<'_>, directory: &Directory, tag: u16) -> Option<String> {
    let bytes = tiff.value(directory, tag, &[ASCII], MOST_TEXT)?;
    tidy(&String::from_utf8_lossy(bytes.split(|&byte| byte == 0).next()?))
}

/// The place in a GPS directory, if it holds a valid one.
pub(crate) fn place(tiff: &Tiff<'_>, gps: &Directory) -> Option<LatLon> {
    let lat_deg = degrees(tiff, gps, (LATITUDE, LATITUDE_REF), [b'N', b'S'])?;
    real_place(lat_deg, degrees(tiff, gps, (LONGITUDE, LONGITUDE_REF), [b'E', b'W'])?)
}

/// Degrees, minutes and seconds as signed degrees: positive and negative where the reference begins with the one or the
/// other letter, nothing where it begins with neither.
fn degrees(tiff: &Tiff<'_>, gps: &Directory, (tag, reference): (u16, u16), sides: [u8; 2]) -> Option<f64> {
    let bytes = tiff.value(gps, tag, &[RATIONAL], MOST_TEXT)?;
    let number = |four: &[u8]| four.first_chunk().map_or(0, |four| tiff.order().read_u32(*four));
    let mut sum = 0.0;
    let mut unit = 1.0;
    for eight in bytes.as_chunks::<8>().0.iter().take(3) {
        let (above, below) = (number(eight), number(&eight[4..]));
        // Some writers give unused seconds as 0/0.
        if above != 0 {
            sum += f64::from(above) / f64::from(below) / unit;
        }
        unit *= 60.0;
    }
    let letter = tiff.value(gps, reference, &[ASCII], MOST_TEXT)?.first()?.to_ascii_uppercase();
    let sign = if letter == sides[0] { 1.0 } else { -1.0 };
    (!bytes.is_empty() && f64::is_finite(sum) && sides.contains(&letter)).then_some(sign * sum)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Little-endian EXIF data: a model, a time, an offset, a turn to the right, and 10° 30' N, 20° 15' E with these letters.
    pub(crate) fn sample(lat_ref: u8, lon_ref: u8) -> Vec<u8> {
        let entry = |tag: u16, kind: u16, count: u32, value: u32| {
            [&tag.to_le_bytes()[..], &kind.to_le_bytes(), &count.to_le_bytes(), &value.to_le_bytes()].concat()
        };
        let directory = |entries: &[Vec<u8>]| [&[entries.len() as u8, 0][..], &entries.concat(), &[0; 4]].concat();
        let first = directory(&[
            entry(MODEL, ASCII, 4, u32::from_le_bytes(*b"X1\0\0")),
            entry(ORIENTATION, 3, 1, 6),
            entry(EXIF_POINTER, 4, 1, 62),
            entry(GPS_POINTER, 4, 1, 92),
        ]);
        let exif = directory(&[entry(TIMES[0], ASCII, 20, 146), entry(OFFSETS[0], ASCII, 7, 166)]);
        let gps = directory(&[
            entry(LATITUDE_REF, ASCII, 2, lat_ref.into()),
            entry(LATITUDE, RATIONAL, 3, 174),
            entry(LONGITUDE_REF, ASCII, 2, lon_ref.into()),
            entry(LONGITUDE, RATIONAL, 3, 198),
        ]);
        let texts = b"2024:05:12 13:45:10\0+02:00\0\0";
        let numbers = [10_u32, 1, 30, 1, 0, 0, 20, 1, 15, 1, 0, 1].map(u32::to_le_bytes);
        [b"II*\0\x08\0\0\0", &first[..], &exif, &gps, texts, numbers.as_flattened()].concat()
    }

    #[test]
    fn all_facts_are_read() {
        let bytes = sample(b'N', b'E');
        let facts = super::facts(&Tiff::parse(&bytes[..]).unwrap());
        let Taken { time, offset, camera } = &facts.taken;
        let texts = [time, offset, camera].map(|text| text.as_deref().unwrap());
        assert_eq!(texts, ["2024:05:12 13:45:10", "+02:00", "X1"]);
        assert_eq!((facts.gps, facts.orientation), (LatLon::new(10.5, 20.25).ok(), Some(6)));
        for end in 8..bytes.len() {
            let cut = super::facts(&Tiff::parse(&bytes[..end]).unwrap());
            assert!(end > 197 || cut.gps.is_none(), "{end}");
        }
    }

    #[test]
    fn only_the_four_directions_are_taken() {
        let of = |lat, lon| {
            let facts = super::facts(&Tiff::parse(sample(lat, lon)).unwrap());
            facts.gps.map(|place| (place.lat_deg(), place.lon_deg()))
        };
        assert_eq!(of(b's', b'w'), Some((-10.5, -20.25)));
        for (lat, lon) in [(b'X', b'E'), (b'N', b'Y'), (b'E', b'N'), (0, b'E'), (b'+', b'+')] {
            assert_eq!(of(lat, lon), None, "{lat} {lon}");
        }
    }
}
