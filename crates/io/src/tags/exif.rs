//! What EXIF data say, and the offset of a clock by the time of its GPS receiver.

use crate::tags::facts::{PhotoFacts, Taken, real_place, tidy};
use crate::tags::tiff::{ASCII, Directory, MOST_TEXT, RATIONAL, SIGNED_RATIONAL, Tiff};
use locdiff_base::days_from_civil;
use locdiff_shdd::sphere::LatLon;

pub(crate) const EXIF_POINTER: u16 = 0x8769;
pub(crate) const GPS_POINTER: u16 = 0x8825;
pub(crate) const LATITUDE_REF: u16 = 1;
pub(crate) const LATITUDE: u16 = 2;
pub(crate) const LONGITUDE_REF: u16 = 3;
pub(crate) const LONGITUDE: u16 = 4;
pub(crate) const TIME_STAMP: u16 = 7;
pub(crate) const DATE_STAMP: u16 = 0x1d;
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

pub(crate) fn facts_of([first, exif, gps]: [Part<'_>; 3]) -> PhotoFacts {
    let say = |part: &Part<'_>, tag| part.as_ref().and_then(|(tiff, directory)| text(tiff, directory, tag));
    let one_of = |tags: [u16; 2]| tags.into_iter().find_map(|tag| say(&exif, tag));
    let camera: Vec<String> =
        [say(&first, MAKE), say(&first, MODEL), say(&exif, SERIAL)].into_iter().flatten().collect();
    let turn = first.as_ref().and_then(|(tiff, first)| tiff.numbers(first, ORIENTATION).first().copied());
    let (time, offset) = (one_of(TIMES), one_of(OFFSETS));
    let by_gps = || gps_offset(time.as_deref()?, &utc(gps.as_ref()?)?);
    PhotoFacts {
        taken: Taken { offset: offset.or_else(by_gps), time, camera: (!camera.is_empty()).then(|| camera.join(" ")) },
        gps: gps.and_then(|(tiff, gps)| place(tiff, &gps)),
        orientation: turn.and_then(|turn| u8::try_from(turn).ok()).filter(|turn| (1..=8).contains(turn)),
    }
}

fn text(tiff: &Tiff<'_>, directory: &Directory, tag: u16) -> Option<String> {
    let bytes = tiff.value(directory, tag, &[ASCII], MOST_TEXT)?;
    tidy(&String::from_utf8_lossy(bytes.split(|&byte| byte == 0).next()?))
}

/// Date and time of the receiver, which are of UTC.
fn utc((tiff, gps): &(&Tiff<'_>, Directory)) -> Option<String> {
    let date = text(tiff, gps, DATE_STAMP)?;
    let parts = rationals(tiff, gps, TIME_STAMP)?;
    let &[hour, minute, second] = parts.first_chunk::<3>()?;
    // Whole numbers, and at times all of it in the first or the second.
    let all = (3600.0 * hour + 60.0 * minute + second).floor();
    (0.0..86_400.0).contains(&all).then(|| {
        let all = all as u32;
        format!("{date} {}:{}:{}", all / 3600, all / 60 % 60, all % 60)
    })
}

/// The fractions of a tag; 0 where one is 0/0, as some writers give unused parts.
pub(crate) fn rationals(tiff: &Tiff<'_>, directory: &Directory, tag: u16) -> Option<Vec<f64>> {
    let bytes = tiff.value(directory, tag, &[RATIONAL, SIGNED_RATIONAL], MOST_TEXT)?;
    let number = |four: &[u8]| four.first_chunk().map_or(0, |four| tiff.order.read_u32(*four));
    let parts = bytes.as_chunks::<8>().0.iter().map(|eight| (number(eight), number(&eight[4..])));
    Some(parts.map(|(above, below)| if above == 0 { 0.0 } else { f64::from(above) / f64::from(below) }).collect())
}

pub(crate) fn place(tiff: &Tiff<'_>, gps: &Directory) -> Option<LatLon> {
    let lat_deg = degrees(tiff, gps, (LATITUDE, LATITUDE_REF), [b'N', b'S'])?;
    real_place(lat_deg, degrees(tiff, gps, (LONGITUDE, LONGITUDE_REF), [b'E', b'W'])?)
}

/// Degrees, minutes and seconds as signed degrees: positive and negative where the reference begins with the one or the
/// other letter, nothing where it begins with neither.
fn degrees(tiff: &Tiff<'_>, gps: &Directory, (tag, reference): (u16, u16), sides: [u8; 2]) -> Option<f64> {
    let parts = rationals(tiff, gps, tag)?;
    let sum: f64 = parts.iter().zip([1.0, 60.0, 3600.0]).map(|(part, unit)| part / unit).sum();
    let letter = tiff.value(gps, reference, &[ASCII], MOST_TEXT)?.first()?.to_ascii_uppercase();
    let sign = if letter == sides[0] { 1.0 } else { -1.0 };
    (!parts.is_empty() && f64::is_finite(sum) && sides.contains(&letter)).then_some(sign * sum)
}

/// Offsets of time zones are whole quarters of an hour.
const QUARTER_S: i64 = 900;
/// Clocks are set by hand, and the last fix may be old: a larger distance from a quarter of an hour gives no offset.
const MOST_OFF_S: i64 = 300;
const ZONES_S: std::ops::RangeInclusive<i64> = -12 * 3600..=14 * 3600;

/// The offset, such as `+02:00`, of a clock that said `time` (`2024:05:12 13:45:10`, or with other signs between) when UTC
/// was `utc` (the same form); `None` where they do not go together.
pub(crate) fn gps_offset(time: &str, utc: &str) -> Option<String> {
    let ahead = seconds(time)? - seconds(utc)?;
    let rounded = (ahead + QUARTER_S / 2).div_euclid(QUARTER_S) * QUARTER_S;
    let fits = (ahead - rounded).abs() <= MOST_OFF_S && ZONES_S.contains(&rounded);
    let (sign, minutes) = (if rounded < 0 { '-' } else { '+' }, rounded.abs() / 60);
    fits.then(|| format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60))
}

/// Seconds since 1970 by a clock; parts of a second are left out.
fn seconds(time: &str) -> Option<i64> {
    let mut numbers = time.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty()).map(str::parse::<i64>);
    let mut next = |range: std::ops::RangeInclusive<i64>| numbers.next()?.ok().filter(|number| range.contains(number));
    let (year, month, day) = (next(1900..=9999)?, next(1..=12)?, next(1..=31)?);
    let (hour, minute, second) = (next(0..=23)?, next(0..=59)?, next(0..=60)?);
    Some(86_400 * days_from_civil(year, month, day) + 3600 * hour + 60 * minute + second)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::tags::{GeoTag, Overwrite, error::Refusal, gps_ifd::with_location};

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

    /// Where no tag says the offset, the receiver's time tells it; what is said goes first.
    #[test]
    fn the_offset_is_told_by_gps_time() {
        let with = |said: Option<&[u8]>| {
            let mut tiff = Tiff::empty();
            let clock = tiff.entry(TIMES[0], ASCII, 20, b"2024:05:12 13:45:10\0").unwrap();
            let said = said.map(|text| tiff.entry(OFFSETS[0], ASCII, 7, text).unwrap());
            let exif = Directory { entries: [clock].into_iter().chain(said).collect(), next: 0 };
            let time = [8_u32, 1, 15, 1, 950, 100].map(u32::to_be_bytes);
            let time = tiff.entry(TIME_STAMP, RATIONAL, 3, time.as_flattened()).unwrap();
            let date = tiff.entry(DATE_STAMP, ASCII, 11, b"2024:05:12\0").unwrap();
            let gps = Directory { entries: vec![time, date], next: 0 };
            let pointers = [(EXIF_POINTER, exif), (GPS_POINTER, gps)].map(|(tag, directory)| {
                let at = tiff.append_directory(directory).unwrap();
                tiff.entry(tag, 4, 1, &at.to_be_bytes()).unwrap()
            });
            let first = tiff.append_directory(Directory { entries: pointers.to_vec(), next: 0 }).unwrap();
            tiff.set_first(first);
            facts(&tiff).taken.offset
        };
        assert_eq!(with(None).as_deref(), Some("+05:30"));
        assert_eq!(with(Some(b"+05:45\0")).as_deref(), Some("+05:45"));
    }

    /// Phones of two makers write places as fractions with a sign, and a program the pointer to them so.
    #[test]
    fn signed_numbers_are_read() {
        let mut bytes = sample(b'N', b'E');
        for (at, kind) in [(46, 9), (106, 10), (130, 10)] {
            bytes[at + 2] = kind;
        }
        assert_eq!([46, 106, 130].map(|at| bytes[at]), [0x25, 2, 4], "the pointer, latitude and longitude");
        assert_eq!(super::facts(&Tiff::parse(bytes).unwrap()).gps, LatLon::new(10.5, 20.25).ok());
    }

    /// A place that is there and cannot be read is nobody's to overwrite, unless that is asked for.
    #[test]
    fn unreadable_places_stay() {
        let mut bytes = sample(b'N', b'E');
        bytes[108] = 2; // a text
        let tag = GeoTag::new(LatLon::new(1.0, 2.0).unwrap());
        let write = |overwrite| with_location(Tiff::parse(&bytes[..]).unwrap(), &tag, overwrite);
        assert!(matches!(write(Overwrite::NEVER), Err(Refusal::Unfit(_))));
        let new = write(Overwrite::FORCE).unwrap_or_default();
        assert_eq!(super::facts(&Tiff::parse(new).unwrap()).gps, LatLon::new(1.0, 2.0).ok());
    }

    #[test]
    fn only_the_four_directions_are_taken() {
        let of = |lat, lon| super::facts(&Tiff::parse(sample(lat, lon)).unwrap()).gps;
        assert_eq!(of(b's', b'w'), LatLon::new(-10.5, -20.25).ok());
        for (lat, lon) in [(b'X', b'E'), (b'N', b'Y'), (b'E', b'N'), (0, b'E'), (b'+', b'+')] {
            assert_eq!(of(lat, lon), None, "{lat} {lon}");
        }
    }

    #[test]
    fn offsets_are_quarters_of_an_hour() {
        for (time, utc, expected) in [
            ("2024:05:12 13:45:10", "2024:05:12 11:45:08", Some("+02:00")),
            ("2024:05:12 13:45:10", "2024:05:12 11:48:00", Some("+02:00")),
            ("2024-05-12T13:45:10", "2024-05-12T08:00:10.00Z", Some("+05:45")),
            ("2024:01:01 00:30:00", "2023:12:31 23:30:00", Some("+01:00")),
            ("2024:02:29 22:00:00", "2024:03:01 03:00:00", Some("-05:00")),
            ("2024:03:01 02:00:00", "2024:02:28 12:00:00", None), // 38 hours
            ("2024:05:12 13:45:10", "2024:05:12 11:52:00", None), // neither this nor that quarter
            ("2024:05:12 13:45:10", "1980:01:06 00:00:00", None), // a receiver that never knew
            ("0000:00:00 00:00:00", "2024:05:12 11:45:08", None),
            ("2024:05:12", "2024:05:12 11:45:08", None),
        ] {
            assert_eq!(gps_offset(time, utc).as_deref(), expected, "{time} {utc}");
        }
    }
}
