//! The location encoder: Equal Earth, random Fourier features, capsules.

use crate::geoclip::Result;
use locdiff_nn::{Device, Init, ParamId, Params, ParamsBuilder, Tensor, layers::Linear, ops, ops::Activation};
use locdiff_shdd::sphere::LatLon;

/// Polynomial of the Equal Earth projection (Šavrič, Patterson and Jenny, 2018), and GeoCLIP's factor on it.
const A: [f32; 4] = [1.340264, -0.081106, 0.000893, 0.003796];
const SCALE: f32 = 66.50336;

/// Where a place lies on GeoCLIP's map.
///
/// Every step is rounded to f32 as PyTorch does: the finest features multiply an error here by a thousand.
fn project(place: LatLon) -> [f32; 2] {
    let degree = std::f32::consts::PI / 180.0;
    let (lat, lon) = (place.lat_deg() as f32 * degree, place.lon_deg() as f32 * degree);
    let exactly = |value: f32, function: fn(f64) -> f64| function(f64::from(value)) as f32;
    let power = |value: f32, exponent: i32| f64::from(value).powi(exponent) as f32;
    let root = 3.0_f32.sqrt();
    let theta = exactly((root / 2.0) * exactly(lat, f64::sin), f64::asin);
    let [a1, a2, a3, a4] = A;
    let denominator = 3.0 * (9.0 * a4 * power(theta, 8) + 7.0 * a3 * power(theta, 6) + 3.0 * a2 * power(theta, 2) + a1);
    let x = 2.0 * root * lon * exactly(theta, f64::cos) / denominator;
    let y = a4 * power(theta, 9) + a3 * power(theta, 7) + a2 * power(theta, 3) + a1 * theta;
    [x * SCALE / 180.0, y * SCALE / 180.0]
}

/// Sizes of a location encoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LocationSizes {
    pub(crate) capsules: usize,
    /// Frequencies of a capsule; it sees the cosine and the sine of each.
    pub(crate) frequencies: usize,
    pub(crate) hidden: usize,
    pub(crate) outputs: usize,
}

/// One scale: frequencies, three hidden layers, a head.
struct Capsule {
    frequencies: ParamId,
    hidden: [Linear; 3],
    head: Linear,
}

pub(crate) struct LocationEncoder {
    sizes: LocationSizes,
    capsules: Vec<Capsule>,
}

impl LocationEncoder {
    /// Registers the parameters under the names that the package gives them.
    pub(crate) fn register(builder: &mut ParamsBuilder, sizes: LocationSizes) -> Self {
        let LocationSizes { capsules, frequencies, hidden, outputs } = sizes;
        let capsule = |number: usize| {
            let name = format!("LocEnc{number}");
            Capsule {
                frequencies: builder.add(&format!("{name}.capsule.0.b"), frequencies, 2, Init::Zero),
                hidden: [(1, 2 * frequencies), (3, hidden), (5, hidden)]
                    .map(|(layer, inputs)| Linear::new(builder, &format!("{name}.capsule.{layer}"), inputs, hidden)),
                head: Linear::new(builder, &format!("{name}.head.0"), hidden, outputs),
            }
        };
        Self { sizes, capsules: (0..capsules).map(capsule).collect() }
    }

    /// The embeddings of a block of places.
    pub(crate) fn forward(&self, params: &Params, frequencies: &[Vec<f32>], places: &[LatLon]) -> Result<Vec<f32>> {
        let LocationSizes { hidden, outputs, .. } = self.sizes;
        let (device, rows): (&Device, usize) = (params.device(), places.len());
        let points: Vec<[f32; 2]> = places.iter().map(|place| project(*place)).collect();
        let mut features = Tensor::zeros(device, rows, 2 * self.sizes.frequencies)?;
        let mut one = Tensor::zeros(device, rows, hidden)?;
        let mut other = Tensor::zeros(device, rows, hidden)?;
        let mut part = Tensor::zeros(device, rows, outputs)?;
        let mut sum = Tensor::zeros(device, rows, outputs)?;
        for (capsule, b) in self.capsules.iter().zip(frequencies) {
            features.upload(&fourier_features(&points, b))?;
            let mut x = &features;
            for layer in &capsule.hidden {
                layer.forward(params, one.view_mut(), x.view())?;
                ops::activate(Activation::Relu, other.view_mut(), one.view())?;
                x = &other;
            }
            capsule.head.forward(params, part.view_mut(), x.view())?;
            ops::axpby(sum.view_mut(), 1.0, part.view(), 1.0)?;
        }
        Ok(sum.to_vec()?)
    }

    /// The frequencies of every capsule, on the host, where the features are made.
    pub(crate) fn frequencies(&self, params: &Params) -> Result<Vec<Vec<f32>>> {
        let on_host = |capsule: &Capsule| {
            let mut copy = Tensor::zeros(params.device(), capsule.frequencies.rows(), 2)?;
            ops::copy(copy.view_mut(), params.get(capsule.frequencies))?;
            Ok(copy.to_vec()?)
        };
        self.capsules.iter().map(on_host).collect()
    }
}

/// Cosines, then sines, of 2π·b·point for every row of `b`.
fn fourier_features(points: &[[f32; 2]], b: &[f32]) -> Vec<f32> {
    let count = b.len() / 2;
    let mut features = vec![0.0; points.len() * 2 * count];
    for (row, [x, y]) in features.chunks_exact_mut(2 * count).zip(points) {
        let (x, y) = (std::f32::consts::TAU * x, std::f32::consts::TAU * y);
        let (cosines, sines) = row.split_at_mut(count);
        for ((cosine, sine), b) in cosines.iter_mut().zip(sines).zip(b.as_chunks::<2>().0) {
            // One rounded product, then a fused multiplication and addition: what PyTorch's matrix product does.
            let phase = (f64::from(x * b[0]) + f64::from(y) * f64::from(b[1])) as f32;
            let (s, c) = f64::from(phase).sin_cos();
            (*cosine, *sine) = (c as f32, s as f32);
        }
    }
    features
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The projection keeps areas: near any place, a small square of the sphere keeps its share.
    #[test]
    fn the_projection_is_equal_area() {
        let at = |lat: f64, lon: f64| project(LatLon::new(lat, lon).unwrap()).map(f64::from);
        let density = |lat: f64, lon: f64| {
            let h = 1.0;
            let (east, west) = (at(lat, lon + h), at(lat, lon - h));
            let (north, south) = (at(lat + h, lon), at(lat - h, lon));
            let [ax, ay] = [east[0] - west[0], east[1] - west[1]];
            let [bx, by] = [north[0] - south[0], north[1] - south[1]];
            (ax * by - ay * bx) / lat.to_radians().cos()
        };
        let reference = density(0.0, 0.0);
        for (lat, lon) in [(30.0, 20.0), (-55.0, -100.0), (75.0, 150.0)] {
            assert!((density(lat, lon) / reference - 1.0).abs() < 2e-3, "{lat} {lon}");
        }
    }
}
