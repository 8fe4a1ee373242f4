//! What `locate` can be told.

use super::inputs::Inputs;
use super::write::Sinks;
use crate::args::parse_positive;
use crate::commands::sample::SamplerArg;
use crate::commands::train::DeviceArg;
use crate::encoder;
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use locdiff::{Device, Knowledge, LocateOptions, Locator, SampleOptions, open_model};
use locdiff_data::TableReader;
use locdiff_map::{Raster, parse_ascii_grid};
use locdiff_places::Region;
use locdiff_sphere::LatLon;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// With more photos than this in one map, files grow too large to open.
const MOST_IN_ONE_FILE: usize = 200;

#[derive(Debug, Args)]
pub(crate) struct SamplingArgs {
    /// Folder of a model [default: the bundled streetview-l23]
    #[arg(long, value_name = "FOLDER")]
    model: Option<PathBuf>,
    /// Folder of the image encoder [default: the bundled streetview-lite0]
    #[arg(long, value_name = "FOLDER")]
    encoder: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceArg,
    /// Samples a photo
    #[arg(long, value_name = "N", default_value_t = 16)]
    samples: usize,
    /// The sampler
    #[arg(long, value_enum, default_value_t = SamplerArg::Dpmpp)]
    sampler: SamplerArg,
    /// Its steps
    #[arg(long, value_name = "N", default_value_t = 20)]
    steps: usize,
    /// Classifier-free guidance; 0 for none. Radii are calibrated for none
    #[arg(long, value_name = "W", default_value_t = 0.0, allow_hyphen_values = true)]
    guidance: f32,
    /// Views of each photo (crops, colours) that the samples are spread over; 1 is the photo alone
    #[arg(long, value_name = "K", default_value_t = 1)]
    views: usize,
    /// Seed of noise and views
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The most places to list
    #[arg(short = 'k', long, value_name = "K", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    hypotheses: u32,
    /// It must be here: "lat0,lon0,lat1,lon1", a country's name or code, or a GeoJSON file
    #[arg(long, value_name = "REGION", allow_hyphen_values = true)]
    within: Option<String>,
    /// Weights on places: an Esri ASCII raster (.asc), or a CSV with lat, lon and weight
    #[arg(long, value_name = "FILE")]
    prior: Option<PathBuf>,
    /// How far a CSV's places reach
    #[arg(long, value_name = "KM", default_value = "100", value_parser = parse_positive, requires = "prior")]
    prior_km: f64,
}

impl SamplingArgs {
    pub(crate) fn locator(&self, with_encoder: bool) -> Result<Locator> {
        let device = Device::open(self.device.device)?;
        let model = match &self.model {
            Some(folder) => open_model(folder, &device).context("--model")?,
            #[cfg(feature = "bundled")]
            None => locdiff::bundled_model(&device)?,
            #[cfg(not(feature = "bundled"))]
            None => bail!("this program was built without the bundled model: give --model FOLDER"),
        };
        let encoder =
            if with_encoder { Some(encoder::open(self.encoder.as_deref(), &device)?) } else { None };
        Ok(Locator::new(model, encoder)?)
    }

    pub(crate) fn options(&self) -> Result<LocateOptions> {
        Ok(LocateOptions {
            sampling: SampleOptions {
                samples: self.samples,
                sampler: self.sampler.sampler(),
                steps: self.steps,
                guidance: self.guidance,
                seed: self.seed,
            },
            views: self.views,
            hypotheses: self.hypotheses as usize,
            knowledge: self.knowledge()?.map(Arc::new),
        })
    }

    fn knowledge(&self) -> Result<Option<Knowledge>> {
        if self.within.is_none() && self.prior.is_none() {
            return Ok(None);
        }
        let mut knowledge = Knowledge::new();
        if let Some(text) = &self.within {
            let region = Region::parse(text).context("--within")?;
            knowledge = knowledge.weight(move |place| f64::from(u8::from(region.contains(place))));
        }
        if let Some(path) = &self.prior {
            knowledge = self.add_prior(knowledge, path).context("--prior")?;
        }
        Ok(Some(knowledge))
    }

    fn add_prior(&self, knowledge: Knowledge, path: &Path) -> Result<Knowledge> {
        if path.extension().is_some_and(|end| end.eq_ignore_ascii_case("asc")) {
            let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
            let raster = parse_ascii_grid(&text).with_context(|| path.display().to_string())?;
            return Ok(knowledge.weight(move |place| weight_in(&raster, place)));
        }
        let mut table = TableReader::open(path)?;
        let columns = [
            table.column(&["lat", "latitude"])?,
            table.column(&["lon", "lng", "longitude"])?,
            table.column(&["weight", "probability"])?,
        ];
        let mut places = Vec::new();
        while let Some((at, fields)) = table.next_row()? {
            let [lat, lon, weight] = columns.map(|column| fields[column].trim().parse::<f64>());
            match (lat, lon, weight) {
                (Ok(lat), Ok(lon), Ok(weight)) if weight >= 0.0 && weight.is_finite() => {
                    let place = LatLon::new(lat, lon);
                    places.push((
                        place.with_context(|| format!("{}, row {}", path.display(), at.row))?,
                        weight,
                    ));
                }
                _ => {
                    bail!("{}, row {}: lat, lon and a weight of 0 or more are wanted", path.display(), at.row)
                }
            }
        }
        ensure!(
            places.iter().any(|(_, weight)| *weight > 0.0),
            "{} has no place with a weight above 0",
            path.display()
        );
        Ok(knowledge.places(places, self.prior_km))
    }
}

