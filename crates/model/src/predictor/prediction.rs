//! From a photo's samples to one place.

use super::options::{Pooling, Reading};
use crate::{ModelError, Result};
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon, UnitVec, spherical_mean};
use locdiff_shdd::{Codec, Coefficients, Decoder};

/// What the model says about a photo.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// The place that the samples mean together.
    pub place: LatLon,
    /// The samples' own places, where they were decoded.
    pub samples: Vec<LatLon>,
    /// The mean of the samples' codes: the harmonic coefficients of the mean of their densities.
    pub code: Coefficients,
    /// The natural parameters that the network gave at pure noise, the mean over the samples: `log p(place | photo)` up to
    /// a constant, before any sample commits itself to a place. `None` for a loss whose network gives something else.
    pub evidence: Option<Coefficients>,
}

/// A photo's samples before they are read.
pub(super) struct Drawn {
    /// Clean codes, one after the other.
    pub(super) codes: Vec<f32>,
    pub(super) evidence: Option<Coefficients>,
}

/// The mean of rows of `dim` numbers.
pub(super) fn mean_row(rows: &[f32], dim: usize) -> Vec<f64> {
    let count = (rows.len() / dim) as f64;
    let mut mean = vec![0.0; dim];
    for row in rows.chunks_exact(dim) {
        mean.iter_mut().zip(row).for_each(|(mean, value)| *mean += f64::from(*value) / count);
    }
    mean
}

/// The mean of rows as coefficients; `photo` counts from 0 and is named in the error.
pub(super) fn mean_code(rows: &[f32], dim: usize, photo: usize) -> Result<Coefficients> {
    Coefficients::new(mean_row(rows, dim)).map_err(|_| ModelError::NotFinite { photo: photo + 1 })
}

/// Reads the samples of many photos.
pub(super) fn read(codec: &Codec, photos: Vec<Drawn>, samples: usize, reading: Reading) -> Result<Vec<Prediction>> {
    let dim = codec.degree().dimension();
    let decoder = Decoder::Exact { window_rad: Some(reading.window_km / EARTH_RADIUS_KM) };
    let places = |vectors: &[Coefficients]| -> Result<Vec<UnitVec>> {
        Ok(codec.decode_batch(vectors, &decoder)?.into_iter().map(|mode| mode.point).collect())
    };
    let pooled: Vec<Coefficients> =
        photos.iter().map(|photo| Coefficients::new(mean_row(&photo.codes, dim))).collect::<Result<_, _>>()?;
    let decoded = match reading.pooling {
        Pooling::Mean => samples,
        _ if reading.every_sample => samples,
        Pooling::Single => 1,
        Pooling::Pool => 0,
    };
    let own = photos.iter().flat_map(|photo| photo.codes.chunks_exact(dim).take(decoded));
    let own: Vec<Coefficients> = own
        .map(|code| Coefficients::new(code.iter().map(|value| f64::from(*value)).collect()))
        .collect::<Result<_, _>>()?;
    let own = places(&own)?;
    let together = if reading.pooling == Pooling::Pool { places(&pooled)? } else { Vec::new() };
    let prediction = |(i, (code, drawn)): (usize, (Coefficients, Drawn))| {
        let own = &own[i * decoded..(i + 1) * decoded];
        let place = match reading.pooling {
            Pooling::Pool => together[i],
            Pooling::Mean => spherical_mean(own).unwrap_or(own[0]),
            Pooling::Single => own[0],
        };
        let samples = own.iter().map(|point| point.to_latlon()).collect();
        Prediction { place: place.to_latlon(), samples, code, evidence: drawn.evidence }
    };
    Ok(pooled.into_iter().zip(photos).enumerate().map(prediction).collect())
}
