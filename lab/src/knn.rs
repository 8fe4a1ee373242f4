//! Retrieval: the places of the photos that look most alike (`[L]kNN`).

use crate::{
    Baseline, FitData, PhotoDensity,
    baseline::{highest_columns, score},
    error::Result,
    examples::{normalised, upload},
    reading::{edge, nll_with_floor},
};
use locdiff_model::Standardisation;
use locdiff_model::answer::{KernelSettings, Neighbour};
use locdiff_nn::{Device, Tensor, ops, ops::Transpose};
use locdiff_shdd::sphere::{LatLon, UnitVec};
use rayon::prelude::*;

/// Settings among which validation chooses: by accuracy for places, by −log density for densities.
const NEIGHBOURS: [usize; 7] = [1, 5, 15, 40, 100, 250, 600];
/// More neighbours than these never gave better places, and finding the mode takes the square of their number.
const MOST_FOR_PLACES: usize = 100;
const WIDTHS_KM: [f64; 7] = [75.0, 100.0, 150.0, 250.0, 500.0, 1000.0, 1500.0];
const SHARPNESS: [f64; 6] = [2.5, 5.0, 10.0, 20.0, 40.0, 80.0];
/// Photos asked at a time.
const BLOCK: usize = 512;

#[derive(Debug, Clone, Copy)]
struct Choice {
    standardised: bool,
    kernels: KernelSettings,
}

/// The nearest neighbours by the cosine of the embeddings, and the mode of a kernel density over their places: Gaussian
/// kernels on the sphere, each weighing `exp(sharpness·cosine)`.
pub(crate) struct NearestNeighbours {
    places: Retrieval,
    density: Retrieval,
}

/// What was chosen, and what it is found in.
struct Retrieval {
    gallery: Gallery,
    choice: Choice,
}

/// A choice and its score, the higher the better.
type Scored = Option<(f64, Choice)>;

/// The training photos' embeddings, of length one, with their places.
struct Gallery {
    standardisation: Standardisation,
    rows: Tensor,
    points: Vec<UnitVec>,
}

/// Neighbours of one photo, the nearest first.
pub(crate) type Neighbours = Vec<Neighbour>;

impl Gallery {
    fn new(device: &Device, data: FitData<'_>, standardised: bool) -> Result<Self> {
        let training = data.training;
        let standardisation =
            if standardised { training.standardisation() } else { Standardisation::identity(training.columns()) };
        let rows = unit_rows(device, &standardisation, training.photos())?;
        Ok(Self { standardisation, rows, points: training.points().to_vec() })
    }

    /// The `most` nearest photos of every row.
    fn nearest(&self, embeddings: &[f32], most: usize) -> Result<Vec<Neighbours>> {
        let device = self.rows.device();
        let columns = self.rows.cols();
        let mut found = Vec::new();
        for block in embeddings.chunks(BLOCK * columns) {
            let asked = unit_rows(device, &self.standardisation, block)?;
            let mut cosines = Tensor::zeros(device, asked.rows(), self.rows.rows())?;
            let rows = self.rows.view();
            ops::gemm(cosines.view_mut(), asked.view(), Transpose::No, rows, Transpose::Yes, 0.0, None)?;
            let cosines = cosines.to_vec()?;
            found.par_extend(cosines.par_chunks(self.points.len()).map(|row| {
                let own = |k: u32| Neighbour { place: self.points[k as usize], similarity: f64::from(row[k as usize]) };
                highest_columns(row, most).into_iter().map(own).collect::<Neighbours>()
            }));
        }
        Ok(found)
    }
}

fn unit_rows(device: &Device, standardisation: &Standardisation, embeddings: &[f32]) -> Result<Tensor> {
    normalised(&upload(device, standardisation, embeddings)?)
}

/// The neighbour's place where the density is highest.
fn mode(neighbours: &[Neighbour], settings: &KernelSettings) -> LatLon {
    let taken = &neighbours[..settings.neighbours.min(neighbours.len())];
    let kernels = settings.kernels(taken);
    let heights: Vec<f64> = taken.iter().map(|near| kernels.density(near.place)).collect();
    // Of equals the nearest neighbour, which comes first.
    let best = (0..heights.len()).rev().max_by(|&a, &b| heights[a].total_cmp(&heights[b])).unwrap_or(0);
    taken[best].place.to_latlon()
}

