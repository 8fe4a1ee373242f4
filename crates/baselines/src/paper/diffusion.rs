//! Where diffusion pays: sampling against a single evaluation at pure noise, by degree, data, steps and guidance.

use super::Experiment;
use crate::{
    Baseline, FitData, PhotoDensity,
    error::Result,
    locdiff::LocDiff,
    reading::{CommonReading, Read},
    trial::errors_km,
};
use locdiff_answer::Globe;
use locdiff_base::Named;
use locdiff_eval::{Bootstrap, Estimate, Rules};
use locdiff_model::{NetworkKind, Prediction};
use locdiff_report::{Table, percent_interval};
use locdiff_shdd::Coefficients;
use locdiff_sphere::LatLon;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};

/// Radii of the table.
const RADII_KM: [f64; 3] = [200.0, 750.0, 2500.0];
/// Densities are read on the pixels of this degree.
const READ_DEGREE: usize = 23;
/// Nothing is less dense than this before the floor: a band-limited density rings around 0.
const THINNEST: f64 = 1e-6;

/// What is read off a trained model.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    /// The evidence from one evaluation at pure noise.
    OneShot { guidance: f32 },
    /// Samples, their codes pooled.
    Samples { steps: usize, guidance: f32 },
}

const WAYS: [Way; 8] = [
    Way::OneShot { guidance: 0.0 },
    Way::OneShot { guidance: 1.0 },
    Way::Samples { steps: 5, guidance: 0.0 },
    Way::Samples { steps: 20, guidance: 0.0 },
    Way::Samples { steps: 100, guidance: 0.0 },
    Way::Samples { steps: 20, guidance: 0.5 },
    Way::Samples { steps: 20, guidance: 1.0 },
    Way::Samples { steps: 20, guidance: 2.0 },
];

impl Way {
    fn name(self) -> String {
        let with = |guidance: f32| {
            if guidance == 0.0 { String::new() } else { format!(", guidance {guidance}") }
        };
        match self {
            Self::OneShot { guidance } => format!("single evaluation{}", with(guidance)),
            Self::Samples { steps, guidance } => format!("16 samples, {steps} steps{}", with(guidance)),
        }
    }
}

/// A trained model read one way, as every method is.
struct ReadOneWay<'a> {
    model: &'a LocDiff,
    way: Way,
    /// What was sampled last, and for which rows: places and densities are asked for one after the other.
    sampled: Mutex<(Vec<f32>, Vec<Prediction>)>,
}

impl<'a> ReadOneWay<'a> {
    fn new(model: &'a LocDiff, way: Way) -> Self {
        Self { model, way, sampled: Mutex::default() }
    }

    /// Each row's samples, as `what` sees them.
    fn samples<T>(
        &self,
        embeddings: &[f32],
        settings: (usize, f32),
        what: impl Fn(&Prediction) -> T,
    ) -> Result<Vec<T>> {
        let mut last = self.sampled.lock().unwrap_or_else(PoisonError::into_inner);
        if last.0 != embeddings {
            *last = (embeddings.to_vec(), self.model.sampled(embeddings, settings)?);
        }
        Ok(last.1.iter().map(what).collect())
    }
}

impl Baseline for ReadOneWay<'_> {
    /// The samples' own place; a single evaluation has none, and is read off its density.
    fn predict(&self, embeddings: &[f32]) -> Result<Vec<LatLon>> {
        let settings = match self.way {
            Way::OneShot { guidance } => (1, guidance),
            Way::Samples { steps, guidance } => (steps, guidance),
        };
        self.samples(embeddings, settings, |found| found.place)
    }

    fn densities(&self, embeddings: &[f32]) -> Result<Vec<PhotoDensity<'_>>> {
        let (codes, is_density): (Vec<Coefficients>, bool) = match self.way {
            Way::OneShot { guidance } => (self.model.evidence(embeddings, guidance)?, false),
            Way::Samples { steps, guidance } => {
                (self.samples(embeddings, (steps, guidance), |found| found.code.clone())?, true)
            }
        };
        let density = |code: &Coefficients| -> Result<PhotoDensity<'_>> {
            let field = self.model.codec().field(code)?;
            Ok(Box::new(move |points| {
                let values = field.values(points);
                if is_density { values.into_iter().map(|v| v.max(THINNEST).ln()).collect() } else { values }
            }))
        };
        codes.iter().map(density).collect()
    }

    fn parameters(&self) -> usize {
        0
    }
}

