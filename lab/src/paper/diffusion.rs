//! Where diffusion pays: sampling against a single evaluation at pure noise, by degree, data, steps and guidance.

use super::{Experiment, beside};
use crate::locdiff::{LocDiff, with_degree};
use crate::reading::{CommonReading, READ_DEGREE, Read};
use crate::table::percent_interval;
use crate::trial::errors_km;
use crate::{Baseline, FitData, Method, PhotoDensity, Points, Result, Table, reading::exps, sampled::ideal_draws};
use locdiff_base::Named;
use locdiff_model::eval::{Bootstrap, Estimate, Rules};
use locdiff_model::{NetworkKind, Prediction, Reading, answer::Globe};
use locdiff_shdd::{Coefficients, Decoder, sphere::EARTH_RADIUS_KM, sphere::LatLon, sphere::UnitVec};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};

/// Draws of the control: as many as there are samples.
const DRAWS: usize = 16;
/// Radii of the table.
const RADII_KM: [f64; 3] = [200.0, 750.0, 2500.0];
/// Nothing is less dense than this before the floor: a band-limited density rings around 0.
const THINNEST: f64 = 1e-6;

/// What is read off a trained model.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    /// The evidence from one evaluation at pure noise.
    OneShot { guidance: f32 },
    /// The sampler's own density: the mixture of what the network gives each chain after a share of the way.
    Mixture { chains: usize, steps: usize, share: f64 },
    /// Samples, their codes pooled.
    Samples { steps: usize, guidance: f32 },
    /// As many draws of the single evaluation's calibrated density, their codes pooled as samples' are: what is lost here the
    /// estimator loses, not the sampler.
    IdealDraws,
}

/// All ways, with mixtures of so many chains.
fn ways(chains: &[usize]) -> Vec<Way> {
    let mixtures = |share: f64| chains.iter().map(move |&chains| Way::Mixture { chains, steps: 20, share });
    let mut all = vec![Way::OneShot { guidance: 0.0 }, Way::OneShot { guidance: 1.0 }];
    all.extend(mixtures(0.25).chain(mixtures(0.5)));
    let samples = |steps: usize| Way::Samples { steps, guidance: 0.0 };
    all.extend([Way::IdealDraws, samples(20), samples(100)]);
    all
}

impl Way {
    fn name(self) -> String {
        let with = |guidance: f32| {
            if guidance == 0.0 { String::new() } else { format!(", guidance {guidance}") }
        };
        match self {
            Self::OneShot { guidance } => format!("single evaluation{}", with(guidance)),
            Self::Mixture { chains, steps, share } => {
                format!("density of {chains} chains after {:.0} % of {steps} steps", 100.0 * share)
            }
            Self::IdealDraws => "control: 16 ideal draws of the single evaluation".to_owned(),
            Self::Samples { steps, guidance } => format!("16 samples, {steps} steps{}", with(guidance)),
        }
    }
}

/// A trained model read one way, as every method is.
struct ReadOneWay<'a> {
    model: &'a LocDiff,
    way: Way,
    globe: &'a Arc<Globe>,
    /// How the single evaluation is read: what ideal draws are of.
    plain: CommonReading,
    /// What was sampled last, and for which rows: places and densities are asked for one after the other.
    sampled: Mutex<(Vec<f32>, Vec<Prediction>)>,
}

impl<'a> ReadOneWay<'a> {
    fn new(model: &'a LocDiff, way: Way, globe: &'a Arc<Globe>, plain: CommonReading) -> Self {
        Self { model, way, globe, plain, sampled: Mutex::default() }
    }

    fn ideal(&self, embeddings: &[f32]) -> Result<Vec<Coefficients>> {
        let draws = ideal_draws(self.model, self.globe, &self.plain, embeddings, (DRAWS, 0))?;
        let codec = self.model.codec();
        let pooled = |own: &[UnitVec]| -> Result<Coefficients> {
            let mut code = codec.harmonics().weighted_sum(own, &[1.0 / DRAWS as f64; DRAWS])?;
            // Samples are of blurred codes.
            for (l, factor) in self.model.low_pass().into_iter().enumerate() {
                code[l * l..(l + 1) * (l + 1)].iter_mut().for_each(|value| *value *= factor);
            }
            Ok(Coefficients::new(code)?)
        };
        draws.chunks_exact(DRAWS).map(pooled).collect()
    }

