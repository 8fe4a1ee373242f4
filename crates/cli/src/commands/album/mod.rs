//! `locdiff album`: a whole trip at once.

mod files;
pub(crate) mod known;
pub(crate) mod print;

use super::locate::{tag_args::TagArgs, tag_args::untagged_is_bad, tagging::Tagging, tagging::of_album};
use crate::{hints, output, output::Out, photos::PhotoArgs, progress, request::ModelArgs, request::open, say};
use crate::{interrupt::InterruptGuard, interrupt::Interrupted, verbosity};
use anyhow::{Context, Result};
use clap::Args;
use files::FileArgs;
use known::KnownArgs;
use locdiff::{AlbumAnswer, AlbumOptions, AlbumRun, Control, ErrorKind, LocateOptions, Progress, Source};
use locdiff_album::{AlbumSettings, TimeSource, parse_offset};
use locdiff_io::data::RowFile;
use std::{io::Write, path::Path, path::PathBuf, sync::Arc};

fn parse_zone(text: &str) -> Result<f64, String> {
    parse_offset(text).ok_or_else(|| "write it as +02:00, -05:30 or Z".to_owned())
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags")]
#[command(
    after_help = "Times come from EXIF (DateTimeOriginal with its offset), otherwise from a date and time in the file's name. The output names \
                  the source. A photo without a time is located by its picture alone. GPS tags count, and are never overwritten."
)]
pub(crate) struct Album {
    /// Photos of the album: files, folders, lists or shards, as in `locate`
    #[arg(value_name = "PHOTOS", required_unless_present = "embeddings")]
    photos: Vec<PathBuf>,
    #[command(flatten)]
    reading: PhotoArgs,
    #[command(flatten)]
    model: ModelArgs,
    /// Take all photos as of one location, whenever they were taken
    #[arg(long, conflicts_with = "folder_is_place")]
    same_place: bool,
    /// Take the photos of each folder (or each album of --times) as of one location
    #[arg(long)]
    folder_is_place: bool,
    /// Take all photos as one trip, instead of cutting it at long pauses and jumps
    #[arg(long)]
    one_trip: bool,
    /// Trust the clocks of all cameras
    #[arg(long)]
    trust_clocks: bool,
    /// Assume this UTC offset, such as +02:00, if a photo gives none; otherwise its time stays local, and out of GPX
    #[arg(long, value_name = "OFFSET", value_parser = parse_zone, allow_hyphen_values = true)]
    time_zone: Option<f64>,
    /// Read settings of the album model, as JSON (docs/album.md)
    #[arg(long, value_name = "FILE.json")]
    settings: Option<PathBuf>,
    /// Set the seed of noise
    #[arg(long, default_value_t = LocateOptions::default().seed, env = "LOCDIFF_SEED", hide_env_values = true)]
    seed: u64,
    /// Read embeddings instead of photos: .safetensors or .npy
    #[arg(long, value_name = "FILE", conflicts_with = "photos", requires = "times", help_heading = "Embeddings")]
    embeddings: Option<PathBuf>,
    /// Read this tensor, if a safetensors file holds several
    #[arg(long, value_name = "NAME", requires = "embeddings", help_heading = "Embeddings")]
    tensor: Option<String>,
    /// Read a table of the photos: time and, if known, row, album, name, gps_lat, gps_lon and camera
    #[arg(long, value_name = "FILE.csv", requires = "embeddings", help_heading = "Embeddings")]
    times: Option<PathBuf>,
    #[command(flatten)]
    known: KnownArgs,
    #[command(flatten)]
    files: FileArgs,
    #[command(flatten)]
    tags: TagArgs,
}

