//! `locdiff embed`: photos in, embeddings and locations out.

pub(crate) mod inputs;
mod journal;
mod pipeline;
mod shard;

use crate::args::parse_dtype;
use crate::encoder::{EncoderArg, test_picture};
use crate::interrupt::Careful;
use crate::progress;
use anyhow::{Context, Result, bail};
use clap::Args;
use inputs::{PlaceSource, Source};
use journal::{Journal, Outcome};
use locdiff_base::AtomicFile;
use locdiff_data::{Dtype, MatrixWriter, TableWriter};
use locdiff_vision::{Augmentation, Encoder, PhotoLimits};
use pipeline::Pipeline;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Embed {
    /// Photos: files, folders (searched by name), .csv with a column of paths (and lat, lon), .tar shards, @list.txt
    #[arg(value_name = "PHOTOS", required = true)]
    photos: Vec<PathBuf>,
    /// Where to write the embeddings, a row a photo: .safetensors (tensor "embeddings"), .npy, .csv or .jsonl
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    /// Where to write row, path, lat, lon and the location's source, a line a row [default: OUT as .csv]
    #[arg(long, value_name = "FILE.csv")]
    locations: Option<PathBuf>,
    /// Where to list the photos that could not be used, and why [default: OUT as .bad.csv, if there are any]
    #[arg(long, value_name = "FILE.csv")]
    bad: Option<PathBuf>,
    #[command(flatten)]
    encoder: EncoderArg,
    /// Embed K other views of each photo too (crops and colours), as tensors augmented_1 … augmented_K for train
    #[arg(long, value_name = "K", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1000))]
    augment: u32,
    /// Mirror half of the other views; it turns traffic and script around
    #[arg(long, requires = "augment")]
    mirror: bool,
    /// Seed of the other views
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Leave out photos without a location, so that the files are a training set
    #[arg(long)]
    require_gps: bool,
    /// Number type: f16, f32 or f64
    #[arg(long, value_name = "TYPE", default_value = "f32", value_parser = parse_dtype)]
    dtype: Dtype,
    /// Pictures the encoder takes at a time
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=65536))]
    batch: u32,
    /// Column of the paths in a CSV [default: path, file, file_name, filename, image, photo or img]
    #[arg(long, value_name = "NAME")]
    path_column: Option<String>,
    /// Largest photo, in millions of pixels
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=4000))]
    max_megapixels: u32,
    /// Go on with a run that was cut off: give the same arguments
    #[arg(long)]
    resume: bool,
    /// Fail (exit code 1) if any photo could not be used
    #[arg(long)]
    strict: bool,
    /// Print a JSON summary when done
    #[arg(long)]
    json: bool,
    /// Say nothing: another command has the word
    #[arg(skip)]
    quiet: bool,
}

/// What the files hold in the end.
#[derive(Default)]
struct Counts {
    rows: usize,
    bad: usize,
    left_out: usize,
    without_place: usize,
}

impl Embed {
    /// The part of `locdiff gallery build`: photos with a location, embedded without a word.
    pub(crate) fn for_gallery(photos: Vec<PathBuf>, out: PathBuf, encoder: EncoderArg, resume: bool) -> Self {
        Self {
            photos,
            out,
            locations: None,
            bad: None,
            encoder,
            augment: 0,
            mirror: false,
            seed: 0,
            require_gps: true,
            dtype: Dtype::F32,
            batch: 32,
            path_column: None,
            max_megapixels: 100,
            resume,
            strict: false,
            json: false,
            quiet: true,
        }
    }