/// A raster's value at a place, 0 outside and where it has none.
fn weight_in(raster: &Raster, place: LatLon) -> f64 {
    raster.window().cell_of(place).map_or(0.0, |(row, column)| raster.get(row, column).max(0.0))
}

/// A file for all photos, or a folder with a file for each.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    path: PathBuf,
    is_folder: bool,
}

#[expect(clippy::unnecessary_wraps, reason = "the type of a value parser")]
fn parse_target(text: &str) -> Result<Target, String> {
    let path = PathBuf::from(text);
    let is_folder = text.ends_with('/') || path.is_dir();
    Ok(Target { path, is_folder })
}

impl Target {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn is_folder(&self) -> bool {
        self.is_folder
    }

    /// The file of a photo in the folder, which is made if need be; a number tells photos of one name apart.
    pub(crate) fn in_folder(&self, photo: &str, end: &str, taken: &[PathBuf]) -> Result<PathBuf> {
        std::fs::create_dir_all(&self.path).with_context(|| self.path.display().to_string())?;
        let name = Path::new(photo).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut path = self.path.join(format!("{name}.{end}"));
        for number in 2.. {
            if !taken.contains(&path) {
                break;
            }
            path = self.path.join(format!("{name}-{number}.{end}"));
        }
        Ok(path)
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct OutputArgs {
    /// Print one JSON object a photo instead of text
    #[arg(long)]
    json: bool,
    /// Write a table with a row a photo
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) csv: Option<PathBuf>,
    /// Write places and 50 and 90 % regions; a folder (ending in /) gets a file a photo
    #[arg(long, value_name = "FILE.geojson", value_parser = parse_target)]
    pub(crate) geojson: Option<Target>,
    /// The same for Google Earth
    #[arg(long, value_name = "FILE.kml", value_parser = parse_target)]
    pub(crate) kml: Option<Target>,
    /// Write a page with a map to look at, one file that needs no network; or a folder
    #[arg(long, value_name = "FILE.html", value_parser = parse_target)]
    pub(crate) map: Option<Target>,
    /// Write a map as a picture; or a folder
    #[arg(long, value_name = "FILE.png", value_parser = parse_target)]
    pub(crate) png: Option<Target>,
    /// Write the backward process of one photo, step by step: .gif, .html or .png
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Write copies of the photos with the place as EXIF GPS into this folder; the photos stay as they are
    #[arg(long, value_name = "FOLDER")]
    pub(crate) write_exif: Option<PathBuf>,
    /// Write the place into a file PHOTO.xmp beside each photo
    #[arg(long)]
    pub(crate) xmp: bool,
    /// Do not ask before --write-exif and --xmp
    #[arg(long)]
    yes: bool,
    /// Let --write-exif and --xmp replace a place or a file that is there
    #[arg(long)]
    pub(crate) force: bool,
}

impl OutputArgs {
    pub(crate) fn json(&self) -> bool {
        self.json
    }

    pub(crate) fn wants_trace(&self) -> bool {
        self.trace.is_some()
    }

    pub(crate) fn wants_map(&self) -> bool {
        [&self.geojson, &self.kml, &self.map, &self.png].into_iter().any(Option::is_some)
    }

    pub(crate) fn sinks(&self) -> Result<Sinks<'_>> {
        Sinks::new(self)
    }

    /// Whether the outputs can be written for these inputs, before any work is done.
    pub(crate) fn check(&self, inputs: &Inputs) -> Result<()> {
        let count = inputs.count();
        for (flag, target) in [("--geojson", &self.geojson), ("--kml", &self.kml), ("--map", &self.map)] {
            if let Some(target) =
                target.as_ref().filter(|target| !target.is_folder && count > MOST_IN_ONE_FILE)
            {
                let path = target.path.display();
                bail!(
                    "{flag} {path}: {count} photos are too many for one file; give a folder, {flag} {path}/, or --csv"
                );
            }
        }
        if let Some(target) = self.png.as_ref().filter(|target| !target.is_folder && count > 1) {
            let path = target.path.display();
            bail!("--png {path}: there are {count} photos; give a folder, --png {path}/");
        }
        if let Some(path) = &self.trace {
            let end = path.extension().and_then(|end| end.to_str()).map(str::to_ascii_lowercase);
            ensure!(
                matches!(end.as_deref(), Some("gif" | "html" | "png")),
                "--trace {}: end it in .gif, .html or .png",
                path.display()
            );
            ensure!(count == 1, "--trace {}: it shows one photo, and there are {count}", path.display());
        }
        let files = [&self.geojson, &self.kml, &self.map, &self.png].into_iter().flatten().map(Target::path);
        for output in files.chain(self.csv.as_deref()).chain(self.trace.as_deref()) {
            if inputs.files().contains(&output) {
                bail!("{} is one of the photos: write the answer elsewhere", output.display());
            }
        }
        self.ask(count)
    }

    /// Asks before photos are copied or files are put beside them.
    fn ask(&self, count: usize) -> Result<()> {
        if self.yes || (self.write_exif.is_none() && !self.xmp) {
            return Ok(());
        }
        ensure!(
            std::io::stdin().is_terminal(),
            "--write-exif and --xmp ask first, and there is no terminal: add --yes"
        );
        eprint!("Write the estimated place for {count} photos (copies or sidecars; originals stay)? [y/N] ");
        let mut line = String::new();
        std::io::stdin().read_line(&mut line)?;
        ensure!(matches!(line.trim(), "y" | "Y" | "yes"), "nothing written, as you wished");
        Ok(())
    }
}
