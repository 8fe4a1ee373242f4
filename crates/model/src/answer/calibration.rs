//! How far a model's output can be trusted, measured on photos it has not seen, and stored with it.

use crate::answer::cell_grid::CellGrid;
use crate::answer::density::Density;
use crate::answer::mixture::{FieldValues, Mixture, log_sum};
use crate::answer::support::Support;
use crate::answer::{
    ClassProbabilities, GalleryMix, Globe, Kernels, Knowledge, LEVELS, Neighbour, PlaceField, PlaceSettings, Probe,
    Result, SureLevels, Sureness, Surroundings, map_factors::MapFactors,
};
use locdiff_io::data::Fingerprint;
use locdiff_map::evidence::Evidence;
use locdiff_shdd::Coefficients;
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, f64::consts::PI, sync::Arc};

/// The share that is spread evenly over the Earth if nothing was fitted: no model alone rules out a place.
pub(crate) const FLOOR: f64 = 0.01;
/// The window where nothing was fitted: about a country.
pub(crate) const WINDOW_KM: f64 = 750.0;

/// The exponent of map factors if nothing was fitted: heads and network say partly the same.
const MAP_EXPONENT: f64 = 0.5;

/// How the network's output becomes a density that holds what it says:
/// `q ∝ (1 − floor)·exp((evidence·e + background_weight·e₀)·Y) + floor`, where e are the natural parameters that the
/// network gives for a photo at pure noise, and e₀ those for no photo at all.
///
/// Photos of another kind than the model was trained for have factors of their own; in between, densities are mixed.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// The factors for photos of the model's kind.
    pub factors: Factors,
    /// The radius of the window that the density is seen through: the place that is answered is where it holds most.
    pub window_km: f64,
    /// A narrower window for densities that are narrow enough.
    pub narrow_window: Option<NarrowWindow>,
    /// Answers whose locatability is lower say "I can't tell".
    pub can_tell_from: f64,
    /// For 10, 20 … 90 %, the probability that the density must hold within a radius for the radius to hold that share
    /// of true places: answers are where the model errs, so radii are a little larger than the density alone has them.
    pub radius_levels: [f64; 9],
    /// Radius levels by how sure an answer is. If there are any, they replace `radius_levels`.
    pub levels_by_radius: SureLevels,
    /// What holds for photos of another kind.
    pub out_of_domain: Option<OutOfDomain>,
    /// How the scores of a model that gives places scores become a density; absent for other models.
    pub places: Option<PlaceSettings>,
    /// How a gallery's density is mixed with the model's, where one was fitted.
    pub gallery: Option<GalleryMix>,
    /// The factors of the density without map factors, for photos of the model's kind and of others: for albums, samples and answers
    /// without map factors. `None` if they are the same.
    pub plain: Option<[Factors; 2]>,
    /// Heads that predict the classes of map attributes; absent for a model without map factors.
    pub surroundings: Option<Arc<Surroundings>>,
    /// What it was fitted on; absent for a model that never was.
    pub fit: Option<FitReport>,
    /// The encoder whose embeddings it was fitted on, where that is known.
    pub encoder: Option<Fingerprint>,
    /// e₀.
    pub background: Coefficients,
}

/// A window that an answer is read through if it holds enough of the probability.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NarrowWindow {
    /// Its radius.
    pub km: f64,
    /// The probability that it must hold at the most probable place.
    pub share: f64,
}

/// The model that a calibration belongs to: what both must agree on.
#[derive(Debug, Clone, Copy)]
pub struct ModelShape<'a> {
    /// Its degree.
    pub degree: usize,
    /// Numbers of the embeddings that it takes.
    pub embedding_dim: usize,
    /// The encoder that it was trained with, where that is known.
    pub encoder: Option<&'a Fingerprint>,
}

