//! Two networks that bring a photo and its place to the same vector.

use crate::baseline::{Task, highest, highest_columns, kernels, score};
use crate::examples::{Bank, normalised, upload};
use crate::learner::{Batch, Weights, learn};
use crate::reading::{NARROWEST_KM, likelihood, nll_with_floor};
use crate::{Baseline, Examples, PhotoDensity, Points, Result, search, search::ByRule};
use locdiff_model::{Standardisation, chance};
use locdiff_nn::layers::{ForwardMode, Mlp, MlpWork};
use locdiff_nn::{Device, Params, ParamsBuilder, Tensor, View, ops, ops::Transpose};
use locdiff_shdd::sphere::{Grid, LatLon, UnitVec};
use rayon::prelude::*;
use std::collections::HashMap;

/// Size of the common vectors.
const VECTOR: usize = 256;
/// Factor on the cosines: 1/0.07, where CLIP starts.
const COSINE_SCALE: f32 = 14.3;
/// Places of a gallery that are embedded at a time.
const BLOCK: usize = 16_384;

/// The places among which the answer is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RetrievalGallery {
    TrainingPlaces,
    /// A Fibonacci grid of 21,000 points, the paper's smallest.
    Grid,
}

/// Points of [`RetrievalGallery::Grid`].
const GRID_POINTS: usize = 21_000;

/// An image network and a location network (random Fourier features, then an MLP), trained so that a photo's vector is
/// nearer to its place's than to those of the batch's other places; the answer is the gallery's nearest place.
pub(crate) struct Contrastive {
    towers: Towers,
    params: Params,
    standardisation: Standardisation,
    places: Vec<UnitVec>,
    vectors: Tensor,
    density: GalleryDensity,
}

/// How a gallery's places become a density: kernels about the best, each weighing `exp(scale·cosine)`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct GalleryDensity {
    most: usize,
    scale: f64,
    width_km: f64,
}

impl GalleryDensity {
    /// Settings by number: each number of places four times the last, each factor twice, each width √2 times.
    fn numbered([most, scale, width]: [i32; 3]) -> Self {
        let width_km = (NARROWEST_KM * 2.0_f64.powf(0.5 * f64::from(width))).round();
        Self { most: 50 << (2 * most), scale: f64::from(COSINE_SCALE) * 2.0_f64.powi(scale), width_km }
    }

    /// What checkpoints are compared with: 800 places, the factor of the training, kernels of 150 km.
    fn usual() -> Self {
        Self::numbered([2, 0, 2])
    }

    /// The density of the best places with their cosines.
    fn of(self, best: &[(UnitVec, f64)]) -> PhotoDensity<'static> {
        let taken = &best[..self.most.min(best.len())];
        let weigh = |(place, cosine): &(UnitVec, f64)| (*place, (self.scale * (cosine - taken[0].1)).exp());
        kernels(taken.iter().map(weigh).collect(), self.width_km)
    }
}

#[derive(Clone)]
struct Towers {
    image: Mlp,
    location: Mlp,
    features: FourierFeatures,
}

impl Towers {
    fn images(&self, params: &Params, inputs: View<'_>) -> Result<Tensor> {
        normalised(&self.image.run(params, inputs)?)
    }

    fn places(&self, params: &Params, points: &[UnitVec]) -> Result<Tensor> {
        let device = params.device();
        let mut all = Tensor::zeros(device, points.len(), VECTOR)?;
        for (k, block) in points.chunks(BLOCK).enumerate() {
            let inputs = Tensor::from_slice(device, block.len(), FourierFeatures::SIZE, &self.features.of(block))?;
            let rows = k * BLOCK..k * BLOCK + block.len();
            let vectors = normalised(&self.location.run(params, inputs.view())?)?;
            ops::copy(all.view_mut().row_range(rows), vectors.view())?;
        }
        Ok(all)
    }
}

/// The best places of every image with their cosines, the best first.
fn best(images: &Tensor, vectors: &Tensor, places: &[UnitVec], most: usize) -> Result<Vec<Vec<(UnitVec, f64)>>> {
    let mut found = Vec::new();
    for_cosines(images, vectors, |cosines| {
        found.par_extend(cosines.par_chunks_exact(places.len()).map(|row| {
            let own = |k: u32| (places[k as usize], f64::from(row[k as usize]));
            highest_columns(row, most).into_iter().map(own).collect::<Vec<_>>()
        }));
    })?;
    Ok(found)
}

