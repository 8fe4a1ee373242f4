//! Fitting the heads that predict map attributes: multinomial logistic regression by L-BFGS.

use crate::{answer::Result, answer::surroundings::Surroundings, answer::surroundings::softmax_by_attribute};
use locdiff_base::setting;
use locdiff_map::cells::{Cells, MapAttribute};
use locdiff_shdd::sphere::LatLon;
use rayon::prelude::*;

/// The penalty on squared weights of standardised columns, per photo. 0.01 to 0.3 differ by less than 0.02 nats on validation.
const DECAY: f32 = 0.03;
const STEPS: usize = 60;
/// Pairs of steps and gradients that L-BFGS keeps.
const MEMORY: usize = 12;
/// A step must lower the loss by this share of what the slope promises.
const ENOUGH: f64 = 1e-4;
/// Rows that one task sums.
const BLOCK: usize = 8192;
/// [`fit_surroundings`] wants at least this many photos: fewer say too little.
pub const FEWEST_FOR_HEADS: usize = 2000;
/// More photos than this add nothing but time: every so many are taken.
const MOST: usize = 120_000;

/// Heads fitted on embeddings of photos with known locations. Photos where the map has no cell are left out.
/// The fit has one optimum and no randomness. Fails on too few photos, or rows of different sizes.
pub fn fit_surroundings(rows: &[Vec<f32>], locations: &[LatLon]) -> Result<Surroundings> {
    let dim = rows.first().map_or(0, Vec::len);
    if rows.len() != locations.len() || rows.iter().any(|row| row.len() != dim) {
        return Err(setting("embeddings", rows.len(), "one row of one size for each location"));
    }
    let cells = Cells::bundled();
    let stride = rows.len().div_ceil(MOST).max(1);
    let photos = rows.iter().zip(locations).step_by(stride);
    let seen: Vec<(&[f32], usize)> =
        photos.filter_map(|(row, location)| Some((row.as_slice(), cells.at(*location)?))).collect();
    if seen.len() < FEWEST_FOR_HEADS || dim == 0 {
        return Err(setting("photos on land with known locations", seen.len(), format!("{FEWEST_FOR_HEADS} or more")));
    }
    let (mean, deviation) = moments(&seen, dim);
    let input = |(row, cell): &(&[f32], usize)| {
        let row = row.iter().zip(&mean).zip(&deviation).map(|((value, mean), deviation)| (value - mean) / deviation);
        (row.collect(), MapAttribute::ALL.map(|attribute| usize::from(cells.classes(attribute)[*cell])))
    };
    let problem = Problem { rows: seen.par_iter().map(input).collect(), dim };
    let mut weights = minimise(|weights| problem.loss(weights), vec![0.0; (dim + 1) * Surroundings::classes()]);
    // From standardised columns back to the embedding's own.
    let classes = Surroundings::classes();
    let (slopes, bias) = weights.split_at_mut(dim * classes);
    for ((row, mean), deviation) in slopes.chunks_exact_mut(classes).zip(&mean).zip(&deviation) {
        for (weight, bias) in row.iter_mut().zip(bias.iter_mut()) {
            *weight /= deviation;
            *bias -= *weight * mean;
        }
    }
    Surroundings::new(dim, weights).ok_or_else(|| setting("embeddings", "not finite", "finite numbers"))
}

fn moments(seen: &[(&[f32], usize)], dim: usize) -> (Vec<f32>, Vec<f32>) {
    let n = seen.len() as f64;
    let column = |c: usize| {
        let mean = seen.iter().map(|(row, _)| f64::from(row[c])).sum::<f64>() / n;
        let squares = seen.iter().map(|(row, _)| (f64::from(row[c]) - mean).powi(2)).sum::<f64>();
        (mean as f32, (squares / n).sqrt().max(1e-6) as f32)
    };
    (0..dim).into_par_iter().map(column).unzip()
}

/// Standardised rows with the classes of each.
struct Problem {
    rows: Vec<(Vec<f32>, [usize; MapAttribute::ALL.len()])>,
    dim: usize,
}

impl Problem {
    /// The mean cross-entropy of all attributes with the penalty, and its gradient.
    fn loss(&self, weights: &[f32]) -> (f64, Vec<f32>) {
        let classes = Surroundings::classes();
        let (slopes, bias) = weights.split_at(self.dim * classes);
        let block = |rows: &[(Vec<f32>, [usize; MapAttribute::ALL.len()])]| {
            let (mut loss, mut gradient) = (0.0, vec![0.0_f32; weights.len()]);
            for (row, truth) in rows {
                let mut logits = bias.to_vec();
                for (value, own) in row.iter().zip(slopes.chunks_exact(classes)) {
                    logits.iter_mut().zip(own).for_each(|(logit, weight)| *logit += value * weight);
                }
                let (found, mut from) = (softmax_by_attribute(&logits), 0);
                let mut off = logits;
                for (attribute, class) in MapAttribute::ALL.into_iter().zip(truth) {
                    let own = &mut off[from..from + attribute.count()];
                    own.iter_mut().zip(found.of(attribute)).for_each(|(own, found)| *own = *found as f32);
                    loss -= f64::from(own[*class].max(f32::MIN_POSITIVE)).ln();
                    own[*class] -= 1.0;
                    from += attribute.count();
                }
                for (value, own) in row.iter().chain([&1.0]).zip(gradient.chunks_exact_mut(classes)) {
                    own.iter_mut().zip(&off).for_each(|(sum, off)| *sum += value * off);
                }
            }
            (loss, gradient)
        };
        // Blocks are summed in their order, so that the result is the same with any number of threads.
        let parts: Vec<(f64, Vec<f32>)> = self.rows.par_chunks(BLOCK).map(block).collect();
        let n = self.rows.len() as f64;
        let (mut loss, mut gradient) = (0.0, vec![0.0_f32; weights.len()]);
        for (own, part) in parts {
            loss += own / n;
            gradient.iter_mut().zip(part).for_each(|(sum, own)| *sum += own / n as f32);
        }
        for (sum, weight) in gradient.iter_mut().zip(slopes) {
            *sum += DECAY * weight;
            loss += 0.5 * f64::from(DECAY * weight * weight);
        }
        (loss, gradient)
    }
}

