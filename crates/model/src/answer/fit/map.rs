//! The factors on evidence and background, the floor and the exponent of the map factors, chosen together.

use super::factors::{BACKGROUND, Chosen, EVIDENCE, FLOORS, NEAR_BEST_NATS, worst_deviation};
use super::reading::{Observation, shares_within_levels};
use crate::answer::{AnswerError, Calibration, ClassProbabilities, Factors, Globe, Result, Surroundings};
use crate::{answer::cell_grid::CellGrid, answer::map_factors::MapFactors, answer::support::log_integral};
use locdiff_shdd::Coefficients;
use rayon::prelude::*;
use std::{f64::consts::PI, sync::Arc};

const EXPONENTS: [f64; 7] = [0.2, 0.3, 0.4, 0.5, 0.6, 0.75, 1.0];
/// A floor, and an exponent for each attribute.
type Setting = (f64, [f64; 3]);

/// The settings that the search begins with.
const FIRST: Setting = (0.01, [0.5; 3]);
/// More photos than this are thinned out evenly: choices among so many differ by their noise alone.
const MOST_PHOTOS: usize = 400;
/// Settings this near to the best are level. The sharpest of them is taken: the highest exponent, then the lowest floor.
const LEVEL_NATS: f64 = 0.01;
/// So many of the settings near the best are judged by their regions.
const JUDGED: usize = 8;

/// A photo as the search needs it: evidence at the smooth points and at wide pixels, and at the truth.
struct Seen {
    smooth: Vec<f32>,
    wide: Vec<f64>,
    at_truth: (f64, f64),
    joint: Option<usize>,
    classes: ClassProbabilities,
}

/// The search's shared tables: the background at the same points, and the even density by combinations of classes.
struct Tables<'a> {
    grid: &'a CellGrid,
    smooth: Vec<f64>,
    wide: Vec<f64>,
    even: Vec<f64>,
    wide_area: f64,
}

impl Tables<'_> {
    /// −log density of a photo's truth for each floor and exponent.
    fn nll(&self, seen: &Seen, (t, s): (f64, f64), settings: &[Setting]) -> Vec<f64> {
        let wide: Vec<f64> = seen.wide.iter().zip(&self.wide).map(|(a, b)| t * a + s * b).collect();
        let log_z = log_integral(&wide, self.wide_area);
        let values = seen.smooth.iter().zip(&self.smooth);
        let densities: Vec<f64> = values.map(|(a, b)| (t * f64::from(*a) + s * b - log_z).exp()).collect();
        let own = self.grid.histogram(&densities);
        let here = (t * seen.at_truth.0 + s * seen.at_truth.1 - log_z).exp();
        let nll = |&(floor, exponents): &Setting| {
            let mixed = own.iter().zip(&self.even).map(|(own, even)| (1.0 - floor) * own + floor * even);
            let factors = MapFactors::new(&seen.classes, exponents, mixed.collect());
            -(((1.0 - floor) * here + floor / (4.0 * PI)).ln() + factors.log_gain(seen.joint))
        };
        settings.iter().map(nll).collect()
    }

    /// The mean over photos, for each pair of factors and each setting.
    fn mean_nll(&self, photos: &[Seen], weights: &[f64], pairs: &[(f64, f64)], settings: &[Setting]) -> Vec<f64> {
        let each = photos.par_iter().zip(weights).map(|(seen, weight)| {
            let nll = pairs.iter().flat_map(|pair| self.nll(seen, *pair, settings));
            nll.map(|nll| weight * nll).collect::<Vec<f64>>()
        });
        let each: Vec<Vec<f64>> = each.collect();
        (0..pairs.len() * settings.len()).map(|k| each.iter().map(|photo| photo[k]).sum()).collect()
    }
}

fn least(values: &[f64]) -> usize {
    (0..values.len()).min_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap_or(0)
}

