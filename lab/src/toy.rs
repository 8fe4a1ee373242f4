//! Toy data for the tests.

use crate::{Baseline, Effort, Examples, FitData, baseline::Task};
use locdiff_model::chance;
use locdiff_nn::Device;
use locdiff_shdd::sphere::{LatLon, UnitVec};

pub(crate) fn task<'a>(
    device: &'a Device,
    effort: &'a Effort,
    seed: u64,
    training: &'a Examples,
    validation: &'a Examples,
) -> Task<'a> {
    Task { method: "toy", device, effort, seed, data: FitData { training, validation } }
}

/// The log density in nats per steradian that each row's density puts on that row's point.
pub(crate) fn log_densities(method: &impl Baseline, embeddings: &[f32], points: &[UnitVec]) -> Vec<f64> {
    let densities = method.densities(embeddings).unwrap();
    let pairs = densities.into_iter().zip(points);
    pairs.map(|(density, point)| density(crate::Points::Any(std::slice::from_ref(point)))[0]).collect()
}

/// Cities with photos around them; an embedding tells the city, and no more.
pub(crate) fn cities(photos: usize, seed: u64) -> Examples {
    let columns = 6;
    let cities: Vec<UnitVec> = (0..8).map(|k| chance::point([1, 2, k])).collect();
    let mut points = Vec::new();
    let mut copies = vec![Vec::new(), Vec::new()];
    for photo in 0..photos as u64 {
        let city = chance::below(&[seed, photo], cities.len());
        let (a, b) = chance::normals([seed, 3, photo]);
        points.push(cities[city].step(0.002 * a, 0.002 * b));
        for (c, copy) in copies.iter_mut().enumerate() {
            for column in 0..columns {
                let base = chance::normals([9, city as u64, column]).0;
                let noise = chance::normals([seed, photo << 8 | column, c as u64]).0;
                copy.push((3.0 + base + 0.2 * noise) as f32);
            }
        }
    }
    Examples::new(columns as usize, &copies, points).unwrap()
}

/// Photos anywhere, whose embedding is the place itself.
pub(crate) fn anywhere(photos: usize, seed: u64) -> Examples {
    let points: Vec<UnitVec> = (0..photos as u64).map(|k| chance::point([seed, 11, k])).collect();
    let embeddings = points.iter().flat_map(|point| point.to_array().map(|x| x as f32)).collect();
    Examples::new(3, &[embeddings], points).unwrap()
}

/// Photos with the same embedding, at places drawn from a mixture of two vMF densities: `share` of them about the first
/// centre, the rest about the second, with [`KAPPAS`].
pub(crate) fn mixture(photos: usize, share: f64, seed: u64) -> Examples {
    let centres = mixture_centres();
    let point = |k: u64| {
        let first = chance::uniform(&[seed, 7, k]) < share;
        let (centre, kappa) = if first { (centres[0], KAPPAS[0]) } else { (centres[1], KAPPAS[1]) };
        vmf(centre, kappa, [seed, 8, k])
    };
    let points: Vec<UnitVec> = (0..photos as u64).map(point).collect();
    let embeddings = points.iter().flat_map(|_| [1.0, -1.0]).collect();
    Examples::new(2, &[embeddings], points).unwrap()
}

/// Photos with the same embedding at one of twelve places, each spread by five degrees.
pub(crate) fn peaks(photos: usize, seed: u64) -> Examples {
    let place = |k: u64| vmf(chance::point([3, 5, chance::below(&[seed, 6, k], 12) as u64]), 130.0, [seed, 9, k]);
    let points: Vec<UnitVec> = (0..photos as u64).map(place).collect();
    let embeddings = points.iter().flat_map(|_| [1.0, -1.0]).collect();
    Examples::new(2, &[embeddings], points).unwrap()
}

/// The concentrations of [`mixture`].
pub(crate) const KAPPAS: [f64; 2] = [60.0, 20.0];

/// The centres of [`mixture`].
pub(crate) fn mixture_centres() -> [UnitVec; 2] {
    [LatLon::new(48.0, 179.0).unwrap().to_unit(), LatLon::new(-20.0, 30.0).unwrap().to_unit()]
}

/// A point drawn from a vMF density, by inverting the distribution of the cosine.
pub(crate) fn vmf(centre: UnitVec, kappa: f64, words: [u64; 3]) -> UnitVec {
    let [a, b, c] = words;
    let u = chance::uniform(&[a, b, c, 1]);
    let cosine = 1.0 + (u + (1.0 - u) * (-2.0 * kappa).exp()).ln() / kappa;
    let (sin, cos) = (std::f64::consts::TAU * chance::uniform(&[a, b, c, 2])).sin_cos();
    let angle = cosine.clamp(-1.0, 1.0).acos();
    centre.step(angle * cos, angle * sin)
}