    pub(crate) fn run(self) -> Result<()> {
        let (photos, others) = inputs::gather(&self.photos, self.path_column.as_deref())?;
        if photos.is_empty() {
            bail!(
                "no photos: the arguments name {others} files and none is a picture; give photos, folders or lists of them"
            );
        }
        self.check_outputs(&photos)?;
        let encoder = self.encoder.open()?;
        let pipeline = self.pipeline(&encoder);
        let settings = self.settings(&photos, &pipeline)?;
        let partial = with_suffix(&self.out, ".partial");
        let mut journal = Journal::open(partial, &settings, photos.len(), pipeline.batch, self.resume)?;
        let resumed = journal.done();
        let start = Instant::now();
        let bar = progress::bar("embedding", Some(photos.len() as u64));
        bar.set_position(resumed as u64);
        bar.reset_eta();
        let careful = Careful::begin();
        let finished = pipeline.run(&photos, resumed, careful.stop(), |batch| {
            journal.append(batch)?;
            bar.set_position(journal.done() as u64);
            Ok(())
        });
        bar.finish_and_clear();
        if !finished? {
            eprintln!("stopped after {} of {} photos: go on with --resume", journal.done(), photos.len());
            std::process::exit(130);
        }
        drop(careful);
        let seconds = start.elapsed().as_secs_f64();
        let counts = self.write(&photos, &journal, encoder.embedding())?;
        journal.remove()?;
        if counts.rows == 0 {
            bail!("none of the {} photos could be used: see {}", photos.len(), self.bad_path().display());
        }
        if self.quiet {
            return Ok(());
        }
        self.tell(&counts, photos.len(), resumed, others, seconds, &encoder);
        if self.strict && counts.bad > 0 {
            bail!("{} of {} photos could not be used (--strict)", counts.bad, photos.len());
        }
        Ok(())
    }