/// For every image the place whose vector is nearest.
fn nearest(images: &Tensor, vectors: &Tensor, places: &[UnitVec]) -> Result<Vec<LatLon>> {
    let mut found = Vec::new();
    for_cosines(images, vectors, |cosines| found.extend(highest(cosines, places)))?;
    Ok(found)
}

/// The cosines of images and places, some images at a time.
fn for_cosines(images: &Tensor, vectors: &Tensor, mut each: impl FnMut(&[f32])) -> Result<()> {
    let (device, places) = (images.device(), vectors.rows());
    let step = ((1 << 26) / places).max(1);
    for start in (0..images.rows()).step_by(step) {
        let rows = start..(start + step).min(images.rows());
        let mut cosines = Tensor::zeros(device, rows.len(), places)?;
        let images = images.view().row_range(rows);
        ops::gemm(cosines.view_mut(), images, Transpose::No, vectors.view(), Transpose::Yes, 0.0, None)?;
        each(&cosines.to_vec()?);
    }
    Ok(())
}

impl Contrastive {
    pub(crate) fn fit(
        task: Task<'_>,
        gallery: RetrievalGallery,
        progress: &mut dyn FnMut(f64),
    ) -> Result<ByRule<Self>> {
        let Task { device, effort, seed, data, .. } = task;
        let (training, batch, width) = (data.training, effort.batch, effort.width);
        let bank = Bank::new(device, training)?;
        let mut builder = ParamsBuilder::new();
        let image = Mlp::new(&mut builder, "image", &[training.columns(), width, VECTOR], effort.dropout);
        let widths = [FourierFeatures::SIZE, width, width, VECTOR];
        let location = Mlp::new(&mut builder, "location", &widths, effort.dropout);
        let places = match gallery {
            RetrievalGallery::TrainingPlaces => distinct(training.points()),
            RetrievalGallery::Grid => Grid::fibonacci(GRID_POINTS)?.points().to_vec(),
        };
        let validation = upload(device, &bank.standardisation, data.validation.photos())?;
        let towers = Towers { image, location, features: FourierFeatures::new(seed) };
        let mut weights = Weights::new(builder, task)?;
        let mut training = Training::new(device, &towers, batch, training.points())?;
        let gradients = |weights: &mut Weights, batch: Batch<'_>| {
            training.gradients(&towers, weights, batch)?;
            if batch.tells_loss { training.loss() } else { Ok(0.0) }
        };
        let validate = |params: &Params| {
            let (vectors, images) = (towers.places(params, &places)?, towers.images(params, validation.view())?);
            let (usual, truths) = (GalleryDensity::usual(), data.validation.points());
            let best = best(&images, &vectors, &places, usual.most)?;
            let densities: Vec<_> = best.iter().map(|own| usual.of(own)).collect();
            Ok([score(&nearest(&images, &vectors, &places)?, truths), likelihood(&densities, truths)])
        };
        learn(&mut weights, task, &bank, gradients, validate, progress)?;
        let made = |params: Params| -> Result<Self> {
            let (towers, places, density) = (towers.clone(), places.clone(), GalleryDensity::usual());
            let vectors = towers.places(&params, &places)?;
            Ok(Self { towers, params, standardisation: bank.standardisation.clone(), places, vectors, density })
        };
        let (places, mut likeliest) = (made(weights.params)?, made(weights.likeliest)?);
        likeliest.density = likeliest.choose_density(data.validation)?;
        Ok(ByRule::new(places, likeliest))
    }

    /// The density's settings, by −log density on validation.
    fn choose_density(&self, validation: &Examples) -> Result<GalleryDensity> {
        let images = self.images(validation.photos())?;
        let most = (0..8).find(|k| 50 << (2 * k) >= self.places.len()).unwrap_or(8);
        let best = best(&images, &self.vectors, &self.places, self.places.len().min(50 << (2 * most)))?;
        let at = search::best([(0, 2.min(most)), (-2, 2), (0, 4)], [(0, most), (-6, 8), (0, 14)], |at| {
            let density = GalleryDensity::numbered(at);
            let pairs = best.par_iter().zip(validation.points());
            let logs: Vec<f64> =
                pairs.map(|(own, truth)| density.of(own)(Points::Any(std::slice::from_ref(truth)))[0]).collect();
            Ok(-nll_with_floor(&logs))
        })?;
        Ok(GalleryDensity::numbered(at))
    }

    pub(crate) fn predict_among(&self, embeddings: &[f32], places: &[UnitVec]) -> Result<Vec<LatLon>> {
        if places.is_empty() {
            return Err(locdiff_base::setting("gallery", "no places", "at least one"));
        }
        nearest(&self.images(embeddings)?, &self.towers.places(&self.params, places)?, places)
    }

    fn images(&self, embeddings: &[f32]) -> Result<Tensor> {
        let inputs = upload(self.params.device(), &self.standardisation, embeddings)?;
        self.towers.images(&self.params, inputs.view())
    }
}

