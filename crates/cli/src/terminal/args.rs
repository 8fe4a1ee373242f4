//! Arguments that several commands share, each defined once.

use super::output::misuse;
use anyhow::{Context, Result};
use clap::{Args, builder::PossibleValue, builder::PossibleValuesParser, builder::TypedValueParser};
use locdiff_base::Named;
use locdiff_io::data::{Format, MatrixReader, PointColumns, PointReader};
use locdiff_nn::DeviceSpec;
use locdiff_shdd::sphere::{Degree, EARTH_RADIUS_KM, Grid, LatLon};
use locdiff_shdd::{Anchors, Coefficients, Decoder};
use rand::SeedableRng;
use std::path::{Path, PathBuf};

/// The degree, from 1 to [`Degree::MAX`].
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct DegreeArg {
    /// Set the degree L: codes have (L+1)² numbers; peaks are 78 km wide at L = 23 and 20 km at 47
    #[arg(short = 'L', long, value_name = "L", default_value = "47", value_parser = parse_degree)]
    pub(crate) degree: Degree,
}

fn parse_degree(text: &str) -> Result<Degree, String> {
    let number: usize = text.parse().map_err(|_| format!("'{text}' is not a whole number"))?;
    Degree::new(number).map_err(|error| error.to_string())
}

/// Where to compute.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct DeviceArg {
    /// Compute on this device: auto, cpu, cuda or cuda:N
    #[arg(long, value_name = "DEVICE", default_value = "auto", env = "LOCDIFF_DEVICE", hide_env_values = true)]
    pub(crate) device: DeviceSpec,
}

/// "LAT,LON" in degrees.
pub(crate) fn parse_place(text: &str) -> Result<LatLon, String> {
    let (lat, lon) = text.split_once(',').ok_or("give latitude and longitude as LAT,LON, such as 48.86,2.35")?;
    let number = |part: &str| part.trim().parse::<f64>().map_err(|_| format!("'{part}' is not a number of degrees"));
    LatLon::new(number(lat)?, number(lon)?).map_err(|error| error.to_string())
}

/// The values of a library's enum by their names; `--help` lists them with their meaning.
pub(crate) fn named<T: Named + Send + Sync>() -> impl TypedValueParser<Value = T> {
    let values = T::ALL.iter().map(|(_, name, meaning)| PossibleValue::new(*name).help(*meaning));
    PossibleValuesParser::new(values).try_map(|name| T::from_name(&name))
}

/// A number above zero.
pub(crate) fn parse_positive(text: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|value: &f64| *value > 0.0 && value.is_finite());
    value.ok_or_else(|| format!("'{text}' is not a positive number"))
}

/// Where points come from.
#[derive(Debug, Clone, Args)]
pub(crate) struct PointsInput {
    /// File of locations: .csv or .jsonl with lat and lon, .npy or .safetensors [N, 2], or - for standard input
    #[arg(value_name = "POINTS", required_unless_present = "at")]
    pub(crate) points: Option<PathBuf>,
    /// Take this location instead of a file. Repeat for several
    #[arg(long, value_name = "LAT,LON", value_parser = parse_place, allow_hyphen_values = true, conflicts_with = "points")]
    pub(crate) at: Vec<LatLon>,
    /// Read POINTS in this format, if the extension does not name it: csv, jsonl, npy or safetensors
    #[arg(long, value_name = "FORMAT")]
    pub(crate) from: Option<Format>,
    /// Read latitudes from this column or JSON key [default: lat or latitude]
    #[arg(long, value_name = "NAME")]
    pub(crate) lat_column: Option<String>,
    /// Read longitudes from this column or JSON key [default: lon, lng or longitude]
    #[arg(long, value_name = "NAME")]
    pub(crate) lon_column: Option<String>,
}

/// Places with their row numbers.
pub(crate) type Places = Box<dyn Iterator<Item = Result<LatLon>>>;

impl PointsInput {
    /// The places, one by one, and how many there are where that is known.
    pub(crate) fn places(&self) -> Result<(Places, Option<u64>)> {
        let Some(path) = &self.points else {
            return Ok((Box::new(self.at.clone().into_iter().map(Ok)), Some(self.at.len() as u64)));
        };
        let columns = PointColumns { lat: self.lat_column.clone(), lon: self.lon_column.clone(), tensor: None };
        let reader = PointReader::open(path, self.from, &columns)?;
        let count = reader.rows();
        Ok((Box::new(reader.map(|item| Ok(item?.1))), count))
    }
}

