//! From a photo to an answer.

use crate::geoclip_model::{FoundPlaces, ModelPlaces};
use crate::{EmbeddedPhoto, LocateError, LocateOptions, MapFactorChoice, error::Failure, error::Result};
use crate::{gallery_use::GalleryUse, pipeline::embed, reading::unignored, retrieval::Retrieved, shape::shape_of};
use locdiff_album::Album;
use locdiff_base::Named;
use locdiff_io::data::{Embedding, Fingerprint};
use locdiff_map::evidence::Evidence;
use locdiff_model::answer::{Answer, BACKGROUND_DRAWS, Calibration, Density, Globe, ReadText, Reader};
use locdiff_model::{LossKind, Model, Pooling, Prediction, Predictor, Query, Reading, TraceStep};
use locdiff_nn::Device;
use locdiff_shdd::{Coefficients, sphere::LatLon};
use locdiff_vision::{Encoder, Photo};
use rayon::prelude::*;
use std::{path::Path, sync::Arc, sync::OnceLock};

/// An encoder, a model and its calibration. Threads can share it, and a photo's answer does not depend on other calls.
///
/// ```
/// # #[cfg(feature = "bundled")] {
/// use locdiff::Locator;
/// # let path = "../../fixtures/vision/china.jpg";
/// let answer = Locator::bundled()?.locate(path)?;
/// assert_eq!(answer.best, answer.hypotheses[0].at);
/// assert!(answer.radius_50_km < answer.radius_90_km);
/// assert!((0.0..=1.0).contains(&answer.locatability));
/// # }
/// # Ok::<(), locdiff::LocateError>(())
/// ```
pub struct Locator {
    predictor: Predictor,
    encoder: Option<Encoder>,
    pub(crate) reader: Reader,
    pub(crate) places: Option<ModelPlaces>,
    pub(crate) gallery: Option<GalleryUse>,
    /// What albums need, made when the first comes.
    pub(crate) album: OnceLock<Album>,
}

/// Photos that are answered at a time on CUDA: their embeddings are held, not their pixels.
const BLOCK: usize = 64;
/// What the model says about a photo, and what retrieval found.
struct PhotoEvidence {
    /// `None` of a model that gives no densities.
    evidence: Option<Coefficients>,
    places: Option<FoundPlaces>,
    retrieved: Retrieved,
}

impl PhotoEvidence {
    fn new(evidence: Option<Coefficients>, retrieved: Retrieved) -> Self {
        Self { evidence, places: None, retrieved }
    }
}

impl Locator {
    /// Combines an open model and encoder. Without a calibration, probabilities are the network's own. Without an encoder, it takes embeddings
    /// only. A model without densities answers from samples only: see [`LocateOptions::pool`]. Fails if the encoder does not fit the model.
    pub fn new(model: Model, calibration: Option<Calibration>, encoder: Option<Encoder>) -> Result<Self> {
        let config = model.config();
        if let Some(encoder) = &encoder
            && encoder.embedding() != config.embedding_dim
        {
            return Err(Failure::Mismatch { encoder: encoder.embedding(), model: config.embedding_dim }.into());
        }
        let predictor = Predictor::new(Arc::new(model))?;
        let globe = Arc::new(Globe::of(predictor.codec().clone())?);
        let calibration = match calibration {
            Some(calibration) => calibration,
            None if predictor.model().config().loss.has_quadrature() => {
                Calibration::none(predictor.background(BACKGROUND_DRAWS)?)
            }
            None => Calibration::none(predictor.nothing()?),
        };
        let locator = Self {
            reader: Reader::new(globe, calibration)?,
            predictor,
            encoder,
            places: None,
            gallery: None,
            album: OnceLock::new(),
        };
        if let Some(encoder) = &locator.encoder {
            locator.check_encoder(Some(encoder.fingerprint()))?;
        }
        Ok(locator)
    }

    fn no_densities(&self) -> LocateError {
        Failure::NoDensities { loss: self.model().config().loss.name().to_owned() }.into()
    }

    /// Embeds a photo, or its views if the options ask for several. Fails if there is no encoder, an option is out of range, or the device fails.
    pub fn embed(&self, photo: &Photo, options: &LocateOptions) -> Result<EmbeddedPhoto> {
        options.check()?;
        embed(self.encoder.as_ref(), photo, options)
    }

    pub(crate) fn is_on_gpu(&self) -> bool {
        self.model().params().device().is_cuda()
    }

    /// Answers an embedded photo. Fails if the embedding has another size or encoder, an option is out of range, knowledge leaves no location, or
    /// the device fails.
    pub fn answer(&self, photo: &EmbeddedPhoto, options: &LocateOptions) -> Result<Answer> {
        let options = &options.resolved()?;
        self.check_photo(photo, options)?;
        let said = self.ask(&[photo], options)?.swap_remove(0);
        self.read_off(photo, &said, options)
    }

