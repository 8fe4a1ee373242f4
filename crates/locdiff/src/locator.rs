//! From a photo to an answer.

use crate::{Answer, AnswerDensity, Calibration, Globe, Hypothesis, Knowledge, LocateError};
use locdiff_base::{BadSetting, setting};
use locdiff_model::{CodeSampler, Model, Pooling, SampleOptions, answers};
use locdiff_nn::Device;
use locdiff_sphere::LatLon;
use locdiff_vision::{Augmentation, Encoder, Photo};
use std::path::Path;
use std::sync::Arc;

/// Draws of noise for the density without a photo, where no calibration holds it.
const BACKGROUND_DRAWS: usize = 64;

/// How to answer.
#[derive(Debug, Clone)]
pub struct LocateOptions {
    /// Samples, sampler, steps, guidance and seed.
    pub sampling: SampleOptions,
    /// Views of the photo that the samples are spread over; 1 is the photo alone.
    pub views: usize,
    /// The most hypotheses an answer lists.
    pub hypotheses: usize,
    /// What is known besides.
    pub knowledge: Option<Arc<Knowledge>>,
}

impl Default for LocateOptions {
    fn default() -> Self {
        Self { sampling: SampleOptions::default(), views: 1, hypotheses: 5, knowledge: None }
    }
}

/// An encoder, a model and its calibration: everything between a photo and an answer.
///
/// ```
/// # #[cfg(feature = "bundled")] {
/// use locdiff::{Locator, Photo, PhotoLimits};
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/vision/china.jpg");
/// let photo = Photo::open(path.as_ref(), &PhotoLimits::default())?;
/// let answer = Locator::bundled()?.locate(&photo)?;
/// assert!(answer.radius_50_km < answer.radius_90_km);
/// assert!((0.0..=1.0).contains(&answer.locatability));
/// # }
/// # Ok::<(), locdiff::LocateError>(())
/// ```
pub struct Locator {
    model: Model,
    encoder: Option<Encoder>,
    calibration: Calibration,
    globe: Globe,
    /// Log density without a photo at the pixels.
    background: Vec<f64>,
}

impl Locator {
    /// The model and encoder that are part of this library, on the CPU.
    ///
    /// # Errors
    /// None that a user could cause.
    #[cfg(feature = "bundled")]
    pub fn bundled() -> Result<Self, LocateError> {
        Self::bundled_on(&Device::cpu())
    }

    /// The same on a device.
    ///
    /// # Errors
    /// A failure of the device.
    #[cfg(feature = "bundled")]
    pub fn bundled_on(device: &Device) -> Result<Self, LocateError> {
        Self::new(bundled_model(device)?, Some(bundled_encoder(device)?))
    }

    /// A model's folder and an encoder's (without one only embeddings can be located), on a device.
    ///
    /// # Errors
    /// Folders that cannot be used, or an encoder that does not fit the model.
    pub fn open(model: &Path, encoder: Option<&Path>, device: &Device) -> Result<Self, LocateError> {
        let encoder = encoder.map(|folder| Encoder::open_on(folder, device)).transpose()?;
        Self::new(open_model(model, device)?, encoder)
    }

    /// From parts; a model without calibration is taken at its word.
    ///
    /// # Errors
    /// An encoder that does not fit the model, or a model whose network gives no densities.
    pub fn new(
        (model, calibration): (Model, Option<Calibration>),
        encoder: Option<Encoder>,
    ) -> Result<Self, LocateError> {
        let config = model.config();
        if let Some(encoder) = &encoder
            && encoder.embedding() != config.embedding_dim
        {
            return Err(LocateError::Mismatch { encoder: encoder.embedding(), model: config.embedding_dim });
        }
        let globe = Globe::new(config.degree)?;
        let calibration = if let Some(calibration) = calibration {
            calibration
        } else {
            let sampler = CodeSampler::new(&model, SampleOptions::default())?;
            Calibration::none(sampler.background(BACKGROUND_DRAWS)?)
        };
        let background = calibration.background_density(&globe).pixel_log_density().to_vec();
        Ok(Self { model, encoder, calibration, globe, background })
    }

