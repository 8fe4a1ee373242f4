//! What a log of positions gives: its points, and what had to be left out.

use crate::{times::parse_time, track::TrackPoint};
use locdiff_base::{counted, excerpt};
use locdiff_shdd::sphere::LatLon;

/// The points of a log that could be read.
#[derive(Debug, Default)]
pub(crate) struct LogPoints {
    pub(crate) points: Vec<TrackPoint>,
    left_out: usize,
    first: Option<String>,
    /// Whether the file ends before it should.
    pub(crate) is_cut: bool,
}

impl LogPoints {
    /// Adds a position at a moment.
    pub(crate) fn push(&mut self, time_s: f64, at: LatLon, deviation_km: f64) {
        self.points.push(TrackPoint { time_s, until_s: time_s, at, deviation_km });
    }

    /// Counts what cannot be read; the first reason is told.
    pub(crate) fn leave_out(&mut self, reason: String) {
        self.left_out += 1;
        self.first.get_or_insert(reason);
    }

    /// What was left out, and why; `None` if nothing was.
    pub(crate) fn faults(&self) -> Option<String> {
        let left_out = (self.left_out > 0).then(|| format!("{} left out", counted(self.left_out, "point")));
        let cut = self.is_cut.then(|| "the file is cut off".to_owned());
        let said: Vec<String> = [cut, left_out].into_iter().flatten().collect();
        let first = self.first.as_ref().map_or(String::new(), |first| format!(" ({first})"));
        (!said.is_empty()).then(|| said.join(", ") + &first)
    }
}

/// A time; logs are of UTC if they give no offset.
pub(crate) fn utc(text: &str) -> Result<f64, String> {
    parse_time(text, Some("+00:00"))
        .map(|(seconds, _)| seconds)
        .map_err(|_| format!("'{}' is not a time", excerpt(text)))
}
