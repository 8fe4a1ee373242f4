//! `locdiff album`: a whole trip at once.

mod files;
pub(crate) mod inputs;
pub(crate) mod print;

use super::locate::tag_args::TagArgs;
use super::locate::tagging::Tagging;
use crate::model::ModelArgs;
use crate::photos::PhotoArgs;
use crate::{manners, output, progress};
use anyhow::{Result, ensure};
use clap::Args;
use files::FileArgs;
use inputs::{Gathered, gather_embeddings, gather_photos, settings};
use locdiff::{AlbumAnswer, AlbumPhoto, LocateOptions, TimeSource, set_clocks};
use locdiff_base::one_line;
use std::io::Write;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "Times are taken from EXIF (DateTimeOriginal with its offset), else from digits in the file's name, else from the order of the \
                  files; the output says which. GPS tags are heard, and never overwritten."
)]
pub(crate) struct Album {
    /// The album: photos, folders, lists or shards, as in `locate`
    #[arg(value_name = "PHOTOS", required_unless_present = "embeddings")]
    photos: Vec<PathBuf>,
    #[command(flatten)]
    reading: PhotoArgs,
    #[command(flatten)]
    model: ModelArgs,
    /// All photos are of one place, whenever they were taken
    #[arg(long, conflicts_with = "folder_is_place")]
    same_place: bool,
    /// The photos of each folder (or each album of --times) are of one place
    #[arg(long)]
    folder_is_place: bool,
    /// Take the clocks of all cameras as they are
    #[arg(long)]
    trust_clocks: bool,
    /// Settings of the model of albums, as JSON: see docs/album.md
    #[arg(long, value_name = "FILE.json")]
    settings: Option<PathBuf>,
    /// Seed of noise
    #[arg(long, default_value_t = 0, env = "LOCDIFF_SEED", hide_env_values = true)]
    seed: u64,
    /// Embeddings instead of photos: .safetensors or .npy
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "photos",
        requires = "times",
        help_heading = "Embeddings"
    )]
    embeddings: Option<PathBuf>,
    /// Tensor of a safetensors file that holds several
    #[arg(long, value_name = "NAME", requires = "embeddings", help_heading = "Embeddings")]
    tensor: Option<String>,
    /// Table of the photos: time, and row, album, name, gps_lat, gps_lon, camera where known
    #[arg(long, value_name = "FILE.csv", requires = "embeddings", help_heading = "Embeddings")]
    times: Option<PathBuf>,
    #[command(flatten)]
    files: FileArgs,
    #[command(flatten)]
    tags: TagArgs,
}

impl Album {
    pub(crate) fn run(self) -> Result<()> {
        let locator = self.model.open(self.embeddings.is_none())?;
        let mut options = LocateOptions::default();
        options.sampling.seed = self.seed;
        let Gathered { photos, albums, paths, failed } =
            if let (Some(embeddings), Some(times)) = (&self.embeddings, &self.times) {
                self.files.check(&[], self.tags.dry_run)?;
                gather_embeddings(embeddings, self.tensor.as_deref(), times, &locator, &options)?
            } else {
                let photos = self.reading.gather(&self.photos)?;
                let files: Vec<_> = photos.sources().iter().map(|source| source.path().to_owned()).collect();
                self.files.check(&files, self.tags.dry_run)?;
                self.tags.ask(files.len())?;
                let by_folder = self.folder_is_place;
                gather_photos(photos.into_stream(self.reading.limits()), by_folder, &locator, &options)?
            };
        let count = photos.len() + failed;
        ensure!(!photos.is_empty(), "there is no photo to answer for");
        self.say_times(&photos);
        let album = locator.album(settings(self.settings.as_deref())?)?;
        let bar = progress::bar("placing", Some(photos.len() as u64));
        let mut photos: Vec<Option<AlbumPhoto>> = photos.into_iter().map(Some).collect();
        let mut answers: Vec<Option<AlbumAnswer>> = vec![None; photos.len()];
        let groups: Vec<Vec<usize>> = if self.same_place {
            vec![(0..photos.len()).collect()]
        } else {
            albums.iter().map(|(_, members)| members.clone()).collect()
        };
        for members in &groups {
            let mut own: Vec<AlbumPhoto> = members.iter().filter_map(|k| photos[*k].take()).collect();
            let found = if self.same_place || self.folder_is_place {
                let found = album.same_place(&own, None)?;
                bar.inc(own.len() as u64);
                found
            } else {
                if !self.trust_clocks {
                    let wrong = album.wrong_clocks(&own)?;
                    for clock in &wrong {
                        bar.suspend(|| manners::note(&print::clock(clock)));
                    }
                    set_clocks(&mut own, &wrong);
                }
                album.answers(&own, &[], |_| bar.inc(1))?
            };
            members.iter().zip(found).for_each(|(k, answer)| answers[*k] = Some(answer));
        }
        bar.finish_and_clear();
        let answers: Vec<AlbumAnswer> = answers.into_iter().flatten().collect();
        self.tell(&answers, &paths)?;
        self.reading.settle(failed, count, "above")
    }

    /// Prints the answers and writes what was asked for.
    fn tell(&self, answers: &[AlbumAnswer], paths: &[Option<PathBuf>]) -> Result<()> {
        let mut tagging = Tagging::new(&self.tags, self.files.json)?;
        let mut out = output::people();
        for (answer, path) in answers.iter().zip(paths) {
            if !self.tags.dry_run {
                let text = print::text(answer, self.files.json);
                if self.files.json {
                    std::io::stdout().write_all(text.as_bytes())?;
                } else {
                    out.write_all(text.as_bytes())?;
                }
            }
            let said = tagging.tag(&answer.into(), path.as_deref())?;
            if let Some(skipped) = said.skipped {
                manners::note(&one_line(&skipped));
            }
            std::io::stdout().write_all(said.plan.as_bytes())?;
        }
        if !self.files.json && !self.tags.dry_run {
            write!(out, "{}", print::summary(answers))?;
        }
        let mut written = if self.tags.dry_run { Vec::new() } else { self.files.write(answers)? };
        let tagged = tagging.finish()?;
        written.extend(tagged.written);
        if !self.files.json {
            output::tell_written(written.iter().map(PathBuf::as_path))?;
        }
        tagged.notes.iter().for_each(|note| manners::note(note));
        if let Some(journal) = tagged.journal {
            let journal = journal.display();
            manners::note(&format!("{journal} lists the tags; `locdiff undo {journal}` takes them back"));
        }
        Ok(())
    }

    /// Says where times come from, unless all are sure.
    fn say_times(&self, photos: &[AlbumPhoto]) {
        if self.same_place || self.folder_is_place {
            return;
        }
        for source in [TimeSource::Clock, TimeSource::Name, TimeSource::Order] {
            let count = photos.iter().filter(|photo| photo.time.source == source).count();
            if count > 0 {
                manners::note(&format!(
                    "{count} of {} photos have their time from {}",
                    photos.len(),
                    source.words()
                ));
            }
        }
    }
}
