//! `locdiff gallery`: places with embeddings, built once and searched.

use crate::terminal::subcommands::subcommands;
use crate::{args::DeviceArg, args::named, output, output::status, photos::PhotoArgs, progress, request::EncoderArg};
use crate::{commands::embed::embed, commands::embed::with_flags, embeddings::read_truth, embeddings::same_rows};
use anyhow::{Context, Result};
use clap::Args;
use locdiff::{LocatorOptions, embed::EmbedFiles, embed::EmbedRun, embed::EmbedSettings};
use locdiff_base::counted;
use locdiff_io::data::{PointColumns, PointWriter, RowFile, read_points};
use locdiff_model::eval::Accuracy;
use locdiff_nn::Device;
use locdiff_retrieval::gallery::{GALLERY_FILE, Gallery, GalleryBuilder, VectorType};
use locdiff_retrieval::geoclip::{GeoClip, GeoClipCache, open_geoclip_gallery};
use locdiff_shdd::sphere::LatLon;
use serde_json::json;
use std::{io::Write, path::Path, path::PathBuf};

/// Photos that are searched for together.
const BATCH: usize = 64;

subcommands! {
    pub(crate) enum GalleryCommand {
        /// Build a gallery of located photos, or of locations with GeoCLIP's vectors
        Build(Build),
        /// Find the gallery's most similar entries for each embedding (plain retrieval)
        Search(Search),
    }
}

#[derive(Debug, Args)]
pub(crate) struct Build {
    /// Geotagged photos: files, folders, .csv with a column of paths (and lat, lon), .tar shards, @list.txt
    #[arg(value_name = "PHOTOS", required_unless_present = "locations", conflicts_with_all = ["embeddings", "locations", "geoclip"])]
    photos: Vec<PathBuf>,
    /// Read embeddings instead of photos, one per row: .safetensors or .npy, f16 or f32
    #[arg(long, value_name = "FILE", requires = "locations")]
    embeddings: Option<PathBuf>,
    /// Read this tensor, if a safetensors file holds several
    #[arg(long, value_name = "NAME", requires = "embeddings")]
    tensor: Option<String>,
    /// Read locations, row by row: .csv or .jsonl with lat and lon, .npy or .safetensors [N, 2]
    #[arg(long, value_name = "FILE")]
    locations: Option<PathBuf>,
    /// Compute GeoCLIP's vectors of --locations with the GeoCLIP in this folder; they are stored next to that file
    #[arg(long, value_name = "FOLDER", requires = "locations", conflicts_with_all = ["embeddings", "out"])]
    geoclip: Option<PathBuf>,
    #[command(flatten)]
    encoder: EncoderArg,
    #[command(flatten)]
    reading: PhotoArgs,
    /// Store vectors as this number type
    #[arg(long, default_value = "f16", value_parser = named::<VectorType>())]
    dtype: VectorType,
    /// Write the gallery into this folder
    #[arg(short, long, value_name = "FOLDER", required_unless_present = "geoclip")]
    out: Option<PathBuf>,
    /// Continue an interrupted run; give the same arguments
    #[arg(long)]
    resume: bool,
    /// Print a JSON summary
    #[arg(long)]
    json: bool,
}

impl Build {
    fn run(self) -> Result<()> {
        let (mut bad, mut count) = (0, 0);
        let (gallery, folder) = match (&self.geoclip, &self.locations, &self.out) {
            (Some(model), Some(locations), _) => {
                let cache = GeoClipCache { places: locations.clone(), model: model.clone(), vectors: self.dtype };
                let device = Device::open(self.encoder.device.device)?;
                let model = GeoClip::open(model, &device).context("--geoclip")?;
                (open_places(&cache, &model)?, cache.folder())
            }
            (None, locations, Some(out)) => {
                output::claim_file(&out.join(GALLERY_FILE))?;
                let (embeddings, locations, read) = match (&self.embeddings, locations) {
                    (Some(embeddings), Some(locations)) => (embeddings.clone(), locations.clone(), (0, 0)),
                    (None, None) => self.embed(out)?,
                    _ => anyhow::bail!("--locations needs --embeddings or --geoclip: add one of them"),
                };
                let file = RowFile::open(&embeddings, self.tensor.as_deref())?;
                let places = read_points(&locations, None, &PointColumns::default())?;
                build_photos(&file, &places, self.dtype, out)?;
                (bad, count) = read;
                (Gallery::open(out)?, out.clone())
            }
            _ => {
                anyhow::bail!("give photos, or --embeddings with --locations, or --geoclip with --locations")
            }
        };
        let (places, dimension) = (gallery.len(), gallery.dimension());
        let summary = json!({"places": places, "dimension": dimension, "kind": gallery.kind(), "out": folder});
        let words = format!("a gallery of {places} locations, {dimension} numbers each, in {}", folder.display());
        output::tell(self.json, &summary, &words)?;
        self.reading.settle(bad, count, &folder.join("photos.bad.csv").display().to_string())
    }

