//! Whether neighbours err alike.

use crate::eval::{Result, error::expect_len};
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon, UnitVec};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::Serialize;

/// Edges in km of the bands of distance between truths.
const LAG_EDGES_KM: [f64; 9] = [0.0, 25.0, 100.0, 250.0, 500.0, 1000.0, 2500.0, 5000.0, 20_016.0];
/// More photos than this are thinned: pairs are quadratic.
const MOST_PHOTOS: usize = 5000;

/// Moran's I of the errors among photos at a distance from each other.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Lag {
    pub(crate) from_km: f64,
    pub(crate) to_km: f64,
    pub(crate) pairs: u64,
    /// Moran's I: 1 when neighbours err alike, near 0 when they have nothing to do with each other.
    pub(crate) moran_i: f64,
    /// How many standard deviations it is from what chance gives.
    pub(crate) z: f64,
}

/// A correlogram of the errors by great-circle lag.
///
/// The quantity is ln(1 + error in km), because errors spread over four orders of magnitude. If neighbours err alike,
/// intervals that take photos for independent are too narrow.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Correlogram {
    /// Photos that were used: those with an answer, at most 5000 of them, drawn with the seed.
    pub(crate) n: usize,
    pub(crate) lags: Vec<Lag>,
}

impl Correlogram {
    /// From truths and distances, one per photo; ∞ is no answer and is left out. Fails if there is not one distance per photo.
    pub(crate) fn new(truths: &[LatLon], errors_km: &[f64], seed: u64) -> Result<Self> {
        expect_len("distances", errors_km.len(), truths.len())?;
        let photos = truths.iter().zip(errors_km).filter(|(_, km)| km.is_finite());
        let mut photos: Vec<(UnitVec, f64)> = photos.map(|(place, km)| (place.to_unit(), km.ln_1p())).collect();
        thin(&mut photos, seed);
        let n = photos.len();
        let mean = photos.iter().map(|photo| photo.1).sum::<f64>() / n as f64;
        photos.iter_mut().for_each(|photo| photo.1 -= mean);
        let variance = photos.iter().map(|photo| photo.1 * photo.1).sum::<f64>() / n as f64;
        if n < 4 || variance <= 0.0 {
            return Ok(Self { n, lags: Vec::new() });
        }
        let bands = Bands::of(&photos);
        let lags = (0..bands.pairs.len()).filter(|&band| bands.pairs[band] > 0).map(|band| {
            let (pairs, products) = (bands.pairs[band], bands.products[band]);
            let moran_i = products / (pairs as f64 * variance);
            let expected = -1.0 / (n as f64 - 1.0);
            let z = (moran_i - expected) / deviation(n as f64, pairs as f64, bands.squared_degrees[band]);
            Lag { from_km: LAG_EDGES_KM[band], to_km: LAG_EDGES_KM[band + 1], pairs, moran_i, z }
        });
        Ok(Self { n, lags: lags.collect() })
    }
}

/// Keeps [`MOST_PHOTOS`] of them by chance.
fn thin(photos: &mut Vec<(UnitVec, f64)>, seed: u64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    for index in 0..MOST_PHOTOS.min(photos.len()) {
        if photos.len() <= MOST_PHOTOS {
            return;
        }
        let other = rng.random_range(index..photos.len());
        photos.swap(index, other);
    }
    photos.truncate(MOST_PHOTOS);
}

/// Standard deviation of Moran's I under normality with weights 1 for `pairs` unordered pairs (Cliff and Ord):
/// W = 2·pairs, S1 = 2W, S2 = 4·Σ degree².
fn deviation(n: f64, pairs: f64, squared_degrees: f64) -> f64 {
    let w = 2.0 * pairs;
    let (s1, s2) = (2.0 * w, 4.0 * squared_degrees);
    let second = (n * n * s1 - n * s2 + 3.0 * w * w) / ((n * n - 1.0) * w * w);
    (second - 1.0 / (n - 1.0).powi(2)).max(0.0).sqrt()
}

/// Sums over the pairs of each band.
#[derive(Default)]
struct Bands {
    pairs: [u64; LAG_EDGES_KM.len() - 1],
    products: [f64; LAG_EDGES_KM.len() - 1],
    /// Sum over photos of the squared number of partners.
    squared_degrees: [f64; LAG_EDGES_KM.len() - 1],
}