struct Side {
    work: MlpWork,
    unit: Tensor,
    norms: Tensor,
    /// Softmax of this side's logits against the other side, then its gradient.
    logits: Tensor,
    lse: Tensor,
    d_unit: Tensor,
    d_out: Tensor,
}

impl Side {
    fn new(mlp: &Mlp, device: &Device, batch: usize) -> Result<Self> {
        let zeros = |columns: usize| Tensor::zeros(device, batch, columns);
        Ok(Self {
            work: mlp.work(device, batch)?,
            unit: zeros(VECTOR)?,
            norms: zeros(1)?,
            logits: zeros(batch)?,
            lse: zeros(1)?,
            d_unit: zeros(VECTOR)?,
            d_out: zeros(VECTOR)?,
        })
    }

    fn forward(&mut self, mlp: &Mlp, params: &Params, x: View<'_>, mode: ForwardMode<'_>) -> Result<()> {
        mlp.forward(params, &mut self.work, x, mode)?;
        Ok(ops::normalise(self.unit.view_mut(), self.norms.view_mut(), self.work.output.view(), 1e-12)?)
    }

    /// `scale·(softmax(s·u·vᵀ) − targets)` into the logits.
    fn contrast(&mut self, other: &Tensor, targets: &Tensor, scale: f32) -> Result<()> {
        let (unit, other) = (self.unit.view(), other.view());
        ops::gemm(self.logits.view_mut(), unit, Transpose::No, other, Transpose::Yes, 0.0, None)?;
        ops::scale(self.logits.view_mut(), COSINE_SCALE)?;
        ops::softmax(self.logits.view_mut(), self.lse.view_mut(), None, scale)?;
        Ok(ops::axpby(self.logits.view_mut(), -scale, targets.view(), 1.0)?)
    }
}

struct Training {
    image: Side,
    location: Side,
    bank_features: Tensor,
    features: Tensor,
    targets: Tensor,
    /// For each photo the number of its place; photos of one place share it.
    place_numbers: Vec<u32>,
}

impl Training {
    fn new(device: &Device, towers: &Towers, batch: usize, points: &[UnitVec]) -> Result<Self> {
        let (columns, features) = (FourierFeatures::SIZE, towers.features.of(points));
        Ok(Self {
            image: Side::new(&towers.image, device, batch)?,
            location: Side::new(&towers.location, device, batch)?,
            bank_features: Tensor::from_slice(device, points.len(), columns, &features)?,
            features: Tensor::zeros(device, batch, columns)?,
            targets: Tensor::zeros(device, batch, batch)?,
            place_numbers: place_numbers(points),
        })
    }

    /// Row i is spread over the batch's photos of the same place: none of them is a wrong answer.
    fn target_rows(&self, photos: &[u32]) -> Vec<f32> {
        let mut members: HashMap<u32, Vec<usize>> = HashMap::new();
        for (k, photo) in photos.iter().enumerate() {
            members.entry(self.place_numbers[*photo as usize]).or_default().push(k);
        }
        let mut rows = vec![0.0; photos.len() * photos.len()];
        for same in members.values() {
            for &i in same {
                for &j in same {
                    rows[i * photos.len() + j] = 1.0 / same.len() as f32;
                }
            }
        }
        rows
    }

