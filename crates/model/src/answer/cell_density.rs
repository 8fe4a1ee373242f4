//! Map factors for any density that is given by its values: other methods get the same factors as the network.

use crate::answer::cell_grid::CellGrid;
use crate::answer::mixture::logs_of;
use crate::answer::smallest_region::smallest_regions;
use crate::answer::{ClassProbabilities, Density, DensityRegion, Globe, Peak};
use crate::answer::{
    map_factors::MapFactors,
    support::Support,
    window::{Masses, Window},
};
use locdiff_map::cells::Cells;
use locdiff_shdd::sphere::{LatLon, UnitVec};

/// A density with map factors, summed over the map's cells. The density before factors may have any integral.
/// Functions panic on a globe whose pixels are finer than the cells.
#[derive(Debug, Clone)]
pub struct CellDensity {
    support: Support,
    /// The log density and the mass of each cell.
    values: Vec<f64>,
    masses: Vec<f64>,
}

fn grid(globe: &Globe) -> &CellGrid {
    globe.cells().expect("pixels are no finer than cells")
}

impl CellDensity {
    /// The points at which densities are evaluated: 51 km apart, or every cell for a globe whose pixels are as fine.
    pub fn points(globe: &Globe) -> &[UnitVec] {
        grid(globe).smooth_points()
    }

    /// The log densities at these points of a density without map factors.
    pub fn plain_log_density(density: &Density) -> Vec<f64> {
        density.smooth_log_density(grid(density.globe()))
    }

    /// What factors and normalisation add to the log density at a location, with an exponent for each attribute.
    /// `densities` are those at [`CellDensity::points`] before factors.
    pub fn log_gain(
        (globe, densities): (&Globe, &[f64]),
        (seen, exponents): (&ClassProbabilities, [f64; 3]),
        location: LatLon,
    ) -> f64 {
        let grid = grid(globe);
        MapFactors::new(seen, exponents, grid.histogram(densities)).log_gain(grid.joint_at(location))
    }

    /// The density with factors, given the densities at [`CellDensity::points`] before factors.
    pub fn new((globe, densities): (&Globe, &[f64]), (seen, exponents): (&ClassProbabilities, [f64; 3])) -> Self {
        let grid = grid(globe);
        let factors = MapFactors::new(seen, exponents, grid.histogram(densities));
        let mut values: Vec<f64> = grid.log_densities(&logs_of(densities), factors.by_joint()).collect();
        let support = Support::Fine(grid.cells.clone());
        let total = support.log_integral(&values);
        values.iter_mut().for_each(|value| *value -= total);
        Self { masses: support.masses(&values), support, values }
    }

    /// The most probable places, as [`Density::peaks`].
    pub fn peaks(&self, window_km: f64, most: usize) -> Vec<Peak> {
        let given = Masses { support: &self.support, of_pixels: self.masses[..].into(), lumps: None };
        let is_ashore = |at: UnitVec| Cells::bundled().is_ashore(at.to_latlon());
        let found = Window::new(window_km).places(given, (None, most), &is_ashore);
        found.into_iter().map(Peak::from).collect()
    }

    /// The smallest region that holds probability `p`.
    pub fn region(&self, p: f64) -> DensityRegion {
        let [region] = smallest_regions(&self.support, (&self.values, &self.masses), [p]);
        region
    }

    /// The probability of all cells that are denser than this.
    pub fn mass_denser_than(&self, log_density: f64) -> f64 {
        self.values.iter().zip(&self.masses).filter(|(value, _)| **value > log_density).map(|(_, mass)| mass).sum()
    }
}
