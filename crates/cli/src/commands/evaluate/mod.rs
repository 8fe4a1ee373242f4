//! `locdiff evaluate`: any system's places judged by the truth.

mod album;
mod model;

use crate::{args::named, output, output::write_asked, progress, say};
use album::AlbumArgs;
use anyhow::{Context, Result};
use clap::Args;
use locdiff_album::Judging;
use locdiff_base::Named;
use locdiff_io::data::{PlaceTable, PointColumns, read_points};
use locdiff_model::report::{Division, Evaluation, FileRows, Matching, MissingRule, PrdcChoice, System, in_row_order};
use locdiff_model::{eval::Benchmark, eval::Bootstrap, eval::Preset, report::match_rows, report::names_beside};
use locdiff_shdd::sphere::LatLon;
use model::judge_codes;
use model::{ModelArgs, short_name};
use std::{collections::HashSet, io::Write, path::Path, path::PathBuf};

#[derive(Debug, Args)]
pub(crate) struct Evaluate {
    /// Read true locations: .csv or .jsonl with lat and lon (and id), .npy or .safetensors [N, 2]
    #[arg(long, value_name = "FILE", required_unless_present = "album")]
    truth: Option<PathBuf>,
    #[command(flatten)]
    album: AlbumArgs,
    /// Read answers of a system, matched by id if both files have one, otherwise by order
    ///
    /// These columns are evaluated, too: countries, radius_50_km (and other levels), truth_log_density, truth_region_level, truth_region_area_km2
    #[arg(long, value_name = "FILE", conflicts_with = "model", required_unless_present_any = ["model", "codes", "album"])]
    predictions: Option<PathBuf>,
    /// Compare with the answers of a second system: print the difference and its significance
    #[arg(long, value_name = "FILE")]
    predictions_b: Option<PathBuf>,
    /// Evaluate densities, given as coefficient vectors, one per row: likelihood and calibration
    #[arg(long, value_name = "FILE", conflicts_with = "model")]
    codes: Option<PathBuf>,
    /// Also print accuracy by distance to the nearest of these training photos
    #[arg(long, value_name = "FILE")]
    train: Option<PathBuf>,
    /// Compare with always answering one location: the best for these validation photos
    ///
    /// If this file and --truth have a column source, only rows of the sources of --truth count
    #[arg(long, value_name = "FILE")]
    validation: Option<PathBuf>,
    /// Count accuracy by these rules [default: the benchmark's, else plonk]
    #[arg(long, value_name = "NAME", value_parser = crate::args::named::<Preset>())]
    preset: Option<Preset>,
    /// Apply the rules of this benchmark, and warn if the number of photos differs
    #[arg(long, value_name = "NAME", value_parser = crate::args::named::<Benchmark>())]
    benchmark: Option<Benchmark>,
    /// Match photos by this column [default: id, image_id, img_id, photo_id, image, photo, filename, file, path, key]
    #[arg(long, value_name = "NAME")]
    id_column: Option<String>,
    /// Match rows by order and ignore the ids
    #[arg(long, conflicts_with = "id_column")]
    by_order: bool,
    /// Count photos without a prediction as unanswered, and ignore predictions for other photos
    #[arg(long)]
    allow_absent: bool,
    /// Read latitudes from this column [default: lat or latitude]
    #[arg(long, value_name = "NAME")]
    lat_column: Option<String>,
    /// Read longitudes from this column [default: lon, lng or longitude]
    #[arg(long, value_name = "NAME")]
    lon_column: Option<String>,
    /// Count a photo without an answer as this
    #[arg(long, value_parser = named::<MissingRule>(), default_value = MissingRule::Miss.name())]
    missing: MissingRule,
    /// Also print accuracy for each part
    #[arg(long, value_parser = named::<Division>(), value_delimiter = ',',
          default_values = [Division::Continent.name(), Division::Country.name()])]
    by: Vec<Division>,
    /// Compute precision, recall, density and coverage
    #[arg(long, value_parser = named::<PrdcChoice>(), default_value = PrdcChoice::Auto.name())]
    prdc: PrdcChoice,
    /// Draw N bootstrap samples
    #[arg(long, value_name = "N", default_value_t = 1000)]
    replicates: usize,
    /// Set the confidence of the intervals
    #[arg(long, value_name = "SHARE", default_value_t = 0.95)]
    confidence: f64,
    /// Set the seed of the bootstrap and of a model's samples
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Write a page with plots, as one file
    #[arg(long, value_name = "FILE.html")]
    html: Option<PathBuf>,
    /// Write every number as a row
    #[arg(long, value_name = "FILE.csv")]
    csv: Option<PathBuf>,
    /// Print one JSON object instead of the tables
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    model: ModelArgs,
}

