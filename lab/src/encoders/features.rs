//! The encodings themselves.

use crate::encoders::ablation::{DFS_SCALES, EncoderKind, MAX_RADIUS, MIN_RADIUS, OCTAVES, RANDOM_SIZE, SCALES};
use crate::encoders::ablation::{SHDD_DEGREE, SIREN_DEGREE, TILE_DEG};
use crate::{Result, contrastive::FourierFeatures};
use locdiff_base::setting;
use locdiff_model::chance;
use locdiff_shdd::sphere::{Degree, SphericalHarmonics, UnitVec};
use rayon::prelude::*;
use std::f64::consts::{PI, TAU};

/// Width of the Gaussian kernels of `rbf` in degrees.
const RBF_WIDTH_DEG: f64 = 20.0;
/// Deviation of the frequencies of `rff`, in 1/rad: kernels about 1600 km wide.
const RFF_DEVIATION: f64 = 4.0;
/// The factor inside the sine (Sitzmann et al.).
const SIREN_W0: f64 = 30.0;

/// What an encoder has beyond its kind.
enum State {
    None,
    /// Kernel centres in degrees: longitude, latitude.
    Anchors(Vec<[f64; 2]>),
    /// Frequency (for λ, for φ) and shift of each feature.
    Frequencies(Vec<[f64; 3]>),
    /// Random Fourier features of x, y, z.
    Fourier(FourierFeatures),
    /// The harmonics themselves.
    Harmonics(SphericalHarmonics),
    /// Harmonics, and weights (row by row) and biases of the layer on them.
    Siren {
        harmonics: SphericalHarmonics,
        weights: Vec<f64>,
        biases: Vec<f64>,
    },
}

/// A location encoder: a point in, a vector out.
pub(crate) struct LocationEncoder {
    kind: EncoderKind,
    state: State,
}

impl LocationEncoder {
    /// An encoder; `places` are those of the training photos, from which `rbf` draws its anchors, and `seed` is for what is
    /// random.
    pub(crate) fn new(kind: EncoderKind, places: &[UnitVec], seed: u64) -> Result<Self> {
        let state = match kind {
            EncoderKind::Rbf => {
                if places.is_empty() {
                    return Err(setting("places", 0, "rbf takes its anchors from training places"));
                }
                let anchor = |k: u64| {
                    let place = places[chance::below(&[seed, 0xA2C, k], places.len())].to_latlon();
                    [place.lon_deg(), place.lat_deg()]
                };
                State::Anchors((0..RANDOM_SIZE as u64).map(anchor).collect())
            }
            EncoderKind::Rff => {
                let frequency = |k: u64| {
                    let (a, b) = chance::normals([seed, 0x2FF, k]);
                    [RFF_DEVIATION * a, RFF_DEVIATION * b, TAU * chance::uniform(&[seed, 0x2FF, k, 5])]
                };
                State::Frequencies((0..RANDOM_SIZE as u64).map(frequency).collect())
            }
            EncoderKind::SirenSh => {
                let harmonics = SphericalHarmonics::new(Degree::new(SIREN_DEGREE)?);
                let inputs = harmonics.degree().dimension();
                // Sitzmann's first layer: uniform in ±1/inputs.
                let draw =
                    |k: usize, what: u64| (2.0 * chance::uniform(&[seed, 0x51E, what, k as u64]) - 1.0) / inputs as f64;
                State::Siren {
                    harmonics,
                    weights: (0..RANDOM_SIZE * inputs).map(|k| draw(k, 0)).collect(),
                    biases: (0..RANDOM_SIZE).map(|k| draw(k, 1)).collect(),
                }
            }
            EncoderKind::GeoClip => State::Fourier(FourierFeatures::new(seed)),
            EncoderKind::Shdd => State::Harmonics(SphericalHarmonics::new(Degree::new(SHDD_DEGREE)?)),
            _ => State::None,
        };
        Ok(Self { kind, state })
    }

    pub(crate) fn dimension(&self) -> usize {
        match &self.state {
            State::None | State::Fourier(_) | State::Harmonics(_) => self.kind.dimension(),
            State::Anchors(anchors) => anchors.len(),
            State::Frequencies(frequencies) => frequencies.len(),
            State::Siren { biases, .. } => biases.len(),
        }
    }