impl Album {
    pub(crate) fn run(self) -> Result<()> {
        let mut options = AlbumOptions::default();
        self.reading.fill(&mut options.photos);
        options.photos.seed = self.seed;
        options.same_place = self.same_place;
        options.folder_is_place = self.folder_is_place;
        options.one_trip = self.one_trip;
        options.trust_clocks = self.trust_clocks;
        options.clock_offset_s = self.time_zone;
        options.settings = settings(self.settings.as_deref())?;
        self.known.fill(&mut options)?;
        let (sources, films) = self.sources()?;
        known::count_films(&films, &mut options);
        let mut opened = self.model.options();
        opened.without_encoder = self.embeddings.is_some();
        let locator = open(&opened, &options.photos)?;
        let count = sources.len();
        let (reading, placing) =
            (progress::bar("reading", Some(count as u64)), progress::bar("placing", Some(count as u64)));
        let guard = InterruptGuard::begin();
        let advance = |stage: Progress| match stage {
            Progress::Read => reading.inc(1),
            Progress::Placed => placing.inc(1),
            _ => {}
        };
        let mut control = Control::new().with_stop(guard.stop()).with_progress(&advance);
        if self.files.map.is_some() && !self.files.no_pictures && !self.tags.dry_run {
            control = control.with_album_thumbnails(count);
        }
        let run = locator.locate_album_with(sources, &options, control);
        reading.finish_and_clear();
        placing.finish_and_clear();
        let run = match run {
            Err(error) if error.kind() == ErrorKind::Stopped => return Err(Interrupted.into()),
            run => run?,
        };
        run.clocks.iter().for_each(|clock| verbosity::note(&print::clock(clock)));
        self.say_times(&run);
        drop(guard); // an interrupt at the question ends it
        let (failed, untagged) = self.tell(&run)?;
        self.reading.settle(failed, count, "above")?;
        untagged_is_bad(untagged, count)
    }

    /// The photos, or the rows of the table; and the films beside them.
    fn sources(&self) -> Result<(Vec<Source>, Vec<PathBuf>)> {
        if let (Some(embeddings), Some(times)) = (&self.embeddings, &self.times) {
            self.files.check(&[], &self.tags)?;
            let file = Arc::new(RowFile::open(embeddings, self.tensor.as_deref())?);
            return Ok((Source::album_rows(times, &file)?, Vec::new()));
        }
        let photos = self.reading.gather(&self.photos)?;
        let files: Vec<_> = photos.sources().iter().map(|source| source.path().to_owned()).collect();
        self.files.check(&files, &self.tags)?;
        let films = photos.passed_over.videos.clone();
        Ok((photos.into_sources().into_iter().map(Source::from).collect(), films))
    }

    /// Prints the answers and writes what was asked for; how many photos have none, and how many cannot hold a tag.
    fn tell(&self, run: &AlbumRun) -> Result<(usize, usize)> {
        let mut tagging = Tagging::new(&self.tags, &self.photos, self.files.json)?;
        let mut out = output::human_out();
        for photo in &run.photos {
            let answer = match &photo.answer {
                Ok(answer) => answer,
                Err(error) => {
                    let flag = hints::locate_flag(error).map_or(String::new(), |flag| format!(" ({flag})"));
                    say::error(&(photo.origin.reason(error) + &flag));
                    if self.files.json {
                        writeln!(Out, "{}", photo.to_json())?;
                    }
                    tagging.pass(photo.origin.path.as_deref())?;
                    continue;
                }
            };
            if !self.tags.dry_run {
                let text = print::text(answer, self.files.json);
                if self.files.json {
                    Out.write_all(text.as_bytes())?;
                } else {
                    out.write_all(text.as_bytes())?;
                }
            }
            tagging.tag(of_album(answer), photo.origin.path.as_deref())?;
        }
        let answers: Vec<AlbumAnswer> = run.answers().cloned().collect();
        if !self.files.json && !self.tags.dry_run && !answers.is_empty() {
            write!(out, "{}", print::summary(&answers))?;
        }
        let written = if self.tags.dry_run || answers.is_empty() {
            Vec::new()
        } else {
            self.files.write(&answers, &run.thumbnails().collect::<Vec<_>>())?
        };
        let untagged = tagging.finish(&written, false)?;
        Ok((run.photos.len() - answers.len(), untagged))
    }

    /// Says where times come from, unless all are sure.
    fn say_times(&self, run: &AlbumRun) {
        let all = run.answers().count();
        if self.same_place || self.folder_is_place {
            return;
        }
        for source in [TimeSource::Clock, TimeSource::Name, TimeSource::Day] {
            let mut found = run.answers().filter(|answer| answer.time.source == source).peekable();
            if let Some(words) = found.peek().map(|answer| answer.time.words()) {
                let count = found.count();
                verbosity::note(&format!("{count} of {all} photos get their time from {words}"));
            }
        }
        let untimed = run.answers().filter(|answer| !answer.time.is_moment()).count();
        if untimed > 0 {
            let what = "have no time: they are placed by their pictures alone";
            verbosity::note(&format!("{untimed} of {all} photos {what}"));
        }
    }
}

/// The settings in a file, or the usual ones.
pub(crate) fn settings(path: Option<&Path>) -> Result<AlbumSettings> {
    let Some(path) = path else { return Ok(AlbumSettings::default()) };
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    AlbumSettings::from_json(&text).with_context(|| path.display().to_string())
}
