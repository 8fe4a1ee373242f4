//! From coefficients to values at all HEALPix pixels: one Legendre sum a ring of equal latitude, then a real FFT.

use crate::sphere::rings::{LANES, Legendre, add_order};
use crate::sphere::{Field, UnitVec, simd::dispatch};
use rayon::prelude::*;
use realfft::{ComplexToReal, RealFftPlanner, num_complex::Complex};
use std::{f64::consts::TAU, fmt, sync::Arc};

/// Heights nearer than this are of one ring; rings of the finest pixels are 5e-9 apart.
const SAME_HEIGHT: f64 = 1e-10;

/// The rings of a set of pixels.
pub(super) struct PixelRings {
    z: Vec<f64>,
    rings: Vec<Ring>,
    /// The pixels, ring by ring from north to south, each ring eastwards: where the value of each is put.
    places: Vec<u32>,
    /// How many values there are.
    count: usize,
}

struct Ring {
    first_lon_rad: f64,
    /// Where its pixels begin.
    start: usize,
    fft: Arc<dyn ComplexToReal<f64>>,
}

impl fmt::Debug for PixelRings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PixelRings").field("rings", &self.z.len()).finish_non_exhaustive()
    }
}

impl PixelRings {
    /// Of the centres of all pixels; values are wanted of those in `chosen`, in its order.
    pub(super) fn new(points: &[UnitVec], chosen: impl ExactSizeIterator<Item = u32>) -> Self {
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
        let (count, mut place_of) = (chosen.len(), vec![u32::MAX; points.len()]);
        chosen.zip(0..).for_each(|(pixel, place)| place_of[pixel as usize] = place);
        let places = rows.into_iter().map(|(.., pixel)| place_of[pixel as usize]).collect();
        Self { z, rings, places, count }
    }

    /// A field's values at the chosen pixels, on all threads.
    pub(super) fn values(&self, field: &Field) -> Vec<f64> {
        let (table, weights) = (&*field.table, &field.weights[..]);
        let tile = |(rings, z): (&[Ring], &[f64])| {
            let sums = dispatch(Legendre { table, weights, z });
            let mut values = vec![0.0; rings.iter().map(|ring| ring.fft.len()).sum()];
            let (mut rest, mut spectrum, mut scratch) = (values.as_mut_slice(), Vec::new(), Vec::new());
            for (lane, ring) in rings.iter().enumerate() {
                let (own, after) = rest.split_at_mut(ring.fft.len());
                rest = after;
                if self.places[ring.start..][..own.len()].iter().all(|place| *place == u32::MAX) {
                    continue;
                }
                spectrum.clear();
                spectrum.resize(own.len() / 2 + 1, Complex::default());
                scratch.resize(ring.fft.get_scratch_len(), Complex::default());
                let step = Complex::from_polar(1.0, ring.first_lon_rad);
                let mut turn = Complex::new(1.0, 0.0);
                for (m, (cos, sin)) in sums.iter().enumerate() {
                    add_order(&mut spectrum, own.len(), m, Complex::new(cos[lane], -sin[lane]) * turn);
                    turn *= step;
                }
                let whole = ring.fft.process_with_scratch(&mut spectrum, own, &mut scratch);
                whole.expect("plan and buffers have one length, and the end bins are real");
            }
            values
        };
        let on_rings: Vec<Vec<f64>> = self.rings.par_chunks(LANES).zip(self.z.par_chunks(LANES)).map(tile).collect();
        let mut values = vec![0.0; self.count];
        for (tile, rings) in on_rings.iter().zip(self.rings.chunks(LANES)) {
            for (place, value) in self.places[rings[0].start..].iter().zip(tile) {
                if let Some(own) = values.get_mut(*place as usize) {
                    *own = *value;
                }
            }
        }
        values
    }
}