/// Where coefficient vectors come from.
#[derive(Debug, Clone, Args)]
pub(crate) struct VectorsInput {
    /// File of coefficient vectors, one per row: .csv, .jsonl, .npy, .safetensors, or - for standard input
    #[arg(value_name = "COEFFICIENTS")]
    pub(crate) vectors: Option<PathBuf>,
    /// Read COEFFICIENTS in this format, if the extension does not name it: csv, jsonl, npy or safetensors
    #[arg(long, value_name = "FORMAT")]
    pub(crate) from: Option<Format>,
    /// Read this tensor, if a safetensors file holds several
    #[arg(long, value_name = "NAME")]
    pub(crate) tensor: Option<String>,
}

impl VectorsInput {
    /// Opens the file and finds the degree from the length of its rows.
    pub(crate) fn open(&self, path: &Path) -> Result<(MatrixReader, Degree)> {
        let reader = MatrixReader::open(path, self.from, self.tensor.as_deref())?;
        let degree = Degree::from_dimension(reader.columns())
            .with_context(|| format!("{}: a row is not a coefficient vector", path.display()))?;
        Ok((reader, degree))
    }
}

/// Reads up to `most` vectors of a file of which `before` rows are read already.
pub(crate) fn read_vectors(
    reader: &mut MatrixReader,
    most: usize,
    path: &Path,
    before: u64,
) -> Result<Vec<Coefficients>> {
    let mut flat = Vec::new();
    let columns = reader.columns();
    reader.read_rows(most, &mut flat)?;
    let name = || locdiff_base::display_name(path, "standard input");
    let vector = |(k, row): (usize, &[f64])| {
        let read = Coefficients::new(row.to_vec());
        read.with_context(|| format!("{}, row {}", name(), before + k as u64 + 1))
    };
    flat.chunks_exact(columns).enumerate().map(vector).collect()
}

/// Which decoder.
#[derive(Debug, Clone, Args)]
pub(crate) struct DecoderArgs {
    /// Decode by the exact maximum, the paper's anchors, or the nearest code in reverse KL
    #[arg(long, value_enum, default_value_t = DecoderKind::Exact)]
    pub(crate) decoder: DecoderKind,
    /// Rank peaks by their mass within this radius [default: exact: the whole peak; anchors: one anchor]
    #[arg(long, value_name = "KM", value_parser = parse_positive)]
    window_km: Option<f64>,
    /// Use these anchors: fibonacci:N, healpix:DEPTH, random:N, or a file of locations
    #[arg(long, value_name = "GRID", default_value = "fibonacci:21000")]
    pub(crate) anchors: String,
    /// Set the seed of random anchors
    #[arg(long, default_value_t = 0, id = "anchor-seed", value_name = "SEED")]
    anchor_seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum DecoderKind {
    Exact,
    Anchors,
    Kl,
}

impl DecoderArgs {
    /// The decoder.
    pub(crate) fn decoder(&self) -> Result<Decoder> {
        let is_idle = self.decoder == DecoderKind::Kl && self.window_km.is_some();
        if is_idle {
            return misuse("--window-km has no effect with --decoder kl: leave it out");
        }
        let window_rad = self.window_km.map(|km| km / EARTH_RADIUS_KM);
        Ok(match self.decoder {
            DecoderKind::Exact => Decoder::Exact { window_rad },
            DecoderKind::Anchors => {
                let grid = parse_grid(&self.anchors, self.anchor_seed)?;
                Decoder::Anchors(Anchors::new(&grid, window_rad.unwrap_or(0.0))?)
            }
            DecoderKind::Kl => Decoder::Kl,
        })
    }
}

/// A grid by its name, or the places of a file.
pub(crate) fn parse_grid(text: &str, seed: u64) -> Result<Grid> {
    let size =
        |part: &str| part.parse::<usize>().with_context(|| format!("anchors '{text}': '{part}' is not a whole number"));
    Ok(match text.split_once(':') {
        Some(("fibonacci", n)) => Grid::fibonacci(size(n)?)?,
        Some(("healpix", depth)) => Grid::healpix(u8::try_from(size(depth)?).unwrap_or(u8::MAX))?,
        Some(("random", n)) => Grid::uniform_random(size(n)?, &mut rand_chacha::ChaCha8Rng::seed_from_u64(seed))?,
        _ => {
            let gallery = locdiff_io::data::read_points(Path::new(text), None, &PointColumns::default())
                .context("anchors are fibonacci:N, healpix:DEPTH, random:N or a file of locations")?;
            Grid::from_points(gallery.into_iter().map(LatLon::to_unit).collect())?
        }
    })
}