    fn mixtures(&self, embeddings: &[f32], way: (usize, usize, f64)) -> Result<Vec<PhotoDensity<'_>>> {
        let chains = self.model.posteriors(embeddings, way)?;
        let (codec, pixels) = (self.model.codec(), self.globe.pixels());
        let density = |own: Vec<Coefficients>| -> Result<PhotoDensity<'_>> {
            let fields = own.iter().map(|code| codec.field(code)).collect::<Result<Vec<_>, _>>()?;
            let (mut log_z, mut at_pixels) = (Vec::new(), vec![0.0_f32; pixels.len()]);
            for field in &fields {
                let values: Vec<f32> = pixels.values(field).into_iter().map(|value| value as f32).collect();
                let top = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                let own = exps(&values, 1.0, top);
                let integral = own.iter().map(|value| f64::from(*value)).sum::<f64>() * pixels.area_sr();
                let factor = (1.0 / (integral * fields.len() as f64)) as f32;
                at_pixels.iter_mut().zip(own).for_each(|(sum, value)| *sum += factor * value);
                log_z.push(f64::from(top) + integral.ln());
            }
            Ok(Box::new(move |points| {
                let points = match points {
                    Points::Pixels(_) => return at_pixels.iter().map(|sum| f64::from(*sum).ln()).collect(),
                    Points::Any(points) => points,
                };
                let mut sum = vec![0.0; points.len()];
                for (field, log_z) in fields.iter().zip(&log_z) {
                    let values = field.values(points);
                    sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += (value - log_z).exp());
                }
                sum.into_iter().map(|sum| (sum / fields.len() as f64).ln()).collect()
            }))
        };
        chains.into_par_iter().map(density).collect()
    }

    /// Each row's samples, as `of` sees them.
    fn samples<T>(&self, embeddings: &[f32], settings: (usize, f32), of: impl Fn(&Prediction) -> T) -> Result<Vec<T>> {
        let mut last = self.sampled.lock().unwrap_or_else(PoisonError::into_inner);
        if last.0 != embeddings {
            *last = (embeddings.to_vec(), self.model.sampled(embeddings, settings)?);
        }
        Ok(last.1.iter().map(of).collect())
    }
}

