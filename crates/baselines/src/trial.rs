//! One method fitted and tested with several seeds.

use crate::{Baseline, Fit, FitData, Splits, error::Result, reading::CommonReading, stopwatch::Stopwatch};
use locdiff_answer::Globe;
use locdiff_data::PointWriter;
use locdiff_eval::{Bootstrap, Estimate, RADII_KM, Rules};
use locdiff_sphere::LatLon;
use serde_json::{Value, json};
use std::{path::Path, sync::Arc};

/// Densities of every method are read on the pixels of this degree: 102 km wide.
const READ_DEGREE: usize = 23;

/// What one seed gave.
#[derive(Debug, Clone)]
struct Run {
    errors_km: Vec<f64>,
    log_densities: Option<Vec<f64>>,
    /// Probability of everything denser than the truth.
    levels: Option<Vec<f64>>,
    fit_seconds: f64,
    fit_cpu_seconds: Option<f64>,
    predict_seconds: f64,
}

/// A method's results over all seeds.
#[derive(Debug, Clone)]
pub struct Trial {
    /// The method's name.
    pub name: String,
    /// What it is, in a few words.
    pub description: String,
    runs: Vec<Run>,
    /// Numbers that it learned or kept.
    pub parameters: usize,
    /// What it chose on the validation data.
    pub chosen: String,
}

impl Trial {
    /// Without results yet.
    pub fn new(name: &str, description: &str) -> Self {
        let (name, description) = (name.to_owned(), description.to_owned());
        Self { name, description, runs: Vec::new(), parameters: 0, chosen: String::new() }
    }

    /// Fits and tests the method of one seed; writes its answers where a folder is given. Returns the fitted method.
    ///
    /// # Errors
    /// A method or a file that fails.
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
            write_answers(&path, &read.places, &read.log_densities)?;
        }
        self.parameters = method.parameters();
        self.chosen = method.chosen();
        if !self.chosen.is_empty() {
            self.chosen += "; ";
        }
        self.chosen += &reading.to_string();
        let (log_densities, levels) = (Some(read.log_densities), Some(read.levels));
        self.runs.push(Run { errors_km, log_densities, levels, fit_seconds, fit_cpu_seconds, predict_seconds });
        Ok(method)
    }

    /// Counts answers that were made elsewhere.
    pub fn record(&mut self, answers: &[LatLon], splits: &Splits) {
        self.runs.push(Run {
            errors_km: errors_km(answers, splits),
            log_densities: None,
            levels: None,
            fit_seconds: 0.0,
            fit_cpu_seconds: None,
            predict_seconds: 0.0,
        });
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
        self.runs
            .iter()
            .all(|run| run.fit_cpu_seconds.is_some())
            .then(|| self.mean_of(|run| run.fit_cpu_seconds.unwrap_or(0.0)))
    }

    /// Milliseconds an answer takes, all test photos asked at once.
    pub fn milliseconds_per_photo(&self) -> f64 {
        self.mean_of(|run| 1000.0 * run.predict_seconds / run.errors_km.len().max(1) as f64)
    }

    /// For each photo (of those chosen) the share of seeds whose answer is nearer than the radius.
    pub fn hits(&self, radius_km: f64, chosen: &[usize]) -> Vec<f64> {
        let rules = Rules::default();
        let hit =
            |photo: usize| self.mean_of(|run| f64::from(u8::from(rules.is_within(run.errors_km[photo], radius_km))));
        chosen.iter().map(|&photo| hit(photo)).collect()
    }

    /// The share of photos within a radius: the mean over the seeds, its interval over the photos.
    pub fn share(&self, radius_km: f64, chosen: &[usize], bootstrap: &Bootstrap) -> Estimate {
        let hits = self.hits(radius_km, chosen);
        if hits.iter().all(|hit| *hit == hits[0]) && (hits[0] == 0.0 || hits[0] == 1.0) {
            return bootstrap.share(if hits[0] == 0.0 { 0 } else { hits.len() }, hits.len(), Vec::new());
        }
        bootstrap.mean(&hits)
    }

    /// The mean GeoScore.
    pub fn geoscore(&self, chosen: &[usize], bootstrap: &Bootstrap) -> Estimate {
        let rules = Rules::default();
        let score = |photo: usize| self.mean_of(|run| rules.geoscore(run.errors_km[photo]));
        bootstrap.mean(&chosen.iter().map(|&photo| score(photo)).collect::<Vec<f64>>())
    }

    /// The median distance, the mean over the seeds.
    pub fn median_km(&self, chosen: &[usize]) -> f64 {
        self.mean_of(|run| {
            let mut sorted: Vec<f64> = chosen.iter().map(|&photo| run.errors_km[photo]).collect();
            sorted.sort_by(f64::total_cmp);
            0.5 * (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2])
        })
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
        let mean = |trial: &Self, photo: usize| -> Option<f64> {
            let logs: Option<Vec<f64>> =
                trial.runs.iter().map(|run| run.log_densities.as_ref().map(|logs| -logs[photo])).collect();
            logs.filter(|logs| !logs.is_empty()).map(|logs| logs.iter().sum::<f64>() / logs.len() as f64)
        };
        let pairs = chosen.iter().map(|&photo| Some(mean(self, photo)? - mean(other, photo)?));
        Some(bootstrap.mean(&pairs.collect::<Option<Vec<f64>>>()?))
    }

    /// This method less another at a radius, photo by photo.
    pub fn lead(&self, other: &Self, radius_km: f64, chosen: &[usize], bootstrap: &Bootstrap) -> Estimate {
        let pairs = self.hits(radius_km, chosen).into_iter().zip(other.hits(radius_km, chosen));
        bootstrap.mean(&pairs.map(|(a, b)| a - b).collect::<Vec<f64>>())
    }

    /// Everything, as JSON.
    pub fn to_json(&self, chosen: &[usize], bootstrap: &Bootstrap) -> Value {
        let within: Vec<Value> = RADII_KM
            .iter()
            .map(|&radius| json!({"radius_km": radius, "share": self.share(radius, chosen, bootstrap)}))
            .collect();
        json!({
            "method": self.name, "description": self.description, "n": chosen.len(), "seeds": self.runs.len(),
            "within": within, "geoscore": self.geoscore(chosen, bootstrap), "median_km": self.median_km(chosen),
            "nll": self.nll(chosen), "region_50": self.coverage(0.5, chosen), "region_90": self.coverage(0.9, chosen),
            "parameters": self.parameters, "fit_seconds": self.fit_seconds(),
            "fit_cpu_seconds": self.fit_cpu_seconds(), "milliseconds_a_photo": self.milliseconds_per_photo(),
            "chosen": self.chosen,
        })
    }
}

pub(crate) fn errors_km(answers: &[LatLon], splits: &Splits) -> Vec<f64> {
    let (truths, rules) = (splits.test.points(), Rules::default());
    answers.iter().zip(truths).map(|(a, b)| rules.distance_km(*a, b.to_latlon())).collect()
}

/// Answers as `locdiff evaluate` takes them, with the log densities at the truths.
fn write_answers(path: &Path, answers: &[LatLon], log_densities: &[f64]) -> Result<()> {
    let mut writer = PointWriter::create(path, None, &["row", "lat", "lon", "truth_log_density"])?;
    for (row, place) in answers.iter().enumerate() {
        writer.write(*place, &[(row + 1) as f64, log_densities[row]])?;
    }
    writer.finish()?;
    Ok(())
}
