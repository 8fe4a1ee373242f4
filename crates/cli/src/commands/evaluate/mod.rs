//! `locdiff evaluate`: any system's places judged by the truth.

mod model;
mod rows;

use crate::args::read_vectors;
use crate::commands::density::write_file;
use crate::progress;
use anyhow::{Context, Result, bail, ensure};
use clap::{Args, ValueEnum};
use locdiff::Verdict;
use locdiff_data::{MatrixReader, PlaceTable, PointColumns, read_points};
use locdiff_eval::{
    Bootstrap, Correlogram, LEVELS, Likelihood, Nearby, PRDC_CHUNKS, PRDC_NEIGHBOURS, Paired, Prdc, Preset,
    ReliabilityCurve, Rules, Scores, TruthInDensity, by_label, by_novelty, truths_in_densities,
};
use locdiff_places::{Countries, Places, continent};
use locdiff_report::{Breakdown, PrdcReport, Report, Rival};
use locdiff_shdd::{Codec, Coefficients};
use locdiff_sphere::{Degree, LatLon};
use model::ModelArgs;
use rayon::prelude::*;
use rows::{Matching, match_rows};
use std::io::Write;
use std::path::{Path, PathBuf};

/// PRDC of all photos at once is quadratic: 20,000 take about 2 seconds, 100,000 a minute.
const MOST_FOR_WHOLE_PRDC: usize = 20_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MissingRule {
    /// A photo without an answer is within no radius.
    Miss,
    /// It is left out, as plonk does.
    Skip,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PrdcChoice {
    /// All photos up to 20,000, and in 20 chunks.
    Auto,
    /// All photos however many, and in 20 chunks.
    All,
    /// In 20 chunks only.
    Chunks,
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Division {
    Continent,
    Country,
    None,
}

#[derive(Debug, Args)]
pub(crate) struct Evaluate {
    /// True places: .csv or .jsonl with lat and lon (and id), .npy or .safetensors [N, 2]
    #[arg(long, value_name = "FILE")]
    truth: PathBuf,
    /// A system's answers, matched by id where both files have one, else by order; columns radius_50_km and the
    /// like, truth_log_density and truth_region_level are judged too
    #[arg(long, value_name = "FILE", conflicts_with = "model", required_unless_present_any = ["model", "codes"])]
    predictions: Option<PathBuf>,
    /// Another system's answers: the difference and its significance
    #[arg(long, value_name = "FILE")]
    predictions_b: Option<PathBuf>,
    /// Densities as natural parameters (coefficient vectors, one a row of the predictions, or of the truths without
    /// them): likelihood and calibration by quadrature
    #[arg(long, value_name = "FILE", conflicts_with = "model")]
    codes: Option<PathBuf>,
    /// Places of the training photos: accuracy by distance to the nearest one
    #[arg(long, value_name = "FILE")]
    train: Option<PathBuf>,
    /// Whose rules
    #[arg(long, value_name = "NAME", default_value = "plonk", value_parser = crate::args::named::<Preset>())]
    preset: Preset,
    /// Column that names the photos [default: id, image_id, img_id, photo_id, image, photo, filename, file, path, key]
    #[arg(long, value_name = "NAME")]
    id_column: Option<String>,
    /// Row k of all files is the same photo, whatever the ids say
    #[arg(long, conflicts_with = "id_column")]
    by_order: bool,
    /// Photos that the predictions lack have no answer; predictions for other photos are left out
    #[arg(long)]
    allow_absent: bool,
    /// Column of the latitude [default: lat or latitude]
    #[arg(long, value_name = "NAME")]
    lat_column: Option<String>,
    /// Column of the longitude [default: lon, lng or longitude]
    #[arg(long, value_name = "NAME")]
    lon_column: Option<String>,
    /// What a photo without an answer is
    #[arg(long, value_enum, default_value_t = MissingRule::Miss)]
    missing: MissingRule,
    /// Accuracy of parts of the photos
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [Division::Continent, Division::Country])]
    by: Vec<Division>,
    /// Precision, recall, density and coverage
    #[arg(long, value_enum, default_value_t = PrdcChoice::Auto)]
    prdc: PrdcChoice,
    /// Draws of the bootstrap
    #[arg(long, value_name = "N", default_value_t = 1000)]
    replicates: usize,
    /// Confidence of the intervals
    #[arg(long, value_name = "SHARE", default_value_t = 0.95)]
    confidence: f64,
    /// Seed of the bootstrap and of a model's samples
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Write one page with plots that needs no other file
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

/// One system's rows, one a truth.
struct System {
    name: String,
    answers: Vec<Option<LatLon>>,
    /// Radii told with the answers: probability and km.
    radii: Vec<(f64, Vec<f64>)>,
    /// log density and region level at the truth; NaN where not told.
    log_density: Option<Vec<f64>>,
    region_level: Option<Vec<f64>>,
    /// Rows that belong to no truth.
    strange: usize,
}

impl System {
    fn plain(name: String, answers: Vec<Option<LatLon>>) -> Self {
        Self { name, answers, radii: Vec::new(), log_density: None, region_level: None, strange: 0 }
    }

    /// Keeps the rows for which `keep` holds.
    fn retain(&mut self, keep: &[bool]) {
        fn retain<T>(list: &mut Vec<T>, keep: &[bool]) {
            let mut flags = keep.iter();
            list.retain(|_| flags.next().is_none_or(|flag| *flag));
        }
        retain(&mut self.answers, keep);
        self.radii.iter_mut().for_each(|(_, radii)| retain(radii, keep));
        for list in [&mut self.log_density, &mut self.region_level].into_iter().flatten() {
            retain(list, keep);
        }
    }
}

impl Evaluate {
    pub(crate) fn run(self) -> Result<()> {
        let bootstrap =
            Bootstrap { replicates: self.replicates, confidence: self.confidence, seed: self.seed };
        bootstrap.check()?;
        let truth = self.read(&self.truth)?;
        let mut first = self.first(&truth)?;
        let mut second = self.predictions_b.as_ref().map(|path| self.system(path, &truth)).transpose()?;

        let mut keep: Vec<bool> = truth.places.iter().map(Option::is_some).collect();
        let without_truth = keep.iter().filter(|kept| !**kept).count();
        let mut skipped = 0;
        if self.missing == MissingRule::Skip {
            for (row, kept) in keep.iter_mut().enumerate() {
                let answered =
                    first.answers[row].is_some() && second.as_ref().is_none_or(|s| s.answers[row].is_some());
                skipped += usize::from(*kept && !answered);
                *kept &= answered;
            }
        }
        first.retain(&keep);
        if let Some(second) = &mut second {
            second.retain(&keep);
        }
        let truths: Vec<LatLon> = truth
            .places
            .iter()
            .zip(&keep)
            .filter(|(_, kept)| **kept)
            .filter_map(|(place, _)| *place)
            .collect();
        ensure!(!truths.is_empty(), "no row has a truth and an answer: there is nothing to evaluate");

        let steps = 4 + self.by.len() + usize::from(second.is_some());
        let bar = progress::bar("evaluating", Some(steps as u64));
        let mut report = self.report(&truths, &first, bootstrap, || bar.inc(1))?;
        (report.without_truth, report.skipped) = (without_truth, skipped);
        if let Some(second) = second {
            let (a, b) = (self.errors_km(&truths, &first)?, self.errors_km(&truths, &second)?);
            report.rival = Some(Rival {
                scores: Scores::new(&b, self.rules(), &bootstrap),
                paired: Paired::new(&a, &b, self.rules(), &bootstrap)?,
                name: second.name,
            });
        }
        bar.finish_and_clear();
        if let Some(path) = &self.html {
            write_file(path, report.to_html().as_bytes())?;
        }
        if let Some(path) = &self.csv {
            write_file(path, report.to_csv().as_bytes())?;
        }
        let mut out = std::io::stdout().lock();
        if self.json {
            writeln!(out, "{}", report.to_json())?;
        } else {
            write!(out, "{}", report.to_text())?;
            for path in [&self.html, &self.csv].into_iter().flatten() {
                writeln!(out, "wrote {}", path.display())?;
            }
        }
        Ok(())
    }

    fn rules(&self) -> Rules {
        self.preset.rules()
    }

    fn errors_km(&self, truths: &[LatLon], system: &System) -> Result<Vec<f64>> {
        Ok(self.rules().errors_km(truths, &system.answers)?)
    }

    fn read(&self, path: &Path) -> Result<PlaceTable> {
        let columns =
            PointColumns { lat: self.lat_column.clone(), lon: self.lon_column.clone(), tensor: None };
        let is_wanted = |name: &str| {
            radius_probability(name).is_some() || ["truth_log_density", "truth_region_level"].contains(&name)
        };
        Ok(PlaceTable::read(path, None, &columns, self.id_column.as_deref(), is_wanted)?)
    }

    /// The system to be judged.
    fn first(&self, truth: &PlaceTable) -> Result<System> {
        if let Some(folder) = &self.model.model {
            let judged = self.model.judge(folder, self.seed, &truth.places)?;
            let answers = judged.iter().map(|(place, _)| Some(*place)).collect();
            let mut system = System::plain(short_name(folder), answers);
            if judged.iter().any(|(_, said)| said.is_some()) {
                let of = |pick: &dyn Fn(&Verdict) -> f64| -> Vec<f64> {
                    judged.iter().map(|(_, said)| said.as_ref().map_or(f64::NAN, pick)).collect()
                };
                system.log_density = Some(of(&|said| said.log_density));
                system.region_level = Some(of(&|said| said.region_level));
                let radii =
                    LEVELS.iter().enumerate().map(|(k, share)| (*share, of(&|said| said.radii_km[k])));
                system.radii = radii.collect();
            }
            return Ok(system);
        }
        if let Some(path) = &self.predictions {
            return self.system(path, truth);
        }
        let path = self.codes.as_ref().context("give --predictions, --codes or --model")?;
        let found = judge_codes(path, &truth.places)?;
        let modes = found.iter().map(|found| found.and_then(|found| found.mode)).collect();
        Ok(with_densities(System::plain(short_name(path), modes), &found))
    }

    /// A file's rows in the order of the truths.
    fn system(&self, path: &Path, truth: &PlaceTable) -> Result<System> {
        let table = self.read(path)?;
        let matching = Matching { by_order: self.by_order, allow_absent: self.allow_absent };
        let (rows, strange) = match_rows((&self.truth, truth), (path, &table), matching)?;
        let pick = |values: &[f64]| rows.iter().map(|row| row.map_or(f64::NAN, |row| values[row])).collect();
        let column = |name: &str| {
            table.numbers.iter().find(|(found, _)| found == name).map(|(_, values)| pick(values))
        };
        let radii =
            table.numbers.iter().filter_map(|(name, values)| Some((radius_probability(name)?, pick(values))));
        let system = System {
            name: short_name(path),
            answers: rows.iter().map(|row| row.and_then(|row| table.places[row])).collect(),
            radii: radii.collect(),
            log_density: column("truth_log_density"),
            region_level: column("truth_region_level"),
            strange,
        };
        // Densities go with the first system only.
        match &self.codes {
            Some(codes) if Some(path) == self.predictions.as_deref() => {
                let mut truths = vec![None; table.places.len()];
                for (truth_row, row) in rows.iter().enumerate() {
                    if let Some(row) = row {
                        truths[*row] = truth.places[truth_row];
                    }
                }
                let by_row = judge_codes(codes, &truths)?;
                let found: Vec<_> = rows.iter().map(|row| row.and_then(|row| by_row[row])).collect();
                Ok(with_densities(system, &found))
            }
            _ => Ok(system),
        }
    }

    /// Everything about one system; `step` is told whenever a part is done.
    fn report(
        &self,
        truths: &[LatLon],
        system: &System,
        bootstrap: Bootstrap,
        step: impl Fn(),
    ) -> Result<Report> {
        let rules = self.rules();
        let errors_km = self.errors_km(truths, system)?;
        let scores = Scores::new(&errors_km, rules, &bootstrap);
        let truth_name = short_name(&self.truth);
        let mut report = Report::new(&system.name, &truth_name, self.preset, bootstrap, scores);
        step();
        self.add_prdc(&mut report, truths, &system.answers)?;
        step();
        report.likelihood = system.log_density.as_ref().map(|logs| Likelihood::new(logs, &bootstrap));
        report.regions = system.region_level.as_ref().map(|levels| ReliabilityCurve::of_levels(levels));
        if !system.radii.is_empty() {
            report.radii = Some(ReliabilityCurve::of_radii(&errors_km, &system.radii, rules)?);
        }
        for division in &self.by {
            let (by, labels) = match division {
                Division::Continent => ("continent", labels(truths, continent_of)),
                Division::Country => ("country", labels(truths, country_of)),
                Division::None => continue,
            };
            let groups = by_label(&labels, &errors_km, rules, &bootstrap)?;
            report.breakdowns.push(Breakdown { by: by.to_owned(), groups });
            step();
        }
        if let Some(path) = &self.train {
            let nearby = Nearby::new(&read_points(path, None, &PointColumns::default())?, rules);
            let nearest: Vec<f64> =
                truths.par_iter().map(|truth| nearby.nearest_km(*truth).unwrap_or(f64::NAN)).collect();
            let groups = by_novelty(&nearest, &errors_km, rules, &bootstrap)?;
            let by = "distance to the nearest training photo".to_owned();
            report.breakdowns.push(Breakdown { by, groups });
        }
        step();
        let correlogram = Correlogram::new(truths, &errors_km, self.seed)?;
        step();
        if let Some(lag) = correlogram.lags.first().filter(|lag| lag.z > 3.0 && lag.moran_i > 0.1) {
            report.notes.push(format!(
                "photos within {} km of each other err alike (Moran's I {:.2}): they count for fewer, and the true \
                 intervals are wider than those told",
                lag.to_km, lag.moran_i
            ));
        }
        report.correlogram = Some(correlogram);
        if system.strange > 0 {
            report
                .notes
                .push(format!("{} predictions are for photos without a truth: left out", system.strange));
        }
        report.points = truths.iter().copied().zip(errors_km).collect();
        Ok(report)
    }

    fn add_prdc(&self, report: &mut Report, truths: &[LatLon], answers: &[Option<LatLon>]) -> Result<()> {
        if self.prdc == PrdcChoice::None {
            return Ok(());
        }
        let (real, fake): (Vec<LatLon>, Vec<LatLon>) =
            truths.iter().zip(answers).filter_map(|(truth, answer)| Some((*truth, (*answer)?))).unzip();
        let enough = |rows: usize| rows > PRDC_NEIGHBOURS;
        let whole = match self.prdc {
            PrdcChoice::All => true,
            PrdcChoice::Auto => real.len() <= MOST_FOR_WHOLE_PRDC,
            PrdcChoice::Chunks | PrdcChoice::None => false,
        };
        if self.prdc == PrdcChoice::Auto && !whole {
            report.notes.push(format!(
                "PRDC of all {} photos at once is quadratic and was left out: --prdc all",
                real.len()
            ));
        }
        let whole =
            (whole && enough(real.len())).then(|| Prdc::new(&real, &fake, PRDC_NEIGHBOURS)).transpose()?;
        let chunked = enough(real.len().div_ceil(PRDC_CHUNKS))
            .then(|| Prdc::chunked(&real, &fake, PRDC_NEIGHBOURS, PRDC_CHUNKS))
            .transpose()?;
        if whole.is_none() && chunked.is_none() {
            if matches!(self.prdc, PrdcChoice::All | PrdcChoice::Chunks) {
                bail!("{} answers are too few for PRDC: give --prdc none", real.len());
            }
            return Ok(());
        }
        report.prdc = Some(PrdcReport { neighbours: PRDC_NEIGHBOURS, whole, chunks: PRDC_CHUNKS, chunked });
        Ok(())
    }
}

/// What the densities of a file say about truths, row by row.
fn judge_codes(path: &Path, truths: &[Option<LatLon>]) -> Result<Vec<Option<TruthInDensity>>> {
    const BLOCK_ROWS: usize = 256;
    let mut reader = MatrixReader::open(path, None, None)?;
    let degree = Degree::from_dimension(reader.columns())
        .with_context(|| format!("{}: a row is not a coefficient vector", path.display()))?;
    let codec = Codec::new(degree);
    let bar = progress::bar("densities", Some(truths.len() as u64));
    let mut found = Vec::with_capacity(truths.len());
    loop {
        let block: Vec<Coefficients> = read_vectors(&mut reader, BLOCK_ROWS)?;
        if block.is_empty() {
            break;
        }
        let rest = &truths[found.len().min(truths.len())..];
        let pairs: Vec<(Coefficients, LatLon)> =
            block.iter().zip(rest).filter_map(|(code, truth)| Some((code.clone(), (*truth)?))).collect();
        let (codes, places): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
        let mut judged = truths_in_densities(&codec, &codes, &places)?.into_iter();
        let told = |k: usize| rest.get(k).copied().flatten().and_then(|_| judged.next());
        found.extend((0..block.len()).map(told));
        bar.set_position(found.len() as u64);
    }
    bar.finish_and_clear();
    ensure!(
        found.len() == truths.len(),
        "{} has {} rows for {} photos: give one density a row, in the same order",
        path.display(),
        found.len(),
        truths.len()
    );
    Ok(found)
}

/// A file or folder without the way to it.
fn short_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// The probability in a column's name: 0.5 in `radius_50_km`.
fn radius_probability(name: &str) -> Option<f64> {
    let percent: f64 = name.strip_prefix("radius_")?.strip_suffix("_km")?.parse().ok()?;
    (percent > 0.0 && percent < 100.0).then_some(percent / 100.0)
}

/// Puts what densities say beside the answers; their own radii where none were told.
fn with_densities(mut system: System, found: &[Option<TruthInDensity>]) -> System {
    let list = |value: fn(&TruthInDensity) -> f64| {
        found.iter().map(|f| f.as_ref().map_or(f64::NAN, value)).collect()
    };
    system.log_density = Some(list(|found| found.log_density));
    system.region_level = Some(list(|found| found.region_level));
    system
}

fn labels(truths: &[LatLon], label: fn(LatLon) -> String) -> Vec<String> {
    truths.par_iter().map(|truth| label(*truth)).collect()
}

fn continent_of(place: LatLon) -> String {
    continent(place).unwrap_or("elsewhere").to_owned()
}

/// The country, or that of a town nearby: outlines are coarse at the shore.
fn country_of(place: LatLon) -> String {
    const NEAR_KM: f64 = 100.0;
    if let Some(country) = Countries::bundled().at(place) {
        return country.name().to_owned();
    }
    let town = Places::bundled().nearest(place);
    if town.distance_km > NEAR_KM {
        return "at sea or in no country".to_owned();
    }
    // The two sources spell some names differently.
    let known = Countries::bundled().by_code(&town.country_code);
    known.map_or(town.country, |country| country.name().to_owned())
}