    /// The answer for a photo, with default options.
    ///
    /// # Errors
    /// A photo that the encoder cannot take, or a failure of the device.
    pub fn locate(&self, photo: &Photo) -> Result<Answer, LocateError> {
        let mut session = self.session(LocateOptions::default())?;
        let embeddings = session.embed(std::slice::from_ref(photo), 0)?;
        let findings = session.find(0, &embeddings)?;
        Ok(session.answer(&findings[0])?.0)
    }

    /// Everything that many photos share.
    ///
    /// # Errors
    /// Options out of range.
    pub fn session(&self, options: LocateOptions) -> Result<Session<'_>, LocateError> {
        if options.views == 0 || options.views > options.sampling.samples {
            let remedy = format!("1 to the number of samples, {}", options.sampling.samples);
            return Err(setting("views", options.views, remedy));
        }
        let sampler = CodeSampler::new(&self.model, options.sampling)?;
        Ok(Session { locator: self, sampler, options })
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The encoder, where there is one.
    pub fn encoder(&self) -> Option<&Encoder> {
        self.encoder.as_ref()
    }

    /// The calibration.
    pub fn calibration(&self) -> &Calibration {
        &self.calibration
    }

    /// The globe that answers are drawn on.
    pub fn globe(&self) -> &Globe {
        &self.globe
    }
}

/// The embeddings' numbers, one after the other.
fn joined(embeddings: &[locdiff_data::Embedding]) -> Vec<f32> {
    embeddings.iter().flat_map(|embedding| embedding.values()).copied().collect()
}

/// What the model says about a photo, before it is read.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The place that the pooled samples mean: what `locdiff sample` gives.
    pub place: LatLon,
    /// The places of the samples, each decoded alone.
    pub samples: Vec<LatLon>,
    /// The pooled samples' code: the mean of their densities' harmonic coefficients.
    pub code: Vec<f64>,
    /// The natural parameters at pure noise.
    pub evidence: Vec<f64>,
}

/// A locator at work on many photos, a block at a time.
pub struct Session<'l> {
    locator: &'l Locator,
    sampler: CodeSampler<'l>,
    options: LocateOptions,
}