/// How much of a density comes from where.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Factors {
    /// The factor on the network's coefficients: below 1, because the network is overconfident.
    pub evidence: f64,
    /// The factor on what it expects without a photo.
    pub background_weight: f64,
    /// The share that is spread evenly over the Earth.
    pub floor: f64,
    /// The exponent of the map factors; 0 leaves them out.
    #[serde(default)]
    pub map_exponent: f64,
}

/// What holds for photos of another kind than the model was trained for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutOfDomain {
    /// The probe that detects them.
    pub probe: Probe,
    /// Their factors.
    pub factors: Factors,
    /// Their exponents of map factors, if these differ by attribute: towns, coast, climate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map_exponents: Option<[f64; 3]>,
    /// Their radii, as [`Calibration::radius_levels`].
    pub radius_levels: [f64; 9],
    /// Their window, if it is another one than [`Calibration::window_km`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_km: Option<f64>,
}

/// What a calibration was fitted on and how well it fits there.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitReport {
    /// Number of photos.
    pub n: usize,
    /// Number of photos of another kind.
    #[serde(default, alias = "strangers")]
    pub out_of_domain: usize,
    /// Samples per photo.
    pub samples: usize,
    /// Seed of the noise.
    pub seed: u64,
    /// Mean −log density at the true places, nats per steradian.
    pub nll_nats: f64,
    /// Mean −log density at the true places without a photo, nats per steradian.
    pub background_nll_nats: f64,
    /// Shares of true places inside the regions that should hold 10, 20 … 90 %.
    pub regions: Vec<f64>,
    /// Shares of true places within the radii that should hold 10, 20 … 90 % by the density alone.
    pub radii: Vec<f64>,
}

impl Calibration {
    /// The network's output unchanged, for a model that was never calibrated.
    pub fn none(background: Coefficients) -> Self {
        Self {
            factors: Factors { evidence: 1.0, background_weight: 0.0, floor: FLOOR, map_exponent: MAP_EXPONENT },
            window_km: WINDOW_KM,
            narrow_window: None,
            can_tell_from: 0.0,
            radius_levels: LEVELS,
            levels_by_radius: SureLevels::default(),
            out_of_domain: None,
            places: None,
            gallery: None,
            plain: None,
            surroundings: None,
            fit: None,
            encoder: None,
            background,
        }
    }

    /// Whether it was fitted on photos.
    pub fn is_fitted(&self) -> bool {
        self.fit.is_some()
    }

    /// The calibration for answers with a gallery: the mixture's window, radii and threshold replace the model's own.
    #[must_use]
    pub fn with_gallery(mut self, mix: GalleryMix) -> Self {
        if mix.is_fitted() {
            (self.window_km, self.narrow_window) = (mix.window_km, None);
            self.can_tell_from = mix.can_tell_from;
            self.radius_levels = mix.radius_levels;
            self.levels_by_radius = SureLevels::default();
            if let Some(out_of_domain) = &mut self.out_of_domain {
                out_of_domain.radius_levels = mix.out_of_domain_radius_levels;
            }
        }
        self.gallery = Some(mix);
        self
    }

    /// The probability that the density must hold within a radius for the radius to hold the share `p` of true places.
    pub fn radius_level(&self, p: f64, ood: f64, sure: Sureness) -> f64 {
        interpolated_level(p, LEVELS, self.radius_levels_for(ood, sure))
    }

    /// The radius levels for a photo that is out of domain with this probability, and whose answer is as sure as this.
    fn radius_levels_for(&self, ood: f64, sure: Sureness) -> [f64; 9] {
        if let Some(levels) = self.levels_by_radius.at(sure) {
            return levels;
        }
        let Some(out_of_domain) = &self.out_of_domain else { return self.radius_levels };
        std::array::from_fn(|k| (1.0 - ood) * self.radius_levels[k] + ood * out_of_domain.radius_levels[k])
    }

    /// The other way around: the share that a radius holds within which the density holds `level`.
    pub fn radius_share(&self, level: f64, ood: f64, sure: Sureness) -> f64 {
        interpolated_level(level, self.radius_levels_for(ood, sure), LEVELS)
    }

