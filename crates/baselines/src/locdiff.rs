//! LocDiff itself behind the same trait.

use crate::{Baseline, BaselineError, Effort, Examples, FitData};
use locdiff::{BACKGROUND_DRAWS, Calibration, FEWEST_TO_CALIBRATE, Globe, Observation};
use locdiff_model::{Answer, CodeSampler, Model, Pooling, SampleOptions, answers};
use locdiff_nn::Device;
use locdiff_shdd::{Codec, Coefficients};
use locdiff_sphere::{LatLon, UnitVec};
use locdiff_train::{BEST_FOLDER, Dataset, Event, Job, Rows, RunConfig, TrainPreset, train};
use rayon::prelude::*;
use std::sync::atomic::AtomicBool;

/// LocDiff: diffusion of SHDD codes, trained by `locdiff-train` as `locdiff train` does it. The model of the best
/// validation is kept, as for every other method.
pub struct LocDiff {
    device: Device,
    run: RunConfig,
    options: SampleOptions,
    pooling: Pooling,
    fitted: Option<Fitted>,
}

struct Fitted {
    model: Model,
    codec: Codec,
    /// How the network's density is read, fitted on the validation photos; none for a loss that gives no densities.
    reading: Option<(Calibration, Globe)>,
}

impl LocDiff {
    /// The default model within a budget.
    pub fn new(device: &Device, effort: &Effort, seed: u64) -> Self {
        Self::with_run(device, effort, Self::run_config(effort, seed))
    }

    /// The run that [`LocDiff::new`] trains; the embeddings' size is filled in later.
    pub fn run_config(effort: &Effort, seed: u64) -> RunConfig {
        let mut run = TrainPreset::Default.run_config(1);
        run.model = run.model.with_degree(effort.locdiff_degree);
        run.model.seed = seed;
        run.train.steps = effort.steps;
        run.train.batch = effort.batch;
        run.train.warmup_steps = effort.steps / 15;
        run.train.validate_every = effort.steps.div_ceil(effort.validations.clamp(1, 3));
        run.train.validation_rows = 512;
        run.train.checkpoint_every = effort.steps;
        run.train.keep_checkpoints = 1;
        if effort.steps < 1500 {
            run.train.lr = 1e-3; // as the preset `small`: few steps must be longer
            run.train.ema_decay = 0.99;
        }
        run
    }

    /// A model of one's own, sampled within the budget.
    pub fn with_run(device: &Device, effort: &Effort, run: RunConfig) -> Self {
        let options = SampleOptions {
            samples: effort.samples,
            steps: effort.sampler_steps.min(run.model.diffusion_steps),
            seed: run.model.seed,
            ..SampleOptions::default()
        };
        Self { device: device.clone(), run, options, pooling: Pooling::Pool, fitted: None }
    }

    fn fitted(&self) -> Result<&Fitted, BaselineError> {
        self.fitted.as_ref().ok_or(BaselineError::NotFitted { method: "locdiff" })
    }

    fn answers(&self, embeddings: &[f32]) -> Result<Vec<Answer>, BaselineError> {
        let Fitted { model, codec, .. } = self.fitted()?;
        let mut found = Vec::new();
        sample(model, self.options, embeddings, |_, codes| {
            found.extend(answers(codec, &codes, self.options.samples, self.pooling, false)?);
            Ok(())
        })?;
        Ok(found)
    }

    /// The density as `locdiff calibrate` fits it.
    fn calibrate(&self, model: &Model, validation: &Examples) -> Result<(Calibration, Globe), BaselineError> {
        let globe = Globe::coarse(model.config().degree)?;
        let samples = self.options.samples;
        let mut observations = Vec::with_capacity(validation.len());
        sample(model, self.options, validation.photos(), |sampler, codes| {
            let pooled = answers(globe.codec(), &codes, samples, Pooling::Pool, false)?;
            for (pooled, evidence) in pooled.into_iter().zip(sampler.evidence()?) {
                let truth = validation.points()[observations.len()].to_latlon();
                observations.push(Observation { evidence, answer: pooled.place, truth });
            }
            Ok(())
        })?;
        let background = CodeSampler::new(model, self.options)?.background(BACKGROUND_DRAWS)?;
        let calibration = locdiff::fit(&globe, &background, &observations, samples, self.options.seed)?;
        Ok((calibration, Globe::new(model.config().degree)?))
    }

    /// The pooled code of every row: what is decoded.
    ///
    /// # Errors
    /// Rows of another size, or a model that was not fitted.
    pub fn codes(&self, embeddings: &[f32]) -> Result<Vec<Coefficients>, BaselineError> {
        let codes = self.answers(embeddings)?.into_iter().map(|answer| Coefficients::new(answer.code));
        Ok(codes.collect::<Result<_, _>>()?)
    }

    /// The codec of the model's degree.
    ///
    /// # Errors
    /// A model that was not fitted.
    pub fn codec(&self) -> Result<&Codec, BaselineError> {
        Ok(&self.fitted()?.codec)
    }
}

