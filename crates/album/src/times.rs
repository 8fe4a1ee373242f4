//! When a photo was taken: from EXIF data, a file's name or a table. What none of them says stays unknown.

use crate::{AlbumError, Result};
use locdiff_base::{offset_seconds, read_time, seconds_of};
use serde::ser::{Serialize, SerializeStruct, Serializer};

/// Who says when a photo was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TimeSource {
    /// A table that the user gave.
    Table,
    /// EXIF data with the offset from UTC.
    Exif,
    /// EXIF data without an offset: the camera's own clock.
    Clock,
    /// A date and a clock in the file's name.
    Name,
    /// A date without a clock, or one that says when a message came: a day, not a moment.
    Day,
    /// Nobody: a clock that was never set says nothing, either.
    Unknown,
}

impl TimeSource {
    /// Returns the source in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Table => "the table",
            Self::Exif => "EXIF with its offset",
            Self::Clock => "the camera's clock, no offset",
            Self::Name => "the file's name",
            Self::Day => "a date without a clock",
            Self::Unknown => "no time",
        }
    }
}

/// When a photo was taken. As JSON it has `seconds`, null without a moment, `text`, a date for a day and null for an unknown time, and
/// `source`. [`PhotoTime::at`] has an example.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PhotoTime {
    /// Seconds since 1970: UTC if the offset is known, otherwise by an assumed offset. For a day, its beginning; meaningless for an unknown time.
    pub seconds: f64,
    /// Source of the time.
    pub source: TimeSource,
    /// Seconds that the photo's own clock is ahead, if the offset is assumed.
    pub ahead_s: f64,
    /// Whether the offset from UTC is known.
    pub is_utc: bool,
}

/// The years 1 to 9999: no time is outside of them.
const SECONDS: std::ops::Range<f64> = -62_135_596_800.0..253_402_300_800.0;

/// Clocks that were never set begin in 1970 or 1980 (and those of videos in 1904), and run on for some days.
const UNSET: [f64; 3] = [-2_082_844_800.0, 0.0, 315_532_800.0];
const DAY_S: f64 = 86_400.0;

/// Names that messengers and screenshots have: a clock in them says when the file came.
const MESSAGES: [&str; 8] =
    ["whatsapp", "signal-", "telegram", "photo_2", "viber", "snapchat", "screenshot", "screen shot"];

impl PhotoTime {
    /// An unknown time.
    pub const UNKNOWN: Self = Self { seconds: 0.0, source: TimeSource::Unknown, ahead_s: 0.0, is_utc: false };

    /// Creates a UTC time from seconds since 1970.
    ///
    /// ```
    /// assert_eq!(locdiff_album::PhotoTime::at(86_400.0).seconds, 86_400.0);
    /// ```
    pub fn at(seconds: f64) -> Self {
        Self { seconds, source: TimeSource::Table, ahead_s: 0.0, is_utc: true }
    }

    /// Reads a time from a table's text, as [`parse_time`] does. A time without an offset is a clock's. A date, or a midnight without an offset,
    /// is a day. Fails if the text is no time.
    pub fn read(text: &str, offset: Option<&str>) -> Result<Self> {
        let (seconds, is_utc) = parse_time(text, offset)?;
        let is_number = text.trim().parse::<f64>().is_ok();
        let is_unset = |start: &f64| (start - DAY_S..start + 31.0 * DAY_S).contains(&seconds);
        Ok(if !is_number && UNSET.iter().any(is_unset) {
            Self::UNKNOWN
        } else if !is_utc && seconds % DAY_S == 0.0 {
            Self::day(seconds)
        } else {
            Self { is_utc, ..Self::at(seconds) }
        })
    }

    fn day(seconds: f64) -> Self {
        Self { seconds, source: TimeSource::Day, ..Self::UNKNOWN }
    }

    /// Returns whether it is a moment: neither a day nor unknown. Only such photos are in order of time.
    pub fn is_moment(&self) -> bool {
        !matches!(self.source, TimeSource::Day | TimeSource::Unknown)
    }