/// As `choose_factors`, for a density with map factors: first the factors on evidence and background, then floor and
/// exponent, then the factors again. Of all near the best, those whose regions deviate least are taken.
pub(super) fn choose_with_map(
    (globe, grid): (&Arc<Globe>, &CellGrid),
    background: &Coefficients,
    heads: &Arc<Surroundings>,
    photos: &[Observation],
    weights: &[f64],
) -> Result<Chosen> {
    let stride = photos.len().div_ceil(MOST_PHOTOS);
    let photos: &[Observation] = &photos.iter().step_by(stride).cloned().collect::<Vec<_>>();
    let total: f64 = weights.iter().step_by(stride).sum();
    let weights: &[f64] = &weights.iter().step_by(stride).map(|weight| weight / total).collect::<Vec<f64>>();
    let wide = globe.coarser()?;
    let field = globe.codec().field(background)?;
    let even = grid.histogram(&vec![1.0 / (4.0 * PI); grid.smooth_points().len()]);
    let wide_area = wide.pixels().area_sr();
    let tables =
        Tables { grid, smooth: grid.smooth_values(&field), wide: wide.pixels().values(&field), even, wide_area };
    let see = |photo: &Observation| {
        let (own, truth) = (globe.codec().field(&photo.evidence)?, photo.truth.to_unit());
        let wrong = || -> AnswerError {
            locdiff_base::setting("embedding", photo.embedding.len(), "the size that the heads take")
        };
        Ok(Seen {
            smooth: grid.smooth_values(&own).into_iter().map(|value| value as f32).collect(),
            wide: wide.pixels().values(&own),
            at_truth: (own.values(&[truth])[0], field.values(&[truth])[0]),
            joint: grid.joint_at(photo.truth),
            classes: heads.class_probabilities(&photo.embedding).ok_or_else(wrong)?,
        })
    };
    let seen: Vec<Seen> = photos.par_iter().map(see).collect::<Result<_>>()?;
    let pairs = EVIDENCE.flat_map(|t| BACKGROUND.map(move |s| (0.05 * f64::from(t), 0.2 * f64::from(s))));
    let mut pairs: Vec<(f64, f64)> = pairs.collect();
    let every: Vec<(f64, f64)> = pairs.iter().copied().step_by(2).collect();
    let best = every[least(&tables.mean_nll(&seen, weights, &every, &[FIRST]))];
    pairs.retain(|pair| (pair.0 - best.0).abs() < 0.16 && (pair.1 - best.1).abs() < 0.21);
    let settings: Vec<Setting> =
        FLOORS.into_iter().flat_map(|floor| EXPONENTS.map(|exponent| (floor, [exponent; 3]))).collect();
    let found = tables.mean_nll(&seen, weights, &[best], &settings);
    let is_level = |k: &usize| found[*k] <= found[least(&found)] + LEVEL_NATS;
    let sharpest = (0..settings.len()).filter(is_level).min_by(|&a, &b| {
        let ((floor_a, [a, ..]), (floor_b, [b, ..])) = (settings[a], settings[b]);
        b.total_cmp(&a).then(floor_a.total_cmp(&floor_b))
    });
    let (floor, [map_exponent, ..]) = settings[sharpest.unwrap_or(0)];
    let again = tables.mean_nll(&seen, weights, &pairs, &[(floor, [map_exponent; 3])]);
    let mut near: Vec<usize> =
        (0..pairs.len()).filter(|&k| again[k] <= again[least(&again)] + NEAR_BEST_NATS).collect();
    near.sort_by(|&a, &b| again[a].total_cmp(&again[b]));
    near.truncate(JUDGED);
    let judged = near.into_iter().map(|k| {
        let (evidence, background_weight) = pairs[k];
        let factors = Factors { evidence, background_weight, floor, map_exponent };
        let surroundings = Some(heads.clone());
        let calibration = Calibration { factors, surroundings, ..Calibration::none(background.clone()) };
        let level = |photo: &Observation| {
            let density = calibration.density(globe, photo.model_output(&calibration), None)?;
            Ok(density.mass_denser_than(photo.truth.to_unit()))
        };
        let levels: Vec<f64> = photos.par_iter().map(level).collect::<Result<_>>()?;
        Ok((worst_deviation(photos, levels.iter().copied()), factors, again[k], levels))
    });
    let judged: Vec<_> = judged.collect::<Result<_>>()?;
    let chosen = judged.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).expect("the best is near the best");
    let (_, factors, nll_nats, levels) = chosen;
    let without = tables.mean_nll(&seen, weights, &[(0.0, 1.0)], &[(floor, [0.0; 3])])[0];
    let weighed: Vec<(f64, f64)> = levels.into_iter().zip(weights.iter().copied()).collect();
    // One attribute after the other.
    let mut exponents = [factors.map_exponent; 3];
    for attribute in 0..exponents.len() {
        let tried = EXPONENTS.map(|exponent| {
            let mut tried = exponents;
            tried[attribute] = exponent;
            (factors.floor, tried)
        });
        let found = tables.mean_nll(&seen, weights, &[(factors.evidence, factors.background_weight)], &tried);
        exponents = tried[least(&found)].1;
    }
    let regions = shares_within_levels(&weighed);
    Ok(Chosen { factors, exponents, nll_nats, background_nll_nats: without, regions })
}
