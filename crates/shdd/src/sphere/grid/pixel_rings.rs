//! From coefficients to values at HEALPix pixels: one Legendre sum a ring of equal latitude, then one polynomial a pixel.

use crate::sphere::rings::{LANES, Legendre};
use crate::sphere::simd::{dispatch, vectors, vectors_mut};
use crate::sphere::{Field, UnitVec};
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

/// Heights nearer than this are of one ring; rings of the finest pixels are 5e-9 apart.
const SAME_HEIGHT: f64 = 1e-10;
/// Rings are filled up to a multiple of this, whose registers are worked on together: a chain of multiply-adds waits for itself.
const PADDED: usize = 16;
/// The place of what fills a ring up.
const NOWHERE: u32 = u32::MAX;

/// The rings that hold a set of pixels.
#[derive(Debug)]
pub(super) struct PixelRings {
    /// The height of each ring, from north to south.
    z: Vec<f64>,
    /// Where the pixels of each ring begin, and where those of the last end.
    starts: Vec<usize>,
    /// Cosine and sine of each pixel's longitude.
    cos: Vec<f64>,
    sin: Vec<f64>,
    /// Where the value of each pixel is put.
    places: Vec<u32>,
    /// How many values there are.
    count: usize,
}

impl PixelRings {
    /// Of pixels with these centres.
    pub(super) fn new(points: &[UnitVec]) -> Self {
        let mut rows: Vec<(f64, u32)> = points.iter().map(|point| point.z()).zip(0..).collect();
        rows.sort_by(|a, b| b.0.total_cmp(&a.0));
        let (mut rings, count) = (Self::empty(), points.len());
        for ring in rows.chunk_by(|a, b| a.0 - b.0 < SAME_HEIGHT) {
            for (_, place) in ring {
                let [x, y, _] = points[*place as usize].to_array();
                let sine = x.hypot(y);
                rings.push((x / sine, y / sine), *place);
            }
            while !rings.places.len().is_multiple_of(PADDED) {
                rings.push((0.0, 0.0), NOWHERE);
            }
            rings.z.push(ring[0].0);
            rings.starts.push(rings.places.len());
        }
        Self { count, ..rings }
    }

    fn empty() -> Self {
        let (z, cos, sin, places) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { z, starts: vec![0], cos, sin, places, count: 0 }
    }

    fn push(&mut self, (cos, sin): (f64, f64), place: u32) {
        self.cos.push(cos);
        self.sin.push(sin);
        self.places.push(place);
    }

    /// A field's values at the pixels, on all threads.
    pub(super) fn values(&self, field: &Field) -> Vec<f64> {
        let tile = |tile: usize| {
            let rings = LANES * tile..self.z.len().min(LANES * (tile + 1));
            let (starts, z) = (&self.starts[rings.start..=rings.end], &self.z[rings]);
            let own = starts[0]..starts[z.len()];
            let mut values = vec![0.0; own.len()];
            let legendre = Legendre { table: &field.table, weights: &field.weights, z };
            dispatch(Tile { legendre, starts, cos: &self.cos[own.clone()], sin: &self.sin[own], values: &mut values });
            values
        };
        let tiles: Vec<Vec<f64>> = (0..self.z.len().div_ceil(LANES)).into_par_iter().map(tile).collect();
        let mut values = vec![0.0; self.count];
        for (place, value) in self.places.iter().zip(tiles.iter().flatten()) {
            if let Some(own) = values.get_mut(*place as usize) {
                *own = *value;
            }
        }
        values
    }
}

/// The values on a tile of rings.
struct Tile<'a> {
    legendre: Legendre<'a>,
    starts: &'a [usize],
    cos: &'a [f64],
    sin: &'a [f64],
    values: &'a mut [f64],
}

impl WithSimd for Tile<'_> {
    type Output = ();

    /// `Re Σ_m (a_m − i·b_m)·e^{imλ}` by Horner's rule.
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let sums = self.legendre.with_simd(simd);
        let groups = PADDED / S::F64_LANES;
        let (cos, sin) = (vectors::<S>(self.cos), vectors::<S>(self.sin));
        let (values, zero) = (vectors_mut::<S>(self.values), simd.splat_f64s(0.0));
        let mut orders = vec![[0.0; 2]; sums.len()];
        for (lane, ends) in self.starts.windows(2).enumerate() {
            orders.iter_mut().zip(sums.iter().rev()).for_each(|(order, (a, b))| *order = [a[lane], b[lane]]);
            let [from, to] = [ends[0], ends[1]].map(|end| (end - self.starts[0]) / S::F64_LANES);
            let own = cos[from..to].chunks_exact(groups).zip(sin[from..to].chunks_exact(groups));
            for (value, (cos, sin)) in values[from..to].chunks_exact_mut(groups).zip(own) {
                let (mut re, mut im, mut minus_sin) = ([zero; PADDED], [zero; PADDED], [zero; PADDED]);
                for g in 0..groups {
                    minus_sin[g] = simd.sub_f64s(zero, sin[g]);
                }
                for [a, b] in &orders {
                    let (a, b) = (simd.splat_f64s(*a), simd.splat_f64s(*b));
                    // `im` is that of the conjugate.
                    for g in 0..groups {
                        let next = simd.mul_add_e_f64s(re[g], cos[g], simd.mul_add_e_f64s(im[g], sin[g], a));
                        im[g] = simd.mul_add_e_f64s(im[g], cos[g], simd.mul_add_e_f64s(re[g], minus_sin[g], b));
                        re[g] = next;
                    }
                }
                value.copy_from_slice(&re[..groups]);
            }
        }
    }
}
