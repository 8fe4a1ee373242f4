//! One method fitted and tested with several seeds.

use crate::reading::{CommonReading, READ_DEGREE, Read};
use crate::{Baseline, Fit, FitData, Result, Splits, effort::Stopwatch};
use locdiff_base::AtomicFile;
use locdiff_io::data::PointWriter;
use locdiff_model::eval::{Bootstrap, Estimate, Prdc, RADII_KM, RecallArea, Rules};
use locdiff_model::{answer::Globe, chance};
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon, UnitVec};
use serde_json::{Value, json};
use std::{fmt::Write as _, path::Path, sync::Arc};

/// What one seed gave.
#[derive(Debug, Clone, Default)]
struct Run {
    answers: Vec<LatLon>,
    errors_km: Vec<f64>,
    log_densities: Option<Vec<f64>>,
    /// Probability of everything denser than the truth.
    levels: Option<Vec<f64>>,
    areas_km2: Option<Vec<f64>>,
    fit_seconds: f64,
    fit_cpu_seconds: Option<f64>,
    predict_seconds: f64,
}

/// A method's results over all seeds.
#[derive(Debug, Clone)]
pub struct Trial {
    pub name: String,
    pub description: String,
    runs: Vec<Run>,
    pub parameters: usize,
    pub chosen: String,
}

impl Trial {
    pub fn new(name: &str, description: &str) -> Self {
        let (name, description) = (name.to_owned(), description.to_owned());
        Self { name, description, runs: Vec::new(), parameters: 0, chosen: String::new() }
    }

    /// Fits and tests the method of one seed; writes its answers where a folder is given. Returns the fitted method.
    pub fn run(
        &mut self,
        fit: &Fit<'_>,
        splits: &Splits,
        seed: u64,
        out: Option<&Path>,
        progress: &mut dyn FnMut(f64),
    ) -> Result<Box<dyn Baseline>> {
        let watch = Stopwatch::start();
        let method = fit(FitData { training: &splits.training, validation: &splits.validation }, progress)?;
        let (fit_seconds, fit_cpu_seconds) = (watch.seconds(), watch.cpu_seconds());
        let globe = Arc::new(Globe::new(READ_DEGREE)?);
        let reading = CommonReading::choose(&globe, &*method, &splits.validation)?;
        let watch = Stopwatch::start();
        let read = reading.read(&globe, &*method, &splits.test)?;
        let predict_seconds = watch.seconds();
        let errors_km = errors_km(&read.places, splits);
        if let Some(folder) = out {
            let path = folder.join(format!("{}-{seed}.csv", self.name));
            write_answers(&path, &read)?;
        }
        self.parameters = method.parameters();
        self.chosen = method.chosen();
        if !method.is_calibrated() {
            let end = if self.chosen.is_empty() { "" } else { "; " };
            let _ = write!(self.chosen, "{end}{reading}");
        }
        if let (Some(folder), Some(apart)) = (out, &splits.apart) {
            let path = folder.join(format!("{}-{seed}.apart.csv", self.name));
            write_answers(&path, &reading.read(&globe, &*method, apart)?)?;
        }
        if let Some(folder) = out {
            let path = folder.join(format!("{}-{seed}.txt", self.name));
            AtomicFile::write_whole(&path, format!("{}\n", self.chosen).as_bytes())?;
        }
        let has_density = !method.is_of_draws();
        self.runs.push(Run {
            errors_km,
            answers: read.places,
            log_densities: Some(read.log_densities).filter(|_| has_density),
            levels: whole(read.levels).filter(|_| has_density),
            areas_km2: whole(read.areas_km2).filter(|_| has_density),
            fit_seconds,
            fit_cpu_seconds,
            predict_seconds,
        });
        Ok(method)
    }

    pub fn record(&mut self, answers: &[LatLon], splits: &Splits) {
        let (answers, errors_km) = (answers.to_vec(), errors_km(answers, splits));
        self.runs.push(Run { answers, errors_km, ..Run::default() });
    }

    fn mean_of(&self, value: impl Fn(&Run) -> f64) -> f64 {
        self.runs.iter().map(value).sum::<f64>() / self.runs.len().max(1) as f64
    }