    /// The seconds from the first to the last that it may be of; a day is one of any time zone.
    pub fn span(&self) -> std::ops::RangeInclusive<f64> {
        match self.source {
            TimeSource::Day => self.seconds..=self.seconds + DAY_S,
            TimeSource::Unknown => f64::NEG_INFINITY..=f64::INFINITY,
            _ => self.seconds..=self.seconds,
        }
    }

    /// The time if clocks without an offset are so many seconds ahead of UTC.
    #[must_use]
    pub fn in_zone(self, offset_s: f64) -> Self {
        if self.is_utc || !self.is_moment() {
            return self;
        }
        Self { seconds: self.seconds + self.ahead_s - offset_s, ahead_s: 0.0, is_utc: true, ..self }
    }

    /// Returns the time as ISO 8601: with a `Z` if the offset is known, otherwise as the clock shows it. A day is a date, an unknown time `None`.
    pub fn text(&self) -> Option<String> {
        let seconds = self.seconds + self.ahead_s;
        let is_known = self.source != TimeSource::Unknown && SECONDS.contains(&seconds);
        is_known.then(|| {
            let text = iso_time(seconds);
            let length = if self.is_utc { text.len() } else { text.len() - 1 };
            text[..if self.is_moment() { length } else { 10 }].to_owned()
        })
    }

    /// Returns the time as ISO 8601 if the offset from UTC is known.
    pub fn utc(&self) -> Option<String> {
        self.text().filter(|_| self.is_utc)
    }

    /// Returns the source of the time in words.
    pub fn words(&self) -> &'static str {
        match self.source {
            TimeSource::Clock if self.is_utc => "the camera's clock in the time zone given",
            source => source.words(),
        }
    }
}

impl Serialize for PhotoTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("PhotoTime", 3)?;
        object.serialize_field("seconds", &self.is_moment().then_some(self.seconds))?;
        object.serialize_field("source", &self.source)?;
        object.serialize_field("text", &self.text())?;
        object.end()
    }
}

/// Seconds of a time as EXIF (its offset may be apart), ISO 8601 or a number writes it, and whether it gives an offset.
///
/// Fails if the text is no time.
pub fn parse_time(text: &str, offset: Option<&str>) -> Result<(f64, bool)> {
    read_time(text, offset).ok_or_else(|| AlbumError::Time { text: text.to_owned() })
}

/// The time in a file's name: a moment for `IMG_20240512_134510.jpg`, `2024-05-12 13.45.10.jpg` or `PXL_20240512_134510123.jpg`, a day
/// for a date without a clock and for what messengers name (`IMG-20240512-WA0007.jpg`, `signal-2024-05-12-134510.jpg`).
pub fn time_in_name(name: &str) -> Option<PhotoTime> {
    let name = name.rsplit(['/', '\\']).next()?;
    let bytes = name.as_bytes();
    let time = (0..bytes.len()).find_map(|start| {
        let fresh = bytes[start].is_ascii_digit() && (start == 0 || !bytes[start - 1].is_ascii_digit());
        if fresh { date_at(&name[start..]) } else { None }
    })?;
    let lower = name.to_ascii_lowercase();
    let is_message = MESSAGES.iter().any(|mark| lower.contains(mark));
    Some(if is_message { PhotoTime::day(time.seconds - time.seconds.rem_euclid(DAY_S)) } else { time })
}

/// A date at the start of a text, and the time of day after it where there is one; a midnight is none.
fn date_at(text: &str) -> Option<PhotoTime> {
    let mut digits = Vec::new();
    let mut between = 0;
    for c in text.chars() {
        if let Some(digit) = c.to_digit(10) {
            digits.push(f64::from(digit));
            between = 0;
        } else if matches!(c, '-' | '_' | '.' | ' ' | ':' | 'T') && between == 0 && digits.len() % 2 == 0 {
            between += 1;
        } else {
            break;
        }
    }
    let number = |from: usize, to: usize| digits[from..to].iter().fold(0.0, |sum, digit| 10.0 * sum + digit);
    if digits.len() < 8 || !(1990.0..2100.0).contains(&number(0, 4)) {
        return None;
    }
    let day = [number(0, 4), number(4, 6), number(6, 8)];
    let start = seconds_of([day[0], day[1], day[2], 0.0, 0.0, 0.0])?;
    let clock = (digits.len() >= 14)
        .then(|| seconds_of([day[0], day[1], day[2], number(8, 10), number(10, 12), number(12, 14)]));
    let moment = |seconds: f64| PhotoTime { seconds, source: TimeSource::Name, ..PhotoTime::UNKNOWN };
    Some(clock.flatten().filter(|seconds| *seconds > start).map_or(PhotoTime::day(start), moment))
}