impl Evaluate {
    pub(crate) fn run(self) -> Result<()> {
        if let Some(table) = &self.album.album {
            return self.albums(table);
        }
        let outputs = [&self.html, &self.csv];
        output::claim(outputs.into_iter().filter_map(|path| path.as_deref()), self.json)?;
        let evaluation = self.evaluation()?;
        evaluation.bootstrap.check()?;
        let truth_file = self.truth.as_deref().context("give --truth")?;
        let truth = self.read(truth_file)?;
        if let Some(benchmark) = self.benchmark {
            check_count(benchmark, truth.places.len());
        }
        let first = self.first(truth_file, &truth)?;
        let second = self.predictions_b.as_ref().map(|path| self.system(path, truth_file, &truth)).transpose()?;
        let steps = 3 + self.by.len() + usize::from(second.is_some());
        let bar = progress::bar("evaluating", Some(steps as u64));
        let name = short_name(truth_file);
        let report = evaluation.judge(&name, &truth.places, first, second, || bar.inc(1))?;
        bar.finish_and_clear();
        write_asked(self.html.as_ref(), || Ok(report.to_html().into_bytes()))?;
        write_asked(self.csv.as_ref(), || Ok(report.to_csv().into_bytes()))?;
        if self.json {
            return Ok(writeln!(output::Out, "{}", report.to_json())?);
        }
        write!(output::human_out(), "{}", report.to_text())?;
        output::tell_written(outputs.into_iter().filter_map(|path| path.as_deref()))
    }

    fn albums(&self, table: &Path) -> Result<()> {
        let evaluation = self.evaluation()?;
        evaluation.bootstrap.check()?;
        let AlbumArgs { same_place, trust_clocks, album_settings, .. } = &self.album;
        let judging = Judging { same_place: *same_place, set_clocks: !trust_clocks && !same_place };
        let scores = album::judge(table, judging, album_settings.as_deref(), &self.model, &evaluation.bootstrap)?;
        if self.json {
            return Ok(writeln!(output::Out, "{}", serde_json::to_value(&scores)?)?);
        }
        Ok(write!(output::human_out(), "{}", scores.to_text())?)
    }

    fn evaluation(&self) -> Result<Evaluation> {
        let training = self.train.as_ref().map(|path| read_points(path, None, &PointColumns::default()));
        let Self { replicates, confidence, seed, missing, prdc, .. } = *self;
        Ok(Evaluation {
            preset: self.preset.or(self.benchmark.map(Benchmark::preset)).unwrap_or_default(),
            bootstrap: Bootstrap { replicates, confidence, seed, ..Bootstrap::default() },
            missing,
            divisions: self.by.clone(),
            prdc,
            training: training.transpose()?,
            validation: self.validation.as_ref().map_or(Ok(Vec::new()), |path| self.validation(path))?,
        })
    }

