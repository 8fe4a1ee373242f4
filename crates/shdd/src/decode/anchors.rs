//! The paper's mode-seeking decoder: the field at N anchors, the mass inside a window ρ about each, argmax.

use crate::{Codec, Coefficients, Mode, ShddError, sphere::Grid, sphere::UnitVec};
use std::collections::HashMap;

/// Anchor points and a window radius. The answer is always one of the anchors.
#[derive(Debug, Clone)]
pub struct Anchors {
    points: Vec<UnitVec>,
    window_rad: f64,
    buckets: HashMap<[i32; 3], Vec<u32>>,
    bucket_size: f64,
}

impl Anchors {
    /// Anchors from a grid or a gallery, and the window radius ρ (0: the highest anchor wins).
    /// Fails if the radius is not between 0 and π.
    ///
    /// ```
    /// use locdiff_shdd::{Anchors, Codec, Decoder};
    /// use locdiff_shdd::sphere::{Degree, Grid, LatLon, haversine_km};
    /// let codec = Codec::new(Degree::new(23)?);
    /// let place = LatLon::new(48.86, 2.35)?;
    /// let decoder = Decoder::Anchors(Anchors::new(&Grid::fibonacci(21_000)?, 0.0)?);
    /// let answer = codec.decode(&codec.encode(place), &decoder)?;
    /// assert!(haversine_km(place, answer.place()) < 120.0); // as near as the grid allows
    /// # Ok::<(), locdiff_shdd::ShddError>(())
    /// ```
    pub fn new(grid: &Grid, window_rad: f64) -> Result<Self, ShddError> {
        if !(0.0..=std::f64::consts::PI).contains(&window_rad) {
            return Err(ShddError::Radius(window_rad));
        }
        let points = grid.points().to_vec();
        let bucket_size = (2.0 * (0.5 * window_rad.min(3.0)).sin()).max(1e-3);
        let mut buckets: HashMap<[i32; 3], Vec<u32>> = HashMap::new();
        if window_rad > 0.0 {
            for (i, p) in points.iter().enumerate() {
                buckets.entry(bucket(*p, bucket_size)).or_default().push(i as u32);
            }
        }
        Ok(Self { points, window_rad, buckets, bucket_size })
    }

    /// Returns whether the window is zero, so that each anchor is scored alone.
    pub fn is_single(&self) -> bool {
        self.window_rad == 0.0
    }

    /// Returns the anchors.
    pub fn points(&self) -> &[UnitVec] {
        &self.points
    }

    pub(super) fn decode(&self, codec: &Codec, e: &Coefficients) -> Result<Mode, ShddError> {
        let values = codec.field(e)?.values(&self.points);
        let best = if self.window_rad > 0.0 { self.heaviest(&values) } else { argmax(&values) };
        codec.mode_at(e, self.points[best])
    }

    /// The anchor with the largest `Σ exp F` over anchors nearer than ρ.
    fn heaviest(&self, values: &[f64]) -> usize {
        let top = values[argmax(values)];
        // Anchors below this add less than e^-20 of the heaviest window in all.
        let floor = top - (values.len() as f64).ln() - 20.0;
        let near = self.window_rad.cos();
        let mut mass = vec![0.0; values.len()];
        for (i, value) in values.iter().enumerate().filter(|(_, v)| **v >= floor) {
            let centre = self.points[i];
            let [x, y, z] = bucket(centre, self.bucket_size);
            for (dx, dy, dz) in neighbours() {
                let Some(others) = self.buckets.get(&[x + dx, y + dy, z + dz]) else { continue };
                for &j in others {
                    if self.points[j as usize].dot(centre) > near {
                        mass[j as usize] += (value - top).exp();
                    }
                }
            }
        }
        argmax(&mass)
    }
}

fn bucket(p: UnitVec, size: f64) -> [i32; 3] {
    p.to_array().map(|v| (v / size).floor() as i32)
}

fn neighbours() -> impl Iterator<Item = (i32, i32, i32)> {
    (0..27).map(|i| (i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1))
}

fn argmax(values: &[f64]) -> usize {
    (0..values.len()).max_by(|&i, &j| values[i].total_cmp(&values[j])).expect("a grid is never empty")
}