    pub(crate) fn encode(&self, point: UnitVec) -> Vec<f64> {
        let place = point.to_latlon();
        let (lon_deg, lat_deg) = (place.lon_deg(), place.lat_deg());
        let (lon, lat) = (lon_deg.to_radians(), lat_deg.to_radians());
        let (lon_sin, lon_cos) = lon.sin_cos();
        let lat_cos = lat.cos();
        match (&self.state, self.kind) {
            (State::Anchors(anchors), _) => {
                let squared = |[x, y]: &[f64; 2]| (lon_deg - x).powi(2) + (lat_deg - y).powi(2);
                anchors.iter().map(|at| (-squared(at) / (2.0 * RBF_WIDTH_DEG * RBF_WIDTH_DEG)).exp()).collect()
            }
            (State::Frequencies(frequencies), _) => {
                let factor = (2.0 / frequencies.len() as f64).sqrt();
                frequencies.iter().map(|[x, y, shift]| factor * (x * lon + y * lat + shift).cos()).collect()
            }
            (State::Siren { harmonics, weights, biases }, _) => {
                let input = harmonics.at(point);
                let rows = weights.chunks_exact(input.len()).zip(biases);
                let dot = |row: &[f64]| row.iter().zip(&input).map(|(w, x)| w * x).sum::<f64>();
                rows.map(|(row, bias)| (SIREN_W0 * (dot(row) + bias)).sin()).collect()
            }
            (State::Fourier(features), _) => features.of(&[point]).into_iter().map(f64::from).collect(),
            (State::Harmonics(harmonics), _) => harmonics.at(point),
            (State::None, EncoderKind::Tile) => tile(lon_deg, lat_deg),
            (State::None, EncoderKind::Wrap) => {
                let ((a, b), (c, d)) = ((PI * lon_deg / 180.0).sin_cos(), (PI * lat_deg / 90.0).sin_cos());
                vec![a, b, c, d]
            }
            (State::None, EncoderKind::Theory) => {
                let half = 3f64.sqrt() / 2.0;
                let along = [lon, -0.5 * lon + half * lat, -0.5 * lon - half * lat];
                let pairs = scales(SCALES).flat_map(|scale| along.map(|x| <[f64; 2]>::from((x / scale).sin_cos())));
                pairs.flatten().collect()
            }
            (State::None, EncoderKind::Nerf) => (0..OCTAVES)
                .flat_map(|s| point.to_array().map(|x| <[f64; 2]>::from((2f64.powi(s as i32) * PI * x).sin_cos())))
                .flatten()
                .collect(),
            (State::None, EncoderKind::Dfs) => double_fourier(lon, lat),
            (State::None, kind) => {
                if kind == EncoderKind::Xyz {
                    return point.to_array().to_vec();
                }
                let mut out = Vec::with_capacity(kind.dimension());
                for scale in scales(SCALES) {
                    let ((ls, lc), (ps, pc)) = ((lon / scale).sin_cos(), (lat / scale).sin_cos());
                    let grid = [ps, pc, ls, lc];
                    let mixed = [pc * lon_cos, lat_cos * lc, pc * lon_sin, lat_cos * ls];
                    match kind {
                        EncoderKind::Grid => out.extend(grid),
                        EncoderKind::SphereC => out.extend([ps, pc * lc, pc * ls]),
                        EncoderKind::SphereCPlus => {
                            out.extend(grid);
                            out.extend([pc * lc, pc * ls]);
                        }
                        EncoderKind::SphereM => {
                            out.push(ps);
                            out.extend(mixed);
                        }
                        _ => {
                            out.extend(grid);
                            out.extend(mixed);
                        }
                    }
                }
                out
            }
        }
    }

    /// The encodings of many points, one row each.
    pub(crate) fn encode_all(&self, points: &[UnitVec]) -> Vec<f32> {
        let rows = points.par_iter().flat_map_iter(|point| self.encode(*point));
        rows.map(|value| value as f32).collect()
    }
}

fn scales(count: usize) -> impl Iterator<Item = f64> {
    let ratio = (MAX_RADIUS / MIN_RADIUS).ln();
    (0..count).map(move |s| MIN_RADIUS * (ratio * s as f64 / (count - 1) as f64).exp())
}

