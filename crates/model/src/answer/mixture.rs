//! The density that a model and a gallery give, before map factors, knowledge and evidence.

use crate::answer::cell_grid::CellGrid;
use crate::answer::support::Support;
use crate::answer::{Globe, Kernels, Knowledge, PlaceField};
use locdiff_shdd::sphere::{Exponents, Field, UnitVec, ln_all};
use std::{borrow::Cow, sync::Arc};

/// A sum of `exp(e·Y + log_scale)` and a floor, with scales and floor such that the integral over the sphere is 1.
#[derive(Debug, Clone)]
pub(crate) struct Mixture {
    /// e·Y, and the log of its scale.
    pub(crate) parts: Vec<(Field, f64)>,
    /// The floor, per steradian.
    pub(crate) floor: f64,
    /// The density of a model that gives places scores, and its share.
    pub(crate) places: Option<(Arc<PlaceField>, f64)>,
    /// A gallery's density, and the log of its share.
    pub(crate) gallery: Option<(Kernels, f64)>,
}

/// Values of a field at points: a sum of two lists, each with a factor.
#[derive(Debug)]
pub(crate) struct FieldValues<'a>(pub(crate) [(f64, Cow<'a, [f64]>); 2]);

impl FieldValues<'_> {
    pub(crate) fn of(values: Vec<f64>) -> Self {
        Self([(1.0, values.into()), (0.0, Cow::from(&[]))])
    }

    /// The values plus a number, as exponents.
    pub(crate) fn exponents(&self, shift: f64) -> Exponents<'_> {
        let [(a, x), (b, y)] = &self.0;
        Exponents { terms: [(*a, x), (*b, if *b == 0.0 { x } else { y })], shift }
    }
}

impl Mixture {
    pub(crate) fn log_densities(&self, support: &Support) -> Vec<f64> {
        self.log_densities_by(support.points(), |field| support.values(field))
    }

    /// The log densities at points, given how to evaluate a field there.
    fn log_densities_by(&self, points: &[UnitVec], values: impl Fn(&Field) -> Vec<f64>) -> Vec<f64> {
        let with_floor = |(field, share): &(Arc<PlaceField>, f64)| {
            field.densities(points).into_iter().map(|density| (self.floor + share * density).ln()).collect()
        };
        let mut sum = self.places.as_ref().map_or_else(|| vec![self.floor.ln(); points.len()], with_floor);
        for (field, log_scale) in &self.parts {
            let values = values(field);
            sum.iter_mut().zip(values).for_each(|(sum, value)| *sum = log_sum(*sum, value + log_scale));
        }
        if let Some(found) = self.gallery_log_densities(points) {
            sum.iter_mut().zip(found).for_each(|(sum, value)| *sum = log_sum(*sum, value));
        }
        sum
    }

    /// The log densities at points.
    pub(crate) fn log_at(&self, points: &[UnitVec]) -> Vec<f64> {
        self.log_densities_by(points, |field| field.values(points))
    }

    /// The densities at the points where a cell grid evaluates what is smooth.
    pub(crate) fn smooth_densities(&self, grid: &CellGrid) -> Vec<f64> {
        let values = self.parts.iter().map(|(field, _)| FieldValues::of(grid.smooth_values(field)));
        self.densities_of(grid.smooth_points(), values)
    }

    /// The densities at points, given the values of each part's field there, without those of a model that gives places scores.
    /// Only a gallery asks for the points.
    pub(super) fn densities_of<'a>(
        &self,
        points: &[UnitVec],
        values: impl IntoIterator<Item = FieldValues<'a>>,
    ) -> Vec<f64> {
        let mut sum: Vec<f64> = Vec::new();
        for ((_, log_scale), values) in self.parts.iter().zip(values) {
            if sum.is_empty() {
                sum = vec![self.floor; values.0[0].1.len()];
            }
            values.exponents(*log_scale).add_exp(&mut sum);
        }
        sum.resize(sum.len().max(points.len()), self.floor);
        if let Some((kernels, log_share)) = &self.gallery {
            let share = log_share.exp();
            sum.iter_mut().zip(kernels.densities(points)).for_each(|(sum, value)| *sum += share * value);
        }
        sum.iter_mut().for_each(|sum| *sum = sum.max(f64::MIN_POSITIVE));
        sum
    }

    /// Where to sum it: on the globe's pixels, or those of a region that is known, cut where a model's places have narrow kernels.
    pub(super) fn support(&self, globe: &Arc<Globe>, knowledge: Option<&Arc<Knowledge>>) -> Support {
        let known = knowledge.map(|knowledge| knowledge.on(globe).support.clone());
        let whole = known.unwrap_or_else(|| Support::Globe(globe.clone()));
        let Some((field, _)) = &self.places else { return whole };
        let gallery = self.gallery.iter().flat_map(|(kernels, _)| kernels.centres());
        whole.cut_about(field.centres().chain(gallery))
    }

    pub(super) fn gallery_log_densities(&self, points: &[UnitVec]) -> Option<Vec<f64>> {
        let (kernels, log_share) = self.gallery.as_ref()?;
        Some(kernels.log_densities(points).into_iter().map(|value| value + log_share).collect())
    }
}

/// The logarithms of densities.
pub(crate) fn logs_of(densities: &[f64]) -> Vec<f64> {
    let mut logs = densities.to_vec();
    ln_all(&mut logs);
    logs
}

/// log(exp(a) + exp(b)).
pub(crate) fn log_sum(a: f64, b: f64) -> f64 {
    let (top, low) = if a > b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { top } else { top + (low - top).exp().ln_1p() }
}
