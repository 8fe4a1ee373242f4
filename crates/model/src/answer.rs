//! From samples to one place an image.

use crate::ModelError;
use locdiff_base::Named;
use locdiff_shdd::{Codec, Coefficients, Decoder};
use locdiff_sphere::{EARTH_RADIUS_KM, LatLon, UnitVec, spherical_mean};

/// Peaks are ranked by their mass within this radius.
const WINDOW_KM: f64 = 25.0;

/// How the samples of an image become one answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pooling {
    /// The mean of the samples' codes, decoded once: the most accurate on validation.
    #[default]
    Pool,
    /// The spherical mean of the decoded samples: the paper's.
    Mean,
    /// The first sample.
    Single,
}

impl Named for Pooling {
    const WHAT: &'static str = "pooling";
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Pool, "pool", "the mean of the samples' codes, decoded once"),
        (Self::Mean, "mean", "the paper's spherical mean of the samples' places"),
        (Self::Single, "single", "the first sample alone"),
    ];
}

/// The answer for one image, with what it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The place.
    pub place: LatLon,
    /// The samples' own places, where they were decoded.
    pub samples: Vec<LatLon>,
    /// The mean of the samples' codes.
    pub code: Vec<f64>,
}

/// Answers for the images of a block; `codes` as [`crate::CodeSampler::sample_block`] gives them. The samples' own places are
/// decoded where `pooling` needs them or `every_sample` asks.
///
/// ```
/// use locdiff_model::{Pooling, answers};
/// use locdiff_shdd::Codec;
/// use locdiff_sphere::{Degree, LatLon, haversine_km};
/// let codec = Codec::new(Degree::new(15)?);
/// let place = LatLon::new(35.0, 139.0)?;
/// let code: Vec<f32> = codec.encode(place).as_slice().iter().map(|v| *v as f32).collect();
/// let found = answers(&codec, &code.repeat(2), 2, Pooling::Pool, false)?;
/// assert!(haversine_km(found[0].place, place) < 0.1);
/// # Ok::<(), locdiff_model::ModelError>(())
/// ```
///
/// # Errors
/// A number of values that does not fit.
pub fn answers(
    codec: &Codec,
    codes: &[f32],
    samples: usize,
    pooling: Pooling,
    every_sample: bool,
) -> Result<Vec<Answer>, ModelError> {
    let dim = codec.degree().dimension();
    let decoder = Decoder::Exact { window_rad: Some(WINDOW_KM / EARTH_RADIUS_KM) };
    let places = |vectors: Vec<Coefficients>| -> Result<Vec<UnitVec>, ModelError> {
        Ok(codec.decode_batch(&vectors, &decoder)?.into_iter().map(|mode| mode.point).collect())
    };
    let images: Vec<&[f32]> = codes.chunks_exact(samples * dim).collect();
    let means: Vec<Vec<f64>> = images
        .iter()
        .map(|image| {
            let mut mean = vec![0.0; dim];
            for code in image.chunks_exact(dim) {
                mean.iter_mut().zip(code).for_each(|(m, c)| *m += f64::from(*c) / samples as f64);
            }
            mean
        })
        .collect();
    let wanted = match pooling {
        Pooling::Mean => samples,
        _ if every_sample => samples,
        Pooling::Single => 1,
        Pooling::Pool => 0,
    };
    let own = images.iter().flat_map(|image| image.chunks_exact(dim).take(wanted));
    let own: Result<Vec<_>, _> =
        own.map(|code| Coefficients::new(code.iter().map(|value| f64::from(*value)).collect())).collect();
    let own = places(own?)?;
    let pooled = if pooling == Pooling::Pool {
        places(means.iter().map(|mean| Coefficients::new(mean.clone())).collect::<Result<_, _>>()?)?
    } else {
        Vec::new()
    };
    Ok(means
        .into_iter()
        .enumerate()
        .map(|(i, code)| {
            let own = &own[i * wanted..(i + 1) * wanted];
            let place = match pooling {
                Pooling::Pool => pooled[i],
                Pooling::Mean => spherical_mean(own).unwrap_or(own[0]),
                Pooling::Single => own[0],
            };
            Answer { place: place.to_latlon(), samples: own.iter().map(|p| p.to_latlon()).collect(), code }
        })
        .collect())
}
