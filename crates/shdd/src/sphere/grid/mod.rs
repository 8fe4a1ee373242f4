//! Point sets that cover the sphere, each with quadrature weights that sum to 4π.

mod healpix;
mod pixel_rings;
mod pixels;

pub use pixels::{Pixel, Pixels};

use crate::sphere::{Rings, SphereError, UnitVec};
use std::f64::consts::PI;

/// Points with quadrature weights in steradian: `Σ w·f(x) ≈ ∫ f`.
///
/// ```
/// use locdiff_shdd::sphere::Grid;
/// let grid = Grid::fibonacci(1000)?;
/// let area: f64 = grid.weights().iter().sum();
/// assert!((area - 4.0 * std::f64::consts::PI).abs() < 1e-12);
/// # Ok::<(), locdiff_shdd::sphere::SphereError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    points: Vec<UnitVec>,
    weights: Vec<f64>,
}

impl Grid {
    /// Creates `n` points on a golden-angle spiral with equal weights and nearly uniform spacing √(4π/n). Fails if `n` is 0.
    pub fn fibonacci(n: usize) -> Result<Self, SphereError> {
        let golden_angle = PI * (1.0 + 5f64.sqrt());
        let point = |i: usize| {
            let k = i as f64 + 0.5;
            UnitVec::from_z_lon(1.0 - 2.0 * k / n as f64, (golden_angle * k) % (2.0 * PI))
        };
        Self::equal_area("fibonacci", (0..n).map(point).collect())
    }

    /// Creates the 12·4^`depth` pixel centres of HEALPix with equal weights, in nested order. Fails if `depth` is above 13.
    pub fn healpix(depth: u8) -> Result<Self, SphereError> {
        Self::equal_area("healpix", healpix::points(depth)?)
    }

    /// Draws `n` points uniformly on the sphere, with equal (Monte Carlo) weights: the paper's training anchors. Fails if `n` is 0.
    pub fn uniform_random<R: rand::Rng + ?Sized>(n: usize, rng: &mut R) -> Result<Self, SphereError> {
        Self::equal_area("random", (0..n).map(|_| UnitVec::random(rng)).collect())
    }

    /// Creates Gauss–Legendre rings that integrate every product of two degree-`degree` functions exactly.
    pub fn gauss_legendre(degree: crate::sphere::Degree) -> Self {
        let rings = Rings::gauss_legendre(degree.get() + 1, 2 * degree.get() + 2);
        Self { points: rings.points(), weights: rings.point_weights() }
    }

    /// Takes any points, such as a gallery from a file, with equal weights. Fails if there are no points.
    pub fn from_points(points: Vec<UnitVec>) -> Result<Self, SphereError> {
        Self::equal_area("file", points)
    }

    fn equal_area(grid: &'static str, points: Vec<UnitVec>) -> Result<Self, SphereError> {
        if points.is_empty() {
            return Err(SphereError::GridSize { grid, size: 0, remedy: "give at least one point" });
        }
        let weights = vec![4.0 * PI / points.len() as f64; points.len()];
        Ok(Self { points, weights })
    }

    /// Returns the points.
    #[inline]
    pub fn points(&self) -> &[UnitVec] {
        &self.points
    }

    /// Returns the weights in steradian, one per point.
    #[inline]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Returns the number of points.
    #[inline]
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Returns whether there are no points, which is never true for a constructed grid.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sphere::{Degree, SphericalHarmonics};
    use rand::SeedableRng;

    /// Largest |∫ Y_lm − exact| over all (l, m) up to L, by the grid's own weights.
    fn worst_moment(grid: &Grid, l: usize) -> f64 {
        let harmonics = SphericalHarmonics::new(Degree::new(l).unwrap());
        let mut sums = vec![0.0; (l + 1) * (l + 1)];
        for (p, w) in grid.points().iter().zip(grid.weights()) {
            for (s, y) in sums.iter_mut().zip(harmonics.at(*p)) {
                *s += w * y;
            }
        }
        sums[0] -= (4.0 * PI).sqrt();
        sums.iter().fold(0.0, |a, s| s.abs().max(a))
    }

    #[test]
    fn quadratures_integrate_low_degrees() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
        for (name, grid, bound) in [
            ("gauss-legendre", Grid::gauss_legendre(Degree::new(8).unwrap()), 1e-13),
            ("healpix", Grid::healpix(5).unwrap(), 2e-3),
            ("fibonacci", Grid::fibonacci(12_288).unwrap(), 2e-3),
            ("random", Grid::uniform_random(12_288, &mut rng).unwrap(), 0.15),
        ] {
            let worst = worst_moment(&grid, 8);
            assert!(worst < bound, "{name}: {worst:e}");
            assert!((grid.weights().iter().sum::<f64>() - 4.0 * PI).abs() < 1e-9);
        }
    }

    #[test]
    fn empty_grids_are_refused() {
        assert!(Grid::fibonacci(0).is_err());
        assert!(Grid::from_points(vec![]).is_err());
        assert!(Grid::healpix(14).is_err());
        assert_eq!(Grid::healpix(3).unwrap().len(), 768);
    }
}
