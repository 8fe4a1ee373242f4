//! What gives the location of a photo away, and the bytes that a copy without it has.

use crate::tags::facts::tidy;
use locdiff_base::{distance, one_line};
use locdiff_shdd::sphere::LatLon;
use serde::Serialize;
use std::{ops::Range, path::Path};

/// One thing that gives the location of a photo away.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LocationFinding {
    /// "gps", "place-name", "time-zone", "hidden" (data that LocDiff cannot read), "text", "gallery", "picture" or "part".
    pub kind: &'static str,
    /// Where it stands: "EXIF", "XMP", "thumbnail's EXIF".
    pub found_in: String,
    /// What it says, on one line.
    pub says: String,
    /// How far off a reader of it is at most; of a picture in half of all cases. `None` if that is unknown.
    pub radius_km: Option<f64>,
}

impl LocationFinding {
    /// A finding. Of a long text it has the beginning.
    pub fn new(kind: &'static str, found_in: impl Into<String>, says: &str, radius_km: Option<f64>) -> Self {
        let says: String = says.chars().take(200).collect();
        Self { kind, found_in: one_line(&found_in.into()), says: one_line(&says), radius_km }
    }

    /// A line for a file and one for each of its findings, of which the first has the smallest radius; or one line of JSON.
    pub fn report(file: &Path, findings: &[Self], as_json: bool) -> String {
        if as_json {
            return format!("{}\n", serde_json::json!({"file": file, "findings": findings}));
        }
        let worst = findings.first().and_then(|finding| finding.radius_km);
        let worst = worst.map_or("nothing known gives it away".to_owned(), |km| {
            format!("within {}", distance(km).trim_start_matches("under "))
        });
        let line = |Self { kind, found_in, says, radius_km }: &Self| {
            let radius = radius_km.map_or("unknown".to_owned(), distance);
            format!("{radius:>12}  {kind:<10}  {found_in:<16}  {says}\n")
        };
        format!("{}: {worst}\n{}", one_line(&file.to_string_lossy()), findings.iter().map(line).collect::<String>())
    }
}

/// What a file says about where it was taken, and how a copy without that differs from it.
#[derive(Debug, Default)]
pub struct LocationScrub {
    /// What says where it was taken, in the order of the file.
    pub findings: Vec<LocationFinding>,
    pub(super) patches: Vec<(Range<u64>, Vec<u8>)>,
    /// Why no copy can be made.
    pub(super) damage: Option<String>,
    /// Stands before the names of parts: "thumbnail's ".
    pub(super) within: &'static str,
}

impl LocationScrub {
    pub(super) fn note(&mut self, kind: &'static str, part: &str, says: &str) {
        self.findings.push(LocationFinding::new(kind, format!("{}{part}", self.within), says, None));
    }

    pub(super) fn note_hidden(&mut self, part: &str) {
        self.note("hidden", part, "may hold a location");
    }

    /// Notes a position whose last digit is worth `unit_deg`, and which says that it is off by `error_km`.
    pub(super) fn note_position(&mut self, part: &str, at: Option<LatLon>, unit_deg: f64, error_km: f64) {
        /// How far off phones are at best, under open sky (gps.gov).
        const RECEIVER_KM: f64 = 0.005;
        const KM_PER_DEGREE: f64 = 111.2;
        let says = at.map(|at| format!("{:.5}, {:.5}", at.lat_deg(), at.lon_deg()));
        let radius_km = at.map(|_| (unit_deg / 2.0 * KM_PER_DEGREE).max(error_km).max(RECEIVER_KM));
        self.note("gps", part, says.as_deref().unwrap_or("GPS tags without a position"));
        self.findings.last_mut().into_iter().for_each(|finding| finding.radius_km = radius_km);
    }

    /// Notes the names of a place, each with its rank: part of a town 0, town 1, state 2, country 3, its code 4.
    pub(super) fn note_names(&mut self, part: &str, mut names: Vec<(u8, String)>) {
        names.sort_by_key(|(rank, _)| *rank);
        let has_name = names.first().is_some_and(|(rank, _)| *rank < 4);
        names.retain(|(rank, _)| *rank < 4 || !has_name);
        let mut said: Vec<String> = names.iter().filter_map(|(_, name)| tidy(name)).collect();
        said.dedup();
        if !said.is_empty() {
            self.note("place-name", part, &said.join(", "));
        }
    }

    /// Puts bytes into a part of a file, if they are others.
    pub(super) fn replace(&mut self, file: &[u8], range: Range<usize>, bytes: Vec<u8>) {
        if file.get(range.clone()) != Some(&bytes[..]) {
            self.patches.push((range.start as u64..range.end as u64, bytes));
        }
    }
}

/// Where the offset from UTC begins in a time such as `2024-05-12T13:45:10+02:00`. "Z" tells no place.
pub(super) fn zone_at(time: &str) -> Option<usize> {
    let bytes = time.as_bytes();
    let is_time = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':')].iter().all(|(at, sign)| bytes.get(*at) == Some(sign));
    let at = 16 + bytes.get(16..).filter(|_| is_time)?.iter().position(|byte| matches!(byte, b'+' | b'-'))?;
    bytes[at + 1..].iter().all(|byte| byte.is_ascii_digit() || *byte == b':').then_some(at)
}

/// Whether bytes that are not taken apart speak of a location.
pub(super) fn mentions_location(bytes: &[u8]) -> bool {
    const WORDS: [&[u8]; 5] = [b"GPS", b"atitude", b"ocation", b"City", b"Country"];
    WORDS.iter().any(|word| bytes.windows(word.len()).any(|window| window == *word))
}