    fn gradients(&mut self, towers: &Towers, weights: &mut Weights, batch: Batch<'_>) -> Result<()> {
        self.targets.upload(&self.target_rows(batch.photos))?;
        let Self { image, location, features, targets, .. } = self;
        let Weights { params, grads, rng, .. } = weights;
        ops::gather_rows(features.view_mut(), self.bank_features.view(), batch.indices)?;
        image.forward(&towers.image, params, batch.inputs, ForwardMode::Train { rng, first_stream: 0 })?;
        let mode = ForwardMode::Train { rng, first_stream: 100 };
        location.forward(&towers.location, params, features.view(), mode)?;
        let scale = 1.0 / (2.0 * batch.photos.len() as f32);
        image.contrast(&location.unit, targets, scale)?;
        location.contrast(&image.unit, targets, scale)?;
        // Both sides' logits are s·u·vᵀ: by u, s·(dA + dBᵀ)·v; by v, s·(dAᵀ + dB)·u.
        for (own, other, transposes) in [
            (&mut image.d_unit, &location.unit, [Transpose::No, Transpose::Yes]),
            (&mut location.d_unit, &image.unit, [Transpose::Yes, Transpose::No]),
        ] {
            let (other, no) = (other.view(), Transpose::No);
            ops::gemm(own.view_mut(), image.logits.view(), transposes[0], other, no, 0.0, None)?;
            ops::gemm(own.view_mut(), location.logits.view(), transposes[1], other, no, 1.0, None)?;
            ops::scale(own.view_mut(), COSINE_SCALE)?;
        }
        for (side, mlp, x) in [(image, &towers.image, batch.inputs), (location, &towers.location, features.view())] {
            let Side { work, unit, norms, d_unit, d_out, .. } = side;
            ops::normalise_backward(d_out.view_mut(), d_unit.view(), unit.view(), norms.view())?;
            mlp.backward(params, grads, work, x, d_out.view(), None)?;
        }
        Ok(())
    }

    fn loss(&self) -> Result<f64> {
        // What is left in the logits is the gradient scale·(p − target): p is found from it.
        let (gradient, targets) = (self.image.logits.to_vec()?, self.targets.to_vec()?);
        let batch = self.targets.rows() as f64;
        let cross_entropy = gradient.iter().zip(&targets).filter(|(_, target)| **target > 0.0);
        let loss = |(g, target): (&f32, &f32)| {
            let p = f64::from(*g) * 2.0 * batch + f64::from(*target);
            -f64::from(*target) * p.max(1e-30).ln()
        };
        Ok(cross_entropy.map(loss).sum::<f64>() / batch)
    }
}

/// Numbers of the different places, photo by photo.
fn place_numbers(points: &[UnitVec]) -> Vec<u32> {
    let mut numbers = HashMap::new();
    let mut number = |point: &UnitVec| {
        let next = numbers.len() as u32;
        *numbers.entry(point.to_array().map(f64::to_bits)).or_insert(next)
    };
    points.iter().map(&mut number).collect()
}

fn distinct(points: &[UnitVec]) -> Vec<UnitVec> {
    let mut seen = std::collections::HashSet::new();
    points.iter().copied().filter(|point| seen.insert(point.to_array().map(f64::to_bits))).collect()
}

impl Baseline for Contrastive {
    fn predict(&self, embeddings: &[f32]) -> Result<Vec<LatLon>> {
        nearest(&self.images(embeddings)?, &self.vectors, &self.places)
    }

    /// A softmax over the best places of the gallery, each a kernel.
    fn densities(&self, embeddings: &[f32]) -> Result<Vec<PhotoDensity<'_>>> {
        let best = best(&self.images(embeddings)?, &self.vectors, &self.places, self.density.most)?;
        Ok(best.into_iter().map(|own| self.density.of(&own)).collect())
    }

    fn parameters(&self) -> usize {
        self.params.count()
    }

    fn chosen(&self) -> String {
        let GalleryDensity { most, scale, width_km } = self.density;
        format!("{} places; the {most} best, cosines × {scale:.1}, kernel {width_km} km", self.places.len())
    }
}

/// Deviations of the random frequencies: kernels about 1000, 250 and 60 km wide. GeoCLIP has three scales as well, on a
/// map projection; here the frequencies act on x, y, z, so that there is no edge.
const SCALES: [f64; 3] = [1.0, 4.0, 16.0];
/// Frequencies a scale.
const FREQUENCIES: usize = 64;

/// Random Fourier features at several scales.
#[derive(Clone)]
pub(crate) struct FourierFeatures {
    frequencies: Vec<[f64; 3]>,
}

impl FourierFeatures {
    pub(crate) const SIZE: usize = 2 * SCALES.len() * FREQUENCIES;

    pub(crate) fn new(seed: u64) -> Self {
        let frequency = |k: usize| {
            let scale = std::f64::consts::TAU * SCALES[k / FREQUENCIES];
            let (x, y) = chance::normals([seed, 0xF0F0, 2 * k as u64]);
            let z = chance::normals([seed, 0xF0F0, 2 * k as u64 + 1]).0;
            [scale * x, scale * y, scale * z]
        };
        Self { frequencies: (0..SCALES.len() * FREQUENCIES).map(frequency).collect() }
    }

