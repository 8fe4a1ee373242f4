//! `locdiff plot`: pictures that explain codes and densities.

use crate::args::{VectorsInput, parse_place, parse_positive, read_vectors};
use crate::commands::density::{describe, write_file};
use crate::progress;
use crate::regions::{globe_log_density, region_polygons};
use anyhow::{Context, Result, bail, ensure};
use clap::{Args, Subcommand};
use locdiff_data::{PointColumns, read_points};
use locdiff_map::{Colour, Heat, MapImage, Marker, MarkerShape, Raster, Window, sheet_png};
use locdiff_report::svg::{Axis, Plot as Diagram};
use locdiff_shdd::{CodeDensity, Codec};
use locdiff_sphere::{Degree, EARTH_RADIUS_KM, Grid, Harmonics, LatLon};
use std::path::{Path, PathBuf};

#[derive(Debug, Subcommand)]
pub(crate) enum Plot {
    /// World maps of the densities that coefficient vectors mean, side by side (PNG)
    Density(DensitySheet),
    /// The largest value that each dimension of a code can have, by dimension (SVG; the paper's figure)
    Coefficients(Coefficients),
    /// What degree L can tell apart: one place's density at several L (PNG), or the spread by L (SVG)
    Resolution(Resolution),
}

impl Plot {
    pub(crate) fn run(self) -> Result<()> {
        let out = match self {
            Self::Density(plot) => plot.run()?,
            Self::Coefficients(plot) => plot.run()?,
            Self::Resolution(plot) => plot.run()?,
        };
        println!("wrote {}", out.display());
        Ok(())
    }
}

/// The probabilities whose regions are outlined.
const PROBABILITIES: [f64; 2] = [0.5, 0.9];

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension))
}

/// A density with its regions, on a map that has the given window.
fn draw(density: &CodeDensity<'_>, window: Window, heat: Raster, title: &str) -> Result<MapImage> {
    let mut image = MapImage::new(window).heat(heat, Heat::log_density()).title(title);
    for p in PROBABILITIES.into_iter().rev() {
        let region = density.credible_region(p)?;
        image = image.outline(region_polygons(density, &region)?, &format!("{:.0} %", 100.0 * p));
    }
    Ok(image)
}

