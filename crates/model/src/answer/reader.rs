//! From a model's output to an answer, and to a verdict if the truth is known.

use crate::answer::{
    Answer, AnswerError, Calibration, Density, FromDensity, Globe, Hypothesis, Knowledge, LEVELS, ModelOutput,
    NarrowWindow, Peak, RegionShare, Result, Sureness,
};
use locdiff_shdd::sphere::{LatLon, haversine_km};
use std::sync::Arc;

/// Windows about a place that evidence names, the narrowest first.
const NAMED: [NarrowWindow; 2] = [NarrowWindow { km: 35.0, share: 0.3 }, NarrowWindow { km: 100.0, share: 0.3 }];

/// Reads answers off a calibrated model's output.
#[derive(Debug)]
pub struct Reader {
    globe: Arc<Globe>,
    calibration: Calibration,
    background: Density,
}

/// How an answer is read.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// The most hypotheses it lists.
    pub hypotheses: usize,
    /// The radius of the window that the density is seen through; the calibration's unless given.
    pub window_km: Option<f64>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { hypotheses: 5, window_km: None }
    }
}

impl ReadOptions {
    /// With so many hypotheses at the most.
    #[must_use]
    pub fn with_hypotheses(self, hypotheses: usize) -> Self {
        Self { hypotheses, ..self }
    }

    /// With a window of this radius.
    #[must_use]
    pub fn with_window_km(self, window_km: f64) -> Self {
        Self { window_km: Some(window_km), ..self }
    }
}

/// What a density says about the true place.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// Log density there, per steradian.
    pub log_density: f64,
    /// Probability of everything denser: that of the smallest region that holds the truth.
    pub region_level: f64,
    /// Area of that region, to half a pixel.
    pub region_area_km2: f64,
    /// The share that the radius to the truth should hold.
    pub radius_share: f64,
    /// The radii about the answer that should hold 10, 20 … 90 %.
    pub radii_km: Vec<f64>,
    /// The keys and probabilities of [`Answer::countries`]; none if they were not summed.
    pub countries: Vec<(String, f64)>,
}

impl Reader {
    /// For a globe and a calibration of one degree. Fails on different degrees.
    pub fn new(globe: Arc<Globe>, calibration: Calibration) -> Result<Self> {
        let background = calibration.background_density(&globe)?;
        Ok(Self { globe, calibration, background })
    }

    /// The globe that densities are summed on.
    pub fn globe(&self) -> &Arc<Globe> {
        &self.globe
    }

    /// The calibration.
    pub fn calibration(&self) -> &Calibration {
        &self.calibration
    }

    /// The density for the models' output for a photo.
    /// Fails on coefficients of another degree, or on knowledge that leaves no place.
    pub fn density(&self, output: ModelOutput<'_>, knowledge: Option<Arc<Knowledge>>) -> Result<Density> {
        let density = self.calibration.density(&self.globe, output, knowledge)?;
        if density.is_possible() { Ok(density) } else { Err(AnswerError::Impossible) }
    }

    /// The answer for the models' output for a photo. Fails as [`Reader::density`].
    pub fn answer(
        &self,
        output: ModelOutput<'_>,
        knowledge: Option<Arc<Knowledge>>,
        options: &ReadOptions,
    ) -> Result<Answer> {
        Ok(self.answer_from(self.density(output, knowledge)?, output.ood, None, options))
    }

    /// The most probable places of a density, and the radius of the window that they are read through: the narrowest that holds
    /// enough, if neither the options nor a settled place decide.
    pub fn peaks(&self, density: &Density, ood: f64, place: Option<LatLon>, options: &ReadOptions) -> (f64, Vec<Peak>) {
        let through = |km: f64| (km, density.peaks_after(place, km, options.hypotheses.max(1)));
        if let Some(km) = options.window_km {
            return through(km);
        }
        let is_named = || density.evidence().any(|own| !own.kernels.is_empty());
        let named = NAMED.into_iter().filter(|_| is_named());
        let may_hold = |window: &NarrowWindow| density.may_hold(window.km, window.share);
        let narrow = named.chain(self.calibration.narrow_window).filter(|_| place.is_none());
        let mut narrow = narrow.filter(may_hold);
        let found = narrow
            .find_map(|window| Some(through(window.km)).filter(|(_, peaks)| peaks[0].probability >= window.share));
        found.unwrap_or_else(|| through(self.calibration.window_km_for(ood)))
    }

    /// The answer that a density gives. If its place is settled already, everything else is read off around that place.
    pub fn answer_from(&self, density: Density, ood: f64, place: Option<LatLon>, options: &ReadOptions) -> Answer {
        let (window_km, peaks) = self.peaks(&density, ood, place, options);
        let hypotheses: Vec<_> = peaks.iter().map(|peak| Hypothesis::new(peak.place, peak.probability)).collect();
        let best = hypotheses[0].at;
        let locatability = density.locatability(best);
        let sure = self.sureness(&density, best);
        let levels = [0.5, 0.9].map(|share| self.calibration.radius_level(share, ood, sure));
        let radii = density.radii_km(best, &levels);
        let by_region = density.region_masses();
        let [half, most] = density.regions([0.5, 0.9]);
        let from_density = FromDensity {
            area_50_km2: half.area_km2,
            area_90_km2: most.area_km2,
            window_km,
            familiarity: 1.0 - ood,
            information_nats: density.divergence_nats(&self.background),
            not_calibrated: !self.calibration.is_fitted(),
            gallery: None,
            factors: density.factor_effects(best),
            ledger: Vec::new(),
            density: density.compact(),
        };
        let can_tell = locatability >= self.calibration.can_tell_from;
        let answer = Answer::at(best, [radii[0], radii[1]], hypotheses, locatability);
        Answer { can_tell, from_density: Some(from_density), ..answer }.with_regions(&by_region)
    }

    /// How sure an answer is, where levels depend on it.
    fn sureness(&self, density: &Density, place: LatLon) -> Sureness {
        if self.calibration.levels_by_radius.is_empty() { Sureness::default() } else { density.sureness(place) }
    }

    /// What a density, and radii about the place that was answered, say about the truth.
    pub fn judge(&self, density: &Density, ood: f64, answer: LatLon, truth: LatLon) -> Verdict {
        let within = density.mass_within_km(answer, haversine_km(answer, truth));
        let sure = self.sureness(density, answer);
        let levels = LEVELS.map(|share| self.calibration.radius_level(share, ood, sure));
        let truth = truth.to_unit();
        Verdict {
            log_density: density.log_density(&[truth])[0],
            region_level: density.mass_denser_than(truth),
            region_area_km2: density.area_denser_than_km2(truth),
            radius_share: self.calibration.radius_share(within, ood, sure),
            radii_km: density.radii_km(answer, &levels),
            countries: density.region_masses().countries().iter().map(RegionShare::keyed).collect(),
        }
    }
}