/// What one way gives on the test photos of one model.
#[derive(Debug, Clone, Default)]
struct Row {
    model: String,
    way: String,
    seconds: f64,
    /// Errors and log densities of every photo and seed; those of a single evaluation at the same model beside them.
    errors_km: Vec<f64>,
    plain_errors_km: Vec<f64>,
    log_densities: Vec<f64>,
    plain_log_densities: Vec<f64>,
}

impl Row {
    fn share(&self, radius_km: f64) -> Estimate {
        let rules = Rules::default();
        let hit = |km: &f64| f64::from(u8::from(rules.is_within(*km, radius_km)));
        Bootstrap::default().mean(&self.errors_km.iter().map(hit).collect::<Vec<f64>>())
    }

    /// This way less a single evaluation, photo by photo.
    fn lead(&self, radius_km: f64) -> Estimate {
        let rules = Rules::default();
        let hit = |km: f64| f64::from(u8::from(rules.is_within(km, radius_km)));
        let pairs = self.errors_km.iter().zip(&self.plain_errors_km);
        Bootstrap::default().mean(&pairs.map(|(a, b)| hit(*a) - hit(*b)).collect::<Vec<f64>>())
    }

    fn nll(&self) -> f64 {
        -self.log_densities.iter().sum::<f64>() / self.log_densities.len().max(1) as f64
    }

    /// The same difference of −log densities.
    fn nll_lead(&self) -> Estimate {
        let pairs = self.log_densities.iter().zip(&self.plain_log_densities);
        Bootstrap::default().mean(&pairs.map(|(a, b)| b - a).collect::<Vec<f64>>())
    }
}

/// Sampling against a single evaluation, with paired differences.
#[derive(Debug, Clone)]
pub struct DiffusionTable {
    title: String,
    rows: Vec<Row>,
}

impl DiffusionTable {
    /// Trains a model for each degree with all photos, and for each share of the photos with the budget's degree, with every
    /// seed; reads each in every way, exponent, floor and window chosen on validation. `progress` is told a name and the share
    /// done.
    ///
    /// # Errors
    /// A training or a reading that fails.
    pub fn make(
        experiment: &Experiment<'_>,
        network: NetworkKind,
        degrees: &[usize],
        shares: &[f64],
        progress: &dyn Fn(&str, f64),
    ) -> Result<Self> {
        let Experiment { device, splits, effort, seeds, .. } = *experiment;
        let mut models: Vec<(usize, f64)> = degrees.iter().map(|degree| (*degree, 1.0)).collect();
        models.extend(shares.iter().filter(|share| **share < 1.0).map(|share| (effort.locdiff_degree, *share)));
        let globe = Arc::new(Globe::new(READ_DEGREE)?);
        let mut rows: Vec<Row> = Vec::new();
        for (k, (degree, share)) in models.iter().enumerate() {
            let count = ((splits.training.len() as f64 * share).round() as usize).max(1);
            // Every so many, so that a part is like the whole.
            let chosen: Vec<usize> = (0..count).map(|i| i * splits.training.len() / count).collect();
            let training = splits.training.select(&chosen)?;
            let name = format!("L = {degree}, {count} photos");
            let first = rows.len();
            for (s, &seed) in seeds.iter().enumerate() {
                let tell = |part: f64| {
                    let done = (k as f64 + (s as f64 + part) / seeds.len() as f64) / models.len() as f64;
                    progress(&format!("{name}, seed {seed}"), done);
                };
                let mut run = match network {
                    NetworkKind::CsUnet => LocDiff::cs_unet_config(&effort, seed),
                    NetworkKind::Bayes => LocDiff::run_config(&effort, seed),
                };
                run.model = run.model.with_degree(*degree);
                run.model.seed = seed;
                let data = FitData { training: &training, validation: &splits.validation };
                let model = LocDiff::fit(device, &effort, run, data, &mut |share| tell(0.6 * share))?;
                let mut plain = Read::default();
                for (w, way) in WAYS.into_iter().enumerate() {
                    tell(0.6 + 0.4 * w as f64 / WAYS.len() as f64);
                    let method = ReadOneWay::new(&model, way);
                    let watch = std::time::Instant::now();
                    let reading = CommonReading::choose(&globe, &method, &splits.validation)?;
                    let read = reading.read(&globe, &method, &splits.test)?;
                    if w == 0 {
                        plain = read.clone();
                    }
                    if s == 0 {
                        rows.push(Row { model: name.clone(), way: way.name(), ..Row::default() });
                    }
                    let row = &mut rows[first + w];
                    row.seconds += watch.elapsed().as_secs_f64();
                    row.errors_km.extend(errors_km(&read.places, splits));
                    row.plain_errors_km.extend(errors_km(&plain.places, splits));
                    row.log_densities.extend(&read.log_densities);
                    row.plain_log_densities.extend(&plain.log_densities);
                }
            }
        }
        let title = format!("Where diffusion pays, network {}: {}, {device}", network.name(), experiment.in_words());
        Ok(Self { title, rows })
    }