    /// The validation locations of the truths' sources, as in `locdiff-lab compare`, or all if no source is the same.
    fn validation(&self, path: &Path) -> Result<Vec<LatLon>> {
        let sources = |path: &Path| {
            let table = PlaceTable::read(path, None, &PointColumns::default(), Some("source"), |_| false).ok()?;
            table.ids.map(|(_, sources)| sources.into_iter().zip(table.places).collect::<Vec<_>>())
        };
        let (truths, all) = (self.truth.as_deref().and_then(sources), sources(path));
        let own: HashSet<String> = truths.into_iter().flatten().map(|(source, _)| source).collect();
        let found = all.into_iter().flatten().filter(|(source, _)| own.contains(source));
        let found: Vec<LatLon> = found.filter_map(|(_, place)| place).collect();
        if found.is_empty() { Ok(read_points(path, None, &PointColumns::default())?) } else { Ok(found) }
    }

    fn read(&self, path: &Path) -> Result<PlaceTable> {
        let columns = PointColumns { lat: self.lat_column.clone(), lon: self.lon_column.clone(), tensor: None };
        Ok(PlaceTable::read(path, None, &columns, self.id_column.as_deref(), System::judges_column)?)
    }

    /// The system to be judged.
    fn first(&self, truth_file: &Path, truth: &PlaceTable) -> Result<System> {
        if let Some(folder) = &self.model.model {
            let rows = self.embedded_rows(truth_file, truth)?;
            return self.model.system(folder, self.seed, &truth.places, rows);
        }
        if let Some(path) = &self.predictions {
            return self.system(path, truth_file, truth);
        }
        let path = self.codes.as_ref().context("give --predictions, --codes or --model")?;
        let found = judge_codes(path, &truth.places)?;
        let modes = found.iter().map(|found| found.and_then(|found| found.mode)).collect();
        Ok(System::of_places(short_name(path), modes).with_densities(&found))
    }

    /// The row of the embeddings that each truth has, by the names in the table beside them; `None` is row by row.
    fn embedded_rows(&self, truth_file: &Path, truth: &PlaceTable) -> Result<Option<Vec<Option<usize>>>> {
        let rows = self.model.embeddings.as_ref().filter(|_| truth.ids.is_some() && !self.by_order);
        let beside = rows.map(|path| names_beside(path, truth_file)).transpose()?.flatten().map(|(path, _)| path);
        let Some(path) = self.model.embedded.clone().or(beside) else { return Ok(None) };
        let table = PlaceTable::read(&path, None, &PointColumns::default(), Some("path"), |_| false)?;
        let allow_absent = self.allow_absent || self.model.embedded.is_some();
        Ok(Some(matched(truth_file, truth, &path, &table, Matching { by_order: false, allow_absent })?.0))
    }

    /// A file's rows in the order of the truths.
    fn system(&self, path: &Path, truth_file: &Path, truth: &PlaceTable) -> Result<System> {
        let table = self.read(path)?;
        let matching = Matching { by_order: self.by_order, allow_absent: self.allow_absent };
        let (rows, strange) = matched(truth_file, truth, path, &table, matching)?;
        let system = System::from_table(short_name(path), &table, &rows, strange);
        // Densities go with the first system only.
        match &self.codes {
            Some(codes) if Some(path) == self.predictions.as_deref() => {
                let truths = in_row_order(&truth.places, &rows, table.places.len());
                let by_row = judge_codes(codes, &truths)?;
                let found: Vec<_> = rows.iter().map(|row| row.and_then(|row| by_row[row])).collect();
                Ok(system.with_densities(&found))
            }
            _ => Ok(system),
        }
    }
}

fn matched(
    truth_file: &Path,
    truth: &PlaceTable,
    file: &Path,
    table: &PlaceTable,
    matching: Matching,
) -> Result<(Vec<Option<usize>>, usize)> {
    let (truth_file, file) = (truth_file.display().to_string(), file.display().to_string());
    Ok(match_rows(FileRows::of(&truth_file, truth), FileRows::of(&file, table), matching)?)
}

/// Says where these are not as many photos as a benchmark has.
fn check_count(benchmark: Benchmark, photos: usize) {
    let (title, published) = (benchmark.title(), benchmark.photos());
    if photos != published {
        say::warning(&format!("{title} has {published} photos, here are {photos}: not comparable with its tables"));
    }
}
