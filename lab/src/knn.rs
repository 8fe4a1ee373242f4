//! Retrieval: the places of the photos that look most alike (`[L]kNN`).

use crate::examples::{normalised, upload};
use crate::reading::{NARROWEST_KM, THINNEST};
use crate::{Baseline, FitData, PhotoDensity, Points, Result, baseline::highest_columns, baseline::score, search};
use locdiff_model::{Standardisation, answer::KernelSettings, answer::Neighbour};
use locdiff_nn::{Device, Tensor, ops, ops::Transpose};
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon, UnitVec};
use rayon::prelude::*;
use std::f64::consts::PI;

/// Places are sought among those of so many nearest neighbours.
const CANDIDATES: usize = 64;
/// Neighbours that vote for them.
const NEIGHBOURS: [usize; 10] = [1, 5, 15, 40, 100, 250, 600, 1500, 4000, 10_000];
/// Widths of the density's kernels, all in one mixture.
const WIDTHS: i32 = 12;
/// Photos asked at a time, and points whose kernels are in memory at a time.
const BLOCK: usize = 512;
const POINTS: usize = 4096;
/// Steps of the expectation–maximisation that finds the shares of the widths.
const STEPS: usize = 200;
/// Numbers of a table of kernels by the chord between two points.
const TABLE: usize = 1 << 13;

fn width_km(k: i32) -> f64 {
    (NARROWEST_KM * 2.0_f64.powf(0.5 * f64::from(k))).round()
}

fn sharpness(k: i32) -> f64 {
    5.0 * 2.0_f64.powf(0.5 * f64::from(k))
}

/// The nearest neighbours by the cosine of the embeddings, each weighing `exp(sharpness·cosine)`: the place is the mode of Gaussian
/// kernels of one width, the density has kernels of several widths whose shares are those of the greatest likelihood.
pub(crate) struct NearestNeighbours {
    places: (Gallery, KernelSettings),
    density: (Gallery, Mixture),
}

/// Kernels of several widths about the nearest neighbours, beside a share spread evenly.
#[derive(Debug, Clone)]
struct Mixture {
    neighbours: usize,
    sharpness: f64,
    /// Width and share of the kernels.
    kernels: Vec<(f64, f64)>,
    even: f64,
    /// The share of a density beside it.
    beside: f64,
}

/// The training photos' embeddings, of length one, with their places.
struct Gallery {
    is_standardised: bool,
    standardisation: Standardisation,
    rows: Tensor,
    points: Vec<UnitVec>,
}

/// Neighbours of one photo, the nearest first.
type Neighbours = Vec<Neighbour>;

impl Gallery {
    fn new(device: &Device, data: FitData<'_>, standardised: bool) -> Result<Self> {
        let training = data.training;
        let standardisation =
            if standardised { training.standardisation() } else { Standardisation::identity(training.columns()) };
        let rows = unit_rows(device, &standardisation, training.photos())?;
        Ok(Self { is_standardised: standardised, standardisation, rows, points: training.points().to_vec() })
    }

    /// The cosines of every row with all photos.
    fn cosines(&self, embeddings: &[f32]) -> Result<Vec<f32>> {
        let device = self.rows.device();
        let mut found = Vec::new();
        for block in embeddings.chunks(BLOCK * self.rows.cols()) {
            let asked = unit_rows(device, &self.standardisation, block)?;
            let mut cosines = Tensor::zeros(device, asked.rows(), self.rows.rows())?;
            let rows = self.rows.view();
            ops::gemm(cosines.view_mut(), asked.view(), Transpose::No, rows, Transpose::Yes, 0.0, None)?;
            found.extend(cosines.to_vec()?);
        }
        Ok(found)
    }

