//! Points of GPX, also of files that are cut off or damaged: elements are looked for, the whole need not be well formed.

use crate::track_points::{LogPoints, utc};
use locdiff_base::excerpt;
use locdiff_shdd::sphere::LatLon;

/// How well a GPS logger knows a place, km.
pub(crate) const LOGGER_KM: f64 = 0.02;

/// A tag: its name without a prefix, what stands between `<` and `>`, and where the text goes on.
struct Tag<'a> {
    name: &'a str,
    inner: &'a str,
    end: usize,
}

/// The first tag at or after a position, and where it begins. Comments are passed over; a tag that is damaged ends at the next one.
fn next_tag(text: &str, mut from: usize) -> Option<(usize, Tag<'_>)> {
    let (start, rest) = loop {
        let start = from + text.get(from..)?.find('<')?;
        let rest = &text[start + 1..];
        match rest.strip_prefix("!--") {
            Some(comment) => from = start + 4 + comment.find("-->")?,
            None => break (start, rest),
        }
    };
    let length = rest.find(['<', '>'])?;
    let inner = &rest[..length];
    let full = inner.split([' ', '\t', '\r', '\n', '/']).find(|part| !part.is_empty()).unwrap_or_default();
    let name = full.rsplit(':').next().unwrap_or(full);
    Some((start, Tag { name, inner, end: start + 1 + length }))
}

/// The value of an attribute; empty if there is none.
fn attribute<'a>(inner: &'a str, name: &str) -> &'a str {
    let mut parts = inner.split(['"', '\'']);
    while let (Some(key), Some(value)) = (parts.next(), parts.next()) {
        if key.trim_end().trim_end_matches('=').split_whitespace().last() == Some(name) {
            return value;
        }
    }
    ""
}

fn is_point(name: &str) -> bool {
    matches!(name, "trkpt" | "wpt" | "rtept")
}

/// Points with times, whether of tracks, routes or alone. Fails if there is no element `gpx`.
pub(crate) fn read(text: &str) -> Result<LogPoints, String> {
    let mut points = LogPoints::default();
    let (mut at, mut line, mut counted) = (0, 1, 0);
    // The point that is open: its line, where it is, its time if it has one.
    let mut open: Option<(usize, Result<LatLon, String>, Option<&str>)> = None;
    let mut is_gpx = false;
    while let Some((start, tag)) = next_tag(text, at) {
        line += text[counted..start].matches('\n').count();
        (counted, at) = (start, tag.end);
        let is_end = tag.inner.starts_with('/');
        is_gpx |= tag.name == "gpx";
        if tag.name == "gpx" {
            points.is_cut = !is_end && !tag.inner.ends_with('/');
        }
        if is_point(tag.name) && !is_end {
            if let Some((line, ..)) = open.take() {
                points.leave_out(format!("line {line}: a point that does not end"));
            }
            open = (!tag.inner.ends_with('/')).then(|| (line, place(tag.inner), None));
        } else if tag.name == "time" && !is_end {
            if let Some((.., time @ None)) = &mut open {
                *time = text[tag.end..].trim_start_matches('>').split('<').next().map(str::trim);
            }
        } else if is_point(tag.name)
            && let Some((line, place, Some(time))) = open.take()
        {
            match place.and_then(|at| Ok((utc(time)?, at))) {
                Ok((time_s, at)) => points.push(time_s, at, LOGGER_KM),
                Err(reason) => points.leave_out(format!("line {line}: {reason}")),
            }
        }
    }
    if let Some((line, ..)) = open {
        points.leave_out(format!("line {line}: a point that does not end"));
    }
    if is_gpx { Ok(points) } else { Err("it is not GPX: it has no element gpx".to_owned()) }
}

fn place(inner: &str) -> Result<LatLon, String> {
    let number = |name: &str| {
        let text = attribute(inner, name);
        text.trim().parse::<f64>().map_err(|_| format!("'{}' is not a valid {name}", excerpt(text)))
    };
    LatLon::new(number("lat")?, number("lon")?).map_err(|error| error.to_string())
}
