//! Places of codes, on a CUDA device: what `shdd`'s decoders find on the CPU, a batch at a time.

use crate::{CodeWriter, ModelConfig, ModelError};
use locdiff_nn::decode::{AnchorSearch, ExactSearch, RingGrid};
use locdiff_nn::{Device, Tensor, View, feed};
use locdiff_shdd::sphere::UnitVec;
use std::f64::consts::{PI, TAU};

/// Decodes batches of codes of one degree.
///
/// ```no_run
/// use locdiff_model::DeviceDecoder;
/// use locdiff_nn::Device;
/// let mut decoder = DeviceDecoder::exact(&Device::cuda(0)?, 23, 512)?;
/// let places = decoder.decode(&vec![0.1; 24 * 24])?;
/// # Ok::<(), locdiff_model::ModelError>(())
/// ```
pub struct DeviceDecoder {
    harmonics: feed::Harmonics,
    codes: Tensor,
    kind: Kind,
}

enum Kind {
    Anchors(AnchorSearch, Vec<UnitVec>),
    Exact(ExactSearch),
}

impl DeviceDecoder {
    fn harmonics(device: &Device, degree: usize) -> Result<feed::Harmonics, ModelError> {
        let config = ModelConfig { low_pass_km: None, ..ModelConfig::new(degree, 1) };
        Ok(CodeWriter::new(&config)?.on_device(device)?)
    }

    /// The best of given points, for batches of up to `most` codes.
    ///
    /// # Errors
    /// The CPU, a degree out of range, or too little device memory.
    pub fn anchors(device: &Device, degree: usize, anchors: &[UnitVec], most: usize) -> Result<Self, ModelError> {
        let harmonics = Self::harmonics(device, degree)?;
        let points: Vec<[f64; 3]> = anchors.iter().map(|point| point.to_array()).collect();
        let points = feed::Points::from_slice(device, &points)?;
        let search = AnchorSearch::new(device, &harmonics, &points, most)?;
        let codes = Tensor::zeros(device, most, harmonics.numbers())?;
        Ok(Self { harmonics, codes, kind: Kind::Anchors(search, anchors.to_vec()) })
    }

    /// The continuous maximum with the largest mass, for batches of up to `most` codes.
    ///
    /// # Errors
    /// As [`DeviceDecoder::anchors`].
    pub fn exact(device: &Device, degree: usize, most: usize) -> Result<Self, ModelError> {
        let harmonics = Self::harmonics(device, degree)?;
        // Twice as dense as the field could vary, like the search on the CPU.
        let grid = RingGrid { rings: 2 * (degree + 1), longitudes: 4 * (degree + 1) };
        let point = |k: usize| {
            let (sine, z) = (((k / grid.longitudes) as f64 + 0.5) * PI / grid.rings as f64).sin_cos();
            let (s, c) = (TAU * (k % grid.longitudes) as f64 / grid.longitudes as f64).sin_cos();
            [sine * c, sine * s, z]
        };
        let points: Vec<[f64; 3]> = (0..grid.rings * grid.longitudes).map(point).collect();
        let points = feed::Points::from_slice(device, &points)?;
        let search = ExactSearch::new(device, &harmonics, grid, &points, most)?;
        let codes = Tensor::zeros(device, most, harmonics.numbers())?;
        Ok(Self { harmonics, codes, kind: Kind::Exact(search) })
    }

    /// The places of codes on the host, row by row.
    ///
    /// # Errors
    /// More codes than asked for, or no whole rows.
    pub fn decode(&mut self, codes: &[f32]) -> Result<Vec<UnitVec>, ModelError> {
        self.codes.upload_rows(codes)?;
        let rows = codes.len() / self.codes.cols();
        let Self { harmonics, codes, kind } = self;
        kind.decode(harmonics, codes.view().row_range(0..rows))
    }
}

impl Kind {
    fn decode(&mut self, harmonics: &feed::Harmonics, codes: View<'_>) -> Result<Vec<UnitVec>, ModelError> {
        match self {
            Self::Anchors(search, anchors) => Ok(search.run(codes)?.into_iter().map(|k| anchors[k as usize]).collect()),
            Self::Exact(search) => {
                let found = search.run(harmonics, codes)?;
                Ok(found.into_iter().map(|[x, y, z, _]| UnitVec::new(x, y, z)).collect::<Result<_, _>>()?)
            }
        }
    }
}