    /// The `most` nearest photos of every row.
    fn nearest(&self, embeddings: &[f32], most: usize) -> Result<Vec<Neighbours>> {
        let cosines = self.cosines(embeddings)?;
        let each = cosines.par_chunks(self.points.len()).map(|row| {
            let own = |k: u32| Neighbour { place: self.points[k as usize], similarity: f64::from(row[k as usize]) };
            highest_columns(row, most).into_iter().map(own).collect::<Neighbours>()
        });
        Ok(each.collect())
    }
}

fn unit_rows(device: &Device, standardisation: &Standardisation, embeddings: &[f32]) -> Result<Tensor> {
    normalised(&upload(device, standardisation, embeddings)?)
}

/// The neighbour's place where the density is highest.
fn mode(neighbours: &[Neighbour], settings: &KernelSettings) -> LatLon {
    let taken = &neighbours[..settings.neighbours.min(neighbours.len())];
    let kernels = settings.kernels(taken);
    let heights: Vec<f64> = taken.iter().take(CANDIDATES).map(|near| kernels.density(near.place)).collect();
    // Of equals the nearest neighbour, which comes first.
    let best = (0..heights.len()).rev().max_by(|&a, &b| heights[a].total_cmp(&heights[b])).unwrap_or(0);
    taken[best].place.to_latlon()
}

/// A Gaussian kernel's density at a squared chord from its centre.
fn kernel(width_km: f64, squared: f64) -> f64 {
    let kappa = (EARTH_RADIUS_KM / width_km).powi(2);
    (-0.5 * kappa * squared).exp() * kappa / (2.0 * PI * -(-2.0 * kappa).exp_m1())
}

fn squared_chord(a: UnitVec, b: UnitVec) -> f64 {
    let (a, b) = (a.to_array(), b.to_array());
    (0..3).map(|i| (a[i] - b[i]).powi(2)).sum()
}

/// The shares of components with the greatest likelihood, and the mean log density then; a row holds a photo's densities.
pub(crate) fn shares(rows: &[Vec<f64>]) -> (Vec<f64>, f64) {
    let (n, columns) = (rows.len() as f64, rows[0].len());
    let mut shares = vec![1.0 / columns as f64; columns];
    let mixed = |shares: &[f64], row: &[f64]| -> f64 { shares.iter().zip(row).map(|(s, d)| s * d).sum() };
    for _ in 0..STEPS {
        let mut sums = vec![0.0; columns];
        for row in rows {
            let total = mixed(&shares, row).max(f64::MIN_POSITIVE);
            sums.iter_mut().zip(&shares).zip(row).for_each(|((sum, share), d)| *sum += share * d / total / n);
        }
        shares = sums;
    }
    let mean = rows.iter().map(|row| mixed(&shares, row).max(f64::MIN_POSITIVE).ln()).sum::<f64>() / n;
    (shares, mean)
}

