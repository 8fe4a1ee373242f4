//! Logs of positions in files: GPX, GeoJSON with times, Google's Timeline of phones and Takeout's Records.

use crate::track_json::{self, point, utc};
use crate::{AlbumError, Result, track::Track, track::TrackPoint};
use locdiff_base::{excerpt, special_kind};
use locdiff_shdd::sphere::LatLon;
use std::io::{BufRead, BufReader, Read};
use std::{fs::File, path::Path};

/// The largest files: GPX is read as a tree, JSON as a stream.
const MOST_GPX: u64 = 128 << 20;
const MOST_JSON: u64 = 2 << 30;
/// How well a GPS logger knows a place, km.
const LOGGER_KM: f64 = 0.02;

impl Track {
    /// The positions in a file: GPX (points with times), GeoJSON (lines with `coordTimes` or `times`, points with `time`), Timeline.json of
    /// Android phones, location-history.json of iPhones, or Takeout's Records.json.
    /// Fails with [`AlbumError::Track`] and the line or the number of the element.
    pub fn open(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let bad = |reason: String| AlbumError::Track { file: name.clone(), reason };
        let kind = std::fs::metadata(path).map_err(|error| bad(error.to_string()))?;
        if kind.is_dir() {
            return Err(bad("it is a folder, not a file".to_owned()));
        }
        if let Some(kind) = special_kind(kind.file_type()) {
            return Err(bad(format!("it is {kind}, not a regular file")));
        }
        Self::read(File::open(path).map_err(|error| bad(error.to_string()))?, &name)
    }

    /// Reads positions from the contents of a file; messages call it `name`. Fails as [`Track::open`].
    pub fn parse(contents: &[u8], name: &str) -> Result<Self> {
        Self::read(contents, name)
    }

    fn read(from: impl Read, name: &str) -> Result<Self> {
        let points = points(from).map_err(|reason| AlbumError::Track { file: name.to_owned(), reason })?;
        if points.is_empty() {
            let reason = "it has no point with a time".to_owned();
            return Err(AlbumError::Track { file: name.to_owned(), reason });
        }
        Ok(Self::new(points))
    }
}

fn points(from: impl Read) -> Result<Vec<TrackPoint>, String> {
    let mut from = BufReader::with_capacity(1 << 16, from.take(MOST_JSON + 1));
    let first = loop {
        let head = from.fill_buf().map_err(|error| error.to_string())?;
        match head.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0xef | 0xbb | 0xbf)) {
            Some(at) => break head[at],
            None if head.is_empty() => return Err("it is empty".to_owned()),
            None => {
                let count = head.len();
                from.consume(count);
            }
        }
    };
    // Lines are counted from the start: only the mark of UTF-8 is passed over.
    if from.buffer().starts_with(&[0xef, 0xbb, 0xbf]) {
        from.consume(3);
    }
    match first {
        b'<' => {
            let mut text = String::new();
            from.take(MOST_GPX + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
            if text.len() as u64 > MOST_GPX {
                return Err(format!("it is larger than {} MiB", MOST_GPX >> 20));
            }
            gpx(&text)
        }
        b'[' => track_json::of_iphone(from),
        b'{' => track_json::of_document(from),
        _ => Err("it is neither GPX nor JSON".to_owned()),
    }
}

/// Points with times of a GPX file, whether of tracks, routes or alone.
fn gpx(text: &str) -> Result<Vec<TrackPoint>, String> {
    let document = roxmltree::Document::parse(text).map_err(|error| format!("it is no GPX: {error}"))?;
    let mut points = Vec::new();
    for node in document.descendants().filter(|node| matches!(node.tag_name().name(), "trkpt" | "wpt" | "rtept")) {
        let bad = |reason: String| format!("line {}: {reason}", document.text_pos_at(node.range().start).row);
        let time = node.children().find(|child| child.tag_name().name() == "time");
        let Some(time) = time.and_then(|time| time.text()) else { continue };
        let number = |name: &str| {
            let text = node.attribute(name).unwrap_or_default();
            text.trim().parse::<f64>().map_err(|_| bad(format!("'{}' is no {name}", excerpt(text))))
        };
        let at = LatLon::new(number("lat")?, number("lon")?).map_err(|error| bad(error.to_string()))?;
        points.push(point(utc(time).map_err(bad)?, at, LOGGER_KM));
    }
    Ok(points)
}
