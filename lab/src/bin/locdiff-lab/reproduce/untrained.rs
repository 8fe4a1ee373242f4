//! `locdiff-lab reproduce drift|timing|gallery-bias`: tables that train nothing.

use crate::terminal::{DecoderArgs, DegreeArg, DeviceArg, TableFormat, bar, parse_grid, parse_positive, read_places};
use anyhow::{Context, Result};
use clap::Args;
use locdiff_lab::{NoisyCodes, Table, TimingTable};
use locdiff_model::{eval::Nearby, eval::Rules};
use locdiff_nn::Device;
use locdiff_shdd::{Codec, sphere::LatLon};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Drift {
    #[command(flatten)]
    degree: DegreeArg,
    #[command(flatten)]
    decoder: DecoderArgs,
    /// Variance of the noise on each coefficient (the paper: 0.01)
    #[arg(long, default_value = "0.01", value_parser = parse_positive)]
    variance: f64,
    /// Random places
    #[arg(short, long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    n: u32,
    /// Seed of places and noise
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Keep so many of a code's numbers, the largest over --places, and zero the others, as `train --keep-dimensions` does:
    /// how far the places decoded from what is left lie from the true ones
    #[arg(long, value_name = "N", requires = "places")]
    keep_dimensions: Option<usize>,
    /// Places that reduced codes are made for and measured on: .csv or .jsonl with lat and lon, .npy or .safetensors [N, 2]
    #[arg(long, value_name = "FILE", requires = "keep_dimensions")]
    places: Option<PathBuf>,
    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
}

impl Drift {
    pub(super) fn run(self) -> Result<()> {
        let codec = Codec::new(self.degree.degree);
        let (decoder, variance, n, seed) = (self.decoder.decoder()?, self.variance, self.n as usize, self.seed);
        let codes = NoisyCodes { codec: &codec, decoder: &decoder, variance, n, seed };
        let (value, text) = if let (Some(count), Some(places)) = (self.keep_dimensions, &self.places) {
            let places = read_places(places).context("--places")?;
            let bar = bar("drift", Some(2 * places.len().min(n) as u64));
            let told = codes.reduced(&places, count, |done| bar.set_position(done as u64));
            bar.finish_and_clear();
            told.context("--keep-dimensions")?
        } else {
            let DecoderArgs { decoder, anchors, .. } = &self.decoder;
            let name = format!("{decoder:?}").to_lowercase();
            let name = if name == "anchors" { format!("anchors {anchors}") } else { name };
            let bar = bar("drift", Some(self.n.into()));
            let told = codes.drift(&name, |done| bar.set_position(done as u64));
            bar.finish_and_clear();
            told?
        };
        if self.json {
            println!("{value}");
        } else {
            print!("{text}");
        }
        Ok(())
    }
}

#[derive(Debug, Args)]
pub(crate) struct ReproduceTiming {
    #[command(flatten)]
    device: DeviceArg,
    /// Training steps that are timed at each degree
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(2..))]
    steps: u32,
    /// Photos that are sampled at once
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=64))]
    photos: u32,
    #[command(flatten)]
    format: TableFormat,
}

impl ReproduceTiming {
    pub(super) fn run(self) -> Result<()> {
        let device = Device::open(self.device.device)?;
        let bar = bar("timing", Some(TimingTable::PARTS as u64));
        let table = TimingTable::measure(&device, self.steps, self.photos as usize, &|| bar.inc(1))?;
        bar.finish_and_clear();
        self.format.print(|| table.to_json(), |markdown| table.render(markdown))
    }
}

const GALLERY: &str = "gallery/coordinates_100K.csv";
const RADII_KM: [f64; 2] = [1.0, 25.0];
const COUNTS: [usize; 4] = [1, 10, 50, 100];

/// The paper's figures in percent, by radius and count; its header says "more than" for all of them.
const PAPER_GALLERY: [[f64; 4]; 2] = [[63.5, 32.7, 14.9, 9.78], [95.2, 75.7, 51.9, 42.0]];
const PAPER_GRID: [[f64; 4]; 2] = [[0.1, 0.0, 0.0, 0.0], [38.9, 0.0, 0.0, 0.0]];

