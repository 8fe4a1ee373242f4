//! Map factors of a density: `p(x|I) ∝ q(x|I) · Π (P(c(x)|I) / Q_c(I))^γ`, one factor for each map attribute.

use crate::answer::ClassProbabilities;
use crate::answer::cell_grid::{CellGrid, classes_of, joint_count};
use locdiff_map::{cells::MapAttribute, evidence::Evidence};
use locdiff_shdd::sphere::LatLon;
use serde::Serialize;

/// So much of each predicted probability is what the density has already: no picture rules out a class.
const FLOOR: f64 = 0.02;
/// The factor on the density where no photos are taken: in the open sea and in Antarctica.
const OUTSIDE: f64 = 1e-3;
/// Classes with less probability than this stay as they are.
const NOTHING: f64 = 1e-12;

/// What each combination of classes adds to a log density.
#[derive(Debug, Clone)]
pub(crate) struct MapFactors {
    /// By attribute and class: the effect in nats, the predicted probability, and that of the density before.
    parts: Vec<Vec<(f64, f64, f64)>>,
    by_joint: Vec<f64>,
    /// Log of the share of the smooth density in active cells.
    log_active: f64,
    /// Log of the integral of the smooth density times the factors.
    log_total: f64,
    /// The mean of what is added to the smooth log density, under the density with factors.
    mean_log: f64,
}

/// How a map factor, or a piece of evidence, changed the log density of the best location.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FactorEffect {
    /// The factor: "land" (photos are taken on land and near the shore), "towns", "coast" or "climate", or the kind of evidence.
    pub factor: &'static str,
    /// The change of log density at the best location, in nats (natural logarithm).
    pub nats: f64,
    /// The class of the best location on the map, or what the evidence says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// The probability of that class by the picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicted: Option<f64>,
    /// The probability of that class by the density before this factor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<f64>,
}

impl FactorEffect {
    fn new(factor: &'static str, nats: f64) -> Self {
        Self { factor, nats, class: None, predicted: None, before: None }
    }

    /// "large cities: 62 % by the picture, 12 % before"; `None` without a class.
    pub(crate) fn words(&self) -> Option<String> {
        let percent = |share: Option<f64>| 100.0 * share.unwrap_or_default();
        let (now, was) = (percent(self.predicted), percent(self.before));
        self.class.as_ref().map(|class| format!("{class}: {now:.0} % by the picture, {was:.0} % before"))
    }

    pub(crate) fn of_evidence(evidence: &Evidence, nats: f64) -> Self {
        Self { class: Some(evidence.says.clone()), ..Self::new(evidence.kind, nats) }
    }
}

impl MapFactors {
    /// Factors with an exponent for each, given the smooth density's integral over each combination of classes. One attribute
    /// follows the other, each on the density that those before it leave.
    pub(crate) fn new(predicted: &ClassProbabilities, exponents: [f64; 3], mut histogram: Vec<f64>) -> Self {
        let active: f64 = histogram.iter().sum();
        histogram.iter_mut().for_each(|mass| *mass /= active);
        let mut by_joint = vec![0.0; joint_count()];
        let mut parts = Vec::new();
        for (k, attribute) in MapAttribute::ALL.into_iter().enumerate() {
            let mut held = vec![0.0; attribute.count()];
            histogram.iter().enumerate().for_each(|(joint, mass)| held[classes_of(joint)[k]] += mass);
            let ratio = |(said, held): (&f64, &f64)| {
                let ratio = (1.0 - FLOOR) * said / held + FLOOR;
                if *held < NOTHING { 1.0 } else { ratio.powf(exponents[k]) }
            };
            let ratios: Vec<f64> = predicted.of(attribute).iter().zip(&held).map(ratio).collect();
            let total: f64 = ratios.iter().zip(&held).map(|(ratio, held)| ratio * held).sum();
            for (joint, (mass, log)) in histogram.iter_mut().zip(&mut by_joint).enumerate() {
                let own = ratios[classes_of(joint)[k]] / total;
                *mass *= own;
                *log += own.ln();
            }
            let said = predicted.of(attribute).iter().copied();
            let part = ratios.iter().zip(said).zip(held).map(|((r, said), held)| ((r / total).ln(), said, held));
            parts.push(part.collect());
        }
        let total: f64 = histogram.iter().sum();
        let mean_log = histogram.iter().zip(&by_joint).map(|(mass, log)| mass * log).sum::<f64>() / total;
        Self { parts, by_joint, log_active: active.ln(), log_total: (active * total).ln(), mean_log }
    }

