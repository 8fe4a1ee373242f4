//! `locdiff density`: what a coefficient vector says about where, in words, as a map and as files for other tools.

use crate::args::{DegreeArg, VectorsInput, parse_place, parse_positive, read_vectors};
use crate::regions::{globe_log_density, region_polygons};
use anyhow::{Context, Result, bail};
use clap::Args;
use locdiff_data::{Dtype, Format, MatrixWriter};
use locdiff_map::{FeatureCollection, Heat, MapImage, Raster, Window, ascii_grid};
use locdiff_shdd::{CodeDensity, Codec, Coefficients, CredibleRegion, WeightedMode};
use locdiff_sphere::{LatLon, Polygon};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The regions that are drawn, written and printed.
const PROBABILITIES: [f64; 2] = [0.5, 0.9];

#[derive(Debug, Args)]
pub(crate) struct DensityArgs {
    #[command(flatten)]
    input: VectorsInput,
    #[command(flatten)]
    degree: DegreeArg,
    /// The code of this place, instead of a file
    #[arg(long, value_name = "LAT,LON", value_parser = parse_place, allow_hyphen_values = true,
          conflicts_with = "vectors", required_unless_present = "vectors")]
    at: Option<LatLon>,
    /// Which row of the file, from 1
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    row: u64,
    /// How many modes to list
    #[arg(long, default_value_t = 5, value_name = "K")]
    modes: usize,
    /// Write a map as a picture
    #[arg(long, value_name = "FILE.png")]
    png: Option<PathBuf>,
    /// What the picture shows: the whole world, or the 90 % region
    #[arg(long, value_enum, default_value_t = View::Auto)]
    view: View,
    /// Write the 50 and 90 % regions and the modes
    #[arg(long, value_name = "FILE.geojson")]
    geojson: Option<PathBuf>,
    /// Write the probability of every cell of a world raster: .asc (Esri ASCII), .npy, .csv, .jsonl or .safetensors
    #[arg(long, value_name = "FILE")]
    raster: Option<PathBuf>,
    /// Size of a raster cell in degrees
    #[arg(long, default_value = "1", value_name = "DEGREES", value_parser = parse_positive)]
    raster_cell: f64,
    /// Print one JSON object instead of the summary
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum View {
    /// The 90 % region where it is small, else the world.
    Auto,
    World,
    Region,
}

/// What is said about a density.
struct Answer {
    regions: Vec<CredibleRegion>,
    modes: Vec<WeightedMode>,
    log_z: f64,
    entropy: f64,
}

impl DensityArgs {
    pub(crate) fn run(self) -> Result<()> {
        let (codec, e) = self.read()?;
        let density = codec.density(&e)?;
        let answer = Answer {
            regions: PROBABILITIES.iter().map(|&p| density.credible_region(p)).collect::<Result<_, _>>()?,
            modes: density.modes(self.modes.max(1)),
            log_z: density.log_z(),
            entropy: density.entropy(),
        };
        let outlines: Vec<Vec<Polygon>> = if self.png.is_some() || self.geojson.is_some() {
            answer.regions.iter().map(|region| region_polygons(&density, region)).collect::<Result<_>>()?
        } else {
            Vec::new()
        };
        if let Some(path) = &self.geojson {
            write_file(path, answer.geojson(&outlines).to_string().as_bytes())?;
        }
        if let Some(path) = &self.png {
            write_file(path, &self.draw(&density, &answer, &outlines)?)?;
        }
        if let Some(path) = &self.raster {
            self.write_raster(path, &density)?;
        }
        if self.json {
            writeln!(std::io::stdout(), "{}", answer.json(codec.degree().get()))?;
        } else {
            answer.print(codec.degree().get(), std::io::stdout())?;
            for path in [&self.png, &self.geojson, &self.raster].into_iter().flatten() {
                writeln!(std::io::stdout(), "wrote {}", path.display())?;
            }
        }
        Ok(())
    }

    fn read(&self) -> Result<(Codec, Coefficients)> {
        if let Some(place) = self.at {
            let codec = Codec::new(self.degree.degree);
            let e = codec.encode(place);
            return Ok((codec, e));
        }
        let path =
            self.input.vectors.as_ref().context("give a file of coefficient vectors, or --at LAT,LON")?;
        let (mut reader, degree) = self.input.open(path)?;
        for read in 1..=self.row {
            let Some(e) = read_vectors(&mut reader, 1)?.pop() else {
                bail!("{}: there is no row {}: the file has {}", path.display(), self.row, read - 1);
            };
            if read == self.row {
                return Ok((Codec::new(degree), e));
            }
        }
        unreachable!("rows are counted from 1")
    }

