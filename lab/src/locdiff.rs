//! LocDiff itself behind the same trait.

use crate::baseline::{Task, score};
use crate::reading::exp_sum;
use crate::{Baseline, Effort, Examples, FitData, PhotoDensity, Points, Result, reading::likelihood, search::ByRule};
use locdiff_io::data::Embedding;
use locdiff_model::answer::Globe;
use locdiff_model::diffusion::Sampler;
use locdiff_model::train::{BEST_FOLDER, Dataset, Event, Rows, RunConfig, TrainPreset, TrainingJob, train};
use locdiff_model::{
    LossKind, Model, ModelConfig, NetworkKind, Pooling, Prediction, Predictor, QuadratureRecipe, Query, Reading,
    SampleOptions,
};
use locdiff_nn::{Device, TrainingState};
use locdiff_shdd::{Codec, Coefficients, sphere::LatLon};
use std::{path::Path, sync::Arc, sync::Mutex, sync::atomic::AtomicBool};
use tempfile::TempDir;

/// Above this degree pixels are so many that validations during training look at few rows.
const FEW_PIXELS_DEGREE: usize = 31;

/// LocDiff: diffusion of SHDD codes, trained by `locdiff-train` as `locdiff train` does it. The model of the best
/// validation is kept, as for every other method.
pub(crate) struct LocDiff {
    predictor: Predictor,
    options: SampleOptions,
    /// Whether everything is read by samples, also where the network gives densities.
    by_samples: bool,
    reading: Reading,
    /// The step whose weights these are, if it is not the one that the model tells.
    step: Option<u32>,
}

impl LocDiff {
    /// The run that the default model is trained by; the embeddings' size is filled in later.
    pub(crate) fn run_config(effort: &Effort, seed: u64) -> RunConfig {
        let mut run = TrainPreset::Default.run_config(1);
        run.model = with_degree(run.model, effort.locdiff_degree);
        run.model.seed = seed;
        run.train.steps = effort.steps;
        run.train.batch = effort.batch;
        run.train.warmup_steps = effort.steps / 15;
        run.train.validate_every = effort.steps.div_ceil(effort.validations.clamp(1, 3));
        run.train.validation_rows = 256; // as many as the other methods look at
        run.train.checkpoint_every = effort.steps;
        run.train.keep_checkpoints = 1;
        if effort.steps < 1500 {
            run.train.lr = 1e-3; // as the preset `small`: few steps must be longer
            run.train.ema_decay = 0.99;
        }
        run
    }

    /// The same run with the paper's network, which learns to denoise at every time step.
    pub(crate) fn cs_unet_config(effort: &Effort, seed: u64) -> RunConfig {
        let mut run = Self::run_config(effort, seed);
        run.model.network = NetworkKind::CsUnet;
        run.model.hidden = Some(384);
        run.model.dropout = 0.3;
        run
    }

    /// Trains a run, to be sampled within the budget; the step of the best validation is kept.
    pub(crate) fn fit(
        device: &Device,
        effort: &Effort,
        run: RunConfig,
        data: FitData<'_>,
        progress: &mut dyn FnMut(f64),
    ) -> Result<Self> {
        let (folder, options) = Self::train(device, effort, run, data, progress)?;
        let model = Model::load(device, &folder.path().join(BEST_FOLDER))?;
        Self::new(model, options, None)
    }

