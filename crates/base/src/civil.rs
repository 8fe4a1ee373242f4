//! Dates of the Gregorian calendar.

/// Days of 400 years.
const ERA_DAYS: i64 = 146_097;
/// Days from March of year 0 to 1970.
const DAYS_TO_1970: i64 = 719_468;

/// Seconds since 1970 as ISO 8601, without an offset.
///
/// ```
/// assert_eq!(locdiff_base::civil_time(1_715_514_310), "2024-05-12T11:45:10");
/// assert_eq!(86_400 * locdiff_base::days_from_civil(2024, 5, 12) + 42_310, 1_715_514_310);
/// ```
pub fn civil_time(seconds: i64) -> String {
    let (days, second) = (seconds.div_euclid(86_400) + DAYS_TO_1970, seconds.rem_euclid(86_400));
    let (era, day) = (days.div_euclid(ERA_DAYS), days.rem_euclid(ERA_DAYS));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, month) = (day - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    let year = year + era * 400 + i64::from(month <= 2);
    let (hour, minute) = (second / 3600, second / 60 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{:02}", second % 60)
}

/// Days from 1970 to a date.
pub fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March, so that the leap day is the last.
    let (year, months) = (year - i64::from(month <= 2), (month + 9) % 12);
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    365 * year + leap_days + (153 * months + 2) / 5 + day - 1 - DAYS_TO_1970
}

/// The years 1 to 9999, in seconds since 1970: no time is outside of them.
const YEARS_S: std::ops::Range<f64> = -62_135_596_800.0..253_402_300_800.0;

/// Seconds since 1970 of a time as EXIF (its offset may be apart), ISO 8601 or a number writes it, and whether it gives an
/// offset from UTC. `None` if the text is no time.
///
/// ```
/// assert_eq!(locdiff_base::read_time("2024-05-12 13:45:10+02:00", None), Some((1_715_514_310.0, true)));
/// assert_eq!(locdiff_base::read_time("2024-05-12 11:45:10 UTC", None), Some((1_715_514_310.0, true)));
/// assert_eq!(locdiff_base::read_time("1970:01:02 00:00:00", None), Some((86_400.0, false)));
/// ```
pub fn read_time(text: &str, offset: Option<&str>) -> Option<(f64, bool)> {
    let text = text.trim().trim_end_matches('\0').trim();
    if let Ok(seconds) = text.parse::<f64>()
        && YEARS_S.contains(&seconds)
        && text.len() != 8
    {
        return Some((seconds, true));
    }
    let utc = text.strip_suffix(['Z', 'z']).or_else(|| text.strip_suffix("UTC"));
    let (clock, own) = match utc {
        Some(clock) => (clock.trim_end(), Some(0.0)),
        None => match text.char_indices().skip(11).find(|(_, c)| matches!(c, '+' | '-')) {
            Some((at, _)) => (&text[..at], Some(offset_seconds(&text[at..])?)),
            None => (text, None),
        },
    };
    let offset = own.or_else(|| offset.and_then(|text| offset_seconds(text.trim_end_matches('\0').trim())));
    let parts = clock.split(|c: char| !(c.is_ascii_digit() || c == '.') || c == ':').filter(|part| !part.is_empty());
    let numbers: Vec<f64> = parts.map(|part| part.parse().ok()).collect::<Option<_>>()?;
    if numbers.len() < 3 || numbers.len() > 6 {
        return None;
    }
    let part = |k: usize| numbers.get(k).copied().unwrap_or(0.0);
    let seconds = seconds_of([part(0), part(1), part(2), part(3), part(4), part(5)])? - offset.unwrap_or(0.0);
    YEARS_S.contains(&seconds).then_some((seconds, offset.is_some()))
}

/// An offset from UTC such as `+02:00`, `-0530` or `+2`, in seconds.
pub fn offset_seconds(text: &str) -> Option<f64> {
    let sign = match text.chars().next()? {
        '+' => 1.0,
        '-' => -1.0,
        _ => return None,
    };
    let digits: String = text[1..].chars().filter(char::is_ascii_digit).collect();
    let number = |part: &str| part.parse::<f64>().ok();
    let (hours, minutes) = match digits.len() {
        1 | 2 => (number(&digits)?, 0.0),
        4 => (number(&digits[..2])?, number(&digits[2..])?),
        _ => return None,
    };
    (hours <= 15.0 && minutes < 60.0).then_some(sign * (3600.0 * hours + 60.0 * minutes))
}

/// Seconds since 1970 of a date and a time of day (Gregorian calendar); `None` if there is none.
pub fn seconds_of([year, month, day, hour, minute, second]: [f64; 6]) -> Option<f64> {
    let days_of = |year: i64, month: i64| match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    };
    if [year, month, day, hour, minute].iter().any(|part| part.fract() != 0.0) {
        return None;
    }
    let (y, m, d) = (year as i64, month as i64, day as i64);
    let fits = (1..=9999).contains(&y) && (1..=12).contains(&m) && (1..=days_of(y, m)).contains(&d);
    if !fits || hour > 23.0 || minute > 59.0 || second >= 61.0 {
        return None;
    }
    let days = days_from_civil(y, m, d);
    Some(86_400.0 * days as f64 + 3600.0 * hour + 60.0 * minute + second)
}
