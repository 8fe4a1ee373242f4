//! The likelihood ratio of a photo's places against knowing nothing.

use crate::{Result, earth::Earth, earth::log_sum, photo::AlbumPhoto};
use locdiff_map::evidence::Evidence;
use locdiff_model::answer::{Calibration, PlaceField};
use locdiff_shdd::sphere::{Field, UnitVec};
use rayon::prelude::*;
use std::{f64::consts::PI, sync::Arc};

/// Photos before and after one that it is compared with at the most.
pub(crate) const NEIGHBOURS: usize = 200;

/// Both densities of a ratio have so much of an even one: where neither knows anything, in the middle of a sea, it is 1.
pub(crate) const EVEN: f64 = 0.05 / (4.0 * PI);

fn ratio(density: f64, background: f64, even: f64) -> f64 {
    (density + even) / (background + even)
}

/// Kernels are no narrower on the grid, whose points are about 200 km apart.
const NARROWEST_ON_GRID_KM: f64 = 150.0;

/// `(q/q₀)^γ`, scaled such that its mean over places without a photo is 1.
pub(crate) struct LikelihoodRatio {
    parts: Vec<(Field, f64)>,
    floor: f64,
    /// The density of a model that gives places scores, and its share.
    places: Option<(Arc<PlaceField>, f64)>,
    evidence: Arc<[Evidence]>,
    even: f64,
    weight: f64,
    log_mean: f64,
    /// At the grid's points.
    pub(crate) grid: Vec<f64>,
}

impl LikelihoodRatio {
    /// Of a photo whose likelihood has this weight γ, with so much of an even density on both sides.
    pub(crate) fn of(photo: &AlbumPhoto, (weight, even): (f64, f64), earth: &Earth, fit: &Calibration) -> Result<Self> {
        let own = photo.coefficients.coefficients()?;
        let [own_kind, other_kind] = fit.plain_factors();
        let kinds = [(own_kind, 1.0 - photo.ood), (other_kind, photo.ood)];
        let (mut parts, mut floor, mut density) = (Vec::new(), 0.0, vec![0.0; earth.points.len()]);
        let places = photo.places.clone().zip(fit.places.as_ref().map(|settings| settings.share));
        if let Some((field, share)) = &places {
            let wide = field.no_narrower_than_km(NARROWEST_ON_GRID_KM).densities(&earth.points);
            density.iter_mut().zip(wide).for_each(|(sum, density)| *sum += share * density);
        }
        let model = 1.0 - places.as_ref().map_or(0.0, |(_, share)| *share);
        let kinds = kinds.into_iter().map(|(factors, share)| (factors, model * share));
        for (factors, share) in kinds.filter(|(_, share)| *share > 1e-3) {
            let natural = own.combine(factors.evidence, &fit.background, factors.background_weight)?;
            let (field, values) = earth.field(&natural)?;
            let log_scale = (share * (1.0 - factors.floor)).ln() - log_sum(&values, &earth.areas);
            density.iter_mut().zip(&values).for_each(|(sum, value)| *sum += (value + log_scale).exp());
            parts.push((field, log_scale));
            floor += share * factors.floor / (4.0 * PI);
        }
        let ratio = |density: f64, background: f64| ratio(density + floor, background, even).ln() * weight;
        let mut grid: Vec<f64> =
            density.iter().zip(&earth.background).map(|(density, background)| ratio(*density, *background)).collect();
        // As wide at any point: text alone never makes a location sure enough for a tag.
        let evidence: Arc<[Evidence]> =
            photo.evidence.iter().map(|own| own.no_narrower_than_km(NARROWEST_ON_GRID_KM)).collect();
        for evidence in evidence.iter() {
            let pairs = grid.par_iter_mut().zip(&earth.points);
            pairs.for_each(|(log, point)| *log += weight * evidence.likelihood(*point).ln());
        }
        let weighted = grid.iter().zip(&earth.background).zip(&earth.areas);
        let mean: f64 = weighted.map(|((log, background), area)| log.exp() * background * area).sum();
        let log_mean = mean.ln();
        grid.iter_mut().for_each(|value| *value = (*value - log_mean).exp());
        Ok(Self { parts, floor, places, evidence, even, weight, log_mean, grid })
    }

    /// At any points.
    pub(crate) fn at(&self, points: &[UnitVec], earth: &Earth) -> Vec<f64> {
        if points.is_empty() {
            return Vec::new();
        }
        let mut density = vec![self.floor; points.len()];
        for (field, log_scale) in &self.parts {
            density.iter_mut().zip(field.values(points)).for_each(|(sum, value)| *sum += (value + log_scale).exp());
        }
        if let Some((field, share)) = &self.places {
            density.iter_mut().zip(field.densities(points)).for_each(|(sum, density)| *sum += share * density);
        }
        let background = earth.background_at(points);
        let log = |((density, background), point): ((f64, f64), &UnitVec)| {
            let said: f64 = self.evidence.iter().map(|own| own.likelihood(*point).ln()).sum();
            (ratio(density, background, self.even).ln() + said) * self.weight - self.log_mean
        };
        density.into_iter().zip(background).zip(points).map(|pair| log(pair).exp()).collect()
    }
}

/// The weight of each photo's likelihood, where photos share what they see: `shared` says of two, and of the seconds between them, how much.
pub(crate) fn weights(times: &[f64], dependence: f64, shared: impl Fn(usize, usize, f64) -> f64 + Sync) -> Vec<f64> {
    let one = |k: usize| {
        let around = k.saturating_sub(NEIGHBOURS)..(k + NEIGHBOURS + 1).min(times.len());
        let others = around.filter(|other| *other != k);
        let sum: f64 = others.map(|other| shared(k, other, (times[k] - times[other]).abs())).sum();
        1.0 / (1.0 + dependence * sum)
    };
    (0..times.len()).into_par_iter().map(one).collect()
}

/// How much photos so many seconds apart are of one moment.
pub(crate) fn one_moment(gap_s: f64, moment_s: f64) -> f64 {
    (-gap_s / moment_s).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn photos_of_one_moment_share_their_weight() {
        let time = |_, _, gap_s| one_moment(gap_s, 900.0);
        let apart = weights(&[0.0, 1e6, 2e6], 0.6, time);
        assert!(apart.iter().all(|weight| (weight - 1.0).abs() < 1e-3));
        let burst = weights(&[0.0, 0.0, 0.0, 0.0], 0.6, time);
        assert!(burst.iter().all(|weight| (weight - 1.0 / 2.8).abs() < 1e-12));
        let pairs = weights(&[0.0, 0.0, 0.0, 0.0], 0.6, |k, other, _| f64::from(k % 2 == other % 2));
        assert!(pairs.iter().all(|weight| (weight - 1.0 / 1.6).abs() < 1e-12));
    }
}
