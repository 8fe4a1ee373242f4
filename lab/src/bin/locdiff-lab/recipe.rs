//! `locdiff-lab recipe`: the parts of `lab/recipe.sh` that `locdiff` has no command for.

use crate::terminal::{claim, read_places, subcommands::subcommands, write_file};
use anyhow::{Result, ensure};
use clap::Args;
use locdiff_io::data::TableWriter;
use locdiff_model::train::split_by_blocks;
use locdiff_shdd::sphere::LatLon;
use locdiff_vision::sources::{PhotoList, Photos};
use std::path::{Path, PathBuf};

/// Photos that a calibration needs.
const LEAST_HELD_OUT: usize = 50;

subcommands! {
    pub(crate) enum Recipe {
        /// Write id, lat and lon of every photo of a published set, also of those whose pictures are missing
        Truth(Truth),
        /// Write the numbers of the rows that `locdiff train` holds out with the same share and seed
        HeldOut(HeldOut),
    }
}

#[derive(Debug, Args)]
pub(crate) struct Truth {
    /// A published list, or WebDataset or Parquet shards that hold the places
    #[arg(value_name = "LIST|SHARD", required = true)]
    photos: Vec<PathBuf>,
    /// The table
    #[arg(short, long, value_name = "FILE.csv")]
    out: PathBuf,
}

impl Truth {
    fn run(self) -> Result<()> {
        claim(&self.out)?;
        let mut table = TableWriter::create(&self.out, &["id", "lat", "lon"])?;
        let mut write =
            |id: &str, place: LatLon| table.write(&[id, &place.lat_deg().to_string(), &place.lon_deg().to_string()]);
        let is_shard = |path: &Path| path.extension().is_some_and(|end| end == "tar" || end == "parquet");
        if self.photos.iter().all(|path| is_shard(path)) {
            for photo in Photos::gather(&self.photos, None)?.sources() {
                if let Some((place, _)) = photo.place() {
                    write(photo.name(), place)?;
                }
            }
        } else {
            for list in &self.photos {
                for photo in PhotoList::read(list)?.photos {
                    write(&photo.id, photo.place)?;
                }
            }
        }
        table.finish()?;
        Ok(())
    }
}

#[derive(Debug, Args)]
pub(crate) struct HeldOut {
    /// Places of the training photos
    #[arg(value_name = "FILE")]
    locations: PathBuf,
    /// `--validation-share` of the training
    #[arg(long, value_name = "SHARE")]
    share: f64,
    /// `--seed` of the training
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The rows, counted from 0, one number per line
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
}

impl HeldOut {
    fn run(self) -> Result<()> {
        claim(&self.out)?;
        let rows = split_by_blocks(&read_places(&self.locations)?, self.share, self.seed).validation;
        ensure!(
            rows.len() >= LEAST_HELD_OUT,
            "{} photos are held out to calibrate with, at least {LEAST_HELD_OUT} are needed: raise --share",
            rows.len()
        );
        let lines: Vec<String> = rows.iter().map(|row| format!("{row}\n")).collect();
        write_file(&self.out, lines.concat().as_bytes())
    }
}