    /// A result for each embedded photo, by resolved options. What failed before stays as it is.
    pub(crate) fn answer_each(&self, read: Vec<Result<EmbeddedPhoto>>, options: &LocateOptions) -> Vec<Result<Answer>> {
        let check =
            |photo: Result<EmbeddedPhoto>| photo.and_then(|photo| self.check_photo(&photo, options).map(|()| photo));
        let checked: Vec<Result<EmbeddedPhoto>> = read.into_iter().map(check).collect();
        let photos: Vec<&EmbeddedPhoto> = checked.iter().flatten().collect();
        let Ok(said) = self.ask(&photos, options) else {
            // One of them failed: each alone, so that the others do not fail with it.
            return checked.into_iter().map(|photo| self.answer(&photo?, options)).collect();
        };
        let mut said = said.into_iter();
        let pairs: Vec<_> = checked.into_iter().map(|photo| photo.map(|photo| (photo, said.next()))).collect();
        let each = pairs.into_par_iter().map(|pair| match pair? {
            (photo, Some(said)) => self.read_off(&photo, &said, options),
            (photo, None) => self.answer(&photo, options),
        });
        each.collect()
    }

    /// Returns the backward process of a photo, noisiest step first. If the model was trained with nll, it ends in the calibrated density.
    pub(crate) fn trace(&self, photo: &EmbeddedPhoto, options: &LocateOptions) -> Result<Vec<TraceStep>> {
        if self.places.is_some() {
            return Err(locdiff_base::setting("trace", "with GeoCLIP", "it has no backward process: leave it out"));
        }
        let tilts = self.tilts(&[photo], &[photo.query()], options)?.swap_remove(0);
        Ok(self.predictor.trace(photo.query().tilted(&tilts), &options.sampling())?)
    }

    /// Returns how many photos to answer at a time to keep the device busy.
    pub fn photos_per_block(&self) -> usize {
        if self.is_on_gpu() { BLOCK } else { BLOCK / 4 }
    }

    /// Returns the model.
    pub fn model(&self) -> &Model {
        self.predictor.model()
    }

    /// Returns the predictor: the model without calibration.
    pub fn predictor(&self) -> &Predictor {
        &self.predictor
    }

    /// Returns the encoder, if there is one.
    pub fn encoder(&self) -> Option<&Encoder> {
        self.encoder.as_ref()
    }

    /// Returns the reader of densities: globe and calibration.
    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// What the model says: the evidence from one evaluation of the network, without sampling, unless retrieval wants samples.
    fn ask(&self, photos: &[&EmbeddedPhoto], options: &LocateOptions) -> Result<Vec<PhotoEvidence>> {
        let queries: Vec<Query<'_>> = photos.iter().map(|photo| photo.query()).collect();
        if let Some(pooling) = options.pool {
            return self.sample(photos, &queries, pooling, options);
        }
        if let Some(GalleryUse::Settle { hybrid, .. }) = &self.gallery {
            return self.settle(photos, &queries, hybrid, options);
        }
        let evidence = self.evidence(&queries, options)?;
        let found = self.search(photos)?;
        let said = evidence.into_iter().zip(found).map(|(evidence, found)| PhotoEvidence::new(Some(evidence), found));
        if let Some(places) = self.find_places(photos, options.refine)? {
            return Ok(said.zip(places).map(|(said, found)| PhotoEvidence { places: Some(found), ..said }).collect());
        }
        Ok(said.collect())
    }

    pub(crate) fn find_places(&self, photos: &[&EmbeddedPhoto], refine: bool) -> Result<Option<Vec<FoundPlaces>>> {
        let Some((places, settings)) = self.places.as_ref().zip(self.reader.calibration().places.as_ref()) else {
            return Ok(None);
        };
        let embeddings: Vec<Vec<f32>> = photos.iter().map(|photo| photo.for_retrieval()).collect();
        Ok(Some(places.find(&embeddings, settings, refine)?))
    }