    /// The same, with the step of the best accuracy and that of the best likelihood on all validation photos.
    pub(crate) fn fit_by_rule(
        device: &Device,
        effort: &Effort,
        mut run: RunConfig,
        data: FitData<'_>,
        progress: &mut dyn FnMut(f64),
    ) -> Result<ByRule<Self>> {
        run.train.validate_every = run.train.steps.div_ceil(effort.validations.clamp(1, 5));
        run.train.checkpoint_every = run.train.validate_every;
        run.train.keep_checkpoints = effort.validations.max(1) as usize;
        let (folder, options) = Self::train(device, effort, run, data, progress)?;
        let (mut best, validation): ([Option<(f64, Self)>; 2], _) = ([None, None], data.validation);
        let mut files: Vec<_> = std::fs::read_dir(folder.path().join("checkpoints"))?.collect::<Result<_, _>>()?;
        files.sort_by_key(std::fs::DirEntry::file_name);
        for file in files {
            let (state, _) = TrainingState::load(&file.path())?;
            let open = || -> Result<Self> {
                let mut model = Model::load(device, &folder.path().join(BEST_FOLDER))?;
                model.params_mut().upload(if state.ema.is_empty() { &state.weights } else { &state.ema })?;
                Self::new(model, options, Some(state.step))
            };
            let own = open()?;
            let right = score(&own.predict(validation.photos())?, validation.points());
            let likely = if own.predictor.model().config().loss.has_quadrature() {
                let globe = Globe::new(own.codec().degree().get())?;
                let each = own.at_all(validation.photos(), Points::Pixels(globe.pixels()))?;
                let area = globe.pixels().area_sr();
                let integral = |row: &Vec<f32>| {
                    let top = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                    f64::from(top) + (exp_sum(row, 1.0, top) * area).ln()
                };
                let densities = own.densities(validation.photos())?.into_iter().zip(each.iter().map(integral));
                let normal = densities.map(|(own, log)| -> PhotoDensity<'_> {
                    Box::new(move |points| own(points).into_iter().map(|value| value - log).collect())
                });
                likelihood(&normal.collect::<Vec<_>>(), validation.points())
            } else {
                right
            };
            for (best, score) in best.iter_mut().zip([right, likely]) {
                if best.as_ref().is_none_or(|(other, _)| score > *other) {
                    *best = Some((score, open()?));
                }
            }
        }
        let [places, likeliest] = best.map(|best| best.expect("a run leaves a checkpoint").1);
        Ok(ByRule::new(places, likeliest))
    }

    /// Trains a run in a folder.
    fn train(
        device: &Device,
        effort: &Effort,
        mut run: RunConfig,
        data: FitData<'_>,
        progress: &mut dyn FnMut(f64),
    ) -> Result<(TempDir, SampleOptions)> {
        let options = SampleOptions {
            samples: effort.samples,
            steps: effort.sampler_steps.min(run.model.diffusion_steps),
            seed: run.model.seed,
            ..SampleOptions::default()
        };
        let (training, validation) = (dataset(data.training)?, dataset(data.validation)?);
        let rows = |data: &Dataset| (0..data.len() as u32).collect::<Vec<u32>>();
        let (training_rows, validation_rows) = (rows(&training), rows(&validation));
        let folder = tempfile::tempdir().map_err(|error| {
            locdiff_base::BadSetting::new("temporary folder", error, "set TMPDIR to a writable one")
        })?;
        run.model.embedding_dim = training.columns();
        if run.model.degree > FEW_PIXELS_DEGREE {
            run.train.validation_rows = run.train.validation_rows.min(32);
        }
        let steps = f64::from(run.train.steps);
        let job = TrainingJob {
            device,
            config: run,
            training: Rows { data: &training, rows: &training_rows },
            validation: Some(Rows { data: &validation, rows: &validation_rows }),
            out: folder.path(),
            resume: false,
            stream: false,
            stop: &AtomicBool::new(false),
        };
        train(job, |event| {
            if let Event::Progress { step, .. } = event {
                progress(f64::from(step) / steps);
            }
        })?;
        Ok((folder, options))
    }

    /// A model that was trained before, to be sampled within the budget.
    pub(crate) fn open(device: &Device, effort: &Effort, folder: &Path) -> Result<Self> {
        let model = Model::load(device, folder)?;
        let steps = effort.sampler_steps.min(model.config().diffusion_steps);
        let options = SampleOptions { samples: effort.samples, steps, ..SampleOptions::default() };
        Self::new(model, options, None)
    }

    pub(crate) fn by_samples(self) -> Self {
        Self { by_samples: true, ..self }
    }

    /// Read as the paper's Algorithm 2: the mean of the places of samples of 200 steps.
    fn read_as_the_paper(self) -> Self {
        let options = SampleOptions { sampler: Sampler::Ddpm, steps: 200, ..self.options };
        Self { options, reading: Reading { pooling: Pooling::Mean, ..self.reading }, ..self }.by_samples()
    }

    fn new(model: Model, options: SampleOptions, step: Option<u32>) -> Result<Self> {
        let (predictor, reading) = (Predictor::new(Arc::new(model))?, Reading::default());
        let is_paper = predictor.model().config().loss == LossKind::KlPaper;
        let own = Self { predictor, options, by_samples: false, reading, step };
        Ok(if is_paper { own.read_as_the_paper() } else { own })
    }

    /// The default's training with a task's data; a second method that is made of it gets the same.
    pub(crate) fn of_task(task: Task<'_>, progress: &mut dyn FnMut(f64)) -> Result<ByRule<Self>> {
        static MADE: Mutex<Vec<(String, ByRule<LocDiff>)>> = Mutex::new(Vec::new());
        let Task { device, effort, seed, data, .. } = task;
        let sum: f64 = data.training.all_copies().iter().map(|value| f64::from(*value)).sum();
        let key = format!("{device} {effort:?} {seed} {} {sum} {}", data.training.len(), data.validation.len());
        let find = || MADE.lock().ok()?.iter().find(|(other, _)| *other == key).map(|(_, made)| made.clone());
        if let Some(made) = find() {
            progress(1.0);
            return Ok(made);
        }
        let made = Self::fit_by_rule(device, effort, Self::run_config(effort, seed), data, progress)?;
        if let Ok(mut all) = MADE.lock() {
            all.push((key, made.clone()));
        }
        Ok(made)
    }

    /// The paper's settings with 25 times the usual steps: 50,000 are enough here.
    pub(crate) fn paper_config(effort: &Effort, seed: u64) -> RunConfig {
        let mut run = TrainPreset::Paper.run_config(1);
        run.model.seed = seed;
        run.train.steps = 25 * effort.steps;
        run.train.batch = effort.batch;
        run.train.validation_rows = 256;
        run
    }

    fn predictions(&self, embeddings: &[f32]) -> Result<Vec<Prediction>> {
        self.sampled(embeddings, (self.options.steps, self.options.guidance))
    }

    /// The pooled code of every row: what is decoded.
    pub(crate) fn codes(&self, embeddings: &[f32]) -> Result<Vec<Coefficients>> {
        Ok(self.predictions(embeddings)?.into_iter().map(|found| found.code).collect())
    }

    /// The evidence of every row, from one evaluation of the network with this guidance.
    pub(crate) fn evidence(&self, embeddings: &[f32], guidance: f32) -> Result<Vec<Coefficients>> {
        let photos = self.photos(embeddings)?;
        let queries: Vec<Query<'_>> = photos.iter().map(Query::from).collect();
        Ok(self.predictor.coefficients(&queries, &SampleOptions { guidance, ..self.options })?)
    }

    /// What the network gives each of so many chains of every row after a share of so many steps.
    pub(crate) fn posteriors(
        &self,
        embeddings: &[f32],
        (samples, steps, share): (usize, usize, f64),
    ) -> Result<Vec<Vec<Coefficients>>> {
        let photos = self.photos(embeddings)?;
        let queries: Vec<Query<'_>> = photos.iter().map(Query::from).collect();
        Ok(self.predictor.posteriors(&queries, &SampleOptions { samples, steps, ..self.options }, share)?)
    }

    /// The pooled codes and places of every row with other steps and guidance.
    pub(crate) fn sampled(&self, embeddings: &[f32], (steps, guidance): (usize, f32)) -> Result<Vec<Prediction>> {
        let photos = self.photos(embeddings)?;
        let queries: Vec<Query<'_>> = photos.iter().map(Query::from).collect();
        let options = SampleOptions { steps, guidance, ..self.options };
        Ok(self.predictor.predict(&queries, &options, self.reading)?)
    }

    /// The factors of the blur that codes have, by degree.
    pub(crate) fn low_pass(&self) -> Vec<f64> {
        self.predictor.model().config().low_pass()
    }

    /// What samples and reads.
    #[cfg(test)]
    pub(crate) fn predictor(&self) -> &Predictor {
        &self.predictor
    }

    pub(crate) fn codec(&self) -> &Codec {
        self.predictor.codec()
    }

    fn photos(&self, rows: &[f32]) -> Result<Vec<Embedding>> {
        let each = rows.chunks_exact(self.predictor.model().config().embedding_dim);
        Ok(each.map(|row| Embedding::new(row.to_vec(), None)).collect::<Result<_, _>>()?)
    }
}

