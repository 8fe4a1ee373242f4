//! What a video says: MP4, MOV and their kin.

use crate::tags::iso::{IsoBox, Numbers, boxes, read_at};
use crate::tags::{facts::PhotoFacts, facts::Taken, facts::real_place, facts::tidy, xmp_facts::split};
use locdiff_base::civil_time;
use locdiff_shdd::sphere::LatLon;
use std::{fs::File, io, io::Read, io::Seek, io::SeekFrom, path::Path};

/// Texts and tables of videos are shorter.
const MOST_BYTES: u64 = 1 << 16;
/// Seconds from 1904, where videos count from, to 1970.
const EPOCH: i64 = 2_082_844_800;
const PLACE_KEY: &str = "com.apple.quicktime.location.ISO6709";
const TIME_KEY: &str = "com.apple.quicktime.creationdate";
const CAMERA_KEYS: [&str; 2] = ["com.apple.quicktime.make", "com.apple.quicktime.model"];

impl PhotoFacts {
    /// Where, when and by which camera an MP4, MOV, M4V or 3GP video was taken. The place is that of Apple's
    /// `com.apple.quicktime.location.ISO6709`, else of `©xyz`, else of 3GPP's `loci`; the time Apple's `creationdate`, or
    /// else the video's own in UTC (which some cameras set to local time). Fails for a file that cannot be opened.
    pub fn of_video(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let length = if file.metadata()?.is_file() { file.seek(SeekFrom::End(0))? } else { 0 };
        Ok(facts(&mut file, length).unwrap_or_default())
    }
}

fn facts(file: &mut (impl Read + Seek), length: u64) -> Option<PhotoFacts> {
    let find = |found: &[IsoBox], kind: &[u8; 4]| found.iter().find(|one| one.kind == *kind).cloned();
    let (outer, _) = boxes(file, 0..length);
    let (movie, _) = boxes(file, find(&outer, b"moov")?.body);
    let mut facts = PhotoFacts::default();
    if let Some(time) = find(&movie, b"mvhd").and_then(|head| created(&bounded(file, &head)?)) {
        facts.taken.time = Some(time);
        facts.taken.offset = Some("+00:00".to_owned());
    }
    if let Some(data) = find(&movie, b"udta") {
        let (data, _) = boxes(file, data.body);
        let text = find(&data, b"\xa9xyz").and_then(|place| bounded(file, &place));
        facts.gps = text.and_then(|text| iso6709(&String::from_utf8_lossy(text.get(4..)?)));
        facts.gps = facts.gps.or_else(|| location(&bounded(file, &find(&data, b"loci")?)?));
    }
    if let Some(meta) = find(&movie, b"meta") {
        let said = apple(file, &meta).unwrap_or_default();
        let say = |key| said.iter().find(|(name, _)| name == key).map(|(_, text)| text.as_str());
        let (time, offset) = say(TIME_KEY).map(split).unzip();
        let camera: Vec<String> = CAMERA_KEYS.into_iter().filter_map(|key| tidy(say(key)?)).collect();
        let camera = (!camera.is_empty()).then(|| camera.join(" "));
        let apple = PhotoFacts {
            gps: say(PLACE_KEY).and_then(iso6709),
            taken: Taken { time, offset: offset.flatten(), camera },
            orientation: None,
        };
        facts = facts.corrected_by(apple);
    }
    Some(facts)
}

fn bounded(file: &mut (impl Read + Seek), found: &IsoBox) -> Option<Vec<u8>> {
    let range = found.body.clone();
    if range.end - range.start <= MOST_BYTES { read_at(file, range) } else { None }
}

/// The place in a box `loci` of 3GPP: a name, its role, longitude and latitude with 16 bits behind the point.
pub(crate) fn location(body: &[u8]) -> Option<LatLon> {
    let name = body.get(6..)?;
    let numbers = name.get(name.iter().position(|&byte| byte == 0)? + 2..)?;
    let degrees = |at: usize| Some(f64::from(i32::from_be_bytes(*numbers.get(at..)?.first_chunk()?)) / 65_536.0);
    real_place(degrees(4)?, degrees(0)?)
}

