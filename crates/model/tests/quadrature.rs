//! The quadratures beside the codec's exact integrals: log Z and the gradient of the loss.

use locdiff_model::{CodeWriter, LossKind, ModelConfig, Objective, QuadraturePoints, chance};
use locdiff_nn::{Device, Tensor};
use locdiff_shdd::{Codec, Coefficients, sphere::Degree, sphere::UnitVec};

/// Fields as a network gives them: codes of places, sharp or flattened, mixed and with noise.
fn fields(codec: &Codec, truths: &[UnitVec], sharpness: [f64; 3]) -> Vec<Vec<f64>> {
    let dim = codec.degree().dimension();
    let field = |(k, truth): (usize, &UnitVec)| {
        let near = truth.step(0.3 / (codec.degree().get() as f64), 0.0);
        let (a, b) = (codec.harmonics().at(*truth), codec.harmonics().at(near));
        let noise = |i: usize| chance::normals([1, k as u64, i as u64]).0;
        (0..dim).map(|i| sharpness[k % 3] * (0.7 * a[i] + 0.3 * b[i]) + 0.02 * noise(i)).collect()
    };
    truths.iter().enumerate().map(field).collect()
}

/// The largest error of the loss in nats and the smallest cosine of the gradients.
fn compare(degree: usize, anchors: &QuadraturePoints, truths: &[UnitVec], sharpness: [f64; 3]) -> (f64, f64) {
    let codec = Codec::new(Degree::new(degree).unwrap());
    let config = ModelConfig { loss: LossKind::Nll, ..ModelConfig::new(degree, 4) };
    let codes = CodeWriter::new(&config).unwrap();
    let (device, n, dim) = (Device::cpu(), truths.len(), codes.dimension());
    let fields = fields(&codec, truths, sharpness);
    let flat: Vec<f32> = fields.iter().flatten().map(|value| *value as f32).collect();
    let mut target = vec![0.0; n * dim];
    codes.write(truths, &mut target).unwrap();
    let e = Tensor::from_slice(&device, n, dim, &flat).unwrap();
    let y = Tensor::from_slice(&device, n, dim, &target).unwrap();
    let mut gradient = Tensor::zeros(&device, n, dim).unwrap();
    let mut loss = Tensor::zeros(&device, n, 1).unwrap();
    let mut objective = Objective::new(&device, &config, &codes, Some(anchors), n).unwrap();
    objective.apply((gradient.view_mut(), loss.view_mut()), (e.view(), y.view()), 1.0).unwrap();
    let (gradient, loss) = (gradient.to_vec().unwrap(), loss.to_vec().unwrap());
    let (mut worst, mut cosine) = (0.0_f64, 1.0_f64);
    for (k, (field, truth)) in fields.into_iter().zip(truths).enumerate() {
        // −log q(truth) = log Z − e·y, with the gradient E_q[Y] − y.
        let (e, code) = (Coefficients::new(field).unwrap(), codec.harmonics().at(*truth));
        let density = codec.density(&e).unwrap();
        let exact = density.log_z() - e.as_slice().iter().zip(&code).map(|(e, y)| e * y).sum::<f64>();
        let exact_gradient: Vec<f64> =
            density.mean_parameters().as_slice().iter().zip(&code).map(|(mean, y)| mean - y).collect();
        worst = worst.max((exact - f64::from(loss[k])).abs());
        let ours = &gradient[k * dim..(k + 1) * dim];
        let dot: f64 = exact_gradient.iter().zip(ours).map(|(a, b)| a * f64::from(*b)).sum();
        let norm = |values: &mut dyn Iterator<Item = f64>| values.map(|v| v * v).sum::<f64>().sqrt();
        let product = norm(&mut exact_gradient.iter().copied()) * norm(&mut ours.iter().map(|v| f64::from(*v)));
        cosine = cosine.min(dot / product);
    }
    (worst, cosine)
}

#[test]
fn a_fibonacci_grid_is_exact_where_it_resolves_the_density() {
    let truths: Vec<UnitVec> = (0..6).map(|k| chance::point([9, 9, k])).collect();
    for degree in [7, 23, 31] {
        let locdiff_model::QuadratureRecipe::Fibonacci { points } = ModelConfig::new(degree, 4).quadrature else {
            panic!("degree {degree} takes a Fibonacci grid");
        };
        // The usual grid: exact for densities with half a clean code's sharpness or less.
        let grid = QuadraturePoints::fibonacci(points).unwrap();
        let (error, cosine) = compare(degree, &grid, &truths, [0.5, 0.3, 0.1]);
        assert!(error < 0.02 && cosine > 0.99, "L = {degree}: {error} nats, cosine {cosine}");
        // A finer grid (32,768 points at L = 23): exact for clean codes too.
        if degree > 23 {
            continue; // takes seconds, shows nothing new
        }
        let fine = QuadraturePoints::fibonacci(points * 8 / 3).unwrap();
        let (error, cosine) = compare(degree, &fine, &truths, [1.0, 0.5, 0.2]);
        assert!(error < 0.02 && cosine > 0.98, "L = {degree}, fine: {error} nats, cosine {cosine}");
    }
}

#[test]
fn a_pool_is_close_where_photos_are() {
    // Two hundred towns of forty photos each.
    let location = |k| {
        let (a, b) = chance::normals([5, 6, k]);
        chance::point([3, 4, k / 40]).step(a * 60.0 / 6371.0, b * 60.0 / 6371.0)
    };
    let locations: Vec<UnitVec> = (0..8000).map(location).collect();
    let anchors = QuadraturePoints::pool(47, &locations, 32_768, 1).unwrap();
    assert_eq!((anchors.points.len(), anchors.log_weights.len()), (32_768, 32_768));
    // The weights are those of an integral: they sum to the sphere's area.
    let area: f64 = anchors.log_weights.iter().map(|w| f64::from(*w).exp()).sum();
    assert!((area / (4.0 * std::f64::consts::PI) - 1.0).abs() < 0.05, "{area}");
    let truths: Vec<UnitVec> = (0..6).map(|k| locations[k * 1300]).collect();
    let (error, cosine) = compare(47, &anchors, &truths, [1.0, 0.5, 0.2]);
    // A pool is a Monte Carlo quadrature near the photos: good enough for a gradient, not exact.
    assert!(error < 1.0 && cosine > 0.8, "{error} nats, cosine {cosine}");
}