fn tile(lon_deg: f64, lat_deg: f64) -> Vec<f64> {
    let (columns, rows) = ((360.0 / TILE_DEG) as usize, (180.0 / TILE_DEG) as usize);
    let index = |degrees: f64, most: usize| ((degrees / TILE_DEG).floor().max(0.0) as usize).min(most - 1);
    let mut out = vec![0.0; columns * rows];
    out[index(lat_deg + 90.0, rows) * columns + index(lon_deg + 180.0, columns)] = 1.0;
    out
}

fn double_fourier(lon: f64, lat: f64) -> Vec<f64> {
    let of = |x: f64| scales(DFS_SCALES).map(|scale| (x / scale).sin_cos()).collect::<Vec<_>>();
    let (lats, lons) = (of(lat), of(lon));
    let mut out: Vec<f64> = lats.iter().chain(&lons).flat_map(|(sin, cos)| [*sin, *cos]).collect();
    for (ps, pc) in &lats {
        for (ls, lc) in &lons {
            out.extend([pc * lc, pc * ls, ps * lc, ps * ls]);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use locdiff_base::Named;
    use locdiff_shdd::sphere::LatLon;
    use serde_json::Value;

    fn numbers(value: &Value) -> Vec<f64> {
        value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
    }

    fn with_state(kind: EncoderKind, fixture: &Value) -> LocationEncoder {
        let rows = |name: &str| -> Vec<Vec<f64>> { fixture[name].as_array().unwrap().iter().map(numbers).collect() };
        let state = match kind {
            EncoderKind::Rbf => State::Anchors(rows("anchors").iter().map(|r| [r[0], r[1]]).collect()),
            EncoderKind::Rff => State::Frequencies(rows("frequencies").iter().map(|r| [r[0], r[1], r[2]]).collect()),
            EncoderKind::SirenSh => State::Siren {
                harmonics: SphericalHarmonics::new(Degree::new(SIREN_DEGREE).unwrap()),
                weights: rows("siren_weights").concat(),
                biases: numbers(&fixture["siren_biases"]),
            },
            _ => State::None,
        };
        LocationEncoder { kind, state }
    }

    /// Against NumPy and SciPy, by `scripts/encoder_fixtures.py`.
    #[test]
    fn encodings_are_those_of_numpy() {
        let text = include_str!("../../../fixtures/baselines/encoders.json");
        let fixture: Value = serde_json::from_str(text).unwrap();
        for &(kind, name, _) in EncoderKind::ALL {
            // Harmonics and Fourier features have tests of their own.
            if matches!(kind, EncoderKind::Shdd | EncoderKind::GeoClip) {
                continue;
            }
            let encoder = with_state(kind, &fixture);
            let wanted = fixture["encodings"][name].as_array().unwrap();
            for (place, wanted) in fixture["places"].as_array().unwrap().iter().zip(wanted) {
                let place = numbers(place);
                let found = encoder.encode(LatLon::new(place[0], place[1]).unwrap().to_unit());
                let wanted = numbers(wanted);
                assert_eq!(found.len(), wanted.len(), "{kind:?}");
                assert_eq!(found.len(), encoder.dimension(), "{kind:?}");
                for (k, (a, b)) in found.iter().zip(&wanted).enumerate() {
                    assert!((a - b).abs() < 1e-8, "{kind:?} {place:?} [{k}]: {a} {b}");
                }
            }
        }
    }

    #[test]
    fn every_encoder_can_be_made_and_has_its_size() {
        let place = [chance::point([1, 2, 3])];
        for &(kind, ..) in EncoderKind::ALL {
            let encoder = LocationEncoder::new(kind, &place, 7).unwrap();
            let code = encoder.encode(place[0]);
            assert_eq!(code.len(), kind.dimension());
            assert!(
                code.iter().all(|x| x.is_finite() && (kind == EncoderKind::Shdd || x.abs() <= 1.0 + 1e-12)),
                "{kind:?}"
            );
            assert_eq!(encoder.encode_all(&place).len(), kind.dimension());
        }
        assert!(LocationEncoder::new(EncoderKind::Rbf, &[], 7).is_err());
    }
}