/// An offset from UTC such as `+02:00`, `-0530`, `+2` or `Z`, in seconds.
pub fn parse_offset(text: &str) -> Option<f64> {
    let is_plain = text.chars().skip(1).all(|c| c.is_ascii_digit() || c == ':');
    if matches!(text, "Z" | "z") { Some(0.0) } else { offset_seconds(text).filter(|_| is_plain) }
}

/// A time that a clock is ahead (or with `-` behind), such as `90s`, `-5m`, `2h`, `+01:30` or `00:02:30`, in seconds.
pub fn parse_duration(text: &str) -> Option<f64> {
    let text = text.trim();
    let unsigned = || text.strip_prefix('+').unwrap_or(text);
    let (sign, plain) = text.strip_prefix('-').map_or_else(|| (1.0, unsigned()), |rest| (-1.0, rest));
    let unit = |end: char| match end {
        's' => Some(1.0),
        'm' => Some(60.0),
        'h' => Some(3600.0),
        _ => None,
    };
    let is_number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == '.');
    let number = |text: &str| text.parse::<f64>().ok().filter(|_| is_number(text));
    let seconds = if let Some(unit) = plain.chars().last().and_then(unit) {
        unit * number(&plain[..plain.len() - 1])?
    } else {
        let parts: Vec<f64> = plain.split(':').map(number).collect::<Option<_>>()?;
        let (2..=3) = parts.len() else { return None };
        parts.iter().zip([3600.0, 60.0, 1.0]).map(|(part, unit)| part * unit).sum()
    };
    (seconds <= 86_400.0).then_some(sign * seconds)
}

