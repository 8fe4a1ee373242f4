//! Logs of positions in files: GPX, NMEA, GeoJSON with times, Google's Timeline of phones and Takeout's Records, each also gzipped.

use crate::{AlbumError, Result, track::Track, track_gpx, track_json, track_nmea, track_points::LogPoints};
use flate2::read::MultiGzDecoder;
use locdiff_base::{ensure, special_kind};
use std::{fs::File, io::BufRead, io::BufReader, io::Read, path::Path};

/// The largest files: GPX, NMEA and what was compressed are read as a text, JSON as a stream.
const MOST_TEXT: u64 = 128 << 20;
const MOST_JSON: u64 = 2 << 30;
/// How a gzipped file begins.
const GZIP: &[u8] = &[0x1f, 0x8b];

impl Track {
    /// The positions in a file: GPX (points with times), NMEA (RMC and GGA), GeoJSON (lines with `coordTimes` or `times`, points with
    /// `time`), Timeline.json of Android phones, location-history.json of iPhones, or Takeout's Records.json, each also gzipped. Points
    /// that cannot be read are left out ([`Track::faults`]). Fails with [`AlbumError::Track`] if none is left.
    pub fn open(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let bad = |reason: String| AlbumError::Track { file: name.clone(), reason };
        let kind = std::fs::metadata(path).map_err(|error| bad(error.to_string()))?;
        ensure!(!kind.is_dir(), bad("it is a folder, not a file".to_owned()));
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
        let bad = |reason: String| AlbumError::Track { file: name.to_owned(), reason };
        let log = points(from).map_err(bad)?;
        let faults = log.faults();
        if log.points.is_empty() {
            let why = faults.map_or(String::new(), |faults| format!(": {faults}"));
            return Err(bad(format!("it has no point with a time{why}")));
        }
        let mut track = Self::new(log.points);
        track.faults.extend(faults.map(|faults| format!("{name}: {faults}")));
        Ok(track)
    }
}

fn points(from: impl Read) -> Result<LogPoints, String> {
    let mut from = BufReader::with_capacity(1 << 16, from.take(MOST_JSON + 1));
    if from.fill_buf().map_err(|error| error.to_string())?.starts_with(GZIP) {
        let (text, is_cut) = text_of(MultiGzDecoder::new(from))?;
        let mut log = of_text(text.as_bytes())?;
        log.is_cut |= is_cut;
        return Ok(log);
    }
    of_text(from)
}

/// A text, and whether it ends with an error: what was read before it counts.
fn text_of(from: impl Read) -> Result<(String, bool), String> {
    let mut bytes = Vec::new();
    let is_cut = match from.take(MOST_TEXT + 1).read_to_end(&mut bytes) {
        Ok(_) => false,
        Err(error) if bytes.is_empty() => return Err(error.to_string()),
        Err(_) => true,
    };
    ensure!(bytes.len() as u64 <= MOST_TEXT, format!("it is larger than {} MiB", MOST_TEXT >> 20));
    // A name in another encoding, or a damaged byte, is not a point.
    Ok((String::from_utf8_lossy(&bytes).into_owned(), is_cut))
}

fn of_text(mut from: impl BufRead) -> Result<LogPoints, String> {
    let first = loop {
        let head = from.fill_buf().map_err(|error| error.to_string())?;
        match head.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0xef | 0xbb | 0xbf)) {
            Some(_) if track_nmea::is_nmea(head) && !head.starts_with(b"<") => break b'$',
            Some(at) => break head[at],
            None if head.is_empty() => return Err("it is empty".to_owned()),
            None => {
                let count = head.len();
                from.consume(count);
            }
        }
    };
    // Lines are counted from the start: only the mark of UTF-8 is passed over.
    if from.fill_buf().is_ok_and(|head| head.starts_with(&[0xef, 0xbb, 0xbf])) {
        from.consume(3);
    }
    match first {
        b'<' => track_gpx::read(&text_of(from)?.0),
        b'$' => Ok(track_nmea::read(&text_of(from)?.0)),
        b'[' => track_json::of_iphone(from),
        b'{' => track_json::of_document(from),
        _ => Err("it is neither GPX nor JSON nor NMEA".to_owned()),
    }
}
