//! What the user knows of an album beside its photos.

use crate::{output::misuse, verbosity};
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
    /// A log of positions of that time: GPX, NMEA, GeoJSON with times, Google's Timeline.json or location-history.json of a phone,
    /// Takeout's Records.json, also gzipped. May be repeated
    #[arg(long, value_name = "FILE")]
    track: Vec<PathBuf>,
    /// How far the clocks of the photos are ahead of the track, such as 90s, -5m or +02:00 [default: found where it is clear]
    #[arg(long, value_name = "TIME", value_parser = parse_ahead, allow_hyphen_values = true, requires = "track", hide_short_help = true)]
    track_offset: Option<f64>,
    /// Where photos were taken: a town ("Paris, France", "Wroclaw"), coordinates, a country or a region; with --from and --to for those of a time. May be repeated
    #[arg(long, value_name = "PLACE")]
    place: Vec<String>,
    /// From when on photos were taken at --place, such as 2024-05-01 or 2024-05-01T09:00; - for the first
    #[arg(long, value_name = "TIME", requires = "place", allow_hyphen_values = true, hide_short_help = true)]
    from: Vec<String>,
    /// Until when; a day is until its end, - for the last
    #[arg(long, value_name = "TIME", requires = "place", allow_hyphen_values = true, hide_short_help = true)]
    to: Vec<String>,
}

impl KnownArgs {
    /// Each place with the time given for it, in order.
    pub(super) fn fill(&self, options: &mut AlbumOptions) -> Result<()> {
        let count = self.place.len();
        for (flag, times) in [("--from", &self.from), ("--to", &self.to)] {
            if !times.is_empty() && times.len() != count {
                let given = times.len();
                return misuse(format!(
                    "{count} --place and {given} {flag}: give one for each, in order, or - for none"
                ));
            }
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
        verbosity::note(&format!("{some} of {all} with a place and a time of their own: they count as GPS tags"));
    }
}
