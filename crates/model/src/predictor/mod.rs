//! From embeddings to places: the one predictor that every command and the facade use.

mod batch_buffers;
mod drawing;
mod engines;
mod prediction;

pub use prediction::{Pooling, Prediction, Query, Reading, SampleOptions, TraceStep};

use crate::{Model, ModelError, Result};
use batch_buffers::BatchBuffers;
use drawing::Drawing;
use engines::{Engine, Engines, batches};
use locdiff_base::{ensure, setting};
use locdiff_io::data::{Embedding, RowFile};
use locdiff_shdd::{Codec, Coefficients};
use std::{ops::Deref, sync::Arc};

/// A model at work: samples, pools and reads the coefficients in one call.
///
/// Noise depends on the seed, the photo's key and the sample's number alone: a photo's prediction is the same alone or
/// among others, in any order (on the CPU to the last bit).
pub struct Predictor<M = Arc<Model>> {
    model: M,
    codec: Arc<Codec>,
    samplers: Engines<Drawing<M>>,
    readers: Engines<BatchBuffers<M>>,
}

impl<M: Deref<Target = Model> + Clone> Predictor<M> {
    /// For a model (an `Arc` or a reference), on the model's device. Fails on a degree out of range.
    pub fn new(model: M) -> Result<Self> {
        let codec = Arc::new(Codec::new(model.config().degree()?));
        Ok(Self { model, codec, samplers: Engines::new(), readers: Engines::new() })
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The codec of the model's degree.
    pub fn codec(&self) -> &Arc<Codec> {
        &self.codec
    }

    /// What the model says about photos, one after the other.
    /// Fails on options out of range, embeddings of another size, samples that are not finite, or a failure of the device.
    pub fn predict(&self, photos: &[Query<'_>], options: &SampleOptions, reading: Reading) -> Result<Vec<Prediction>> {
        let draw = |engine: &mut Drawing<M>, batch: &[Query<'_>]| engine.draw(&self.model, batch, options.seed);
        let drawn = self.in_batches(&self.samplers, photos, *options, draw)?;
        prediction::read(&self.codec, drawn, options.samples, reading)
    }

    /// Natural parameters at pure noise, from one evaluation of the network without sampling. Fails as
    /// [`Predictor::predict`], and for a network that gives no densities.
    pub fn coefficients(&self, photos: &[Query<'_>], options: &SampleOptions) -> Result<Vec<Coefficients>> {
        self.needs_densities()?;
        let read = |photos: &[Query<'_>], own: SampleOptions| {
            self.in_batches(&self.readers, photos, own, |engine, batch| engine.read(&self.model, batch, own.seed))
        };
        if self.model.net().reads_noise() {
            // The same noise for all: what it adds is common to them, and calibrated away.
            let alike: Vec<Query<'_>> = photos.iter().map(|photo| Query { key: 0, ..*photo }).collect();
            return read(&alike, *options);
        }
        // One row a view is enough where noise changes nothing.
        let mut all = Vec::with_capacity(photos.len());
        for alike in photos.chunk_by(|a, b| a.views.len() == b.views.len()) {
            all.extend(read(alike, SampleOptions { samples: alike[0].views.len().max(1), ..*options })?);
        }
        Ok(all)
    }

    /// The mean coefficients without a photo over `draws` of noise. Fails as [`Predictor::coefficients`].
    pub fn background(&self, draws: usize) -> Result<Coefficients> {
        let options = SampleOptions { samples: draws, steps: 1, guidance: 0.0, seed: 0, ..SampleOptions::default() };
        // The mean embedding becomes zeros, which training puts where it drops the condition.
        let nothing = Embedding::new(self.model.standardisation().mean.clone(), None)?;
        Ok(self.coefficients(&[(&nothing).into()], &options)?.swap_remove(0))
    }

    /// The density that the network gives each sample after a share of the way from pure noise, as natural parameters.
    /// Samples that stop there would be drawn from their mixture: its mean over many is the sampler's own density.
    /// Fails as [`Predictor::coefficients`], and for a share outside 0 … 1.
    pub fn posteriors(
        &self,
        photos: &[Query<'_>],
        options: &SampleOptions,
        share: f64,
    ) -> Result<Vec<Vec<Coefficients>>> {
        self.needs_densities()?;
        ensure!((0.0..=1.0).contains(&share), setting("share of the way", share, "0 to 1"));
        let position = (share * (options.steps.max(1) - 1) as f64).round() as usize;
        self.in_batches(&self.samplers, photos, *options, |engine, batch| {
            engine.posteriors(&self.model, batch, (options.seed, position))
        })
    }

    fn needs_densities(&self) -> Result<()> {
        match self.model.config().loss {
            loss if loss.has_quadrature() => Ok(()),
            loss => Err(setting("loss", format!("{loss:?}"), "only models trained with nll or kl give densities")),
        }
    }

    /// The natural parameters of the density that is the same everywhere; never fails.
    pub fn nothing(&self) -> Result<Coefficients> {
        Ok(Coefficients::new(vec![0.0; self.model.config().whole_dim()])?)
    }

    /// The backward process of one photo, noisiest step first. Fails as [`Predictor::predict`].
    pub fn trace(&self, photo: Query<'_>, options: &SampleOptions) -> Result<Vec<TraceStep>> {
        options.check()?;
        self.check(photo, options.samples)?;
        let model: &Model = &self.model;
        self.samplers.with(&self.model, 1, *options, |engine| engine.trace(model, photo, options.seed))
    }

    /// Predictions for rows of files of embeddings, one file for each view, a block at a time. `each` gets the row, its
    /// first view's embedding and the prediction. Fails as [`Predictor::predict`], if a row cannot be read, or with the
    /// first error of `each`.
    pub fn predict_rows<E: From<ModelError>>(
        &self,
        views: &[&RowFile],
        rows: &[usize],
        options: &SampleOptions,
        reading: Reading,
        each: impl FnMut(usize, &Embedding, Prediction) -> Result<(), E>,
    ) -> Result<(), E> {
        in_blocks(views, rows, |queries| self.predict(queries, options, reading), each)
    }

    /// The coefficients alone for rows of a file of embeddings, a block at a time.
    /// Fails as [`Predictor::coefficients`], if a row cannot be read, or with the first error of `each`.
    pub fn coefficients_of_rows<E: From<ModelError>>(
        &self,
        file: &RowFile,
        rows: &[usize],
        options: &SampleOptions,
        each: impl FnMut(usize, &Embedding, Coefficients) -> Result<(), E>,
    ) -> Result<(), E> {
        in_blocks(&[file], rows, |queries| self.coefficients(queries, options), each)
    }

    /// Runs photos in batches, each with an engine of its size.
    fn in_batches<E: Engine<M>, T>(
        &self,
        engines: &Engines<E>,
        photos: &[Query<'_>],
        options: SampleOptions,
        run: impl Fn(&mut E, &[Query<'_>]) -> Result<Vec<T>>,
    ) -> Result<Vec<T>> {
        options.check()?;
        photos.iter().try_for_each(|photo| self.check(*photo, options.samples))?;
        let mut all = Vec::with_capacity(photos.len());
        for (count, size) in batches(photos.len(), options.samples) {
            let first = all.len();
            let batch = &photos[first..][..count];
            let done = engines.with(&self.model, size, options, |engine| run(engine, batch));
            all.extend(done.map_err(|error| match error {
                ModelError::NotFinite { photo } => ModelError::NotFinite { photo: first + photo },
                other => other,
            })?);
        }
        Ok(all)
    }

    fn check(&self, photo: Query<'_>, samples: usize) -> Result<()> {
        let (views, dim) = (photo.views.len(), self.model.config().embedding_dim);
        if views == 0 || views > samples {
            return Err(setting("views", views, format!("1 to the number of samples, {samples}")));
        }
        let other = photo.views.iter().map(Embedding::dimension).find(|met| *met != dim);
        other.map_or(Ok(()), |met| Err(ModelError::EmbeddingSize { met, model: dim }))
    }
}

/// Asks about rows of a file, 64 at a time.
fn in_blocks<T, E: From<ModelError>>(
    files: &[&RowFile],
    rows: &[usize],
    ask: impl Fn(&[Query<'_>]) -> Result<Vec<T>>,
    mut each: impl FnMut(usize, &Embedding, T) -> Result<(), E>,
) -> Result<(), E> {
    for block in rows.chunks(64) {
        let views = |row: &usize| files.iter().map(|file| file.embedding(*row)).collect::<Result<Vec<_>, _>>();
        let photos = block.iter().map(views).collect::<Result<Vec<Vec<_>>, _>>().map_err(ModelError::from)?;
        let queries: Vec<Query<'_>> = photos.iter().map(|views| Query::of(views)).collect();
        for ((row, views), found) in block.iter().zip(&photos).zip(ask(&queries)?) {
            each(*row, &views[0], found)?;
        }
    }
    Ok(())
}
