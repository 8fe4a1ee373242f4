//! `locdiff-lab plot`: pictures that explain codes and densities.

use crate::figures::{coefficient_plot, resolution_map, spread_plot, world_map};
use crate::terminal;
use crate::terminal::{bar, is_stdout, parse_place, parse_positive, read_places, set_share, share_bar, write_file};
use anyhow::{Context, Result, bail, ensure};
use clap::{Args, Subcommand};
use locdiff_io::data::MatrixReader;
use locdiff_lab::with_noise;
use locdiff_map::{Colour, MapImage, Marker, MarkerShape, photos_png};
use locdiff_shdd::{Codec, Decoder, sphere::Degree, sphere::LatLon, sphere::haversine_km};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::path::{Path, PathBuf};

#[derive(Debug, Subcommand)]
pub(crate) enum Plot {
    /// World maps of the densities that coefficient vectors mean, side by side (PNG)
    Density(DensitySheet),
    /// The largest value that each dimension of a code can have, by dimension (SVG; the paper's figure)
    Coefficients(Coefficients),
    /// What degree L can tell apart: one place's density at several L (PNG), or the spread by L (SVG)
    Resolution(Resolution),
    /// What noise does to a code: its density and its decoded place at several variances (PNG; the paper's Figure 1 (4))
    Noise(NoisePlot),
}

impl Plot {
    pub(crate) fn run(self) -> Result<()> {
        let out = match self {
            Self::Density(plot) => plot.run()?,
            Self::Coefficients(plot) => plot.run()?,
            Self::Resolution(plot) => plot.run()?,
            Self::Noise(plot) => plot.run()?,
        };
        terminal::tell_written(&out)
    }
}

/// Claims a picture's file of one kind, which its name must say; on standard output any is right.
fn claim(path: &Path, extension: &str) -> Result<()> {
    ensure!(
        is_stdout(path) || has_extension(path, extension),
        "{}: this picture is {}: give a file that ends in .{extension}",
        path.display(),
        extension.to_ascii_uppercase()
    );
    terminal::claim(path)
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension))
}

#[derive(Debug, Args)]
pub(crate) struct DensitySheet {
    /// File of coefficient vectors, one per row: .csv, .jsonl, .npy or .safetensors; - for standard input
    #[arg(value_name = "COEFFICIENTS")]
    vectors: PathBuf,
    /// Which rows of the file, from 1
    #[arg(long, value_name = "K,K,…", value_delimiter = ',', default_value = "1",
          value_parser = clap::value_parser!(u32).range(1..))]
    rows: Vec<u32>,
    /// True places, row by row: marked with a circle
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
    /// Maps beside each other
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..))]
    columns: u16,
    /// The picture
    #[arg(short, long, value_name = "FILE.png")]
    out: PathBuf,
}

impl DensitySheet {
    fn run(self) -> Result<PathBuf> {
        const MOST: usize = 100;
        ensure!(
            self.rows.len() <= MOST,
            "--rows: {} maps are too many for a picture: give up to {MOST}",
            self.rows.len()
        );
        claim(&self.out, "png")?;
        let path = &self.vectors;
        let truth = self.truth.as_deref().map(read_places).transpose()?;
        let mut reader = MatrixReader::open(path, None, None)?;
        let degree = Degree::from_dimension(reader.columns())
            .with_context(|| format!("{}: a row is not a coefficient vector", path.display()))?;
        let codec = Codec::new(degree);
        let last = self.rows.iter().copied().max().unwrap_or(1) as usize;
        let bar = bar("drawing", Some(self.rows.len() as u64));
        let mut images: Vec<Option<MapImage>> = vec![None; self.rows.len()];
        for row in 1..=last {
            let mut values = Vec::new();
            reader.read_rows(1, &mut values)?;
            if values.is_empty() {
                bail!("{}: there is no row {last}: the file has {}", path.display(), row - 1);
            }
            let e = locdiff_shdd::Coefficients::new(values)
                .with_context(|| format!("{}, row {row}", locdiff_base::display_name(path, "standard input")))?;
            for (slot, _) in images.iter_mut().zip(&self.rows).filter(|(_, wanted)| **wanted as usize == row) {
                let mut image = world_map(&codec, &e, &row.to_string())?;
                if let Some(truth) = truth.as_ref().and_then(|truth| truth.get(row - 1)) {
                    let green = Colour::from_hex(0x0a7d32);
                    image = image.marker(Marker::new(*truth).shape(MarkerShape::Circle).colour(green));
                }
                *slot = Some(image);
                bar.inc(1);
            }
        }
        bar.finish_and_clear();
        let images: Vec<MapImage> = images.into_iter().flatten().collect();
        write_file(&self.out, &photos_png(&images, usize::from(self.columns), "")?)?;
        Ok(self.out)
    }
}