    /// Wall seconds of a fit, the mean over the seeds.
    pub fn fit_seconds(&self) -> f64 {
        self.mean_of(|run| run.fit_seconds)
    }

    /// Processor seconds of a fit, the mean over the seeds.
    pub fn fit_cpu_seconds(&self) -> Option<f64> {
        let all_are = self.runs.iter().all(|run| run.fit_cpu_seconds.is_some());
        all_are.then(|| self.mean_of(|run| run.fit_cpu_seconds.unwrap_or(0.0)))
    }

    /// Milliseconds an answer takes, all test photos asked at once.
    pub fn milliseconds_per_photo(&self) -> f64 {
        self.mean_of(|run| 1000.0 * run.predict_seconds / run.errors_km.len().max(1) as f64)
    }

    /// The mean of a value over photos (of those chosen) and seeds. Its interval has both sources of spread: photos are drawn
    /// again, in blocks where the bootstrap has them, and seeds too. Of few seeds it knows little: three drawn again spread by √⅔ of
    /// what three new ones would.
    fn mean_over(&self, value: impl Fn(&Run, usize) -> f64, chosen: &[usize], bootstrap: &Bootstrap) -> Estimate {
        let row = |run: &Run| chosen.iter().map(|&photo| value(run, photo)).collect();
        let values: Vec<Vec<f64>> = self.runs.iter().map(row).collect();
        two_way(&values, &bootstrap.select(chosen))
    }

    /// The share of photos within a radius: the mean over the seeds, its interval over photos and seeds.
    pub fn share(&self, radius_km: f64, chosen: &[usize], bootstrap: &Bootstrap) -> Estimate {
        let hit = hit(radius_km);
        let all = |hits: bool| self.runs.iter().all(|run| chosen.iter().all(|&photo| (hit(run, photo) == 1.0) == hits));
        if all(false) || all(true) {
            let hits = if all(true) { chosen.len() } else { 0 };
            return bootstrap.select(chosen).share(hits, chosen.len(), Vec::new());
        }
        self.mean_over(hit, chosen, bootstrap)
    }

    /// The standard deviation over the seeds of the share within a radius; NaN for one seed.
    pub fn seed_deviation(&self, radius_km: f64, chosen: &[usize]) -> f64 {
        let hit = hit(radius_km);
        let share = |run: &Run| chosen.iter().map(|&photo| hit(run, photo)).sum::<f64>() / chosen.len() as f64;
        let (mean, seeds) = (self.mean_of(share), self.runs.len() as f64);
        (self.runs.iter().map(|run| (share(run) - mean).powi(2)).sum::<f64>() / (seeds - 1.0)).sqrt()
    }

    pub fn geoscore(&self, chosen: &[usize], bootstrap: &Bootstrap) -> Estimate {
        let rules = Rules::default();
        self.mean_over(|run, photo| rules.geoscore(run.errors_km[photo]), chosen, bootstrap)
    }

    /// How much of the Earth the densities need to hold the truths, of all seeds' answers; `None` without a density.
    pub fn recall_area(&self, chosen: &[usize], bootstrap: &Bootstrap) -> Option<RecallArea> {
        let mut areas = Vec::new();
        for run in &self.runs {
            areas.extend(chosen.iter().map(|&photo| run.areas_km2.as_ref().map(|areas| areas[photo])));
        }
        let areas: Option<Vec<f64>> = areas.into_iter().collect();
        let photos: Vec<usize> = self.runs.iter().flat_map(|_| chosen.iter().copied()).collect();
        areas.filter(|areas| !areas.is_empty()).map(|areas| RecallArea::new(&areas, &bootstrap.select(&photos)))
    }