/// The video's time, which is in UTC.
fn created(head: &[u8]) -> Option<String> {
    let mut numbers = Numbers(head);
    let version = numbers.next(4)? >> 24;
    let seconds = i64::try_from(numbers.next(if version == 1 { 8 } else { 4 })?).ok()? - EPOCH;
    // Cameras without a clock write 0.
    (0..=253_402_300_799).contains(&seconds).then(|| civil_time(seconds))
}

fn apple(file: &mut (impl Read + Seek), meta: &IsoBox) -> Option<Vec<(String, String)>> {
    // In MP4 files the box has a version, in MOV files it has none.
    let start = meta.body.start;
    let skip = if read_at(file, start + 4..start + 8)? == b"hdlr" { 0 } else { 4 };
    let (parts, _) = boxes(file, start + skip..meta.body.end);
    let part = |kind: &[u8; 4]| parts.iter().find(|part| part.kind == *kind);
    let keys = bounded(file, part(b"keys")?)?;
    let mut numbers = Numbers(keys.get(8..)?);
    let mut names = Vec::new();
    while let Some(length) = numbers.next(4) {
        let (name, rest) = numbers.0.split_at_checked((length as usize).checked_sub(4)?)?;
        names.push(String::from_utf8_lossy(name.get(4..)?).into_owned());
        numbers.0 = rest;
    }
    let mut said = Vec::new();
    for value in boxes(file, part(b"ilst")?.body.clone()).0 {
        let name = names.get((u32::from_be_bytes(value.kind) as usize).wrapping_sub(1));
        // A box `data`: type and language, then the text.
        let data = boxes(file, value.body).0.into_iter().find(|data| data.kind == *b"data");
        if let (Some(name), Some(bytes)) = (name, data.and_then(|data| bounded(file, &data))) {
            said.push((name.clone(), String::from_utf8_lossy(bytes.get(8..)?).into_owned()));
        }
    }
    Some(said)
}

/// A place such as `+48.8577+002.2950/`, also with minutes and seconds (`+4851.46+00217.70/`) and a height.
pub(crate) fn iso6709(text: &str) -> Option<LatLon> {
    let text = text.trim_end_matches('\0').trim();
    let mut starts = text.char_indices().filter(|(_, c)| matches!(c, '+' | '-' | '/')).map(|(at, _)| at);
    let (first, second) = (starts.next().filter(|at| *at == 0)?, starts.next()?);
    let end = starts.next().unwrap_or(text.len());
    real_place(degrees(&text[first..second], 2)?, degrees(&text[second..end], 3)?)
}