/// Seconds since 1970 as ISO 8601, of UTC.
pub fn iso_time(seconds: f64) -> String {
    let whole = seconds.round().clamp(SECONDS.start, SECONDS.end - 1.0) as i64;
    format!("{}Z", locdiff_base::civil_time(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_names_and_offsets_are_read() {
        let utc = 1_715_514_310.0;
        assert_eq!(parse_time("2024-05-12T13:45:10+02:00", None).unwrap(), (utc, true));
        assert_eq!(parse_time("2024:05:12 13:45:10", Some("+02:00")).unwrap(), (utc, true));
        assert_eq!(parse_time("1970-01-02", None).unwrap(), (86_400.0, false));
        assert_eq!(iso_time(utc), "2024-05-12T11:45:10Z");
        let clock = "trip/IMG_20240512_134510.jpg|2024-05-12 13.45.10 (2).jpg|PXL_20240512_134510123.jpg";
        for name in clock.split('|') {
            let time = time_in_name(name).unwrap();
            assert_eq!((time.seconds, time.source), (utc + 7200.0, TimeSource::Name), "{name}");
        }
        // A date without a clock, a midnight, and when a message came are days.
        let days = "IMG-20240512-WA0007.jpg|IMG_20240512_000000.jpg|signal-2024-05-12-134510.jpg|Screenshot_20240512-134510.png|\
                    WhatsApp Image 2024-05-12 at 13.45.10.jpeg|photo_2024-05-12_13-45-10.jpg|20240512.jpg";
        for name in days.split('|') {
            let time = time_in_name(name).unwrap();
            assert_eq!((time, time.text().as_deref()), (PhotoTime::day(1_715_472_000.0), Some("2024-05-12")), "{name}");
        }
        assert_eq!(["DSC_1234.jpg", "006.jpg", "19700101_120000.jpg"].map(time_in_name), [None; 3]);
        assert_eq!(["+02:00", "-0530", "Z"].map(parse_offset), [Some(7200.0), Some(-19_800.0), Some(0.0)]);
        assert_eq!(["Europe/Rome", "+99", "+2h"].map(parse_offset), [None; 3]);
        assert_eq!(["90s", "-5m", "+2h"].map(parse_duration), [Some(90.0), Some(-300.0), Some(7200.0)]);
        assert_eq!(["+01:30", "-00:02:30"].map(parse_duration), [Some(5400.0), Some(-150.0)]);
        assert_eq!(["90", "1:2:3:4", "x s", "nan s", "", "99h"].map(parse_duration), [None; 6]);
    }

    #[test]
    fn hostile_texts_are_no_times() {
        let dates = "|yesterday|2024:13:01 00:00:00|2024:02:30|0000:00:00 00:00:00|2024:05:12 25:00:00|10000-01-01";
        let numbers = "::::|nan|1e999|1e300|-1e12|253402300800|9999-12-31T23:59:59-02:00|0001-01-01T00:00:00+02:00";
        for text in dates.split('|').chain(numbers.split('|')) {
            assert!(parse_time(text, None).is_err(), "{text}");
        }
        assert_eq!(parse_time("2024:05:12 13:45:10", Some("nonsense")).unwrap(), (1_715_521_510.0, false));
        for name in ["", "é20240512é", "99999999_999999.jpg", "20241399_000000.jpg"] {
            let _ = time_in_name(name);
        }
    }

    #[test]
    fn clocks_stay_local_and_what_is_unknown_stays_unknown() {
        assert_eq!(iso_time(parse_time("9999-12-31T23:59:59Z", None).unwrap().0), "9999-12-31T23:59:59Z");
        let local = PhotoTime::read("2024:05:12 13:45:10", None).unwrap();
        assert_eq!(local.text().as_deref(), Some("2024-05-12T13:45:10"));
        assert_eq!(local.in_zone(7200.0).text().as_deref(), Some("2024-05-12T11:45:10Z"));
        // An offset that is assumed moves the seconds, and not the clock.
        let clock = PhotoTime { seconds: 100.0, source: TimeSource::Clock, ahead_s: 7200.0, is_utc: false };
        assert_eq!((clock.text().as_deref(), clock.utc()), (Some("1970-01-01T02:01:40"), None));
        let known = clock.in_zone(3600.0);
        assert_eq!((known.seconds, known.utc().as_deref()), (3700.0, Some("1970-01-01T01:01:40Z")));
        assert!(known.in_zone(0.0) == known && known.words() != clock.words());
        let read = |text: &str, offset| PhotoTime::read(text, offset).unwrap();
        for unset in ["1970:01:01 00:00:00", "1970:01:03 07:08:09", "1980:01:01 00:00:12", "1904-01-01T00:00:00Z"] {
            assert_eq!(read(unset, None), PhotoTime::UNKNOWN, "{unset}");
        }
        assert!(["2024:05:12 00:00:00", "2024-05-12"].iter().all(|day| read(day, None).source == TimeSource::Day));
        assert!(read("2024:05:12 00:00:00", Some("+02:00")).is_moment() && read("0", None).is_moment());
        let unknown = PhotoTime::UNKNOWN;
        assert_eq!((unknown.text(), unknown.in_zone(3600.0)), (None, unknown));
        let json = serde_json::to_value([unknown, clock, read("2024-05-12", None)]).unwrap();
        assert_eq!(json[0], serde_json::json!({ "seconds": null, "source": "unknown", "text": null }));
        assert_eq!(json[2], serde_json::json!({ "seconds": null, "source": "day", "text": "2024-05-12" }));
        assert_eq!(json[1], serde_json::json!({ "seconds": 100.0, "source": "clock", "text": "1970-01-01T02:01:40" }));
        assert_eq!(PhotoTime::at(3e11).text(), None);
    }

    #[test]
    fn days_go_around() {
        for days in (-200_000..200_000).step_by(997) {
            let seconds = f64::from(days) * 86_400.0 + 3723.0;
            let (back, has_offset) = parse_time(&iso_time(seconds), None).unwrap();
            assert!(has_offset);
            assert_eq!(back, seconds, "{days}");
        }
    }
}