impl Bands {
    fn of(photos: &[(UnitVec, f64)]) -> Self {
        // Chords order as distances do, and cost no arc.
        let edges = LAG_EDGES_KM.map(|km| {
            let half = (0.5 * km / EARTH_RADIUS_KM).min(std::f64::consts::FRAC_PI_2).sin();
            4.0 * half * half
        });
        let row = |(i, &(place, value)): (usize, &(UnitVec, f64))| {
            let mut partners = [0u64; LAG_EDGES_KM.len() - 1];
            let mut products = [0.0; LAG_EDGES_KM.len() - 1];
            let [x, y, z] = place.to_array();
            for (j, &(other, other_value)) in photos.iter().enumerate() {
                let [a, b, c] = other.to_array();
                let chord = (a - x).powi(2) + (b - y).powi(2) + (c - z).powi(2);
                let band = edges[1..edges.len() - 1].partition_point(|edge| *edge <= chord);
                let counts = u64::from(i != j);
                partners[band] += counts;
                products[band] += counts as f64 * value * other_value;
            }
            (partners, products)
        };
        let rows: Vec<_> = photos.par_iter().enumerate().map(row).collect();
        let mut bands = Self::default();
        for (partners, products) in rows {
            for band in 0..partners.len() {
                bands.pairs[band] += partners[band];
                bands.products[band] += 0.5 * products[band];
                bands.squared_degrees[band] += (partners[band] as f64).powi(2);
            }
        }
        bands.pairs.iter_mut().for_each(|pairs| *pairs /= 2); // each was counted from both sides
        bands
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn photos(n: u32, rng: &mut ChaCha8Rng) -> Vec<LatLon> {
        let place = |_| LatLon::new(rng.random_range(40.0..45.0), rng.random_range(5.0..12.0)).expect("in range");
        (0..n).map(place).collect()
    }

    #[test]
    fn the_formula_is_moran_s() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let truths = photos(30, &mut rng);
        let errors: Vec<f64> = (0..30).map(|_| rng.random_range(1.0..3000.0)).collect();
        let found = Correlogram::new(&truths, &errors, 0).unwrap();
        let values: Vec<f64> = errors.iter().map(|km| km.ln_1p()).collect();
        let mean = values.iter().sum::<f64>() / 30.0;
        for lag in &found.lags {
            let (mut weights, mut products) = (0.0, 0.0);
            for i in 0..30 {
                for j in 0..30 {
                    let km = locdiff_shdd::sphere::haversine_km(truths[i], truths[j]);
                    if i != j && km >= lag.from_km && km < lag.to_km {
                        weights += 1.0;
                        products += (values[i] - mean) * (values[j] - mean);
                    }
                }
            }
            let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
            assert_eq!(lag.pairs as f64 * 2.0, weights);
            assert!((lag.moran_i - 30.0 / weights * products / squares).abs() < 1e-12);
        }
        assert_eq!(found.lags.iter().map(|lag| lag.pairs).sum::<u64>(), 30 * 29 / 2);
    }

    /// z is standard normal when errors have nothing to do with places.
    #[test]
    fn chance_gives_standard_scores() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let truths = photos(80, &mut rng);
        // The sum of four is near enough to normal.
        let mut normal = || (0..4).map(|_| rng.random_range(0.0..2.0f64)).sum::<f64>();
        let score = |_| {
            let errors: Vec<f64> = (0..80).map(|_| normal().exp_m1()).collect();
            let lags = Correlogram::new(&truths, &errors, 0).unwrap().lags;
            lags.iter().find(|lag| lag.to_km == 250.0).expect("there are such pairs").z
        };
        let scores: Vec<f64> = (0..300).map(score).collect();
        let mean = scores.iter().sum::<f64>() / 300.0;
        let deviation = (scores.iter().map(|z| (z - mean).powi(2)).sum::<f64>() / 299.0).sqrt();
        assert!(mean.abs() < 0.2 && (deviation - 1.0).abs() < 0.15, "{mean} {deviation}");
    }

    #[test]
    fn errors_alike_are_found_and_few_or_equal_ones_say_nothing() {
        let place = LatLon::new(1.0, 1.0).unwrap();
        assert!(Correlogram::new(&[place; 9], &[7.0; 9], 0).unwrap().lags.is_empty());
        assert_eq!(Correlogram::new(&[place; 9], &[f64::INFINITY; 9], 0).unwrap().n, 0);
        assert!(Correlogram::new(&[place; 9], &[7.0; 8], 0).is_err());
        let many = Correlogram::new(&vec![place; MOST_PHOTOS + 5], &vec![7.0; MOST_PHOTOS + 5], 0).unwrap();
        assert_eq!(many.n, MOST_PHOTOS);
        // Two towns; all errors are small in one and large in the other.
        let town = |k: u8| LatLon::new(f64::from(k % 2) * 40.0, f64::from(k) * 0.001).unwrap();
        let towns: Vec<LatLon> = (0..60).map(town).collect();
        let errors: Vec<f64> = (0..60).map(|k| if k % 2 == 0 { 5.0 } else { 3000.0 }).collect();
        let near = Correlogram::new(&towns, &errors, 0).unwrap().lags[0];
        assert!(near.moran_i > 0.9 && near.z > 3.0);
    }
}