/// Degrees of so many digits, with minutes and seconds where there are more.
fn degrees(text: &str, digits: usize) -> Option<f64> {
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    let number = text.get(1..)?;
    let whole = number.split('.').next()?.len();
    let part = |from: usize, to: usize| number.get(from..to)?.parse::<f64>().ok();
    let end = number.len();
    Some(match whole.checked_sub(digits)? {
        0 => sign * part(0, end)?,
        2 => sign * (part(0, whole - 2)? + part(whole - 2, end)? / 60.0),
        4 => sign * (part(0, whole - 4)? + part(whole - 4, whole - 2)? / 60.0 + part(whole - 2, end)? / 3600.0),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Cursor, Write};

    fn sized(kind: &[u8], body: &[u8]) -> Vec<u8> {
        [&(body.len() as u32 + 8).to_be_bytes(), kind, body].concat()
    }

    fn film(apple: bool, seconds: u32) -> Vec<u8> {
        let mvhd = sized(b"mvhd", &[&[0; 4], &seconds.to_be_bytes()[..], &[0; 92]].concat());
        let place = [&[0, 18, 0x15, 0xc7], &b"+48.8577+002.2950/"[..]].concat();
        let udta = sized(b"udta", &sized(b"\xa9xyz", &place));
        let (at, time) = ("-33.8568+151.2153+005.000/", "2024-05-12T23:45:10+1000");
        let pairs = [(PLACE_KEY, at), (TIME_KEY, time), (CAMERA_KEYS[1], "P 9")];
        let keys: Vec<u8> = pairs.iter().flat_map(|(key, _)| sized(b"mdta", key.as_bytes())).collect();
        let value = |(k, (_, text)): (usize, &(&str, &str))| {
            let data = sized(b"data", &[&[0, 0, 0, 1, 0, 0, 0, 0], text.as_bytes()].concat());
            sized(&(k as u32 + 1).to_be_bytes(), &data)
        };
        let ilst: Vec<u8> = pairs.iter().enumerate().flat_map(value).collect();
        let keys = [&[0, 0, 0, 0, 0, 0, 0, 3], &keys[..]].concat();
        let meta = [sized(b"hdlr", &[0; 25]), sized(b"keys", &keys), sized(b"ilst", &ilst)].concat();
        let meta = if apple { sized(b"meta", &meta) } else { Vec::new() };
        let moov = sized(b"moov", &[mvhd, udta, meta].concat());
        [sized(b"ftyp", b"qt  \0\0\0\0"), sized(b"mdat", &[7; 99]), moov].concat()
    }

    #[test]
    fn films_say_where_and_when() {
        let read = |film: &[u8]| facts(&mut Cursor::new(film), film.len() as u64).unwrap_or_default();
        let plain = read(&film(false, 3_798_359_110));
        assert_eq!(plain.gps, LatLon::new(48.8577, 2.295).ok());
        let text = |Taken { time, offset, camera }: &Taken| {
            [time, offset, camera].map(|text| text.as_deref().unwrap_or_default().to_owned())
        };
        assert_eq!(text(&plain.taken), ["2024-05-12T11:45:10", "+00:00", ""]);
        let [lon, lat] = [-5_046_272_i32, -786_432].map(i32::to_be_bytes);
        let loci = [&[0, 0, 0, 0, 0x55, 0xc4], &b"Lima\0\0"[..], &lon, &lat, &[0; 4], b"earth\0\0"].concat();
        let moov = sized(b"moov", &sized(b"udta", &sized(b"loci", &loci)));
        assert_eq!(read(&moov).gps, LatLon::new(-12.0, -77.0).ok());
        let apple = read(&film(true, 0));
        assert_eq!(apple.gps, LatLon::new(-33.8568, 151.2153).ok());
        assert_eq!(text(&apple.taken), ["2024-05-12T23:45:10", "+10:00", "P 9"]);
        assert_eq!(read(&film(false, 0)).taken.time, None, "no clock");
        let whole = film(true, 1);
        let mut state = 1_u32;
        for at in 0..whole.len() {
            read(&whole[..at]);
            let mut damaged = whole.clone();
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            damaged[at] = (state >> 24) as u8;
            read(&damaged);
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mov");
        // Five GiB of film before the tables, which are a hole on the disk.
        let mut file = File::create(&path).unwrap();
        file.write_all(&[&[0, 0, 0, 1], &b"mdat"[..], &(5_u64 << 30).to_be_bytes()].concat()).unwrap();
        file.seek(SeekFrom::Start(5 << 30)).unwrap();
        file.write_all(&whole).unwrap();
        assert_eq!(PhotoFacts::of_video(&path).unwrap(), read(&whole));
        assert!(PhotoFacts::of_video(&folder.path().join("none.mov")).is_err());
    }

    #[test]
    fn places_in_every_form() {
        let of = |text: &str| {
            iso6709(text).map(|place| [place.lat_deg(), place.lon_deg()].map(|deg| (deg * 1e6).round() / 1e6))
        };
        assert_eq!(of("+27.5916+086.5640+8850CRSWGS_84/"), Some([27.5916, 86.564]));
        assert_eq!(of("+4851.46-00217.70/"), Some([48.857_667, -2.295]));
        assert_eq!(of("-485127.6+0021742.0/"), Some([-48.857_667, 2.295]));
        for text in ["", "+", "+/", "+91+181/", "+0.0+000.0/", "+00.0+000.0/", "48.8+2.2", "+4é.8+002.2/", "+48.8"] {
            assert_eq!(of(text), None, "{text}");
        }
        let times = ["1970-01-01T00:00:00", "2000-02-29T00:00:00", "2024-02-29T00:00:00", "9999-12-31T23:59:59"];
        assert_eq!([0, 951_782_400, 1_709_164_800, 253_402_300_799].map(civil_time), times);
    }
}