impl NearestNeighbours {
    /// Chooses neighbours, kernel and standardisation.
    pub(crate) fn fit(device: &Device, data: FitData<'_>, progress: &mut dyn FnMut(f64)) -> Result<Self> {
        let validation = data.validation;
        let most = NEIGHBOURS[NEIGHBOURS.len() - 1];
        let mut choices = Vec::new();
        for neighbours in NEIGHBOURS {
            // One neighbour is the answer whatever the kernel.
            let widths = if neighbours == 1 { &WIDTHS_KM[..1] } else { &WIDTHS_KM };
            for &width_km in widths {
                let sharpness = if neighbours == 1 { &SHARPNESS[..1] } else { &SHARPNESS };
                choices.extend(sharpness.iter().map(|&sharpness| (neighbours, width_km, sharpness)));
            }
        }
        let (mut places, mut density): (Scored, Scored) = (None, None);
        for standardised in [false, true] {
            let gallery = Gallery::new(device, data, standardised)?;
            let nearest = gallery.nearest(validation.photos(), most)?;
            let better = |best: &mut Scored, score: f64, choice: Choice| {
                if best.is_none_or(|(other, _)| score > other) {
                    *best = Some((score, choice));
                }
            };
            for (k, &(neighbours, width_km, sharpness)) in choices.iter().enumerate() {
                let kernels = KernelSettings { neighbours, width_km, temperature: 1.0 / sharpness };
                let choice = Choice { standardised, kernels };
                if neighbours <= MOST_FOR_PLACES {
                    let answers: Vec<LatLon> = nearest.par_iter().map(|own| mode(own, &kernels)).collect();
                    better(&mut places, score(&answers, validation.points()), choice);
                }
                let pairs = nearest.par_iter().zip(validation.points());
                let logs: Vec<f64> = pairs.map(|(own, truth)| kernels.kernels(own).density(*truth).ln()).collect();
                better(&mut density, -nll_with_floor(&logs), choice);
                let share = (k + 1) as f64 / choices.len() as f64;
                progress(0.5 * (share + f64::from(u8::from(standardised))));
            }
        }
        let retrieval = |best: Scored| -> Result<Retrieval> {
            let (_, choice) = best.expect("there are choices");
            Ok(Retrieval { gallery: Gallery::new(device, data, choice.standardised)?, choice })
        };
        Ok(Self { places: retrieval(places)?, density: retrieval(density)? })
    }

    /// The `most` nearest training photos of every row.
    pub(crate) fn nearest(&self, embeddings: &[f32], most: usize) -> Result<Vec<Neighbours>> {
        self.places.gallery.nearest(embeddings, most)
    }
}

impl Baseline for NearestNeighbours {
    fn predict(&self, embeddings: &[f32]) -> Result<Vec<LatLon>> {
        let kernels = &self.places.choice.kernels;
        Ok(self.nearest(embeddings, kernels.neighbours)?.par_iter().map(|own| mode(own, kernels)).collect())
    }

    fn densities(&self, embeddings: &[f32]) -> Result<Vec<PhotoDensity<'_>>> {
        let density = |own: Neighbours| -> PhotoDensity<'_> {
            let kernels = self.density.choice.kernels.kernels(&own);
            Box::new(move |points| kernels.log_densities(points.all()))
        };
        let nearest = self.density.gallery.nearest(embeddings, self.density.choice.kernels.neighbours)?;
        Ok(nearest.into_iter().map(density).collect())
    }

    fn parameters(&self) -> usize {
        self.places.gallery.rows.rows() * (self.places.gallery.rows.cols() + 2)
    }

    fn chosen(&self) -> String {
        let words = |Choice { standardised, kernels }: Choice| {
            let KernelSettings { neighbours, width_km, temperature } = kernels;
            let input = if standardised { ", standardised" } else { "" };
            format!("k = {neighbours}, kernel {width_km} km, temperature {temperature}{input}")
        };
        let KernelSettings { width_km, temperature, neighbours } = self.density.choice.kernels;
        let is_last = neighbours == NEIGHBOURS[NEIGHBOURS.len() - 1];
        let of_k = if is_last { " (the last tried)" } else { "" };
        let edges = format!("{of_k}{}{}", edge(width_km, &WIDTHS_KM), edge(1.0 / temperature, &SHARPNESS));
        format!("{}; density {}{edges}", words(self.places.choice), words(self.density.choice))
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
        let method = NearestNeighbours::fit(&Device::cpu(), data, &mut |share| told.push(share)).unwrap();
        assert!(told.windows(2).all(|pair| pair[0] <= pair[1]) && told.last() == Some(&1.0));
        let answers = method.predict(test.photos()).unwrap();
        assert!(score(&answers, test.points()) > 0.8);
        let grid = Grid::fibonacci(60_000).unwrap();
        let repeated = test.photos()[..6].repeat(grid.len());
        let logs = toy::log_densities(&method, &repeated, grid.points());
        let mass: f64 = logs.iter().zip(grid.weights()).map(|(log, weight)| log.exp() * weight).sum();
        assert!((mass - 1.0).abs() < 0.02, "{mass}");
    }
}