impl Mixture {
    /// The mixture with the greatest likelihood of one sharpness, over all numbers of neighbours; `kernels` are those of every
    /// photo's neighbours at its true place, width by width.
    fn of_sharpness(
        sharpness: f64,
        nearest: &[Neighbours],
        kernels: &[Vec<[f32; WIDTHS as usize]>],
        beside: Option<&[f64]>,
    ) -> (f64, Self) {
        let most = nearest[0].len();
        let mut ladder: Vec<usize> = (0..40).map(|k| 5 << k).take_while(|k| *k < most).collect();
        ladder.push(most);
        // By photo and number of neighbours: the densities of the widths, the even one, the one beside it.
        let photos = nearest.par_iter().zip(kernels).enumerate().map(|(photo, (near, kernels))| {
            let (mut sums, mut total, mut found) = ([0.0; WIDTHS as usize], 0.0, Vec::new());
            for (k, (near_one, kernels)) in near.iter().zip(kernels).enumerate() {
                let weight = (sharpness * (near_one.similarity - near[0].similarity)).exp();
                total += weight;
                sums.iter_mut().zip(kernels).for_each(|(sum, kernel)| *sum += weight * f64::from(*kernel));
                if ladder.contains(&(k + 1)) {
                    let mut row: Vec<f64> = sums.iter().map(|sum| sum / total).collect();
                    row.push(0.25 / PI);
                    row.extend(beside.map(|logs| logs[photo].exp()));
                    found.push(row);
                }
            }
            found
        });
        let photos: Vec<Vec<Vec<f64>>> = photos.collect();
        let each = ladder.par_iter().enumerate().map(|(k, &neighbours)| {
            let rows: Vec<Vec<f64>> = photos.iter().map(|photo| photo[k].clone()).collect();
            let (shares, score) = shares(&rows);
            let widths = WIDTHS as usize;
            let kernels = (0..WIDTHS).map(|k| (width_km(k), shares[k as usize])).collect();
            let beside = shares.get(widths + 1).copied().unwrap_or(0.0);
            (score, Self { neighbours, sharpness, kernels, even: shares[widths], beside })
        });
        let each: Vec<(f64, Self)> = each.collect();
        each.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).expect("there is a number of neighbours")
    }

    /// The density without what is beside it, at a squared chord from each neighbour.
    fn kernel(&self, squared: f64) -> f64 {
        self.kernels.iter().map(|(width_km, share)| share * kernel(*width_km, squared)).sum::<f64>()
            / (1.0 - self.beside)
    }

    /// Weights of neighbours, of sum 1.
    fn weights(&self, near: &[Neighbour]) -> Vec<f64> {
        let weigh = |own: &Neighbour| (self.sharpness * (own.similarity - near[0].similarity)).exp();
        let each: Vec<f64> = near.iter().take(self.neighbours).map(weigh).collect();
        let total: f64 = each.iter().sum();
        each.into_iter().map(|weight| weight / total).collect()
    }

    fn even_density(&self) -> f64 {
        0.25 / PI * self.even / (1.0 - self.beside)
    }
}

impl NearestNeighbours {
    /// Chooses neighbours, kernels and standardisation; with the log densities of something else at the validation photos'
    /// places, for the mixture of both.
    pub(crate) fn fit(
        device: &Device,
        data: FitData<'_>,
        beside: Option<&[f64]>,
        progress: &mut dyn FnMut(f64),
    ) -> Result<Self> {
        let (validation, all) = (data.validation, data.training.len());
        let (mut places, mut density) = (Vec::new(), Vec::new());
        for standardised in [false, true] {
            let gallery = Gallery::new(device, data, standardised)?;
            let nearest = gallery.nearest(validation.photos(), all)?;
            let most = (1..NEIGHBOURS.len()).filter(|k| NEIGHBOURS[k - 1] < all).max().unwrap_or(0) as i32;
            let settings = |[k, w, s]: [i32; 3]| KernelSettings {
                neighbours: NEIGHBOURS[k as usize],
                width_km: width_km(w),
                temperature: 1.0 / sharpness(2 * s),
            };
            let of_places = |at: [i32; 3]| {
                let answers: Vec<LatLon> = nearest.par_iter().map(|own| mode(own, &settings(at))).collect();
                Ok(score(&answers, validation.points()))
            };
            let limits = [(0, most), (-4, 14), (-6, 10)];
            let at = search::best([(0, 5.min(most)), (0, 7), (-1, 4)], limits, of_places)?;
            places.push((of_places(at)?, Gallery::new(device, data, standardised)?, settings(at)));
            progress(0.25 + 0.5 * f64::from(u8::from(standardised)));
            let kernels: Vec<Vec<[f32; WIDTHS as usize]>> = nearest
                .par_iter()
                .zip(validation.points())
                .map(|(near, truth)| {
                    let at = |own: &Neighbour| {
                        let squared = squared_chord(own.place, *truth);
                        std::array::from_fn(|k| kernel(width_km(k as i32), squared) as f32)
                    };
                    near.iter().map(at).collect()
                })
                .collect();
            let [(_, found)] = search::best_by([(0, 7)], [(-6, 16)], |[s]| {
                let (score, mixture) = Mixture::of_sharpness(sharpness(s), &nearest, &kernels, beside);
                Ok([(score, (score, mixture))])
            })?;
            density.push((found.0, gallery, found.1));
            progress(0.5 + 0.5 * f64::from(u8::from(standardised)));
        }
        places.sort_by(|a, b| b.0.total_cmp(&a.0));
        density.sort_by(|a, b| b.0.total_cmp(&a.0));
        let ((_, gallery, settings), (_, other, mixture)) = (places.swap_remove(0), density.swap_remove(0));
        Ok(Self { places: (gallery, settings), density: (other, mixture) })
    }