#[derive(Debug, Args)]
pub(crate) struct Coefficients {
    /// Spherical-harmonic degree L: (L+1)² dimensions
    #[arg(short = 'L', long, value_name = "L", default_value_t = 63, value_parser = clap::value_parser!(u16).range(1..=255))]
    degree: u16,
    /// The plot
    #[arg(short, long, value_name = "FILE.svg")]
    out: PathBuf,
}

impl Coefficients {
    fn run(self) -> Result<PathBuf> {
        claim(&self.out, "svg")?;
        let degree = Degree::new(usize::from(self.degree))?;
        let bar = share_bar("measuring");
        let plot = coefficient_plot(degree, |share| set_share(&bar, share))?;
        bar.finish_and_clear();
        write_file(&self.out, plot.as_bytes())?;
        Ok(self.out)
    }
}

#[derive(Debug, Args)]
pub(crate) struct Resolution {
    /// The place
    #[arg(long, value_name = "LAT,LON", value_parser = parse_place, allow_hyphen_values = true, default_value = "39.999,116.275")]
    at: LatLon,
    /// The degrees
    #[arg(short = 'L', long, value_name = "L,L,…", value_delimiter = ',', default_values_t = [11, 15, 23, 31, 47, 63])]
    degrees: Vec<usize>,
    /// How far the maps reach
    #[arg(long, value_name = "KM", default_value = "600", value_parser = parse_positive)]
    reach_km: f64,
    /// Maps beside each other
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    columns: u16,
    /// The picture: .png for maps, .svg for the spread by L
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
}

impl Resolution {
    fn run(self) -> Result<PathBuf> {
        let degrees = self.degrees.iter().map(|l| Degree::new(*l)).collect::<Result<Vec<_>, _>>()?;
        let is_curve = has_extension(&self.out, "svg");
        ensure!(
            is_curve || is_stdout(&self.out) || has_extension(&self.out, "png"),
            "{}: give a file that ends in .png (maps) or .svg (curve)",
            self.out.display()
        );
        terminal::claim(&self.out)?;
        let bytes = if is_curve { spread_plot(&degrees).into_bytes() } else { self.maps(&degrees)? };
        write_file(&self.out, &bytes)?;
        Ok(self.out)
    }

    fn maps(&self, degrees: &[Degree]) -> Result<Vec<u8>> {
        let bar = bar("drawing", Some(degrees.len() as u64));
        let mut images = Vec::new();
        for degree in degrees {
            images.push(resolution_map(*degree, self.at, self.reach_km)?);
            bar.inc(1);
        }
        bar.finish_and_clear();
        Ok(photos_png(&images, usize::from(self.columns), "")?)
    }
}

#[derive(Debug, Args)]
pub(crate) struct NoisePlot {
    /// The place
    #[arg(long, value_name = "LAT,LON", value_parser = parse_place, allow_hyphen_values = true, default_value = "39.999,116.275")]
    at: LatLon,
    /// Spherical-harmonic degree L
    #[arg(short = 'L', long, value_name = "L", default_value_t = 11)]
    degree: usize,
    /// Variances of the noise on every number of the code
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "0.01,0.1,0.5,1", value_parser = parse_positive)]
    variances: Vec<f64>,
    /// Seed of the noise
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The picture
    #[arg(short, long, value_name = "FILE.png")]
    out: PathBuf,
}

impl NoisePlot {
    pub(crate) fn run(self) -> Result<PathBuf> {
        let codec = Codec::new(Degree::new(self.degree)?);
        let clean = codec.encode(self.at);
        let green = Colour::from_hex(0x0a7d32);
        let mut images = Vec::new();
        for variance in &self.variances {
            let mut random = ChaCha8Rng::seed_from_u64(self.seed);
            let code = with_noise(clean.clone(), *variance, &mut random)?;
            let decoder = Decoder::Exact { window_rad: None };
            let decoded = codec.decode_batch(std::slice::from_ref(&code), &decoder)?;
            let drift = decoded.first().map_or(f64::NAN, |mode| haversine_km(self.at, mode.place()));
            let image = world_map(&codec, &code, &format!("noise {variance}: drift {drift:.1} km"))?;
            images.push(image.marker(Marker::new(self.at).shape(MarkerShape::Circle).colour(green)));
        }
        write_file(&self.out, &photos_png(&images, 2, "")?)?;
        Ok(self.out)
    }
}