    /// Embeds the photos that have a location; embeddings and the list of photos stay in the gallery's folder.
    fn embed(&self, out: &Path) -> Result<(PathBuf, PathBuf, (usize, usize))> {
        std::fs::create_dir_all(out).with_context(|| format!("cannot create {}", out.display()))?;
        let photos = self.reading.gather(&self.photos)?;
        let files = EmbedFiles::beside(out.join("photos.safetensors"));
        let mut settings = EmbedSettings::default();
        (settings.require_place, settings.limits) = (true, self.reading.limits());
        let run = EmbedRun::new(&photos, &files, &settings, self.resume);
        run.check(&self.photos).map_err(with_flags)?;
        let counts = embed(&run, &self.encoder.open()?)?;
        Ok((files.embeddings, files.locations, (counts.bad, counts.done)))
    }
}

/// GeoCLIP's gallery of a file of places, with a bar while it is made.
pub(crate) fn open_places(cache: &GeoClipCache, model: &GeoClip) -> Result<Gallery> {
    let bar = progress::bar("embedding places", None);
    let gallery = open_geoclip_gallery(cache, model, |done, _| bar.set_position(done as u64))?;
    bar.finish_and_clear();
    Ok(gallery)
}

/// A gallery of photos from their embeddings and places.
pub(crate) fn build_photos(embeddings: &RowFile, places: &[LatLon], vectors: VectorType, out: &Path) -> Result<()> {
    same_rows((embeddings.name(), embeddings.rows()), ("--locations", places.len()))?;
    let bar = progress::bar("building", Some(places.len() as u64));
    let builder = GalleryBuilder::of_photos(embeddings, vectors);
    builder.build_from_rows(out, places, embeddings, |rows| bar.inc(rows as u64))?;
    bar.finish_and_clear();
    Ok(())
}

#[derive(Debug, Args)]
pub(crate) struct Search {
    /// Folder of a gallery; with --geoclip a file of locations
    #[arg(value_name = "GALLERY")]
    gallery: PathBuf,
    /// Use the GeoCLIP in this folder, if it made the gallery's vectors
    #[arg(long, value_name = "FOLDER")]
    geoclip: Option<PathBuf>,
    /// Embeddings of the photos, one per row: .safetensors or .npy, f16 or f32
    #[arg(long, value_name = "FILE")]
    embeddings: PathBuf,
    /// Read this tensor, if a safetensors file holds several
    #[arg(long, value_name = "NAME")]
    tensor: Option<String>,
    /// List K entries per photo
    #[arg(long, value_name = "K", default_value_t = 5)]
    top: usize,
    /// Write row, rank, lat, lon, gallery_row and score to .csv, .jsonl, .npy or .safetensors
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Score the best entries against these true locations, row by row
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceArg,
    /// Print a JSON summary
    #[arg(long)]
    json: bool,
}

impl Search {
    fn run(self) -> Result<()> {
        output::claim(self.out.as_deref(), self.json)?;
        let file = RowFile::open(&self.embeddings, self.tensor.as_deref())?;
        let truth = self.truth.as_ref();
        let truth = truth.map(|path| read_truth(path, file.name(), file.rows())).transpose()?;
        anyhow::ensure!(self.top > 0, "--top = 0 cannot be used: give 1 or more");
        let device = Device::open(self.device.device)?;
        let bar = progress::bar("embedding places", None);
        let mut options = LocatorOptions::default();
        (options.gallery, options.geoclip) = (Some(self.gallery), self.geoclip);
        let retriever = options.open_retriever(&device, |done| bar.set_position(done as u64))?.context("no gallery")?;
        bar.finish_and_clear();
        retriever.check_embeddings(file.name(), file.columns(), file.encoder())?;
        let columns = ["row", "rank", "lat", "lon", "gallery_row", "score"];
        let out = self.out.as_ref();
        let mut sink = out.map(|path| PointWriter::create(path, None, &columns)).transpose()?;
        let bar = progress::bar("searching", Some(file.rows() as u64));
        let mut best: Vec<LatLon> = Vec::with_capacity(file.rows());
        let rows: Vec<usize> = (0..file.rows()).collect();
        for block in rows.chunks(BATCH) {
            let embeddings = block.iter().map(|row| Ok(file.embedding(*row)?.values().to_vec()));
            let found = retriever.retrieve_many(&embeddings.collect::<Result<Vec<_>>>()?, self.top)?;
            for (row, hits) in block.iter().zip(found) {
                best.extend(hits.first().map(|hit| hit.place));
                for (rank, hit) in hits.iter().enumerate() {
                    let (number, rank, source) = ((row + 1) as f64, (rank + 1) as f64, (hit.row + 1) as f64);
                    if let Some(sink) = &mut sink {
                        sink.write(hit.place, &[number, rank, source, f64::from(hit.score)])?;
                    } else if !self.json && truth.is_none() {
                        let (lat, lon, score) = (hit.place.lat_deg(), hit.place.lon_deg(), hit.score);
                        status!("{number:>8} {rank:>4} {lat:>11.6} {lon:>12.6} {source:>10} {score:>9.6}");
                    }
                }
                bar.inc(1);
            }
        }
        bar.finish_and_clear();
        sink.map(PointWriter::finish).transpose()?;
        let accuracy = truth.map(|truth| Accuracy::new(best.into_iter().zip(truth)));
        if self.json {
            output::print_line!("{}", json!({"rows": file.rows(), "out": self.out, "accuracy": accuracy}));
        } else {
            if let Some(out) = self.out.as_ref().filter(|out| !output::is_stdout(out)) {
                status!("{} in {}", counted(file.rows(), "photo"), out.display());
            }
            if let Some(accuracy) = &accuracy {
                status!("{accuracy}");
            }
        }
        Ok(())
    }
}