    /// The share of what was beside it.
    pub(crate) fn share_beside(&self) -> f64 {
        self.density.1.beside
    }
}

impl Baseline for NearestNeighbours {
    fn predict(&self, embeddings: &[f32]) -> Result<Vec<LatLon>> {
        let (gallery, kernels) = &self.places;
        Ok(gallery.nearest(embeddings, kernels.neighbours)?.par_iter().map(|own| mode(own, kernels)).collect())
    }

    fn densities(&self, embeddings: &[f32]) -> Result<Vec<PhotoDensity<'_>>> {
        let (gallery, mixture) = &self.density;
        let density = |near: Neighbours| -> PhotoDensity<'_> {
            let weights = mixture.weights(&near);
            Box::new(move |points| {
                let at = |point: &UnitVec| {
                    let each = near.iter().zip(&weights);
                    let sum: f64 = each.map(|(own, w)| w * mixture.kernel(squared_chord(own.place, *point))).sum();
                    (mixture.even_density() + sum).ln()
                };
                points.all().iter().map(at).collect()
            })
        };
        Ok(gallery.nearest(embeddings, mixture.neighbours)?.into_iter().map(density).collect())
    }

    /// All photos at once: weights of the training places times kernels between these and the points.
    fn at_all(&self, embeddings: &[f32], points: Points<'_>) -> Result<Vec<Vec<f32>>> {
        let (gallery, mixture) = &self.density;
        let (device, places) = (gallery.rows.device(), &gallery.points);
        let photos = embeddings.len() / gallery.rows.cols();
        let mut weights = vec![0.0_f32; photos * places.len()];
        let cosines = gallery.cosines(embeddings)?;
        weights.par_chunks_mut(places.len()).zip(cosines.par_chunks(places.len())).for_each(|(row, cosines)| {
            let taken = highest_columns(cosines, mixture.neighbours);
            let own = |k: &u32| Neighbour { place: places[0], similarity: f64::from(cosines[*k as usize]) };
            let near: Vec<Neighbour> = taken.iter().map(own).collect();
            taken.iter().zip(mixture.weights(&near)).for_each(|(k, weight)| row[*k as usize] = weight as f32);
        });
        let weights = Tensor::from_slice(device, photos, places.len(), &weights)?;
        let at = |k: usize| mixture.kernel((2.0 * k as f64 / TABLE as f64).powi(2)) as f32;
        let table: Vec<f32> = (0..TABLE + 2).into_par_iter().map(at).collect();
        let flat = |of: &[UnitVec]| -> Vec<[f32; 3]> { of.iter().map(|p| p.to_array().map(|x| x as f32)).collect() };
        let own = flat(places);
        let mut found = vec![Vec::with_capacity(points.all().len()); photos];
        for block in points.all().chunks(POINTS) {
            let mut kernels = vec![0.0_f32; block.len() * own.len()];
            kernels.par_chunks_mut(own.len()).zip(flat(block)).for_each(|(row, point)| {
                for (value, place) in row.iter_mut().zip(&own) {
                    let d = [point[0] - place[0], point[1] - place[1], point[2] - place[2]];
                    let at = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt() * (TABLE as f32 / 2.0);
                    let k = (at as usize).min(TABLE);
                    let rest = at - k as f32;
                    *value = table[k] + rest * (table[k + 1] - table[k]);
                }
            });
            let kernels = Tensor::from_slice(device, block.len(), own.len(), &kernels)?;
            let mut sums = Tensor::zeros(device, photos, block.len())?;
            ops::gemm(sums.view_mut(), weights.view(), Transpose::No, kernels.view(), Transpose::Yes, 0.0, None)?;
            let even = mixture.even_density();
            let log = |sum: &f32| (even + f64::from(*sum)).ln().max(THINNEST) as f32;
            let sums = sums.to_vec()?;
            found
                .par_iter_mut()
                .zip(sums.par_chunks(block.len()))
                .for_each(|(all, row)| all.extend(row.iter().map(log)));
        }
        Ok(found)
    }

    fn parameters(&self) -> usize {
        self.places.0.rows.rows() * (self.places.0.rows.cols() + 2)
    }

    fn chosen(&self) -> String {
        let input = |gallery: &Gallery| if gallery.is_standardised { ", standardised" } else { "" };
        let (gallery, KernelSettings { neighbours, width_km, temperature }) = &self.places;
        let places = format!("k = {neighbours}, kernel {width_km} km, temperature {temperature:.3}{}", input(gallery));
        let (gallery, Mixture { neighbours, sharpness, kernels, even, .. }) = &self.density;
        let shown = kernels.iter().filter(|(_, share)| *share > 0.005);
        let shown: Vec<String> = shown.map(|(km, share)| format!("{km} km {:.0} %", 100.0 * share)).collect();
        let (t, even) = (1.0 / sharpness, 100.0 * even);
        let words =
            format!("k = {neighbours}, temperature {t:.3}{}, {}, even {even:.1} %", input(gallery), shown.join(", "));
        format!("places: {places}; likelihood: {words}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy;
    use locdiff_shdd::sphere::Grid;

    #[test]
    fn finds_the_city_and_its_density_integrates_to_one() {
        let (training, validation) = (toy::cities(300, 1), toy::cities(60, 2));
        let test = toy::cities(80, 3);
        let mut told = Vec::new();
        let data = FitData { training: &training, validation: &validation };
        let method = NearestNeighbours::fit(&Device::cpu(), data, None, &mut |share| told.push(share)).unwrap();
        assert!(told.windows(2).all(|pair| pair[0] <= pair[1]) && told.last() == Some(&1.0));
        let answers = method.predict(test.photos()).unwrap();
        assert!(score(&answers, test.points()) > 0.8);
        let grid = Grid::fibonacci(60_000).unwrap();
        let repeated = test.photos()[..6].repeat(grid.len());
        let logs = toy::log_densities(&method, &repeated, grid.points());
        let mass: f64 = logs.iter().zip(grid.weights()).map(|(log, weight)| log.exp() * weight).sum();
        assert!((mass - 1.0).abs() < 0.02, "{mass}");
        // The product of all photos at once is the same density.
        let at_once = method.at_all(&test.photos()[..6], Points::Any(grid.points())).unwrap();
        let most = logs.iter().zip(&at_once[0]).map(|(a, b)| (a.exp() - f64::from(*b).exp()).abs()).fold(0.0, f64::max);
        assert!(most < 0.01 * logs.iter().copied().fold(0.0, f64::max).exp(), "{most}");
    }

    #[test]
    fn shares_are_those_of_the_greatest_likelihood() {
        // 30 photos that one component explains, 10 that the other does, none that the third does.
        let rows: Vec<Vec<f64>> =
            (0..40).map(|k| if k < 30 { vec![2.0, 0.0, 0.1] } else { vec![0.0, 1.0, 0.1] }).collect();
        let (found, mean) = shares(&rows);
        assert!((found[0] - 0.75).abs() < 1e-6 && (found[1] - 0.25).abs() < 1e-6, "{found:?}");
        assert!((mean - 0.75 * 1.5_f64.ln() - 0.25 * 0.25_f64.ln()).abs() < 1e-6, "{mean}");
    }
}