    pub(crate) fn of(&self, points: &[UnitVec]) -> Vec<f32> {
        let mut out = vec![0.0; points.len() * Self::SIZE];
        out.par_chunks_mut(Self::SIZE).zip(points).for_each(|(row, point)| {
            for (pair, f) in row.chunks_exact_mut(2).zip(&self.frequencies) {
                let (sin, cos) = (f[0] * point.x() + f[1] * point.y() + f[2] * point.z()).sin_cos();
                (pair[0], pair[1]) = (cos as f32, sin as f32);
            }
        });
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Effort, toy};

    /// The gradient of the symmetric contrast against finite differences of the loss.
    #[test]
    fn gradients_are_those_of_finite_differences() {
        let device = Device::cpu();
        let training = toy::cities(6, 1);
        let effort = Effort { steps: 10, batch: 6, width: 5, ..Effort::tiny() };
        let mut builder = ParamsBuilder::new();
        let image = Mlp::new(&mut builder, "image", &[training.columns(), 5, VECTOR], 0.0);
        let location = Mlp::new(&mut builder, "location", &[FourierFeatures::SIZE, VECTOR], 0.0);
        let mut weights = Weights::new(builder, toy::task(&device, &effort, 4, &training, &training)).unwrap();
        let towers = Towers { image, location, features: FourierFeatures::new(3) };
        let mut sides = Training::new(&device, &towers, 6, training.points()).unwrap();
        sides.place_numbers = vec![0, 1, 1, 2, 3, 4];
        let inputs = Tensor::from_slice(&device, 6, training.columns(), training.photos()).unwrap();
        let photos = [0, 1, 2, 3, 4, 5];
        let indices = locdiff_nn::Indices::from_slice(&device, &photos).unwrap();
        let (inputs, tells_loss) = (inputs.view(), true);
        let batch = Batch { step: 1, photos: &photos, indices: &indices, inputs, tells_loss };
        // Half of the image side's loss and half of the place side's.
        let mut loss = |weights: &mut Weights| {
            sides.gradients(&towers, weights, batch).unwrap();
            let own = sides.loss().unwrap();
            std::mem::swap(&mut sides.image.logits, &mut sides.location.logits);
            let other = sides.loss().unwrap();
            std::mem::swap(&mut sides.image.logits, &mut sides.location.logits);
            0.5 * (own + other)
        };
        loss(&mut weights);
        let (found, values) = (weights.grads.to_vec().unwrap(), weights.params.to_vec().unwrap());
        for k in (0..values.len()).step_by(997) {
            let mut at = |step: f32| {
                let mut moved = values.clone();
                moved[k] += step;
                weights.params.upload(&moved).unwrap();
                loss(&mut weights)
            };
            let slope = (at(1e-2) - at(-1e-2)) / 2e-2;
            let wanted = f64::from(found[k]);
            assert!((slope - wanted).abs() < 1e-3 + 0.03 * wanted.abs(), "{k}: {slope} {wanted}");
        }
    }

    #[test]
    fn finds_the_city_in_the_gallery_and_near_it_on_a_grid() {
        let (training, validation, test) = (toy::cities(400, 1), toy::cities(60, 2), toy::cities(80, 3));
        let (device, effort) = (Device::cpu(), Effort::tiny());
        let task = toy::task(&device, &effort, 5, &training, &validation);
        let fit = |gallery| Contrastive::fit(task, gallery, &mut |_| ()).unwrap();
        let share_within = |answers: Vec<LatLon>, test: &Examples, km: f64| {
            let near = answers.iter().zip(test.points()).filter(|(answer, truth)| {
                answer.to_unit().angle_rad(**truth) * locdiff_shdd::sphere::EARTH_RADIUS_KM < km
            });
            near.count() as f64 / test.len() as f64
        };
        let method = fit(RetrievalGallery::TrainingPlaces);
        let found = share_within(method.predict(test.photos()).unwrap(), &test, 100.0);
        assert!(found > 0.9, "gallery: {found}");
        let answers = method.places.predict_among(test.photos(), &[UnitVec::NORTH]).unwrap();
        assert!(answers.iter().all(|answer| answer.lat_deg() == 90.0));
        assert!(method.places.predict_among(test.photos(), &[]).is_err());
        let method = fit(RetrievalGallery::Grid);
        let found = share_within(method.predict(test.photos()).unwrap(), &test, 1500.0);
        assert!(found > 0.5, "grid: {found}");
    }
}