    /// The output for a photo whose views have these embeddings; its out-of-domain probability is their mean.
    pub fn model_output<'a, 'b>(
        &self,
        evidence: &'a Coefficients,
        views: impl IntoIterator<Item = &'b [f32]>,
    ) -> ModelOutput<'a> {
        let views: Vec<&[f32]> = views.into_iter().collect();
        let share = |other: &OutOfDomain| views.iter().map(|view| other.probe.share(view)).sum::<f64>();
        let ood = self.out_of_domain.as_ref().map_or(0.0, share) / views.len().max(1) as f64;
        let classes = self.surroundings.as_ref().and_then(|heads| heads.mean(views.iter().copied()));
        ModelOutput { ood, classes, ..ModelOutput::new(evidence) }
    }

    /// The density for the models' output for a photo. Fails on a globe, coefficients and a calibration of different degrees.
    pub fn density(
        &self,
        globe: &Arc<Globe>,
        output: ModelOutput<'_>,
        knowledge: Option<Arc<Knowledge>>,
    ) -> Result<Density> {
        let classes = output.classes.as_ref().filter(|_| output.places.is_none());
        let map = classes.map(|classes| (classes, self.map_exponents(output.ood)));
        let map = map.filter(|(_, exponents)| *exponents != [0.0; 3]);
        let [own, other] = if map.is_some() { self.factors_by_kind() } else { self.plain_factors() };
        let parts = match &self.out_of_domain {
            Some(_) if output.ood > NO_OOD => vec![(own, 1.0 - output.ood), (other, output.ood)],
            _ => vec![(own, 1.0)],
        };
        let gallery = self.gallery.as_ref().filter(|_| !output.neighbours.is_empty());
        let gallery = gallery.map(|mix| (mix.kernels.kernels(output.neighbours), mix.share_for(output.ood)));
        let gallery = gallery.filter(|(_, share)| *share > 0.0);
        let model = 1.0 - gallery.as_ref().map_or(0.0, |(_, share)| *share);
        let places = output.places.zip(self.places.as_ref()).map(|(field, own)| (field.clone(), model * own.share));
        let model = model - places.as_ref().map_or(0.0, |(_, share)| *share);
        let parts = parts.into_iter().map(|(factors, share)| (factors, model * share)).collect();
        let fields = (output.coefficients, &self.background);
        Ok(density_of(globe, fields, parts, (places, gallery), (knowledge, map))?.with_evidence(output.evidence))
    }

    /// The factors for photos of the model's kind and of others.
    fn factors_by_kind(&self) -> [Factors; 2] {
        [self.factors, self.out_of_domain.as_ref().map_or(self.factors, |other| other.factors)]
    }

    /// Those of the density without map factors.
    pub fn plain_factors(&self) -> [Factors; 2] {
        self.plain.unwrap_or_else(|| self.factors_by_kind())
    }

    /// The exponents of the map factors for a photo that is out of domain with this probability.
    fn map_exponents(&self, ood: f64) -> [f64; 3] {
        let own = self.factors.map_exponent;
        let theirs = |other: &OutOfDomain| other.map_exponents.unwrap_or([other.factors.map_exponent; 3]);
        let theirs = self.out_of_domain.as_ref().map_or([own; 3], theirs);
        theirs.map(|theirs| (1.0 - ood) * own + ood * theirs)
    }

    /// The window for a photo that is out of domain with this probability.
    pub fn window_km_for(&self, ood: f64) -> f64 {
        let theirs = self.out_of_domain.as_ref().and_then(|other| other.window_km).unwrap_or(self.window_km);
        (1.0 - ood) * self.window_km + ood * theirs
    }

    /// Natural parameters that make samples of the network's density samples of this one, one a sample; as many have
    /// the factors for photos of another kind as the photo probably is of one. Empty if nothing changes. The floor is
    /// left out. Fails on coefficients and a calibration of different degrees.
    pub fn tilts(&self, output: ModelOutput<'_>, samples: usize) -> Result<Vec<Coefficients>> {
        let [own, other] = self.plain_factors();
        let factors = |sample: usize| match &self.out_of_domain {
            Some(_) if (sample as f64 + 0.5) / samples as f64 > 1.0 - output.ood => other,
            _ => own,
        };
        let is_plain = |factors: Factors| factors.evidence == 1.0 && factors.background_weight == 0.0;
        if (0..samples).all(|sample| is_plain(factors(sample))) {
            return Ok(Vec::new());
        }
        let tilt = |factors: Factors| {
            output.coefficients.combine(factors.evidence - 1.0, &self.background, factors.background_weight)
        };
        (0..samples).map(|sample| Ok(tilt(factors(sample))?)).collect()
    }

    pub(crate) fn background_density(&self, globe: &Arc<Globe>) -> Result<Density> {
        let factors = Factors { evidence: 1.0, background_weight: 0.0, ..self.factors };
        density_of(globe, (&self.background, &self.background), vec![(factors, 1.0)], (None, None), (None, None))
    }
}