    /// The median distance, the mean over the seeds.
    pub fn median_km(&self, chosen: &[usize]) -> f64 {
        self.mean_of(|run| {
            let mut sorted: Vec<f64> = chosen.iter().map(|&photo| run.errors_km[photo]).collect();
            sorted.sort_by(f64::total_cmp);
            0.5 * (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2])
        })
    }

    /// Density and coverage of the answers among the truths, of three neighbours (Naeem et al.); the mean over the seeds.
    pub fn density_and_coverage(&self, truths: &[LatLon]) -> Option<[f64; 2]> {
        let of = |run: &Run| Prdc::new(truths, &run.answers, 3).ok().map(|found| [found.density, found.coverage]);
        let each: Option<Vec<[f64; 2]>> = self.runs.iter().map(of).collect();
        each.filter(|each| !each.is_empty())
            .map(|each| std::array::from_fn(|k| each.iter().map(|own| own[k]).sum::<f64>() / each.len() as f64))
    }

    /// Moran's I of being right within 750 km, for photos less than 500, 1,000 and 2,500 km apart and more than the class before:
    /// how far errors are correlated in space. The mean over the seeds.
    pub fn morans_i(&self, truths: &[UnitVec]) -> [f64; 3] {
        const CLASSES_KM: [f64; 4] = [0.0, 500.0, 1000.0, 2500.0];
        let mut found = [0.0; 3];
        for run in &self.runs {
            let hits: Vec<f64> = (0..truths.len()).map(|photo| hit(750.0)(run, photo)).collect();
            let mean = hits.iter().sum::<f64>() / hits.len() as f64;
            let variance = hits.iter().map(|hit| (hit - mean).powi(2)).sum::<f64>() / hits.len() as f64;
            let (mut sums, mut pairs) = ([0.0; 3], [0.0; 3]);
            for (i, a) in truths.iter().enumerate() {
                for (j, b) in truths[..i].iter().enumerate() {
                    let km = a.angle_rad(*b) * EARTH_RADIUS_KM;
                    if let Some(class) = (0..3).find(|k| (CLASSES_KM[*k]..CLASSES_KM[k + 1]).contains(&km)) {
                        sums[class] += (hits[i] - mean) * (hits[j] - mean);
                        pairs[class] += 1.0;
                    }
                }
            }
            (0..3).for_each(|k| found[k] += sums[k] / pairs[k] / variance / self.runs.len() as f64);
        }
        found
    }

    /// Minus the mean log density at the truths in nats per steradian; `None` for methods without a density.
    pub fn nll(&self, chosen: &[usize]) -> Option<f64> {
        let mean = |logs: &Vec<f64>| -chosen.iter().map(|&photo| logs[photo]).sum::<f64>() / chosen.len() as f64;
        let means: Option<Vec<f64>> = self.runs.iter().map(|run| run.log_densities.as_ref().map(mean)).collect();
        means.filter(|means| !means.is_empty()).map(|means| means.iter().sum::<f64>() / means.len() as f64)
    }

    /// The share of true places inside the regions said to hold `said`; `None` for methods without a density.
    pub fn coverage(&self, said: f64, chosen: &[usize]) -> Option<f64> {
        let inside = |levels: &Vec<f64>| {
            chosen.iter().filter(|&&photo| levels[photo] <= said).count() as f64 / chosen.len() as f64
        };
        let shares: Option<Vec<f64>> = self.runs.iter().map(|run| run.levels.as_ref().map(inside)).collect();
        shares.filter(|shares| !shares.is_empty()).map(|shares| shares.iter().sum::<f64>() / shares.len() as f64)
    }

    /// This method's −log density less another's, photo by photo, in nats.
    pub fn nll_lead(&self, other: &Self, chosen: &[usize], bootstrap: &Bootstrap) -> Option<Estimate> {
        let logs = |trial: &Self| trial.runs.iter().all(|run| run.log_densities.is_some());
        let minus = |run: &Run, photo: usize| run.log_densities.as_ref().map_or(f64::NAN, |logs| -logs[photo]);
        (logs(self) && logs(other)).then(|| self.lead_of(other, minus, chosen, bootstrap))
    }

    /// This method less another at a radius, photo by photo.
    pub fn lead(&self, other: &Self, radius_km: f64, chosen: &[usize], bootstrap: &Bootstrap) -> Estimate {
        self.lead_of(other, hit(radius_km), chosen, bootstrap)
    }

    /// The difference of a value, photo by photo and seed by seed; a method without chance has the same for every seed.
    fn lead_of(&self, other: &Self, value: impl Fn(&Run, usize) -> f64, rows: &[usize], draws: &Bootstrap) -> Estimate {
        let seeds = self.runs.len().max(other.runs.len());
        let pair = |seed: usize| {
            let (a, b) = (&self.runs[seed % self.runs.len()], &other.runs[seed % other.runs.len()]);
            rows.iter().map(|&photo| value(a, photo) - value(b, photo)).collect()
        };
        two_way(&(0..seeds).map(pair).collect::<Vec<_>>(), &draws.select(rows))
    }

    pub fn to_json(&self, chosen: &[usize], bootstrap: &Bootstrap) -> Value {
        let at_radius = |&radius: &f64| {
            let (share, deviation) = (self.share(radius, chosen, bootstrap), self.seed_deviation(radius, chosen));
            json!({"radius_km": radius, "share": share, "seed_deviation": deviation})
        };
        let within: Vec<Value> = RADII_KM.iter().map(at_radius).collect();
        json!({
            "method": self.name, "description": self.description, "n": chosen.len(), "seeds": self.runs.len(),
            "within": within, "geoscore": self.geoscore(chosen, bootstrap), "median_km": self.median_km(chosen),
            "nll": self.nll(chosen), "region_50": self.coverage(0.5, chosen), "region_90": self.coverage(0.9, chosen),
            "recall_area": self.recall_area(chosen, bootstrap),
            "parameters": self.parameters, "fit_seconds": self.fit_seconds(),
            "fit_cpu_seconds": self.fit_cpu_seconds(), "milliseconds_a_photo": self.milliseconds_per_photo(),
            "chosen": self.chosen,
        })
    }
}

