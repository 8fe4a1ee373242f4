//! Points of NMEA 0183, as GPS receivers send them: sentences RMC and GGA.

use crate::{track_gpx::LOGGER_KM, track_points::LogPoints, track_points::utc};
use locdiff_base::excerpt;
use locdiff_shdd::sphere::LatLon;

const DAY_S: f64 = 86_400.0;

/// Whether the beginning of a file has a sentence with a position.
pub(crate) fn is_nmea(head: &[u8]) -> bool {
    let names =
        |name: &[u8]| matches!(name, [b'$', _, _, b'R', b'M', b'C', b','] | [b'$', _, _, b'G', b'G', b'A', b',']);
    head.windows(7).any(names)
}

/// The positions of a text. GGA has no date: it takes that of the RMC before it, and is left out if there is none.
pub(crate) fn read(text: &str) -> LogPoints {
    let mut points = LogPoints::default();
    // The time of the last position.
    let mut last_s: Option<f64> = None;
    for (k, line) in text.lines().enumerate() {
        let Some(at) = line.find('$') else { continue };
        let (sentence, sum) = line[at + 1..].trim_end().split_once('*').unwrap_or((line[at + 1..].trim_end(), ""));
        let fields: Vec<&str> = sentence.split(',').collect();
        let read = match fields[0].get(2..) {
            Some("RMC") => rmc(&fields),
            Some("GGA") => gga(&fields, last_s),
            _ => continue,
        };
        let own = sentence.bytes().fold(0, |sum, byte| sum ^ byte);
        let is_whole = sum.is_empty() || u8::from_str_radix(sum, 16).is_ok_and(|sum| sum == own);
        match read {
            _ if !is_whole => points.leave_out(format!("line {}: its checksum {sum} is wrong", k + 1)),
            // Two sentences of one moment are one position.
            Ok(Some((time_s, _))) if last_s == Some(time_s) => {}
            Ok(Some((time_s, at))) => {
                points.push(time_s, at, LOGGER_KM);
                last_s = Some(time_s);
            }
            Ok(None) => {}
            Err(reason) => points.leave_out(format!("line {}: {reason}", k + 1)),
        }
    }
    points
}

type Position = Result<Option<(f64, LatLon)>, String>;

/// Time, A where the position is valid, latitude, longitude; the date is the ninth field. `None` without a fix.
fn rmc(fields: &[&str]) -> Position {
    let [_, time, "A", lat, ns, lon, ew, _, _, date, ..] = fields[..] else { return unfixed(fields, 2, "V") };
    let date = date.get(..6).filter(|date| date.bytes().all(|byte| byte.is_ascii_digit()));
    let date = date.ok_or_else(|| "it has no date".to_owned())?;
    // Two digits of a year: receivers are younger than 1980.
    let century = if date[4..] < *"80" { "20" } else { "19" };
    let day = utc(&format!("{century}{}-{}-{}T00:00:00", &date[4..], &date[2..4], &date[..2]))?;
    Ok(Some((day + seconds(time)?, place([lat, ns, lon, ew])?)))
}

/// Time, latitude, longitude, 0 where there is no fix; the date is that of the time before.
fn gga(fields: &[&str], last_s: Option<f64>) -> Position {
    let [_, time, lat, ns, lon, ew, fix, ..] = fields[..] else { return unfixed(fields, 6, "0") };
    if fix == "0" || fix.is_empty() {
        return Ok(None);
    }
    let last_s = last_s.ok_or("it has no date, and no sentence RMC is before it")?;
    let near = last_s - last_s.rem_euclid(DAY_S) + seconds(time)?;
    // After midnight it is the next day.
    let time_s = near + DAY_S * ((last_s - near) / DAY_S).round();
    Ok(Some((time_s, place([lat, ns, lon, ew])?)))
}

/// A sentence that says it has no fix is none; any other is bad.
fn unfixed(fields: &[&str], field: usize, none: &str) -> Position {
    if fields.get(field) == Some(&none) { Ok(None) } else { Err("a sentence that does not end".to_owned()) }
}

/// `hhmmss.sss`
fn seconds(text: &str) -> Result<f64, String> {
    let part = |from: usize, to: Option<usize>| match to {
        Some(to) => text.get(from..to)?.parse::<f64>().ok(),
        None => text.get(from..)?.parse::<f64>().ok(),
    };
    match (part(0, Some(2)), part(2, Some(4)), part(4, None)) {
        (Some(h), Some(m), Some(s)) if h < 24.0 && m < 60.0 && s < 61.0 => Ok(3600.0 * h + 60.0 * m + s),
        _ => Err(format!("'{}' is not a time", excerpt(text))),
    }
}

/// `ddmm.mmm,N,dddmm.mmm,E`
fn place([lat, ns, lon, ew]: [&str; 4]) -> Result<LatLon, String> {
    let bad = || format!("'{}' is not a location", excerpt(&[lat, ns, lon, ew].join(",")));
    let degrees = |text: &str| {
        let value = text.parse::<f64>().ok().filter(|value| *value >= 0.0)?;
        let whole = (value / 100.0).floor();
        Some(whole + (value - 100.0 * whole) / 60.0)
    };
    let sign =
        |text: &str, plus: &str, minus: &str| if text == plus { Some(1.0) } else { (text == minus).then_some(-1.0) };
    let (Some(lat), Some(lon)) = (degrees(lat), degrees(lon)) else { return Err(bad()) };
    let (Some(north), Some(east)) = (sign(ns, "N", "S"), sign(ew, "E", "W")) else { return Err(bad()) };
    LatLon::new(north * lat, east * lon).map_err(|_| bad())
}
