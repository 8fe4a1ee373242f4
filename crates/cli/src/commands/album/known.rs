//! What the user knows of an album beside its photos.

use crate::{output::ensure_usage, verbosity};
use anyhow::Result;
use clap::Args;
use locdiff::{AlbumOptions, StatedPlace};
use locdiff_album::{Track, parse_duration};
use locdiff_base::counted;
use std::path::PathBuf;

fn parse_ahead(text: &str) -> Result<f64, String> {
    parse_duration(text).ok_or_else(|| "write it as 90s, -5m, 2h or +01:30:00".to_owned())
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Also known")]
pub(super) struct KnownArgs {
    /// Use a GPS track from the same time: GPX, NMEA, GeoJSON, Timeline.json, Records.json, also gzipped. Repeat for several
    #[arg(long, value_name = "FILE")]
    track: Vec<PathBuf>,
    /// Set by how much the photos' clocks are ahead of the track: 90s, -5m, +02:00 [default: estimated from tagged photos]
    #[arg(long, value_name = "TIME", value_parser = parse_ahead, allow_hyphen_values = true, requires = "track")]
    track_offset: Option<f64>,
    /// State a town ("Paris, France"), coordinates, country or region where photos were taken. Repeat for several
    #[arg(long, value_name = "PLACE")]
    place: Vec<String>,
    /// Set when the time at --place starts: 2024-05-01, 2024-05-01T09:00, or - for the first photo
    #[arg(long, value_name = "TIME", requires = "place", allow_hyphen_values = true)]
    from: Vec<String>,
    /// Set when the time at --place ends (a day counts until its end), or - for the last photo
    #[arg(long, value_name = "TIME", requires = "place", allow_hyphen_values = true)]
    to: Vec<String>,
}

impl KnownArgs {
    /// Each place with the time given for it, in order.
    pub(super) fn fill(&self, options: &mut AlbumOptions) -> Result<()> {
        let count = self.place.len();
        for (flag, times) in [("--from", &self.from), ("--to", &self.to)] {
            let given = times.len();
            let is_whole = given == 0 || given == count;
            ensure_usage!(is_whole, "{count} --place and {given} {flag}: give one for each, in order, or - for none");
        }
        let time = |times: &[String], k: usize| times.get(k).filter(|time| *time != "-").cloned();
        let places = self.place.iter().enumerate();
        options.places =
            places.map(|(k, place)| StatedPlace::new(place, time(&self.from, k), time(&self.to, k))).collect();
        options.logs = read_tracks(&self.track)?;
        options.track_offset_s = self.track_offset;
        Ok(())
    }
}

/// Reads logs of positions, and says what had to be left out of them.
pub(crate) fn read_tracks(paths: &[PathBuf]) -> Result<Vec<Track>> {
    let tracks = paths.iter().map(|path| Track::open(path)).collect::<Result<Vec<_>, _>>()?;
    tracks.iter().flat_map(Track::faults).for_each(|fault| verbosity::note(fault));
    Ok(tracks)
}

/// Films that say where and when they were taken count as tags.
pub(crate) fn count_films(films: &[PathBuf], options: &mut AlbumOptions) {
    let (some, all) = (options.add_videos(films), counted(films.len(), "video"));
    if some > 0 {
        verbosity::note(&format!("{some} of {all} with a location and a time: they count as GPS tags"));
    }
}
