//! Credible regions: the smallest regions with a stated probability.

use super::CodeDensity;
use crate::{ShddError, sphere::EARTH_RADIUS_KM, sphere::UnitVec};

/// The smallest region that holds a probability: all points denser than a threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CredibleRegion {
    /// Probability inside.
    pub probability: f64,
    /// Threshold: points with at least this log density (per steradian) are inside.
    pub log_density: f64,
    /// Area in km².
    pub area_km2: f64,
    /// Radius in km of the smallest circle about the highest mode with the same probability.
    pub radius_km: f64,
}

/// A cell that touches a credible region: everything within `radius_rad` of `center`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RegionCell {
    /// Centre of the cell.
    pub center: UnitVec,
    /// Radius in radians of a circle that covers the cell.
    pub radius_rad: f64,
}

impl CodeDensity<'_> {
    /// Returns cells that together cover all points with a log density of at least `log_density`, for drawing.
    pub fn region_cells(&self, log_density: f64) -> Vec<RegionCell> {
        // Corners lie outside the nodes.
        let reach = |(low, high): (f64, f64)| high + 0.2 * (high - low) - self.log_z;
        let cells = self.fine().iter().filter(|leaf| reach(leaf.range()) >= log_density).map(|leaf| leaf.cell);
        cells.map(|cell| RegionCell { center: cell.center(), radius_rad: cell.radius_rad() }).collect()
    }

    /// Probability of all points denser than `log_density` (per steradian): the level of the smallest credible region
    /// that holds a point of that density. Over truths that the densities describe well it is uniform on 0…1.
    ///
    /// ```
    /// use locdiff_shdd::Codec;
    /// use locdiff_shdd::sphere::{Degree, LatLon};
    /// let codec = Codec::new(Degree::new(23)?);
    /// let code = codec.encode(LatLon::new(52.52, 13.40)?);
    /// let density = codec.density(&code)?;
    /// let region = density.credible_region(0.8)?;
    /// assert!((density.region_level(region.log_density) - 0.8).abs() < 0.005);
    /// assert!((density.region_area_km2(region.log_density) / region.area_km2 - 1.0).abs() < 0.03);
    /// # Ok::<(), locdiff_shdd::ShddError>(())
    /// ```
    pub fn region_level(&self, log_density: f64) -> f64 {
        let (mut denser, mut total) = (0.0, 0.0);
        for (_, log_q, mass) in self.fine_nodes() {
            total += mass;
            // Points of equal density come in no order: half of them first.
            denser += match log_q.total_cmp(&log_density) {
                std::cmp::Ordering::Greater => mass,
                std::cmp::Ordering::Equal => 0.5 * mass,
                std::cmp::Ordering::Less => 0.0,
            };
        }
        denser / total
    }

    /// Returns the area in km² of all points denser than `log_density`. The smallest credible region with a point of that density has this area.
    pub fn region_area_km2(&self, log_density: f64) -> f64 {
        let leaves = self.fine().iter().flat_map(|leaf| leaf.values.iter().zip(&leaf.weights));
        let denser = leaves.filter(|(value, _)| **value - self.log_z > log_density);
        denser.map(|(_, weight)| weight).sum::<f64>() * EARTH_RADIUS_KM * EARTH_RADIUS_KM
    }

    /// The smallest region that holds probability `p`, and the radius about the highest mode that does.
    /// Fails if `p` is not between 0 and 1.
    pub fn credible_region(&self, p: f64) -> Result<CredibleRegion, ShddError> {
        if !(p > 0.0 && p < 1.0) {
            return Err(ShddError::Probability(p));
        }
        let nodes = self.fine().iter().flat_map(|leaf| leaf.values.iter().zip(&leaf.weights));
        let by_log_density = |(value, weight): (&f64, &f64)| {
            let log_q = value - self.log_z;
            (-log_q, weight * log_q.exp(), *weight)
        };
        let mut by_density: Vec<(f64, f64, f64)> = nodes.map(by_log_density).collect();
        let (minus_log_density, area) = quantile(&mut by_density, p);
        let center = self.top_mode().map_or(UnitVec::NORTH, |mode| mode.point);
        let mut by_distance: Vec<(f64, f64, f64)> =
            self.fine_nodes().map(|(point, _, mass)| (center.angle_rad(point), mass, 0.0)).collect();
        let (radius_rad, _) = quantile(&mut by_distance, p);
        Ok(CredibleRegion {
            probability: p,
            log_density: -minus_log_density,
            area_km2: area * EARTH_RADIUS_KM * EARTH_RADIUS_KM,
            radius_km: radius_rad * EARTH_RADIUS_KM,
        })
    }
}

/// Sorts `(key, mass, extra)` by key. Returns the key at which the mass reaches `p` of the total, with the extra summed up
/// to there. Linear between items; half of an item counts before its key, half after it.
fn quantile(items: &mut [(f64, f64, f64)], p: f64) -> (f64, f64) {
    items.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = items.iter().map(|i| i.1).sum();
    let (mut mass, mut extra) = (0.0, 0.0);
    let mut before = (items[0].0, 0.0, 0.0);
    for item in items.iter() {
        let here = (item.0, mass + 0.5 * item.1, extra + 0.5 * item.2);
        if here.1 >= p * total {
            let share = if here.1 > before.1 { (p * total - before.1) / (here.1 - before.1) } else { 1.0 };
            return (before.0 + share * (here.0 - before.0), before.2 + share * (here.2 - before.2));
        }
        before = here;
        (mass, extra) = (mass + item.1, extra + item.2);
    }
    (before.0, extra)
}
