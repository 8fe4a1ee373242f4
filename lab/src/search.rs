//! Choices whose ranges widen: nothing is chosen at an end of what was tried, unless nothing lies beyond.

use crate::{Baseline, PhotoDensity, Points, Result};
use locdiff_shdd::sphere::{LatLon, UnitVec};
use std::{collections::HashSet, sync::Arc};

/// A box of whole numbers, each the number of a setting on its scale: the first and the last of every axis.
type Box<const D: usize> = [(i32, i32); D];

fn points<const D: usize>(of: Box<D>) -> Vec<[i32; D]> {
    let add = |found: Vec<[i32; D]>, axis: usize| {
        let along = |point: [i32; D]| {
            (of[axis].0..=of[axis].1).map(move |k| {
                let mut point = point;
                point[axis] = k;
                point
            })
        };
        found.into_iter().flat_map(along).collect()
    };
    (0..D).fold(vec![[0; D]], add)
}

/// The best settings by each of `R` scores, and what was made with them. All of the first box is tried; while a best one lies on its
/// rim, the box grows by one there, within the limits.
pub(crate) fn best_by<const D: usize, const R: usize, M>(
    first: Box<D>,
    limits: Box<D>,
    mut make: impl FnMut([i32; D]) -> Result<[(f64, M); R]>,
) -> Result<[([i32; D], M); R]> {
    let mut tried: HashSet<[i32; D]> = HashSet::new();
    let mut best: [Option<(f64, [i32; D], M)>; R] = [const { None }; R];
    let mut now = first;
    loop {
        for at in points(now) {
            if !tried.insert(at) {
                continue;
            }
            for (best, (score, made)) in best.iter_mut().zip(make(at)?) {
                if best.as_ref().is_none_or(|(other, ..)| score > *other) {
                    *best = Some((score, at, made));
                }
            }
        }
        let before = now;
        for (_, at, _) in best.iter().flatten() {
            for axis in 0..D {
                let (low, high) = &mut now[axis];
                *low = (*low - i32::from(at[axis] == before[axis].0)).max(limits[axis].0).min(*low);
                *high = (*high + i32::from(at[axis] == before[axis].1)).min(limits[axis].1).max(*high);
            }
        }
        if now == before {
            return Ok(best.map(|best| best.map(|(_, at, made)| (at, made)).expect("the box holds a point")));
        }
    }
}

/// The best settings by one score.
pub(crate) fn best<const D: usize>(
    first: Box<D>,
    limits: Box<D>,
    mut score: impl FnMut([i32; D]) -> Result<f64>,
) -> Result<[i32; D]> {
    let [(at, ())] = best_by(first, limits, |at| Ok([(score(at)?, ())]))?;
    Ok(at)
}

/// A method as the table of places has it, chosen by validation accuracy, and as the table of likelihoods has it, chosen by
/// validation likelihood: checkpoint, sizes and all.
pub(crate) struct ByRule<M> {
    pub(crate) places: Arc<M>,
    pub(crate) likeliest: Arc<M>,
}

impl<M> Clone for ByRule<M> {
    fn clone(&self) -> Self {
        Self { places: self.places.clone(), likeliest: self.likeliest.clone() }
    }
}

impl<M> ByRule<M> {
    pub(crate) fn new(places: M, likeliest: M) -> Self {
        Self { places: Arc::new(places), likeliest: Arc::new(likeliest) }
    }
}

/// Trains with several settings and keeps the best by accuracy and the best by likelihood.
pub(crate) fn by_rule<const D: usize, M>(
    (first, limits): (Box<D>, Box<D>),
    progress: &mut dyn FnMut(f64),
    mut fit: impl FnMut([i32; D], &mut dyn FnMut(f64)) -> Result<[(f64, M); 2]>,
) -> Result<ByRule<M>> {
    let mut done = 0.0;
    let [(_, places), (_, likeliest)] = best_by(first, limits, |at| {
        // How many there will be nobody knows.
        let made = fit(at, &mut |share| progress(1.0 - 1.0 / (1.0 + done + share)));
        done += 1.0;
        made
    })?;
    progress(1.0);
    Ok(ByRule::new(places, likeliest))
}

impl<M: Baseline> Baseline for ByRule<M> {
    fn predict(&self, embeddings: &[f32]) -> Result<Vec<LatLon>> {
        self.places.predict(embeddings)
    }

    fn densities(&self, embeddings: &[f32]) -> Result<Vec<PhotoDensity<'_>>> {
        self.likeliest.densities(embeddings)
    }

    fn at_all(&self, embeddings: &[f32], points: Points<'_>) -> Result<Vec<Vec<f32>>> {
        self.likeliest.at_all(embeddings, points)
    }

    fn at_truths(&self, embeddings: &[f32], truths: &[UnitVec]) -> Result<Option<Vec<f64>>> {
        self.likeliest.at_truths(embeddings, truths)
    }

    fn parameters(&self) -> usize {
        self.likeliest.parameters()
    }

    fn chosen(&self) -> String {
        let (places, likeliest) = (self.places.chosen(), self.likeliest.chosen());
        if places == likeliest { places } else { format!("places: {places}; likelihood: {likeliest}") }
    }

    fn drifts_km(&self, variance: f64, count: usize, seed: u64) -> Result<Option<Vec<f64>>> {
        self.places.drifts_km(variance, count, seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_grows_to_the_best_and_stops_at_its_limits() {
        let mut asked = 0;
        let far = best([(0, 1), (0, 1)], [(-9, 9), (-9, 9)], |[a, b]| {
            asked += 1;
            Ok(-f64::from((a - 5).pow(2) + (b + 2).pow(2)))
        });
        assert_eq!(far.unwrap(), [5, -2]);
        assert!(asked <= 7 * 5, "{asked}");
        let ended = best([(0, 1)], [(0, 3)], |[a]| Ok(f64::from(a)));
        assert_eq!(ended.unwrap(), [3]);
        let both =
            best_by([(0, 0)], [(-4, 4)], |[a]| Ok([(f64::from(-(a - 2).abs()), a), (f64::from(-(a + 3).abs()), -a)]));
        assert_eq!(both.unwrap(), [([2], 2), ([-3], 3)]);
    }
}