    /// Returns the network's coefficients; none if the model scores a list of locations.
    pub(crate) fn evidence(&self, queries: &[Query<'_>], options: &LocateOptions) -> Result<Vec<Coefficients>> {
        if self.places.is_some() {
            let nothing = crate::geoclip_model::nothing()?;
            return Ok(vec![nothing; queries.len()]);
        }
        Ok(self.predictor.coefficients(queries, &options.sampling())?)
    }

    /// What the model says, with the place that retrieval around the place of every sample settles.
    fn settle(
        &self,
        photos: &[&EmbeddedPhoto],
        queries: &[Query<'_>],
        hybrid: &crate::hybrid::Hybrid,
        options: &LocateOptions,
    ) -> Result<Vec<PhotoEvidence>> {
        let reading = Reading { every_sample: true, ..Reading::default() };
        let found = self.predictor.predict(queries, &options.sampling(), reading)?;
        let pairs: Vec<_> = photos.iter().zip(found).collect();
        let each = pairs.into_par_iter().map(|(photo, found)| {
            let settled = hybrid.settle(self.predictor.codec(), &photo.for_retrieval(), &found)?;
            Ok(PhotoEvidence::new(found.evidence, Retrieved::Settled(settled)))
        });
        each.collect()
    }

    /// Returns for every photo the terms that calibrate a sampler's density; none if the model was not trained with nll.
    fn tilts(
        &self,
        photos: &[&EmbeddedPhoto],
        queries: &[Query<'_>],
        options: &LocateOptions,
    ) -> Result<Vec<Vec<Coefficients>>> {
        if self.model().config().loss != LossKind::Nll {
            return Ok(vec![Vec::new(); photos.len()]);
        }
        let (evidence, calibration) =
            (self.predictor.coefficients(queries, &options.sampling())?, self.reader.calibration());
        let tilts = |(photo, said): (&&EmbeddedPhoto, &Coefficients)| {
            let said = calibration.model_output(said, photo.views.iter().map(Embedding::values));
            Ok(calibration.tilts(said, options.samples)?)
        };
        photos.iter().zip(&evidence).map(tilts).collect()
    }

    /// What the model says, with the place that samples of the calibrated density mean together.
    fn sample(
        &self,
        photos: &[&EmbeddedPhoto],
        queries: &[Query<'_>],
        pooling: Pooling,
        options: &LocateOptions,
    ) -> Result<Vec<PhotoEvidence>> {
        let window_km = options.window_km.unwrap_or(Reading::default().window_km);
        let reading = Reading { pooling, window_km, every_sample: false };
        let tilts = self.tilts(photos, queries, options)?;
        let queries: Vec<Query<'_>> = queries.iter().zip(&tilts).map(|(query, own)| query.tilted(own)).collect();
        let found = self.predictor.predict(&queries, &options.sampling(), reading)?;
        let evidence = |found: Prediction| PhotoEvidence::new(found.evidence, Retrieved::Sampled(found.place));
        Ok(found.into_iter().map(evidence).collect())
    }

    pub(crate) fn search(&self, photos: &[&EmbeddedPhoto]) -> Result<Vec<Retrieved>> {
        if let (Some(GalleryUse::Mix { retriever, .. }), Some(mix)) =
            (&self.gallery, &self.reader.calibration().gallery)
        {
            let embeddings: Vec<Vec<f32>> = photos.iter().map(|photo| photo.for_retrieval()).collect();
            let hits = retriever.retrieve_many(&embeddings, mix.kernels.neighbours)?;
            let found = |hits: Vec<_>| {
                let neighbours = crate::retrieval::neighbours(&hits);
                Retrieved::Neighbours(hits, neighbours)
            };
            return Ok(hits.into_iter().map(found).collect());
        }
        Ok(photos.iter().map(|_| Retrieved::Nothing).collect())
    }

    /// The log density at a place for each of several embedded photos, by resolved options. Fails of a model that gives no densities.
    pub(crate) fn log_densities_at(
        &self,
        place: LatLon,
        photos: &[&EmbeddedPhoto],
        options: &LocateOptions,
    ) -> Result<Vec<f64>> {
        let pairs: Vec<_> = photos.iter().zip(self.ask(photos, options)?).collect();
        let at_place = |(photo, said): (&&EmbeddedPhoto, PhotoEvidence)| {
            let (_, _, given) = given(photo, &said, options)?;
            let (density, _) = self.density(photo, &said, &given, options)?.ok_or(Failure::NoDensity)?;
            Ok(density.log_density(&[place.to_unit()])[0])
        };
        pairs.into_par_iter().map(at_place).collect()
    }

    /// The density for what the model says of a photo and other evidence, and the probability that the photo is out of domain.
    fn density(
        &self,
        photo: &EmbeddedPhoto,
        said: &PhotoEvidence,
        given: &[Evidence],
        options: &LocateOptions,
    ) -> Result<Option<(Density, f64)>> {
        let Some(evidence) = &said.evidence else { return Ok(None) };
        let views = photo.views.iter().map(Embedding::values);
        let evidence =
            self.reader.calibration().model_output(evidence, views).with_neighbours(said.retrieved.neighbours());
        let evidence = evidence.with_places(said.places.as_ref().map(|found| &found.field));
        let evidence = match options.factors {
            MapFactorChoice::All => evidence,
            MapFactorChoice::None => evidence.without_factors(),
        };
        let density = self.reader.density(evidence.with_evidence(given), options.known())?;
        Ok(Some((density, evidence.ood)))
    }

    fn read_off(&self, photo: &EmbeddedPhoto, said: &PhotoEvidence, options: &LocateOptions) -> Result<Answer> {
        let settled = said.retrieved.place();
        let (text, lines, given) = given(photo, said, options)?;
        let mut answer = match self.density(photo, said, &given, options)? {
            Some((density, ood)) => self.reader.answer_from(density, ood, settled, &options.reading()),
            None => Answer::place_alone(settled.ok_or_else(|| self.no_densities())?),
        };
        let contribution = said.retrieved.contribution(&answer);
        let contribution = contribution.or_else(|| {
            let first = said.places.as_ref()?.first.as_ref()?;
            Some(crate::retrieval::first_place(first, &answer))
        });
        if let Some(from_density) = &mut answer.from_density {
            from_density.gallery = contribution;
            answer.text = ReadText::used(&text, &lines, &from_density.density, answer.best);
            if options.why {
                from_density.ledger = from_density.density.ledger(answer.best, from_density.window_km);
            }
        }
        if let Some(gallery) = &self.gallery {
            gallery.name_match(&mut answer);
        }
        answer.photo.clone_from(&photo.name);
        answer.gps = photo.gps;
        answer.restricted_by.clone_from(&options.restricted_by);
        Ok(answer)
    }

    /// Fails if a photo's embeddings or resolved options do not go with this locator.
    pub(crate) fn check_photo(&self, photo: &EmbeddedPhoto, options: &LocateOptions) -> Result<()> {
        self.check(options)?;
        photo.views.iter().try_for_each(|view| self.check_encoder(view.encoder()))
    }

    /// Fails if an option is out of range, or the model or its gallery cannot honour it.
    pub fn check(&self, options: &LocateOptions) -> Result<()> {
        options.check()?;
        options.check_sampler(self.settles())?;
        if let Some(gallery) = &self.gallery {
            gallery.check(options)?;
        }
        if options.pool.is_none() && !self.settles() && !self.model().config().loss.has_quadrature() {
            return Err(self.no_densities());
        }
        self.check_places(options)
    }

    fn settles(&self) -> bool {
        matches!(self.gallery, Some(GalleryUse::Settle { .. }))
    }

    /// Whether options go with a model that gives places scores, or with one that does not.
    fn check_places(&self, options: &LocateOptions) -> Result<()> {
        if self.places.is_some() {
            let failed = |_| Err(locdiff_base::setting("pool", "with GeoCLIP", "it has no samples: leave it out"));
            return options.pool.map_or(Ok(()), failed);
        }
        if options.refine {
            let remedy = "only GeoCLIP can refine: leave it out";
            return Err(locdiff_base::setting("refine", "with this model", remedy));
        }
        Ok(())
    }

    /// Fails if the model was trained with another encoder.
    pub(crate) fn check_encoder(&self, met: Option<&Fingerprint>) -> Result<()> {
        let calibrated = self.reader.calibration().encoder.as_ref();
        match (met, self.model().config().encoder.as_ref().or(calibrated)) {
            (Some(met), Some(model)) if !met.is_same_encoder(model) => {
                Err(Failure::OtherEncoder { met: met.clone(), model: model.clone() }.into())
            }
            _ => Ok(()),
        }
    }
}

/// Returns the text that counts, the line of each piece of its evidence, and all evidence: first the text's, then the clues'.
fn given(
    photo: &EmbeddedPhoto,
    said: &PhotoEvidence,
    options: &LocateOptions,
) -> Result<(Vec<ReadText>, Vec<usize>, Vec<Evidence>)> {
    // A location from samples or from a gallery knows no text.
    let uses_text = options.text && said.retrieved.place().is_none();
    let text: Vec<ReadText> = if uses_text { unignored(&photo.text, &options.ignore_text) } else { Vec::new() };
    let (lines, mut given) = ReadText::all_evidence(&text);
    given.extend(options.clues(photo.clue_time())?);
    Ok((text, lines, given))
}

/// A model's folder, or its name in the data folder, with its calibration, if it has one.
pub(crate) fn open_model(folder: &Path, device: &Device) -> Result<(Model, Option<Calibration>)> {
    let folder = crate::home::found(folder)?;
    let model = Model::load(device, &folder)?;
    let calibration = Calibration::load(folder, &shape_of(&model))?;
    Ok((model, calibration))
}

/// A server shares one locator between its threads.
const _: fn() = || {
    fn shared<T: Send + Sync>() {}
    shared::<(Locator, LocateOptions, Answer, LocateError, EmbeddedPhoto)>();
};