/// Samples all rows, a block at a time; `each` gets the sampler after a block and the block's codes.
fn sample(
    model: &Model,
    options: SampleOptions,
    embeddings: &[f32],
    mut each: impl FnMut(&CodeSampler<'_>, Vec<f32>) -> Result<(), BaselineError>,
) -> Result<(), BaselineError> {
    let mut sampler = CodeSampler::new(model, options)?;
    let per_block = sampler.images_per_block() * model.config().embedding_dim;
    for (block, rows) in embeddings.chunks(per_block).enumerate() {
        let codes = sampler.sample_block(block as u64, rows)?;
        each(&sampler, codes)?;
    }
    Ok(())
}

fn dataset(examples: &Examples) -> Result<Dataset, BaselineError> {
    let size = examples.len() * examples.columns();
    let copies = examples.all_copies().chunks_exact(size).map(<[f32]>::to_vec).collect();
    let places = examples.points().iter().map(|point| point.to_latlon()).collect();
    Ok(Dataset::in_memory(examples.columns(), copies, places)?)
}

impl Baseline for LocDiff {
    fn fit(&mut self, data: FitData<'_>, progress: &mut dyn FnMut(f64)) -> Result<(), BaselineError> {
        let (training, validation) = (dataset(data.training)?, dataset(data.validation)?);
        let rows = |data: &Dataset| (0..data.len() as u32).collect::<Vec<u32>>();
        let (training_rows, validation_rows) = (rows(&training), rows(&validation));
        let folder = tempfile::tempdir().map_err(|error| {
            locdiff_base::BadSetting::new("temporary folder", error, "set TMPDIR to a writable one")
        })?;
        let mut config = self.run.clone();
        config.model.embedding_dim = training.columns();
        let steps = f64::from(config.train.steps);
        let job = Job {
            device: &self.device,
            config,
            training: Rows { data: &training, rows: &training_rows },
            validation: Some(Rows { data: &validation, rows: &validation_rows }),
            out: folder.path(),
            resume: false,
            stop: &AtomicBool::new(false),
        };
        train(job, |event| {
            if let Event::Progress { step, .. } = event {
                progress(f64::from(step) / steps);
            }
        })?;
        let model = Model::load(&self.device, &folder.path().join(BEST_FOLDER))?;
        let codec = Codec::new(model.config().degree()?);
        let is_density = model.config().loss.has_quadrature() && data.validation.len() >= FEWEST_TO_CALIBRATE;
        let reading = if is_density { Some(self.calibrate(&model, data.validation)?) } else { None };
        self.fitted = Some(Fitted { model, codec, reading });
        Ok(())
    }

    fn predict(&self, embeddings: &[f32]) -> Result<Vec<LatLon>, BaselineError> {
        Ok(self.answers(embeddings)?.into_iter().map(|answer| answer.place).collect())
    }

    /// The density that `locdiff locate` answers with; without a calibration that of the pooled code.
    fn log_density(&self, embeddings: &[f32], points: &[UnitVec]) -> Result<Option<Vec<f64>>, BaselineError> {
        let Fitted { model, codec, reading } = self.fitted()?;
        let Some((calibration, globe)) = reading else {
            let codes = self.codes(embeddings)?;
            let each = codes.par_iter().zip(points).map(|(code, point)| -> Result<f64, BaselineError> {
                Ok(codec.density(code)?.log_density(&[*point])[0])
            });
            return Ok(Some(each.collect::<Result<_, _>>()?));
        };
        // What the network says at pure noise: one step suffices.
        let mut evidence = Vec::new();
        sample(model, SampleOptions { steps: 1, ..self.options }, embeddings, |sampler, _| {
            evidence.extend(sampler.evidence()?);
            Ok(())
        })?;
        let each = evidence
            .par_iter()
            .zip(points)
            .map(|(evidence, point)| calibration.density(globe, evidence, None).log_density(&[*point])[0]);
        Ok(Some(each.collect()))
    }

    fn parameters(&self) -> usize {
        self.fitted.as_ref().map_or(0, |fitted| fitted.model.params().count())
    }

    fn chosen(&self) -> String {
        let Some(fitted) = &self.fitted else { return String::new() };
        let config = fitted.model.config();
        format!(
            "L = {}, {} steps, of {} samples the pooled",
            config.degree, config.trained_steps, self.options.samples
        )
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
        let mut method = LocDiff::with_run(&Device::cpu(), &effort, run);
        assert!(method.predict(test.photos()).is_err());
        let mut told = 0.0;
        method.fit(FitData { training: &training, validation: &validation }, &mut |x| told = x).unwrap();
        assert_eq!(told, 1.0);
        let places = method.predict(test.photos()).unwrap();
        let near = places.iter().zip(test.points()).filter(|(a, b)| a.to_unit().angle_rad(**b) < 0.12);
        assert!(near.count() >= 34);
        let logs = method.log_density(test.photos(), test.points()).unwrap().unwrap();
        assert!(logs.iter().sum::<f64>() / 40.0 > 0.0);
    }
}
