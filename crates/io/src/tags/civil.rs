//! Dates of the Gregorian calendar.

/// Seconds since 1970 as ISO 8601.
pub(crate) fn civil(seconds: i64) -> String {
    let (days, second) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, month) = (day - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    let year = year + era * 400 + i64::from(month <= 2);
    let (hour, minute) = (second / 3600, second / 60 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{:02}", second % 60)
}

/// Days from 1970 to a date.
pub(crate) fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March, so that the leap day is the last.
    let (year, months) = (year - i64::from(month <= 2), (month + 9) % 12);
    365 * year + year / 4 - year / 100 + year / 400 + (153 * months + 2) / 5 + day - 1 - 719_468
}