/// A model's choices for another degree, with the quadrature that fits it and, where there is a blur, the usual one.
pub(crate) fn with_degree(config: ModelConfig, degree: usize) -> ModelConfig {
    let has_none = config.quadrature == QuadratureRecipe::None;
    let quadrature = if has_none { QuadratureRecipe::None } else { QuadratureRecipe::usual(degree) };
    let low_pass_km = config.low_pass_km.map(|_| ModelConfig::usual_low_pass_km(degree));
    ModelConfig { degree, quadrature, low_pass_km, kept: None, ..config }
}

fn dataset(examples: &Examples) -> Result<Dataset> {
    let size = examples.len() * examples.columns();
    let copies = examples.all_copies().chunks_exact(size).map(<[f32]>::to_vec).collect();
    let places = examples.points().iter().map(|point| point.to_latlon()).collect();
    Ok(Dataset::in_memory(examples.columns(), copies, places)?)
}

impl Baseline for LocDiff {
    fn predict(&self, embeddings: &[f32]) -> Result<Vec<LatLon>> {
        Ok(self.predictions(embeddings)?.into_iter().map(|found| found.place).collect())
    }

    /// What the network says at pure noise; for a loss that gives no densities the field of the pooled code.
    fn densities(&self, embeddings: &[f32]) -> Result<Vec<PhotoDensity<'_>>> {
        let codes = if self.predictor.model().config().loss.has_quadrature() && !self.by_samples {
            self.evidence(embeddings, self.options.guidance)?
        } else {
            self.codes(embeddings)?
        };
        let density = |code: &Coefficients| -> Result<PhotoDensity<'_>> {
            let field = self.codec().field(code)?;
            // Readings are free of a constant: the integral is theirs to take.
            Ok(Box::new(move |points| points.values(&field)))
        };
        codes.iter().map(density).collect()
    }

    fn parameters(&self) -> usize {
        self.predictor.model().params().count()
    }

    fn chosen(&self) -> String {
        let config = self.predictor.model().config();
        let step = self.step.map_or(config.trained_steps, u64::from);
        format!("L = {}, {step} steps", config.degree)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy;

    #[test]
    fn locdiff_learns_the_cities() {
        let (training, validation, test) = (toy::cities(400, 1), toy::cities(60, 2), toy::cities(40, 3));
        let effort = Effort { locdiff_degree: 7, steps: 300, samples: 4, sampler_steps: 8, ..Effort::tiny() };
        let mut run = LocDiff::run_config(&effort, 3);
        run.model.width = 32;
        run.model.dropout = 0.0;
        let mut told = 0.0;
        let data = FitData { training: &training, validation: &validation };
        let method = LocDiff::fit(&Device::cpu(), &effort, run, data, &mut |x| told = x).unwrap();
        assert_eq!(told, 1.0);
        let places = method.predict(test.photos()).unwrap();
        let near = places.iter().zip(test.points()).filter(|(a, b)| a.to_unit().angle_rad(**b) < 0.12);
        assert!(near.count() >= 34);
        let globe = Arc::new(locdiff_model::answer::Globe::new(7).unwrap());
        let reading = crate::reading::CommonReading::choose(&globe, &method, &validation).unwrap();
        let read = reading.read(&globe, &method, &test).unwrap();
        assert!(read.log_densities.iter().sum::<f64>() / 40.0 > 0.0);
    }
}