/// The minimum of a convex function with its gradient, by L-BFGS with backtracking.
fn minimise(function: impl Fn(&[f32]) -> (f64, Vec<f32>), mut at: Vec<f32>) -> Vec<f32> {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
    let (mut value, mut gradient) = function(&at);
    let mut memory: Vec<(Vec<f32>, Vec<f32>, f64)> = Vec::new();
    for _ in 0..STEPS {
        let mut direction: Vec<f32> = gradient.iter().map(|slope| -slope).collect();
        let mut shares = Vec::new();
        for (step, change, rate) in memory.iter().rev() {
            let share = rate * dot(step, &direction);
            direction.iter_mut().zip(change).for_each(|(d, c)| *d -= (share * f64::from(*c)) as f32);
            shares.push(share);
        }
        if let Some((step, change, _)) = memory.last() {
            let scale = dot(step, change) / dot(change, change);
            direction.iter_mut().for_each(|d| *d *= scale as f32);
        }
        for ((step, change, rate), share) in memory.iter().zip(shares.into_iter().rev()) {
            let back = share - rate * dot(change, &direction);
            direction.iter_mut().zip(step).for_each(|(d, s)| *d += (back * f64::from(*s)) as f32);
        }
        let slope = dot(&gradient, &direction);
        let moved = |length: f32| at.iter().zip(&direction).map(|(at, d)| at + length * d).collect::<Vec<f32>>();
        let mut tried = (0..20).map(|k| 0.5_f32.powi(k)).map(|length| {
            let there = moved(length);
            let found = function(&there);
            (f64::from(length), there, found)
        });
        let lower = tried.find(|(length, _, (found, _))| *found <= value + ENOUGH * length * slope);
        let Some((_, next, (lower, steeper))) = lower.filter(|(.., (found, _))| *found < value) else { break };
        let step: Vec<f32> = next.iter().zip(&at).map(|(a, b)| a - b).collect();
        let change: Vec<f32> = steeper.iter().zip(&gradient).map(|(a, b)| a - b).collect();
        let curvature = dot(&step, &change);
        if curvature > 0.0 {
            memory.push((step, change, 1.0 / curvature));
            let old = memory.len().saturating_sub(MEMORY);
            memory.drain(..old);
        }
        (at, value, gradient) = (next, lower, steeper);
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Embeddings that show the coast in one number: the head finds it, and says nothing where there is nothing to see.
    #[test]
    fn heads_learn_what_embeddings_show() {
        let cells = Cells::bundled();
        let (mut rows, mut places) = (Vec::new(), Vec::new());
        for k in 0..3000_usize {
            let cell = (k * 7919) % cells.indices().len();
            let index = u64::from(cells.indices()[cell]);
            places.push(locdiff_shdd::sphere::Pixel { depth: Cells::DEPTH, index }.centre().to_latlon());
            let noise = ((k * 31) as f32).sin();
            rows.push(vec![f32::from(cells.classes(MapAttribute::Coast)[cell]) * 3.0 + 0.2 * noise + 5.0, noise]);
        }
        let heads = fit_surroundings(&rows, &places).unwrap();
        let coast = |value: f32| heads.class_probabilities(&[value, 0.1]).unwrap().of(MapAttribute::Coast).to_vec();
        assert!(coast(5.0)[0] > 3.0 * coast(32.0)[0].max(0.01), "{:?} {:?}", coast(5.0), coast(32.0));
        assert!(coast(32.0)[9] > 0.4, "{:?}", coast(32.0));
        let climate = |value: f32| heads.class_probabilities(&[20.0, value]).unwrap().of(MapAttribute::Climate)[8];
        assert!((climate(0.9) - climate(-0.9)).abs() < 0.05);
        assert!(fit_surroundings(&rows[..100], &places[..100]).is_err());
    }

    #[test]
    fn a_quadratic_is_minimised() {
        let wanted = [1.0_f32, -2.0, 0.5];
        let function = |at: &[f32]| {
            let off: Vec<f32> = at.iter().zip(wanted).map(|(a, b)| a - b).collect();
            let scales = [1.0_f32, 30.0, 0.1];
            let value = off.iter().zip(scales).map(|(o, s)| f64::from(0.5 * s * o * o)).sum();
            (value, off.iter().zip(scales).map(|(o, s)| o * s).collect())
        };
        let found = minimise(function, vec![0.0; 3]);
        assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-3), "{found:?}");
    }
}