/// Photos that are out of domain with a lower probability than this are none.
const NO_OOD: f64 = 1e-3;

/// The density of a model that gives places scores, and a gallery's, each with its share.
type Found = (Option<(Arc<PlaceField>, f64)>, Option<(Kernels, f64)>);

/// What a photo shows of map attributes, and the exponents of their factors.
type SeenClasses<'a> = (&'a ClassProbabilities, [f64; 3]);

/// A mixture of `exp((evidence·e + background_weight·e₀)·Y)`, each with a floor and a share, and of what was found with its shares.
fn density_of(
    globe: &Arc<Globe>,
    (e, e0): (&Coefficients, &Coefficients),
    parts: Vec<(Factors, f64)>,
    (places, gallery): Found,
    (knowledge, map): (Option<Arc<Knowledge>>, Option<SeenClasses<'_>>),
) -> Result<Density> {
    let (pixels, photo) = (globe.pixels(), globe.codec().field(e)?);
    let at_pixels = pixels.values(&photo);
    let mut mixture = Mixture { parts: Vec::new(), floor: 0.0, places: None, gallery: None };
    let grid = map.and_then(|map| Some((map, globe.cells()?)));
    let mut sum = vec![0.0; if grid.is_none() { pixels.len() } else { 0 }];
    let mut weights = Vec::new();
    for (Factors { evidence, background_weight, floor, .. }, share) in parts {
        let natural = e.combine(evidence, e0, background_weight)?;
        if natural.as_slice().iter().all(|c| *c == 0.0) {
            mixture.floor += share / (4.0 * PI); // flat: nothing to evaluate
            continue;
        }
        let field = globe.codec().field(&natural)?;
        let values = values_of(globe, None, (&at_pixels, e0), [evidence, background_weight])?;
        let (top, total) = values.exponents(0.0).sum_exp();
        let log_scale = (share * (1.0 - floor) / (total * pixels.area_sr())).ln() - top;
        values.exponents(log_scale).add_exp(&mut sum);
        mixture.parts.push((field, log_scale));
        mixture.floor += share * floor / (4.0 * PI);
        weights.push([evidence, background_weight]);
    }
    if let Some(((classes, exponents), grid)) = grid {
        mixture.gallery = gallery.map(|(kernels, share)| (kernels, share.ln()));
        let at_points = grid.smooth_values(&photo);
        let values = |weights: &[f64; 2]| values_of(globe, Some(grid), (&at_points, e0), *weights);
        let values = weights.iter().map(values).collect::<Result<Vec<_>>>()?;
        let smooth = mixture.densities_of(grid.smooth_points(), values);
        let factors = MapFactors::new(classes, exponents, grid.histogram(&smooth));
        return Ok(Density::with_factors(globe, mixture, knowledge, (factors, &smooth)));
    }
    if places.is_some() {
        mixture.places = places;
        mixture.gallery = gallery.map(|(kernels, share)| (kernels, share.ln()));
        return Ok(Density::new(globe.clone(), mixture, knowledge, None));
    }
    if mixture.floor > 0.0 || sum.iter().all(|value| *value > 0.0) {
        sum.iter_mut().for_each(|value| *value = (*value + mixture.floor).ln());
    } else {
        // Too small for a number, not for its logarithm.
        sum = mixture.log_densities(&Support::Globe(globe.clone()));
    }
    if let Some((kernels, share)) = gallery {
        let found = kernels.log_densities(pixels.points());
        sum.iter_mut().zip(found).for_each(|(sum, value)| *sum = log_sum(*sum, value + share.ln()));
        mixture.gallery = Some((kernels, share.ln()));
    }
    Ok(Density::new(globe.clone(), mixture, knowledge, Some(sum)))
}

/// The values of `photo·e + background·e₀` at the pixels, or at the smooth points of a grid, given those of e and the two weights.
fn values_of<'a>(
    globe: &'a Globe,
    grid: Option<&CellGrid>,
    (values, e0): (&'a [f64], &Coefficients),
    [photo, background]: [f64; 2],
) -> Result<FieldValues<'a>> {
    let shared = if background == 0.0 { Cow::from(&[]) } else { globe.shared_values(grid, e0)? };
    Ok(FieldValues([(photo, values.into()), (background, shared)]))
}