impl Baseline for ReadOneWay<'_> {
    /// The samples' own place; a single evaluation has none, and is read off its density.
    fn predict(&self, embeddings: &[f32]) -> Result<Vec<LatLon>> {
        let settings = match self.way {
            Way::OneShot { guidance } => (1, guidance),
            Way::Mixture { .. } => (1, 0.0),
            Way::Samples { steps, guidance } => (steps, guidance),
            Way::IdealDraws => {
                let decoder = Decoder::Exact { window_rad: Some(Reading::default().window_km / EARTH_RADIUS_KM) };
                let found = self.model.codec().decode_batch(&self.ideal(embeddings)?, &decoder)?;
                return Ok(found.into_iter().map(|mode| mode.place()).collect());
            }
        };
        self.samples(embeddings, settings, |found| found.place)
    }

    fn densities(&self, embeddings: &[f32]) -> Result<Vec<PhotoDensity<'_>>> {
        let (codes, is_density): (Vec<Coefficients>, bool) = match self.way {
            Way::OneShot { guidance } => (self.model.evidence(embeddings, guidance)?, false),
            Way::Mixture { chains, steps, share } => return self.mixtures(embeddings, (chains, steps, share)),
            Way::IdealDraws => (self.ideal(embeddings)?, true),
            Way::Samples { steps, guidance } => {
                (self.samples(embeddings, (steps, guidance), |found| found.code.clone())?, true)
            }
        };
        let density = |code: &Coefficients| -> Result<PhotoDensity<'_>> {
            let field = self.model.codec().field(code)?;
            Ok(Box::new(move |points| {
                let values = points.values(&field);
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
    fn share(&self, radius_km: f64, bootstrap: &Bootstrap) -> Estimate {
        bootstrap.mean(&self.errors_km.iter().map(|km| hit(*km, radius_km)).collect::<Vec<f64>>())
    }

    /// This way less a single evaluation, photo by photo.
    fn lead(&self, radius_km: f64, bootstrap: &Bootstrap) -> Estimate {
        let pairs = self.errors_km.iter().zip(&self.plain_errors_km);
        bootstrap.mean(&pairs.map(|(a, b)| hit(*a, radius_km) - hit(*b, radius_km)).collect::<Vec<f64>>())
    }

    fn nll(&self) -> f64 {
        -self.log_densities.iter().sum::<f64>() / self.log_densities.len().max(1) as f64
    }

    fn nll_lead(&self, bootstrap: &Bootstrap) -> Estimate {
        let pairs = self.log_densities.iter().zip(&self.plain_log_densities);
        bootstrap.mean(&pairs.map(|(a, b)| b - a).collect::<Vec<f64>>())
    }
}

fn hit(km: f64, radius_km: f64) -> f64 {
    f64::from(u8::from(Rules::default().is_within(km, radius_km)))
}

/// The rows of [`beside`].
fn rows_beside(experiment: &Experiment<'_>, globe: &Arc<Globe>) -> Result<Vec<Row>> {
    let Experiment { device, splits, effort, seeds, .. } = *experiment;
    let row = |method: Method| {
        let watch = std::time::Instant::now();
        let data = FitData { training: &splits.training, validation: &splits.validation };
        let fitted = method.build(device, effort, 0)(data, &mut |_| ())?;
        let read = CommonReading::choose(globe, &*fitted, &splits.validation)?.read(globe, &*fitted, &splits.test)?;
        let mut row = Row { way: method.description().to_owned(), ..Row::default() };
        for _ in seeds {
            row.errors_km.extend(errors_km(&read.places, splits));
            row.log_densities.extend(&read.log_densities);
        }
        row.seconds = watch.elapsed().as_secs_f64();
        Ok(row)
    };
    beside(experiment).into_iter().map(row).collect()
}

/// Sampling against a single evaluation, with paired differences.
#[derive(Debug, Clone)]
pub struct DiffusionTable {
    title: String,
    rows: Vec<Row>,
    /// Of the photos of all seeds: a block is drawn with every seed's answers.
    bootstrap: Bootstrap,
}

impl DiffusionTable {
    /// Trains a model for each degree with all photos, and for each share of the photos with the budget's degree, with every
    /// seed; reads each in every way, exponent, floor and window chosen on validation. `chains` are the sizes of the mixtures of a
    /// sampler's own densities. `progress` is told a name and the share done.
    pub fn make(
        experiment: &Experiment<'_>,
        network: NetworkKind,
        degrees: &[usize],
        shares: &[f64],
        chains: &[usize],
        progress: &dyn Fn(&str, f64),
    ) -> Result<Self> {
        let Experiment { device, splits, effort, seeds, .. } = *experiment;
        let ways = ways(chains);
        let mut models: Vec<(usize, f64)> = degrees.iter().map(|degree| (*degree, 1.0)).collect();
        models.extend(shares.iter().filter(|share| **share < 1.0).map(|share| (effort.locdiff_degree, *share)));
        let globe = Arc::new(Globe::new(READ_DEGREE)?);
        let mut rows = rows_beside(experiment, &globe)?;
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
                run.model = with_degree(run.model, *degree);
                run.model.seed = seed;
                let data = FitData { training: &training, validation: &splits.validation };
                let model = LocDiff::fit(device, &effort, run, data, &mut |share| tell(0.6 * share))?;
                let (mut plain, mut plain_reading) = (Read::default(), None);
                for (w, &way) in ways.iter().enumerate() {
                    tell(0.6 + 0.4 * w as f64 / ways.len() as f64);
                    let watch = std::time::Instant::now();
                    let mut method = ReadOneWay::new(&model, way, &globe, CommonReading::default());
                    if let Some(plain) = plain_reading {
                        method.plain = plain;
                    }
                    let reading = CommonReading::choose(&globe, &method, &splits.validation)?;
                    plain_reading = plain_reading.or(Some(reading));
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
        let photos: Vec<usize> = seeds.iter().flat_map(|_| experiment.photos()).collect();
        Ok(Self { title, rows, bootstrap: splits.bootstrap().select(&photos) })
    }

    /// The table with what was done above it, as text or as Markdown.
    pub fn render(&self, markdown: bool) -> String {
        let header = ["", "200 km", "750 km", "2500 km", "NLL", "Δ 200", "Δ 750", "Δ 2500", "Δ NLL", "s"];
        let mut table = Table::new(&header);
        let nats = |e: Estimate| format!("{:+.3} [{:+.3}, {:+.3}]", e.value, e.low, e.high);
        let points = |e: Estimate| format!("{:+.1} [{:+.1}, {:+.1}]", 100.0 * e.value, 100.0 * e.low, 100.0 * e.high);
        for row in &self.rows {
            let of = if row.model.is_empty() { "" } else { ": " };
            let mut cells = vec![format!("{}{of}{}", row.model, row.way)];
            cells.extend(RADII_KM.map(|km| percent_interval(row.share(km, &self.bootstrap))));
            cells.push(format!("{:.3}", row.nll()));
            if row.plain_errors_km.is_empty() {
                cells.extend(["", "", "", ""].map(str::to_owned));
            } else {
                cells.extend(RADII_KM.map(|km| points(row.lead(km, &self.bootstrap))));
                cells.push(nats(row.nll_lead(&self.bootstrap)));
            }
            cells.push(format!("{:.0}", row.seconds));
            table.push(cells);
        }
        let table = table.render(markdown);
        format!(
            "{}.\nΔ: this way less a single evaluation at pure noise without guidance, the same model, photo by photo, with 95 % intervals over blocks of 5°; \
             a negative Δ NLL is better. Every way is read alike: exponent, floor and window by validation. A sampler's own density is the \
             mixture of what the network gives its chains part of the way; pooled samples are an estimate of it, and the control says what \
             that estimate costs. Every photo draws its own noise. s: seconds of choosing and reading.\n\n{table}\n",
            self.title
        )
    }

    pub fn to_json(&self) -> Value {
        let row = |row: &Row| {
            // What was trained for no model here has nothing to lead.
            let has_plain = !row.plain_errors_km.is_empty();
            let within = RADII_KM.map(|km| {
                let lead = has_plain.then(|| row.lead(km, &self.bootstrap));
                json!({"radius_km": km, "share": row.share(km, &self.bootstrap), "lead": lead})
            });
            json!({
                "model": row.model, "way": row.way, "seconds": row.seconds, "nll": row.nll(), "within": within,
                "nll_lead": has_plain.then(|| row.nll_lead(&self.bootstrap)),
                // Photo by photo, for means over runs of other seeds.
                "errors_km": row.errors_km, "log_densities": row.log_densities,
                "plain_errors_km": row.plain_errors_km, "plain_log_densities": row.plain_log_densities,
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
        let table =
            DiffusionTable::make(&experiment, NetworkKind::CsUnet, &[5], &[0.5, 1.0], &[2, 4], &|_, _| ()).unwrap();
        assert_eq!(table.rows.len(), 1 + 2 * 9);
        let text = table.render(true);
        assert!(text.contains("L = 5, 80 photos: single evaluation") && text.contains("L = 7, 40 photos"), "{text}");
        // A single evaluation less a single evaluation is nothing.
        assert!(
            table.rows[1].lead(750.0, &table.bootstrap).value == 0.0
                && table.rows[1].nll_lead(&table.bootstrap).value == 0.0
        );
        assert_eq!(table.to_json()["rows"].as_array().unwrap().len(), 1 + 2 * 9);
        let default = DiffusionTable::make(&experiment, NetworkKind::Bayes, &[5], &[], &[2], &|_, _| ()).unwrap();
        assert_eq!(default.rows.len(), 1 + 7);
        assert!(default.render(false).contains("network bayes"));
    }

    /// Where diffusion must win, if it ever does: a density with more peaks than an exponential of degree 3 has. A single evaluation
    /// cannot express it; the chains' densities, each about the peak that its noise chose, can.
    #[test]
    fn the_samplers_density_wins_where_the_degree_is_too_low_for_a_single_evaluation() {
        let (training, validation, test) = (toy::peaks(3000, 1), toy::peaks(24, 2), toy::peaks(60, 3));
        let effort =
            Effort { locdiff_degree: 3, steps: 1500, batch: 128, samples: 64, validations: 1, ..Effort::tiny() };
        let mut run = LocDiff::cs_unet_config(&effort, 1);
        (run.model.low_pass_km, run.model.width, run.model.hidden) = (None, 32, Some(64));
        run.model.dropout = 0.0;
        let data = FitData { training: &training, validation: &validation };
        let model = LocDiff::fit(&Device::cpu(), &effort, run, data, &mut |_| ()).unwrap();
        let globe = Arc::new(Globe::new(READ_DEGREE).unwrap());
        let nll = |way: Way| {
            let method = ReadOneWay::new(&model, way, &globe, CommonReading::default());
            let reading = CommonReading::choose(&globe, &method, &validation).unwrap();
            let logs = reading.read(&globe, &method, &test).unwrap().log_densities;
            -logs.iter().sum::<f64>() / logs.len() as f64
        };
        let single = nll(Way::OneShot { guidance: 0.0 });
        let halfway = nll(Way::Mixture { chains: 64, steps: 20, share: 0.5 });
        let late = nll(Way::Mixture { chains: 64, steps: 20, share: 0.75 });
        println!(
            "twelve peaks, L = 3: single evaluation {single:.2}, chains halfway {halfway:.2}, at three quarters {late:.2} nats"
        );
        assert!(late < single - 0.3, "{single} {halfway} {late}");
    }
}
