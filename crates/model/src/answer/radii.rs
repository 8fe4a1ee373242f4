//! The radii around a location that hold shares of a density.

use crate::answer::cell_grid::KM_BINS;
use crate::answer::support::{reach_rad, smooth};
use crate::answer::{Density, Sureness};
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon};
use std::borrow::Cow;

impl Density {
    /// Returns the radii in km around a location that hold the probabilities `shares`, which must rise.
    pub fn radii_km(&self, center: LatLon, shares: &[f64]) -> Vec<f64> {
        let (support, center) = (self.support(), center.to_unit());
        if let Some((_, grid)) = self.on_cells().filter(|(_, grid)| self.is_on(grid) && support.is_even()) {
            let summed = || grid.parent_masses(self.masses());
            let of_parent = self.groups.as_ref().map_or_else(|| summed().into(), |groups| Cow::from(&groups.of_parent));
            let [near, far] = grid.masses_by_km((self.point_masses(), &of_parent), center);
            let [near, mut all] = [(near, support.depth()), (far, grid.smooth_depth())]
                .map(|(held, depth)| smooth(&held, reach_rad(depth) * EARTH_RADIUS_KM));
            all.iter_mut().zip(near).for_each(|(all, near)| *all += near);
            return radii_of(&all, shares);
        }
        let depths = support.widest_depth()..=support.depth();
        let mut held = vec![vec![0.0; KM_BINS]; depths.clone().count()];
        for (pixel, (mass, point)) in self.masses().iter().zip(self.points()).enumerate() {
            let own = &mut held[usize::from(support.depth_of(pixel) - support.widest_depth())];
            own[((center.angle_rad(*point) * EARTH_RADIUS_KM) as usize).min(KM_BINS - 1)] += mass;
        }
        // A pixel's mass is spread over the pixel: without this, radii near its size would jump.
        let spread = held.iter().zip(depths).map(|(held, depth)| smooth(held, reach_rad(depth) * EARTH_RADIUS_KM));
        let add = |sum: Vec<f64>, own: Vec<f64>| sum.into_iter().zip(own).map(|(sum, own)| sum + own).collect();
        radii_of(&spread.reduce(add).unwrap_or_default(), shares)
    }

    /// How sure a model that gives places scores is of an answer; nothing for other models.
    pub(crate) fn sureness(&self, answer: LatLon) -> Sureness {
        let Some((field, _)) = &self.mixture.places else { return Sureness::default() };
        Sureness { own_km: self.radii_km(answer, &[0.5])[0].max(0.1), best_score: field.best }
    }
}

/// The radii that hold shares, given what lies in each kilometre of distance.
fn radii_of(spread: &[f64], shares: &[f64]) -> Vec<f64> {
    let (mut sum, mut bin, mut radii) = (0.0, 0, Vec::new());
    for share in shares {
        while bin < spread.len() && sum + spread[bin] < *share {
            sum += spread[bin];
            bin += 1;
        }
        let part = if bin < spread.len() && spread[bin] > 0.0 { (share - sum) / spread[bin] } else { 0.0 };
        radii.push(bin as f64 + part.clamp(0.0, 1.0));
    }
    radii
}