impl<'l> Session<'l> {
    /// The calibration that answers are made with.
    pub fn calibration(&self) -> &'l Calibration {
        &self.locator.calibration
    }

    /// Photos in a block; the last block may hold fewer.
    pub fn photos_per_block(&self) -> usize {
        self.sampler.images_per_block()
    }

    /// The embeddings of photos and their views, one after the other; `first` is the number of the first photo.
    ///
    /// # Errors
    /// A locator without an encoder, or a photo that it cannot take.
    pub fn embed(&self, photos: &[Photo], first: u64) -> Result<Vec<f32>, LocateError> {
        let encoder = self.locator.encoder.as_ref().ok_or_else(|| {
            BadSetting::new("photos", photos.len(), "this locator was opened without an encoder")
        })?;
        if self.options.views == 1 {
            return Ok(joined(&encoder.embed(photos)?));
        }
        let (augmentation, seed) = (Augmentation::default(), self.options.sampling.seed);
        let mut all = Vec::new();
        for (photo, number) in photos.iter().zip(first..) {
            let views: Result<Vec<Photo>, _> =
                (0..self.options.views as u32).map(|k| augmentation.view(photo, seed, number, k)).collect();
            all.extend(joined(&encoder.embed(&views?)?));
        }
        Ok(all)
    }

    /// What the model says about the photos of block number `block`, given the embeddings of all their views.
    ///
    /// # Errors
    /// A number of values that does not fit, or a failure of the device.
    pub fn find(&mut self, block: u64, embeddings: &[f32]) -> Result<Vec<Finding>, LocateError> {
        let codes = self.sampler.sample_views(block, embeddings, self.options.views)?;
        let samples = self.options.sampling.samples;
        let pooled = answers(self.locator.globe.codec(), &codes, samples, Pooling::Pool, true)?;
        let evidence = self.sampler.evidence()?;
        let finding = |(pooled, evidence): (locdiff_model::Answer, Vec<f64>)| Finding {
            place: pooled.place,
            samples: pooled.samples,
            code: pooled.code,
            evidence,
        };
        Ok(pooled.into_iter().zip(evidence).map(finding).collect())
    }

    /// The pooled clean estimates of the first photo of a block at every step of the backward process, noisiest first,
    /// each with its time step.
    ///
    /// # Errors
    /// As [`Session::find`].
    pub fn trace(&mut self, embeddings: &[f32]) -> Result<Vec<(usize, Vec<f64>)>, LocateError> {
        let (samples, dim) = (self.options.sampling.samples, self.locator.model.config().code_dim());
        let steps = self.sampler.trace(0, embeddings, self.options.views)?;
        let pool = |codes: &[f32]| {
            let mut mean = vec![0.0; dim];
            for code in codes[..samples * dim].chunks_exact(dim) {
                mean.iter_mut().zip(code).for_each(|(m, c)| *m += f64::from(*c) / samples as f64);
            }
            mean
        };
        Ok(steps.into_iter().map(|(t, codes)| (t, pool(&codes))).collect())
    }

    /// The answer, and the density that it was read off.
    ///
    /// # Errors
    /// When what is known besides leaves no place.
    pub fn answer(&self, finding: &Finding) -> Result<(Answer, AnswerDensity<'l>), LocateError> {
        let Locator { calibration, globe, background, .. } = self.locator;
        let knowledge = self.options.knowledge.clone();
        let density = calibration.density(globe, &finding.evidence, knowledge);
        if !density.is_possible() {
            return Err(LocateError::Impossible);
        }
        // The pooled samples know nothing of what is known besides: then the density alone says where.
        let best = match self.options.knowledge {
            Some(_) => density.most_probable_peak(),
            None => finding.place,
        };
        let levels = [0.5, 0.9].map(|share| calibration.radius_level(share));
        let radii = density.radii_km(best, &levels);
        let locatability = density.locatability(best);
        let hypotheses = density.peaks(best, self.options.hypotheses).into_iter();
        let answer = Answer {
            best: best.into(),
            radius_50_km: radii[0],
            radius_90_km: radii[1],
            area_50_km2: density.region(0.5).area_km2,
            area_90_km2: density.region(0.9).area_km2,
            hypotheses: hypotheses
                .map(|peak| Hypothesis { place: peak.place.into(), probability: peak.probability })
                .collect(),
            locatability,
            can_tell: locatability >= calibration.can_tell_from,
            information_nats: density.divergence_nats(background),
        };
        Ok((answer, density))
    }
}

/// A model's folder with its calibration, if it has one.
///
/// # Errors
/// A folder that cannot be used.
pub fn open_model(folder: &Path, device: &Device) -> Result<(Model, Option<Calibration>), LocateError> {
    let model = Model::load(device, folder)?;
    let calibration = Calibration::load(folder, model.config().degree)?;
    Ok((model, calibration))
}

/// The model that is part of this library, with its calibration.
///
/// # Errors
/// A failure of the device.
#[cfg(feature = "bundled")]
pub fn bundled_model(device: &Device) -> Result<(Model, Option<Calibration>), LocateError> {
    let locdiff_bundled::ModelFiles { config, weights, calibration } = locdiff_bundled::model();
    let name = |file: &str| Path::new("the bundled model").join(file);
    let model =
        Model::from_bytes(device, (&name("config.json"), config), (&name("model.safetensors"), weights))?;
    let degree = model.config().degree;
    let calibration = Calibration::from_bytes(&name("calibration.json"), calibration, degree)?;
    Ok((model, Some(calibration)))
}

/// The encoder that is part of this library, on a device.
///
/// # Errors
/// A failure of the device.
#[cfg(feature = "bundled")]
pub fn bundled_encoder(device: &Device) -> Result<Encoder, LocateError> {
    let (description, weights) = locdiff_bundled::encoder();
    let name = |file: &str| Path::new("the bundled encoder/streetview-lite0").join(file);
    Ok(Encoder::from_bytes_on(
        (&name("encoder.json"), description),
        (&name("model.safetensors"), weights),
        device,
    )?)
}
