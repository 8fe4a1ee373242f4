//! The offset of a camera's clock from UTC, where nothing says it but the time of its GPS receiver.

use locdiff_base::days_from_civil;

/// Offsets of time zones are whole quarters of an hour.
const QUARTER_S: i64 = 900;
/// Clocks are set by hand, and the last fix may be a while ago: further from a quarter of an hour nothing is said.
const MOST_OFF_S: i64 = 300;
const ZONES_S: std::ops::RangeInclusive<i64> = -12 * 3600..=14 * 3600;

/// The offset, such as `+02:00`, of a clock that said `time` (`2024:05:12 13:45:10`, or with other signs between) when UTC
/// was `utc` (the same form); `None` where they do not go together.
pub(crate) fn offset(time: &str, utc: &str) -> Option<String> {
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
mod tests {
    use super::offset;

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
            assert_eq!(offset(time, utc).as_deref(), expected, "{time} {utc}");
        }
    }
}
