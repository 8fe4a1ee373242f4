//! `locdiff density`: what a coefficient vector says about where, in words, as a map and as files for other tools.

use crate::args::{DegreeArg, VectorsInput, named, parse_place, parse_positive, read_vectors};
use crate::output::{self, write_asked, write_file};
use anyhow::{Context, Result, bail};
use clap::Args;
use locdiff_base::Named;
use locdiff_io::data::{Dtype, Format, MatrixWriter};
use locdiff_map::{Raster, Window, ascii_grid, geotiff};
use locdiff_model::report::{DensitySummary, MapView};
use locdiff_shdd::{CodeDensity, Codec, Coefficients, sphere::LatLon};
use std::{io::Write, path::Path, path::PathBuf};

#[derive(Debug, Args)]
pub(crate) struct DensityArgs {
    #[command(flatten)]
    input: VectorsInput,
    #[command(flatten)]
    degree: DegreeArg,
    /// Use the code of this location instead of a file
    #[arg(long, value_name = "LAT,LON", value_parser = parse_place, allow_hyphen_values = true,
          conflicts_with = "vectors", required_unless_present = "vectors")]
    at: Option<LatLon>,
    /// Read this row of the file, from 1
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    row: u64,
    /// List up to K modes
    #[arg(long, default_value_t = 5, value_name = "K")]
    modes: usize,
    /// Write a map as a picture
    #[arg(long, value_name = "FILE.png")]
    png: Option<PathBuf>,
    /// Show the whole world or the 90 % region in the picture
    #[arg(long, value_parser = named::<MapView>(), default_value = MapView::Auto.name())]
    view: MapView,
    /// Write the 50 and 90 % regions and the modes
    #[arg(long, value_name = "FILE.geojson")]
    geojson: Option<PathBuf>,
    /// Write probabilities on a world raster: .asc (Esri ASCII), .npy, .csv, .jsonl or .safetensors
    #[arg(long, value_name = "FILE")]
    raster: Option<PathBuf>,
    /// Write probabilities on a world raster as GeoTIFF (WGS 84, 32-bit numbers)
    #[arg(long, value_name = "FILE.tif")]
    geotiff: Option<PathBuf>,
    /// Set the size of a raster cell in degrees
    #[arg(long, default_value = "1", value_name = "DEGREES", value_parser = parse_positive)]
    raster_cell: f64,
    /// Print one JSON object instead of the summary
    #[arg(long)]
    json: bool,
}

impl DensityArgs {
    pub(crate) fn run(self) -> Result<()> {
        let outputs = [&self.png, &self.geojson, &self.raster, &self.geotiff];
        output::claim(outputs.into_iter().filter_map(|path| path.as_deref()), self.json)?;
        let (codec, e) = self.read()?;
        let density = codec.density(&e)?;
        let summary = DensitySummary::new(&codec, &density, self.modes)?;
        let draws = self.png.is_some() || self.geojson.is_some();
        let outlines = if draws { summary.outlines(&density)? } else { Vec::new() };
        write_asked(self.geojson.as_ref(), || Ok(summary.to_geojson(&outlines).to_string().into_bytes()))?;
        write_asked(self.png.as_ref(), || Ok(summary.to_png(&density, &outlines, self.view)?))?;
        if let Some(path) = &self.raster {
            self.write_raster(path, &density)?;
        }
        write_asked(self.geotiff.as_ref(), || Ok(geotiff(&self.cells(&density)?)))?;
        if self.json {
            return Ok(writeln!(output::Out, "{}", summary.to_json())?);
        }
        write!(output::human_out(), "{}", summary.to_text())?;
        output::tell_written(outputs.into_iter().filter_map(|path| path.as_deref()))
    }

    fn read(&self) -> Result<(Codec, Coefficients)> {
        if let Some(place) = self.at {
            let codec = Codec::new(self.degree.degree);
            let e = codec.encode(place);
            return Ok((codec, e));
        }
        let path = self.input.vectors.as_ref().context("give a file of coefficient vectors, or --at LAT,LON")?;
        let (mut reader, degree) = self.input.open(path)?;
        let mut found = None;
        for read in 1..=self.row {
            found = read_vectors(&mut reader, 1, path, read - 1)?.pop();
            if found.is_none() {
                bail!("{}: row {} does not exist: the file has {} rows", path.display(), self.row, read - 1);
            }
        }
        Ok((Codec::new(degree), found.context("rows are counted from 1")?))
    }

    /// The probability of every cell of the world.
    fn cells(&self, density: &CodeDensity<'_>) -> Result<Raster> {
        const SMALLEST_DEG: f64 = 0.05;
        if self.raster_cell < SMALLEST_DEG || self.raster_cell > 90.0 {
            bail!("raster cells of {} degrees: choose from {SMALLEST_DEG} to 90", self.raster_cell);
        }
        let rows = (180.0 / self.raster_cell).round() as usize;
        Ok(Raster::new(Window::globe(rows, 2 * rows)?, density.raster_mass(rows, 2 * rows).masses)?)
    }

    fn write_raster(&self, path: &Path, density: &CodeDensity<'_>) -> Result<()> {
        let cells = self.cells(density)?;
        if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("asc")) {
            return write_file(path, ascii_grid(&cells)?.as_bytes());
        }
        let format = Format::from_path(path).context("a raster is .asc, or a matrix")?;
        let columns = cells.window().columns();
        let mut writer = MatrixWriter::create(path, Some(format), columns, Dtype::F64, "probability")?;
        for row in cells.values().chunks_exact(columns) {
            writer.write_row(row)?;
        }
        writer.finish()?;
        Ok(())
    }
}
