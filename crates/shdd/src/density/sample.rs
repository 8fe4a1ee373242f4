//! Drawing points from a density.

use super::CodeDensity;
use crate::{cubature::Leaf, sphere::UnitVec};
use rand::{Rng, RngExt};

impl CodeDensity<'_> {
    /// `n` independent points: a cell by its mass, then rejection inside the cell, so that no grid shows.
    ///
    /// ```
    /// use locdiff_shdd::Codec;
    /// use locdiff_shdd::sphere::{Degree, LatLon, haversine_km};
    /// use rand::SeedableRng;
    /// let codec = Codec::new(Degree::new(23)?);
    /// let place = LatLon::new(-1.29, 36.82)?;
    /// let code = codec.encode(place);
    /// let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(7);
    /// let points = codec.density(&code)?.sample(100, &mut rng);
    /// let within = points.iter().filter(|p| haversine_km(place, p.to_latlon()) < 300.0).count();
    /// assert!(within > 95);
    /// # Ok::<(), locdiff_shdd::ShddError>(())
    /// ```
    pub fn sample<R: Rng + ?Sized>(&self, n: usize, rng: &mut R) -> Vec<UnitVec> {
        let leaves = self.fine();
        let mut cumulative = Vec::with_capacity(leaves.len());
        let mut total = 0.0;
        for leaf in leaves {
            total += leaf.mass(self.log_z);
            cumulative.push(total);
        }
        let ceilings: Vec<f64> = leaves.iter().map(ceiling).collect();
        let mut drawn: Vec<Option<UnitVec>> = vec![None; n];
        let cell_of = |target: f64| cumulative.partition_point(|c| *c <= target).min(leaves.len() - 1);
        let mut pending: Vec<(usize, usize)> = (0..n).map(|i| (i, cell_of(rng.random_range(0.0..total)))).collect();
        while !pending.is_empty() {
            let mut propose = |&(_, leaf): &(usize, usize)| {
                let cell = leaves[leaf].cell;
                let width = crate::cell::Cell::width_rad(cell.level);
                let (point, area) = cell.point(rng.random_range(0.0..1.0), rng.random_range(0.0..1.0));
                (point, area / (width * width)) // the area element is at most 1, at a face's centre
            };
            let proposals: Vec<(UnitVec, f64)> = pending.iter().map(&mut propose).collect();
            let points: Vec<UnitVec> = proposals.iter().map(|p| p.0).collect();
            let values = self.field.values(&points);
            let mut rejected = Vec::new();
            for (k, &(i, leaf)) in pending.iter().enumerate() {
                let (point, area) = proposals[k];
                if rng.random_range(0.0..1.0) < area * (values[k] - ceilings[leaf]).exp() {
                    drawn[i] = Some(point);
                } else {
                    rejected.push((i, leaf));
                }
            }
            pending = rejected;
        }
        drawn.into_iter().map(|p| p.expect("every draw was accepted")).collect()
    }
}

/// A bound on F in a cell: above the nodes' maximum by a share of their range, since corners lie outside the nodes.
fn ceiling(leaf: &Leaf) -> f64 {
    let (low, high) = leaf.range();
    high + 0.15 * (high - low) + 0.02
}
