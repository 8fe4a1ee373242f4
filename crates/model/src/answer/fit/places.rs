//! How the scores of a model that gives places scores become a density that holds.

use super::gallery::choose_share;
use super::reading::{Levels, Observation, group_weights, read_levels, shares_within_levels, weights_of};
use crate::answer::place_field::{LEAST_SHARE, noise, tail_km};
use crate::answer::{Calibration, CandidatePlaces, FitReport, Globe, PlaceSettings, Result, kernels::kernel_area};
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, UnitVec};
use rayon::prelude::*;
use std::{f64::consts::PI, sync::Arc};

/// Widths of kernels that are tried,
const WIDTHS_KM: [f64; 9] = [6.0, 10.0, 15.0, 25.0, 40.0, 70.0, 120.0, 250.0, 500.0];
/// and temperatures: the model's own times the first of these, then times the root of a half, again and again.
const HIGHEST: [f64; 2] = [4.0, 4.0 * std::f64::consts::FRAC_1_SQRT_2];
const HALVINGS: usize = 8;
/// Powers of the noise on the temperature.
const SHARPENINGS: [f64; 3] = [0.0, 0.5, 1.0];
const SHARES: [f64; 12] = [0.01, 0.05, 0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.97, 0.99, 0.997];
/// A kernel counts nothing where it is below e to the power of this.
const FAR: f64 = -20.0;

/// Chooses temperature, sharpening and width by the density that photos' true places have.
pub struct PlaceFit<'a> {
    table: &'a CandidatePlaces,
    /// The model's own.
    temperature: f64,
}

impl<'a> PlaceFit<'a> {
    /// For a model's places and its own temperature.
    pub fn new(table: &'a CandidatePlaces, temperature: f64) -> Self {
        Self { table, temperature }
    }

    /// A photo's density at its true place under each setting.
    pub fn see(&self, scores: &[f32], truth: UnitVec) -> Vec<f64> {
        let near = self.near(truth);
        let best = f64::from(scores.iter().copied().fold(f32::MIN, f32::max));
        let mut seen = Vec::new();
        for (sharpening, factor) in SHARPENINGS.into_iter().flat_map(|power| HIGHEST.map(|factor| (power, factor))) {
            let rate = 1.0 / (self.temperature * factor * noise(best).powf(sharpening));
            let mut weights: Vec<f64> = scores.iter().map(|score| ((f64::from(*score) - best) * rate).exp()).collect();
            for _ in 0..HALVINGS {
                let total: f64 = weights.iter().sum();
                let mut sums = [0.0; WIDTHS_KM.len()];
                for (place, own) in &near {
                    let weight = weights[*place] / total;
                    let kind = usize::from(weight < LEAST_SHARE);
                    sums.iter_mut().zip(own).for_each(|(sum, kernels)| *sum += weight * kernels[kind]);
                }
                seen.extend(sums);
                weights.iter_mut().for_each(|weight| *weight *= *weight); // half the temperature
            }
        }
        seen
    }

    /// The places near one, with their kernels' heights there: for each width that of a place that holds much, and of one that holds little.
    fn near(&self, truth: UnitVec) -> Vec<(usize, [[f64; 2]; WIDTHS_KM.len()])> {
        let kernels = WIDTHS_KM.map(|width_km| {
            [width_km, tail_km(width_km)].map(|width_km| {
                let kappa = (EARTH_RADIUS_KM / width_km).powi(2);
                (kappa, kernel_area(kappa))
            })
        });
        let height = |(kappa, area): (f64, f64), dot: f64| {
            let exponent = kappa * (dot - 1.0);
            if exponent > FAR { exponent.exp() / area } else { 0.0 }
        };
        let widest = kernels[WIDTHS_KM.len() - 1][1].0;
        let dots = self.table.points().iter().map(|place| place.dot(truth)).enumerate();
        let near = dots.filter(|(_, dot)| widest * (dot - 1.0) > FAR);
        near.map(|(place, dot)| (place, kernels.map(|both| both.map(|one| height(one, dot))))).collect()
    }

    /// The settings under which what was seen of photos is most probable, and the mean −log density. `groups` are the
    /// photos' collections, which count the same.
    pub fn choose(&self, key: &str, seen: &[Vec<f64>], groups: &[usize]) -> (PlaceSettings, f64) {
        let weights = &weights_of(groups);
        let even = vec![-(4.0 * PI).ln(); seen.len()];
        let tried = settings(self.temperature).enumerate().map(|(k, settings)| {
            let places: Vec<f64> = seen.iter().map(|photo| photo[k]).collect();
            let (share, nll) = choose_share(&SHARES, &even, &places, weights);
            (PlaceSettings { key: key.to_owned(), share, ..settings }, nll)
        });
        tried.min_by(|a, b| a.1.total_cmp(&b.1)).expect("there are settings")
    }
}

/// All settings, in the order of [`PlaceFit::see`].
fn settings(temperature: f64) -> impl Iterator<Item = PlaceSettings> {
    let powers = SHARPENINGS.into_iter().flat_map(|power| HIGHEST.map(|factor| (power, factor)));
    let halve = |(power, factor)| (0..HALVINGS).map(move |k| (power, factor * 0.5_f64.powi(k as i32)));
    powers.flat_map(halve).flat_map(move |(sharpening, factor)| {
        let settings =
            |width_km| PlaceSettings { sharpening, width_km, ..PlaceSettings::unfitted(factor * temperature) };
        WIDTHS_KM.map(settings)
    })
}

/// A calibration with settings that were chosen, whose window, radii and threshold hold for photos seen with them.
/// Fails on numbers of another degree.
pub fn fit_places(
    globe: &Arc<Globe>,
    calibration: &Calibration,
    photos: &[Observation],
    nll_nats: f64,
) -> Result<Calibration> {
    let Levels { window_km, can_tell_from, own: radius_levels, by_radius: levels_by_radius, radii, .. } =
        read_levels(globe, calibration, (photos, None), &[])?;
    let mut fitted = Calibration { window_km, can_tell_from, radius_levels, levels_by_radius, ..calibration.clone() };
    let weights = group_weights(photos);
    let denser = photos.par_iter().zip(&weights).map(|(seen, weight)| {
        let density = fitted.density(globe, seen.model_output(&fitted), None)?;
        Ok((density.mass_denser_than(seen.truth.to_unit()), *weight))
    });
    let regions = shares_within_levels(&denser.collect::<Result<Vec<_>>>()?);
    let (n, background_nll_nats) = (photos.len(), (4.0 * PI).ln());
    let report = FitReport { n, nll_nats, background_nll_nats, regions, radii, ..FitReport::default() };
    fitted.fit = Some(report);
    Ok(fitted)
}
