//! LocDiff itself behind the same trait.

use crate::{Baseline, Effort, Examples, FitData, PhotoDensity, error::Result};
use locdiff_io::data::Embedding;
use locdiff_model::train::{BEST_FOLDER, Dataset, Event, Rows, RunConfig, TrainPreset, TrainingJob, train};
use locdiff_model::{Model, NetworkKind, Prediction, Predictor, Query, Reading, SampleOptions};
use locdiff_nn::Device;
use locdiff_shdd::{Codec, Coefficients, sphere::LatLon};
use std::{path::Path, sync::Arc, sync::atomic::AtomicBool};

/// Above this degree pixels are so many that validations during training look at few rows.
const FEW_PIXELS_DEGREE: usize = 31;

/// LocDiff: diffusion of SHDD codes, trained by `locdiff-train` as `locdiff train` does it. The model of the best
/// validation is kept, as for every other method.
pub(crate) struct LocDiff {
    predictor: Predictor,
    options: SampleOptions,
    /// Whether everything is read by samples, also where the network gives densities.
    by_samples: bool,
}

impl LocDiff {
    /// The run that the default model is trained by; the embeddings' size is filled in later.
    pub(crate) fn run_config(effort: &Effort, seed: u64) -> RunConfig {
        let mut run = TrainPreset::Default.run_config(1);
        run.model = run.model.with_degree(effort.locdiff_degree);
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

    /// Trains a run, to be sampled within the budget.
    pub(crate) fn fit(
        device: &Device,
        effort: &Effort,
        mut run: RunConfig,
        data: FitData<'_>,
        progress: &mut dyn FnMut(f64),
    ) -> Result<Self> {
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
        let model = Model::load(device, &folder.path().join(BEST_FOLDER))?;
        Ok(Self { predictor: Predictor::new(Arc::new(model))?, options, by_samples: false })
    }

    /// A model that was trained before, to be sampled within the budget.
    pub(crate) fn open(device: &Device, effort: &Effort, folder: &Path) -> Result<Self> {
        let model = Model::load(device, folder)?;
        let steps = effort.sampler_steps.min(model.config().diffusion_steps);
        let options = SampleOptions { samples: effort.samples, steps, ..SampleOptions::default() };
        Ok(Self { predictor: Predictor::new(Arc::new(model))?, options, by_samples: false })
    }

    pub(crate) fn by_samples(self) -> Self {
        Self { by_samples: true, ..self }
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
        Ok(self.predictor.predict(&queries, &options, Reading::default())?)
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
        format!("L = {}, {} steps", config.degree, config.trained_steps)
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