    fn pipeline<'a>(&self, encoder: &'a Encoder) -> Pipeline<'a> {
        let views = self.augment + 1;
        Pipeline {
            encoder,
            augmentation: Augmentation { mirror: self.mirror, ..Augmentation::default() },
            seed: self.seed,
            views,
            batch: (self.batch / views).max(1) as usize,
            limits: PhotoLimits {
                max_pixels: u64::from(self.max_megapixels) * 1_000_000,
                ..PhotoLimits::default()
            },
            require_place: self.require_gps,
        }
    }

    /// Everything that decides a finished record: a run goes on only where all of it is the same.
    fn settings(&self, photos: &[Source], pipeline: &Pipeline<'_>) -> Result<Value> {
        // The encoder is known by what it answers, whatever files it came from.
        let answer = pipeline.encoder.embed(&[test_picture()])?;
        let mut encoder = crc32fast::Hasher::new();
        for value in answer[0].values() {
            encoder.update(&value.to_le_bytes());
        }
        let mut list = crc32fast::Hasher::new();
        for photo in photos {
            photo.add_to(&mut list);
        }
        Ok(json!({
            "version": env!("CARGO_PKG_VERSION"),
            "encoder": format!("{} {:08x}", pipeline.encoder.architecture(), encoder.finalize()),
            "number of photos": photos.len(),
            "set of photos": format!("{:08x}", list.finalize()),
            "--augment": self.augment,
            "--mirror": self.mirror,
            "--seed": self.seed,
            "--batch": self.batch,
            "--require-gps": self.require_gps,
            "--max-megapixels": self.max_megapixels,
        }))
    }

    fn locations_path(&self) -> PathBuf {
        self.locations.clone().unwrap_or_else(|| self.out.with_extension("csv"))
    }

    fn bad_path(&self) -> PathBuf {
        self.bad.clone().unwrap_or_else(|| self.out.with_extension("bad.csv"))
    }

    /// Finds out before hours of work that an output cannot be written, or would destroy something.
    fn check_outputs(&self, photos: &[Source]) -> Result<()> {
        let outputs =
            [("--out", self.out.clone()), ("--locations", self.locations_path()), ("--bad", self.bad_path())];
        let mut seen: BTreeMap<PathBuf, &str> = BTreeMap::new();
        for (name, path) in &outputs {
            drop(AtomicFile::create(path)?);
            if let Some(other) = seen.insert(absolute(path), name) {
                bail!("{other} and {name} are both {}: name two files", path.display());
            }
        }
        let inputs = photos.iter().map(Source::path).chain(self.photos.iter().map(PathBuf::as_path));
        for input in inputs {
            if let Some(name) = seen.get(&absolute(input)) {
                bail!("{} is a photo or list to read and {name} at once: name another file", input.display());
            }
        }
        // The format is checked by the writer, whose temporary file goes with it.
        let names = self.tensors();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        MatrixWriter::create_tensors(&self.out, None, 1, self.dtype, &names)?;
        Ok(())
    }

    fn tensors(&self) -> Vec<String> {
        let copies = (1..=self.augment).map(|k| format!("augmented_{k}"));
        std::iter::once("embeddings".to_owned()).chain(copies).collect()
    }

    /// Writes the files from the journal, a pass a tensor.
    fn write(&self, photos: &[Source], journal: &Journal, columns: usize) -> Result<Counts> {
        let mut counts = Counts::default();
        let bad_path = self.bad_path();
        let mut bad = TableWriter::create(&bad_path, &["path", "reason"])?;
        let mut locations =
            TableWriter::create(&self.locations_path(), &["row", "path", "lat", "lon", "source"])?;
        for (photo, outcome) in photos.iter().zip(journal.outcomes()?) {
            let gps = match outcome {
                Outcome::Bad(reason) => {
                    counts.bad += 1;
                    bad.write(&[&photo.name, &reason])?;
                    continue;
                }
                Outcome::WithoutPlace => {
                    counts.left_out += 1;
                    bad.write(&[&photo.name, "it has no location, and --require-gps was given"])?;
                    continue;
                }
                Outcome::Embedded { gps, .. } => gps,
            };
            counts.rows += 1;
            let row = counts.rows.to_string();
            if let Some((place, source)) = photo.place.or(gps.map(|place| (place, PlaceSource::Exif))) {
                let (lat, lon) = (place.lat_deg().to_string(), place.lon_deg().to_string());
                locations.write(&[&row, &photo.name, &lat, &lon, source.name()])?;
            } else {
                counts.without_place += 1;
                locations.write(&[&row, &photo.name, "", "", ""])?;
            }
        }
        let unused = counts.bad + counts.left_out;
        // An empty list is written where it was asked for, or would else leave an old one standing.
        if unused > 0 || self.bad.is_some() || bad_path.exists() {
            bad.finish()?;
        }
        if counts.rows == 0 {
            return Ok(counts); // no embeddings and no locations: files of no rows would only be errors later
        }
        let names = self.tensors();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut writer = MatrixWriter::create_tensors(&self.out, None, columns, self.dtype, &names)
            .context("what is finished is kept: go on with --resume")?;
        for view in 0..names.len() {
            for outcome in journal.outcomes()? {
                if let Outcome::Embedded { values, .. } = outcome {
                    let row: Vec<f64> =
                        values[view * columns..][..columns].iter().map(|&v| v.into()).collect();
                    writer.write_row(&row)?;
                }
            }
        }
        locations.finish()?;
        writer.finish()?;
        Ok(counts)
    }

    fn tell(
        &self,
        counts: &Counts,
        photos: usize,
        resumed: usize,
        others: usize,
        seconds: f64,
        encoder: &Encoder,
    ) {
        let Counts { rows, bad, left_out, without_place } = *counts;
        let rate = (photos - resumed) as f64 / seconds.max(1e-9);
        let (locations, bad_path) = (self.locations_path(), self.bad_path());
        let listed = bad + left_out > 0 || self.bad.is_some();
        if self.json {
            let summary = json!({
                "photos": photos, "rows": rows, "bad": bad, "left_out_without_location": left_out,
                "rows_without_location": without_place, "other_files": others, "resumed_from": resumed,
                "columns": encoder.embedding(), "augmented": self.augment, "dtype": self.dtype.name(),
                "encoder": encoder.architecture(), "seed": self.seed, "seconds": seconds, "photos_per_second": rate,
                "out": self.out, "locations": locations, "bad_list": listed.then_some(&bad_path),
            });
            println!("{summary}");
            return;
        }
        println!(
            "{rows} photos in {} ({} numbers each), their paths and places in {}; {rate:.1} photos a second",
            self.out.display(),
            encoder.embedding(),
            locations.display()
        );
        if bad + left_out > 0 {
            println!(
                "{bad} could not be used and {left_out} were left out for want of a location: see {}",
                bad_path.display()
            );
        }
        if without_place > 0 {
            println!(
                "{without_place} have no location: --require-gps would leave them out, as `locdiff train` needs"
            );
        }
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The same path for the same file, as far as it exists.
fn absolute(path: &Path) -> PathBuf {
    path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}