#[derive(Debug, Args)]
pub(crate) struct GalleryBias {
    /// GeoCLIP's gallery, fetched by scripts/fetch_gallery.py [default: gallery/coordinates_100K.csv]
    #[arg(long, value_name = "FILE")]
    gallery: Option<PathBuf>,
    /// Places of the test photos (the paper: Im2GPS3k)
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
    /// The grid beside it: fibonacci:N, healpix:DEPTH, random:N or a file of locations
    #[arg(long, value_name = "GRID", default_value = "fibonacci:100000")]
    grid: String,
    /// Seed of a random grid
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    format: TableFormat,
}

/// Shares of test photos in percent: with at least and with more than each of [`COUNTS`] places within a radius.
struct Shares {
    at_least: [[f64; 4]; 2],
    more_than: [[f64; 4]; 2],
}

impl GalleryBias {
    pub(crate) fn run(self) -> Result<()> {
        // What was named must be there; what was not may be absent where the project was only cloned.
        let gallery = self.gallery.clone().unwrap_or_else(|| GALLERY.into());
        if self.gallery.is_none() && !gallery.exists() {
            println!("skipped gallery-bias: {GALLERY} is absent: run scripts/fetch_gallery.py, or give --gallery FILE");
            return Ok(());
        }
        let truth = self.truth.as_ref().context("give the places of the test photos: --truth FILE")?;
        let (gallery, truths) = (read_places(&gallery)?, read_places(truth)?);
        let grid: Vec<LatLon> =
            parse_grid(&self.grid, self.seed)?.points().iter().map(|point| point.to_latlon()).collect();
        let bar = bar("counting", Some(4));
        let found = [shares(&truths, &gallery, || bar.inc(1)), shares(&truths, &grid, || bar.inc(1))];
        bar.finish_and_clear();
        let (sizes, n) = ([gallery.len(), grid.len()], truths.len());
        self.format.print(|| to_json(&found, sizes, n), |markdown| self.render(&found, sizes, n, markdown))
    }

    fn render(&self, found: &[Shares; 2], sizes: [usize; 2], n: usize, markdown: bool) -> String {
        let mut table = Table::new(&["places", "1", "10", "50", "100"]);
        let names = [format!("gallery of {}", sizes[0]), format!("{} ({})", self.grid, sizes[1])];
        for ((shares, paper), name) in found.iter().zip([PAPER_GALLERY, PAPER_GRID]).zip(names) {
            for (k, radius) in RADII_KM.iter().enumerate() {
                let rows = [("the paper", paper), ("at least", shares.at_least), ("more than", shares.more_than)];
                for (what, values) in rows {
                    let cells = values[k].map(|value| format!("{value:.2}"));
                    table.push([vec![format!("{name}, {radius} km: {what}")], cells.to_vec()].concat());
                }
            }
        }
        format!(
            "Gallery bias: percent of {n} test photos with so many gallery places nearby\n\n{}\n\
             What differs: the paper heads its columns \"more than\"; its 25 km row and its first column are \"at least\",\n\
             the rest of its 1 km row is \"more than\". It does not say which grid it took. Distances: haversine.\n",
            table.render(markdown)
        )
    }
}

fn to_json([gallery, grid]: &[Shares; 2], sizes: [usize; 2], n: usize) -> Value {
    let object = |shares: &Shares, size: usize, paper: [[f64; 4]; 2]| json!({"size": size, "at_least": shares.at_least, "more_than": shares.more_than, "paper": paper});
    json!({
        "table": "gallery bias", "n": n, "radii_km": RADII_KM, "counts": COUNTS,
        "gallery": object(gallery, sizes[0], PAPER_GALLERY), "grid": object(grid, sizes[1], PAPER_GRID),
    })
}

fn shares(truths: &[LatLon], places: &[LatLon], done: impl Fn()) -> Shares {
    let nearby = Nearby::new(places, Rules::default());
    let mut shares = Shares { at_least: [[0.0; 4]; 2], more_than: [[0.0; 4]; 2] };
    for (k, radius_km) in RADII_KM.into_iter().enumerate() {
        let counts: Vec<usize> = truths.par_iter().map(|truth| nearby.count_within(*truth, radius_km)).collect();
        let percent = |hit: &dyn Fn(usize) -> bool| {
            100.0 * counts.iter().filter(|count| hit(**count)).count() as f64 / truths.len() as f64
        };
        shares.at_least[k] = COUNTS.map(|wanted| percent(&|count| count >= wanted));
        shares.more_than[k] = COUNTS.map(|wanted| percent(&|count| count > wanted));
        done();
    }
    shares
}