/// Values that are all there.
fn whole(values: Vec<f64>) -> Option<Vec<f64>> {
    (!values.iter().any(|value| value.is_nan())).then_some(values)
}

/// Whether a run's answer for a photo is within a radius: 0 or 1.
fn hit(radius_km: f64) -> impl Fn(&Run, usize) -> f64 {
    let rules = Rules::default();
    move |run, photo| f64::from(u8::from(rules.is_within(run.errors_km[photo], radius_km)))
}

/// The mean of values by seed and photo, with an interval over both.
fn two_way(values: &[Vec<f64>], bootstrap: &Bootstrap) -> Estimate {
    let (seeds, photos) = (values.len(), values.first().map_or(0, Vec::len));
    let means = bootstrap.draws(photos, |counts| {
        let all: f64 = counts.iter().map(|count| f64::from(*count)).sum();
        let mean = |row: &Vec<f64>| row.iter().zip(counts).map(|(v, count)| v * f64::from(*count)).sum::<f64>() / all;
        values.iter().map(mean).collect::<Vec<f64>>()
    });
    let drawn = means.iter().enumerate().map(|(draw, by_seed)| {
        let seed = |k: usize| chance::below(&[bootstrap.seed, draw as u64, k as u64], seeds);
        (0..seeds).map(|k| by_seed[seed(k)]).sum::<f64>() / seeds as f64
    });
    let value = values.iter().flatten().sum::<f64>() / (seeds * photos) as f64;
    bootstrap.estimate(value, drawn.collect())
}

pub(crate) fn errors_km(answers: &[LatLon], splits: &Splits) -> Vec<f64> {
    let (truths, rules) = (splits.test.points(), Rules::default());
    answers.iter().zip(truths).map(|(a, b)| rules.distance_km(*a, b.to_latlon())).collect()
}

/// Answers as `locdiff evaluate` takes them, with what the densities say about the truths.
fn write_answers(path: &Path, read: &Read) -> Result<()> {
    let columns = ["row", "lat", "lon", "truth_log_density", "truth_region_level", "truth_region_area_km2"];
    let mut writer = PointWriter::create(path, None, &columns)?;
    for (row, place) in read.places.iter().enumerate() {
        let said = [(row + 1) as f64, read.log_densities[row], read.levels[row], read.areas_km2[row]];
        writer.write(*place, &said)?;
    }
    writer.finish()?;
    Ok(())
}