#[derive(Debug, Args)]
pub(crate) struct DensitySheet {
    #[command(flatten)]
    input: VectorsInput,
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
        const CELLS: (usize, usize) = (360, 720);
        ensure!(
            self.rows.len() <= MOST,
            "--rows: {} maps are too many for a picture: give up to {MOST}",
            self.rows.len()
        );
        let path = self.input.vectors.as_ref().context("give a file of coefficient vectors")?;
        let truth = self.truth.as_ref();
        let truth = truth.map(|path| read_points(path, None, &PointColumns::default())).transpose()?;
        let (mut reader, degree) = self.input.open(path)?;
        let codec = Codec::new(degree);
        let last = self.rows.iter().copied().max().unwrap_or(1) as usize;
        let bar = progress::bar("drawing", Some(self.rows.len() as u64));
        let mut images: Vec<Option<MapImage>> = vec![None; self.rows.len()];
        for row in 1..=last {
            let Some(e) = read_vectors(&mut reader, 1)?.pop() else {
                bail!("{}: there is no row {last}: the file has {}", path.display(), row - 1);
            };
            for (slot, _) in images.iter_mut().zip(&self.rows).filter(|(_, wanted)| **wanted as usize == row)
            {
                let density = codec.density(&e)?;
                let radius_km = density.credible_region(PROBABILITIES[1])?.radius_km;
                let place = density.top_mode().map(locdiff_shdd::Mode::place);
                let place_text = place.map_or_else(|| "anywhere".to_owned(), describe);
                let title = format!("{row}: {place_text}, 90 % within {radius_km:.0} km");
                let heat = globe_log_density(&density, CELLS.0, CELLS.1)?;
                let mut image = draw(&density, Window::globe(CELLS.0, CELLS.1)?, heat, &title)?;
                if let Some(place) = place {
                    image = image.marker(place);
                }
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
        write_file(&self.out, &sheet_png(&images, usize::from(self.columns))?)?;
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
        const BLOCK: usize = 512;
        let degree = Degree::new(usize::from(self.degree))?;
        let harmonics = Harmonics::new(degree);
        let dimension = degree.dimension();
        // Finer than the finest wave, so that every peak is met to a percent.
        let grid = Grid::fibonacci((8 * dimension).max(20_000))?;
        let bar = progress::bar("measuring", Some(grid.len() as u64));
        let mut largest = vec![0f32; dimension];
        let mut values = vec![0f32; BLOCK * dimension];
        for points in grid.points().chunks(BLOCK) {
            let values = &mut values[..points.len() * dimension];
            harmonics.write(points, values)?;
            for row in values.chunks_exact(dimension) {
                largest.iter_mut().zip(row).for_each(|(most, value)| *most = most.max(value.abs()));
            }
            bar.inc(points.len() as u64);
        }
        bar.finish_and_clear();
        let top = 1.3 * f64::from(largest.iter().copied().fold(0f32, f32::max));
        let ticks = |values: Vec<f64>| values.iter().map(|v| (*v, format!("{v}"))).collect();
        let quarters = (0..=4).map(|k| (k * dimension / 4) as f64).collect();
        let x = Axis {
            from: 0.0,
            to: dimension as f64,
            is_log: false,
            ticks: ticks(quarters),
            label: "dimension l² + l + m",
        };
        let doublings =
            [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0].into_iter().filter(|value| *value < top).collect();
        let y = Axis { from: 0.2, to: top, is_log: true, ticks: ticks(doublings), label: "largest |Y_lm|" };
        let mut plot = Diagram::new(x, y);
        plot.line("line first", largest.iter().enumerate().map(|(k, v)| (k as f64, f64::from(*v))));
        let text = format!("Largest absolute value of each dimension of an SHDD code, L = {degree}");
        write_file(&self.out, plot.finish_file(&text).as_bytes())?;
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
        let bytes = if has_extension(&self.out, "svg") {
            spread_by_degree(&degrees).into_bytes()
        } else {
            ensure!(
                has_extension(&self.out, "png"),
                "{}: give a file that ends in .png (maps) or .svg (curve)",
                self.out.display()
            );
            self.maps(&degrees)?
        };
        write_file(&self.out, &bytes)?;
        Ok(self.out)
    }

    fn maps(&self, degrees: &[Degree]) -> Result<Vec<u8>> {
        const PIXELS: usize = 500;
        let bar = progress::bar("drawing", Some(degrees.len() as u64));
        let mut images = Vec::new();
        for degree in degrees {
            let codec = Codec::new(*degree);
            let code = codec.encode(self.at);
            let density = codec.density(&code)?;
            let window = Window::around(self.at, self.reach_km, PIXELS)?.with_cells(PIXELS, PIXELS)?;
            let heat = Raster::new(window, density.log_density(&window.points()))?;
            let title = format!("L = {degree}: spread {:.0} km", spread_km(*degree));
            images.push(draw(&density, window, heat, &title)?);
            bar.inc(1);
        }
        bar.finish_and_clear();
        Ok(sheet_png(&images, usize::from(self.columns))?)
    }
}

/// Standard deviation of a clean code's density.
fn spread_km(degree: Degree) -> f64 {
    EARTH_RADIUS_KM / degree.curvature().sqrt()
}

fn spread_by_degree(marked: &[Degree]) -> String {
    let all: Vec<Degree> = (1..=255).filter_map(|l| Degree::new(l).ok()).collect();
    let number = |degree: &Degree| degree.get() as f64;
    let ticks = |values: &[f64]| values.iter().map(|v| (*v, format!("{v}"))).collect();
    let x = Axis {
        from: 1.0,
        to: 255.0,
        is_log: true,
        ticks: ticks(&[1.0, 3.0, 7.0, 15.0, 23.0, 47.0, 127.0, 255.0]),
        label: "degree L",
    };
    let y = Axis {
        from: 0.5,
        to: 30_000.0,
        is_log: true,
        ticks: ticks(&[1.0, 25.0, 200.0, 750.0, 2500.0]),
        label: "spread of a clean code, km",
    };
    let mut plot = Diagram::new(x, y);
    plot.line("line first", all.iter().map(|degree| (number(degree), spread_km(*degree))));
    for degree in marked {
        let tip = format!("L = {degree}: {:.1} km", spread_km(*degree));
        plot.dot("dot first", number(degree), spread_km(*degree), &tip);
    }
    plot.finish_file("Standard deviation of a clean code's density by degree")
}
