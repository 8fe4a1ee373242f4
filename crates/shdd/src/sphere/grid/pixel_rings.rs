//! From coefficients to values at all HEALPix pixels: one Legendre sum a ring of equal latitude, then a real FFT.

use crate::sphere::rings::{LANES, Legendre, add_order};
use crate::sphere::{Field, UnitVec, simd::dispatch};
use rayon::prelude::*;
use realfft::{ComplexToReal, RealFftPlanner, num_complex::Complex};
use std::{f64::consts::TAU, sync::Arc};

/// Heights nearer than this are of one ring; rings of the finest pixels are 5e-9 apart.
const SAME_HEIGHT: f64 = 1e-10;

/// The rings of a set of pixels.
pub(super) struct PixelRings {
    z: Vec<f64>,
    rings: Vec<Ring>,
    /// The pixels, ring by ring from north to south, each ring eastwards.
    pixels: Vec<u32>,
}

struct Ring {
    first_lon_rad: f64,
    /// Where its pixels begin.
    start: usize,
    fft: Arc<dyn ComplexToReal<f64>>,
}

impl PixelRings {
    /// Of the centres of all pixels.
    pub(super) fn new(points: &[UnitVec]) -> Self {
        let row = |(pixel, point): (usize, &UnitVec)| {
            let [x, y, z] = point.to_array();
            (z, y.atan2(x).rem_euclid(TAU), pixel as u32)
        };
        let mut rows: Vec<(f64, f64, u32)> = points.iter().enumerate().map(row).collect();
        rows.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        let (mut z, mut rings, mut start) = (Vec::new(), Vec::new(), 0);
        let mut planner = RealFftPlanner::new();
        for ring in rows.chunk_by_mut(|a, b| a.0 - b.0 < SAME_HEIGHT) {
            ring.sort_unstable_by(|a, b| a.1.total_cmp(&b.1));
            z.push(ring[0].0);
            rings.push(Ring { first_lon_rad: ring[0].1, start, fft: planner.plan_fft_inverse(ring.len()) });
            start += ring.len();
        }
        let pixels = rows.into_iter().map(|(.., pixel)| pixel).collect();
        Self { z, rings, pixels }
    }

    /// A field's values at the pixels, in the pixels' own order, on all threads.
    pub(super) fn values(&self, field: &Field) -> Vec<f64> {
        let (table, weights) = (&*field.table, &field.weights[..]);
        let tile = |(rings, z): (&[Ring], &[f64])| {
            let sums = dispatch(Legendre { table, weights, z });
            let mut values = vec![0.0; rings.iter().map(|ring| ring.fft.len()).sum()];
            let mut rest = values.as_mut_slice();
            for (lane, ring) in rings.iter().enumerate() {
                let (own, after) = rest.split_at_mut(ring.fft.len());
                rest = after;
                let mut spectrum = ring.fft.make_input_vec();
                let step = Complex::from_polar(1.0, ring.first_lon_rad);
                let mut turn = Complex::new(1.0, 0.0);
                for (m, (cos, sin)) in sums.iter().enumerate() {
                    add_order(&mut spectrum, own.len(), m, Complex::new(cos[lane], -sin[lane]) * turn);
                    turn *= step;
                }
                let whole = ring.fft.process(&mut spectrum, own);
                whole.expect("plan and buffers have one length, and the end bins are real");
            }
            values
        };
        let on_rings: Vec<Vec<f64>> = self.rings.par_chunks(LANES).zip(self.z.par_chunks(LANES)).map(tile).collect();
        let mut values = vec![0.0; self.pixels.len()];
        for (tile, rings) in on_rings.iter().zip(self.rings.chunks(LANES)) {
            let pixels = &self.pixels[rings[0].start..][..tile.len()];
            for (pixel, value) in pixels.iter().zip(tile) {
                values[*pixel as usize] = *value;
            }
        }
        values
    }
}