    /// The table with what was done above it, as text or as Markdown.
    pub fn render(&self, markdown: bool) -> String {
        let header = ["", "200 km", "750 km", "2500 km", "NLL", "Δ 200", "Δ 750", "Δ 2500", "Δ NLL", "s"];
        let mut table = Table::new(&header);
        let nats = |e: Estimate| format!("{:+.3} [{:+.3}, {:+.3}]", e.value, e.low, e.high);
        let points = |e: Estimate| format!("{:+.1} [{:+.1}, {:+.1}]", 100.0 * e.value, 100.0 * e.low, 100.0 * e.high);
        for row in &self.rows {
            let mut cells = vec![format!("{}: {}", row.model, row.way)];
            cells.extend(RADII_KM.map(|km| percent_interval(row.share(km))));
            cells.push(format!("{:.3}", row.nll()));
            cells.extend(RADII_KM.map(|km| points(row.lead(km))));
            cells.extend([nats(row.nll_lead()), format!("{:.0}", row.seconds)]);
            table.push(cells);
        }
        let table = table.render(markdown);
        format!(
            "{}.\nΔ: this way less a single evaluation at pure noise without guidance, the same model, photo by photo, with 95 % intervals; a \
             negative Δ NLL is better. Every way is read alike: exponent, floor and window by validation. s: seconds of choosing \
             and reading.\n\n{table}\n",
            self.title
        )
    }

    /// One JSON object.
    pub fn to_json(&self) -> Value {
        let row = |row: &Row| {
            json!({
                "model": row.model, "way": row.way, "seconds": row.seconds, "nll": row.nll(), "nll_lead": row.nll_lead(),
                "within": RADII_KM.map(|km| json!({"radius_km": km, "share": row.share(km), "lead": row.lead(km)})),
            })
        };
        json!({"title": self.title, "rows": self.rows.iter().map(row).collect::<Vec<Value>>()})
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Effort, Splits, toy};
    use locdiff_nn::Device;

    #[test]
    fn every_way_is_read_off_every_model() {
        let splits = Splits::new(toy::cities(80, 1), toy::cities(6, 2), toy::cities(4, 3)).unwrap();
        let effort = Effort { locdiff_degree: 7, steps: 10, batch: 16, samples: 2, validations: 1, ..Effort::tiny() };
        let device = Device::cpu();
        let experiment = Experiment { device: &device, splits: &splits, effort, effort_name: "tiny", seeds: &[1] };
        let table = DiffusionTable::make(&experiment, NetworkKind::CsUnet, &[5], &[0.5, 1.0], &|_, _| ()).unwrap();
        assert_eq!(table.rows.len(), 2 * WAYS.len());
        let text = table.render(true);
        assert!(text.contains("L = 5, 80 photos: single evaluation") && text.contains("L = 7, 40 photos"), "{text}");
        // A single evaluation less a single evaluation is nothing.
        assert!(table.rows[0].lead(750.0).value == 0.0 && table.rows[0].nll_lead().value == 0.0);
        assert_eq!(table.to_json()["rows"].as_array().unwrap().len(), 16);
        let default = DiffusionTable::make(&experiment, NetworkKind::Bayes, &[5], &[], &|_, _| ()).unwrap();
        assert_eq!(default.rows.len(), WAYS.len());
        assert!(default.render(false).contains("network bayes"));
    }
}