/// Linear interpolation from one rising list to another, both with 0 before and 1 after.
fn interpolated_level(x: f64, from: [f64; 9], to: [f64; 9]) -> f64 {
    let ends = |inner: [f64; 9]| [&[0.0], &inner[..], &[1.0]].concat();
    let (from, to) = (ends(from), ends(to));
    let k = from.partition_point(|level| *level <= x).clamp(1, 10);
    let width = from[k] - from[k - 1];
    let part = if width > 0.0 { ((x - from[k - 1]) / width).clamp(0.0, 1.0) } else { 1.0 };
    to[k - 1] + part * (to[k] - to[k - 1])
}

/// The network's coefficients for a photo, the probability that it is out of domain, and what other models found.
#[derive(Debug, Clone, Copy)]
pub struct ModelOutput<'a> {
    /// The natural parameters that the network gave at pure noise.
    pub coefficients: &'a Coefficients,
    /// The probability that the photo is of another kind than the model was trained for: see [`crate::answer::Probe`].
    pub ood: f64,
    /// The photo's neighbours in a gallery, the most similar first; empty without a gallery.
    pub neighbours: &'a [Neighbour],
    /// The density of a model that gives places scores.
    pub places: Option<&'a Arc<PlaceField>>,
    /// The classes of map attributes that the photo shows.
    pub classes: Option<ClassProbabilities>,
    /// What text in the photo says, and what somebody knows.
    pub evidence: &'a [Evidence],
}

impl<'a> ModelOutput<'a> {
    /// The output for a photo of the model's own kind.
    pub fn new(coefficients: &'a Coefficients) -> Self {
        Self { coefficients, ood: 0.0, neighbours: &[], places: None, classes: None, evidence: &[] }
    }

    /// Adds a gallery's neighbours.
    #[must_use]
    pub fn with_neighbours(self, neighbours: &'a [Neighbour]) -> Self {
        Self { neighbours, ..self }
    }

    /// Adds evidence.
    #[must_use]
    pub fn with_evidence(self, evidence: &'a [Evidence]) -> Self {
        Self { evidence, ..self }
    }

    /// Without map factors: the plain density of the network.
    #[must_use]
    pub fn without_factors(self) -> Self {
        Self { classes: None, ..self }
    }

    /// Adds the density of a model that gives places scores.
    #[must_use]
    pub fn with_places(self, places: Option<&'a Arc<PlaceField>>) -> Self {
        Self { places, ..self }
    }
}