    /// Log of the share of the smooth density in active cells.
    pub(crate) fn log_active(&self) -> f64 {
        self.log_active
    }

    /// Log of the integral of the smooth density times the factors.
    pub(crate) fn log_total(&self) -> f64 {
        self.log_total
    }

    /// The mean of what is added to the smooth log density, under the density with factors.
    pub(crate) fn mean_log(&self) -> f64 {
        self.mean_log
    }

    /// What "land", towns, coast and climate each add where classes combine like this, short of the normalisation.
    pub(crate) fn logs(&self, joint: Option<usize>) -> [f64; 4] {
        let Some(joint) = joint else { return [OUTSIDE.ln(), 0.0, 0.0, 0.0] };
        let [towns, coast, climate] = classes_of(joint);
        [0.0, self.parts[0][towns].0, self.parts[1][coast].0, self.parts[2][climate].0]
    }

    pub(crate) fn by_joint(&self) -> &[f64] {
        &self.by_joint
    }

    /// What is added to the smooth log density at a location.
    pub(crate) fn log_factor(&self, grid: &CellGrid, location: LatLon) -> f64 {
        grid.joint_at(location).map_or(OUTSIDE.ln(), |joint| self.by_joint[joint])
    }

    /// What is added to the smooth log density where classes combine like this, the normalisation included.
    pub(crate) fn log_gain(&self, joint: Option<usize>) -> f64 {
        joint.map_or(OUTSIDE.ln(), |joint| self.by_joint[joint]) - self.log_active
    }

    /// What each factor did to the log density at a location.
    pub(crate) fn effects(&self, grid: &CellGrid, location: LatLon) -> Vec<FactorEffect> {
        let effect = FactorEffect::new;
        let Some(joint) = grid.joint_at(location) else { return vec![effect("land", OUTSIDE.ln() - self.log_active)] };
        let mut all = vec![effect("land", -self.log_active)];
        for ((attribute, class), part) in MapAttribute::ALL.into_iter().zip(classes_of(joint)).zip(&self.parts) {
            let (nats, predicted, before) = part[class];
            let (class, predicted, before) =
                (Some(attribute.class_name(class as u8).to_owned()), Some(predicted), Some(before));
            all.push(FactorEffect { class, predicted, before, ..effect(attribute.name(), nats) });
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::surroundings::softmax_by_attribute;

    /// With exponent 1 the last attribute's marginal is what the picture says, up to the floor; with 0 nothing changes.
    #[test]
    fn marginals_follow_the_picture() {
        let logits: Vec<f32> = (0..crate::answer::Surroundings::classes()).map(|k| (k as f32).sin()).collect();
        let predicted = softmax_by_attribute(&logits);
        let histogram: Vec<f64> = (0..joint_count()).map(|k| 1.1 + (k as f64).cos()).collect();
        let plain = MapFactors::new(&predicted, [0.0; 3], histogram.clone());
        assert!(plain.by_joint().iter().all(|log| log.abs() < 1e-12));
        let factors = MapFactors::new(&predicted, [1.0; 3], histogram.clone());
        let total: f64 = histogram.iter().sum();
        let last = MapAttribute::ALL.len() - 1;
        let mut marginal = vec![0.0; MapAttribute::ALL[last].count()];
        for (joint, mass) in histogram.iter().enumerate() {
            marginal[classes_of(joint)[last]] += mass / total * factors.by_joint()[joint].exp();
        }
        assert!((marginal.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        for (found, said) in marginal.iter().zip(predicted.of(MapAttribute::ALL[last])) {
            assert!((found - said).abs() < 0.03, "{found} {said}");
        }
    }
}