    fn draw(&self, density: &CodeDensity<'_>, answer: &Answer, outlines: &[Vec<Polygon>]) -> Result<Vec<u8>> {
        const WORTH_A_ZOOM_KM: f64 = 2500.0;
        const ROWS: usize = 640;
        const WORTH_A_MARKER: f64 = 0.01;
        let radius_km = answer.regions.last().map_or(0.0, |region| region.radius_km);
        let best = answer.modes.first().map(|mode| mode.mode.place());
        let zoom = match self.view {
            View::World => false,
            View::Region => true,
            View::Auto => radius_km < WORTH_A_ZOOM_KM,
        };
        let (window, heat) = match best {
            Some(place) if zoom => {
                // Some surroundings help the eye; a degree of longitude is drawn as short as it is there.
                let window = Window::around(place, (4.0 * radius_km).clamp(250.0, 9000.0), ROWS)?;
                let aspect = window.width_deg() * place.lat_deg().to_radians().cos() / window.height_deg();
                let columns = (aspect * ROWS as f64).round().clamp(300.0, 1600.0) as usize;
                let window = window.with_cells(ROWS, columns)?;
                (window, Raster::new(window, density.log_density(&window.points()))?)
            }
            _ => {
                let window = Window::globe(720, 1440)?;
                (window, globe_log_density(density, 720, 1440)?)
            }
        };
        let mut image = MapImage::new(window).heat(heat, Heat::log_density());
        for (region, outline) in answer.regions.iter().zip(outlines).rev() {
            image = image.outline(outline.clone(), &format!("{:.0} %", 100.0 * region.probability));
        }
        for mode in answer.modes.iter().filter(|mode| mode.mass >= WORTH_A_MARKER) {
            image = image.marker(mode.mode.place());
        }
        if let Some(place) = best {
            image = image.title(&format!("{}: 90 % within {radius_km:.0} km", describe(place)));
        }
        Ok(image.to_png())
    }

    fn write_raster(&self, path: &Path, density: &CodeDensity<'_>) -> Result<()> {
        const SMALLEST_DEG: f64 = 0.05;
        if self.raster_cell < SMALLEST_DEG || self.raster_cell > 90.0 {
            bail!("raster cells of {} degrees: choose from {SMALLEST_DEG} to 90", self.raster_cell);
        }
        let rows = (180.0 / self.raster_cell).round() as usize;
        let columns = 2 * rows;
        let raster = density.raster_mass(rows, columns);
        if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("asc")) {
            let raster = Raster::new(Window::globe(rows, columns)?, raster.masses)?;
            return write_file(path, ascii_grid(&raster)?.as_bytes());
        }
        let format = Format::from_path(path).context("a raster is .asc, or a matrix")?;
        let mut writer = MatrixWriter::create(path, Some(format), columns, Dtype::F64, "probability")?;
        for row in raster.masses.chunks_exact(columns) {
            writer.write_row(row)?;
        }
        writer.finish()?;
        Ok(())
    }
}

impl Answer {
    fn json(&self, degree: usize) -> serde_json::Value {
        let regions: Vec<_> = self
            .regions
            .iter()
            .map(|r| {
                serde_json::json!({
                    "probability": r.probability, "radius_km": r.radius_km, "area_km2": r.area_km2,
                    "log_density": r.log_density,
                })
            })
            .collect();
        let modes: Vec<_> = self.modes.iter().map(mode_json).collect();
        serde_json::json!({
            "degree": degree, "log_z": self.log_z, "entropy_nats": self.entropy, "regions": regions, "modes": modes,
        })
    }

    fn geojson(&self, outlines: &[Vec<Polygon>]) -> FeatureCollection {
        let mut features = FeatureCollection::new();
        for (region, outline) in self.regions.iter().zip(outlines) {
            let properties = [
                ("probability", region.probability.into()),
                ("radius_km", region.radius_km.into()),
                ("area_km2", region.area_km2.into()),
            ];
            features.push_region(outline, &properties);
        }
        for mode in &self.modes {
            let properties = [("probability", mode.mass.into()), ("log_density", mode.log_density.into())];
            features.push_point(mode.mode.place(), &properties);
        }
        features
    }

    fn print(&self, degree: usize, mut out: impl Write) -> Result<()> {
        if let Some(best) = self.modes.first() {
            writeln!(out, "best place   {}   probability {:.3}", describe(best.mode.place()), best.mass)?;
        }
        for region in &self.regions {
            let (p, radius, area) = (100.0 * region.probability, region.radius_km, region.area_km2);
            writeln!(
                out,
                "{p:.0} % within {radius:>6.0} km of the highest mode; smallest region {area:.0} km²"
            )?;
        }
        writeln!(
            out,
            "degree {degree}, log Z {:.4}, entropy {:.4} nats (uniform on the sphere: 2.5310)",
            self.log_z, self.entropy
        )?;
        if self.modes.len() > 1 {
            writeln!(
                out,
                "\n{:>12} {:>24} {:>10} {:>12}",
                "probability", "place", "spread_km", "log_density"
            )?;
            for m in &self.modes {
                let (place, spread) = (describe(m.mode.place()), m.mode.spread_km());
                writeln!(out, "{:>12.4} {place:>24} {spread:>10.1} {:>12.3}", m.mass, m.log_density)?;
            }
        }
        Ok(())
    }
}

fn mode_json(mode: &WeightedMode) -> serde_json::Value {
    let place = mode.mode.place();
    let spread = mode.mode.spread_km();
    serde_json::json!({
        "lat": place.lat_deg(), "lon": place.lon_deg(), "probability": mode.mass,
        "log_density": mode.log_density, "spread_km": spread.is_finite().then_some(spread),
    })
}

/// "39.9990° N, 116.2750° E".
pub(crate) fn describe(place: LatLon) -> String {
    let (lat, lon) = (place.lat_deg(), place.lon_deg());
    let (ns, ew) = (if lat < 0.0 { 'S' } else { 'N' }, if lon < 0.0 { 'W' } else { 'E' });
    format!("{:.4}° {ns}, {:.4}° {ew}", lat.abs(), lon.abs())
}

pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    Ok(locdiff_base::AtomicFile::write_whole(path, bytes)?)
}
