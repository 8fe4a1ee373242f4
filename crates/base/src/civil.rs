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
