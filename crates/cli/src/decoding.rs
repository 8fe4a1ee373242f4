//! Decoding on the device that was asked for.

use crate::output::Usage;
use anyhow::Result;
use locdiff_model::DeviceDecoder;
use locdiff_nn::{Device, DeviceSpec};
use locdiff_shdd::{Codec, Coefficients, Decoder, Mode};
use locdiff_sphere::Degree;
use rayon::prelude::*;

/// `auto` takes a GPU for files of this many vectors: opening one takes as long as decoding so many.
const GPU_FROM: u64 = 100_000;

/// A decoder on the CPU, or its places from a GPU.
pub(crate) struct Decoding {
    codec: Codec,
    decoder: Decoder,
    gpu: Option<DeviceDecoder>,
}

impl Decoding {
    /// For up to `most` vectors at a time, of a file with so many where that is known.
    pub(crate) fn open(
        degree: Degree,
        decoder: Decoder,
        spec: DeviceSpec,
        rows: Option<u64>,
        most: usize,
    ) -> Result<Self> {
        let gpu = match spec {
            DeviceSpec::Cpu => None,
            DeviceSpec::Cuda(_) => Some(on_gpu(&Device::open(spec)?, degree, &decoder, most)?.ok_or_else(|| {
                Usage(
                    "a GPU decodes with --decoder exact and anchors, without --window-km: leave the others to \
                     --device cpu"
                        .to_owned(),
                )
            })?),
            DeviceSpec::Auto if rows.is_some_and(|rows| rows >= GPU_FROM) => {
                let device = Device::open(spec)?;
                if device.is_cuda() { on_gpu(&device, degree, &decoder, most)? } else { None }
            }
            DeviceSpec::Auto => None,
        };
        Ok(Self { codec: Codec::new(degree), decoder, gpu })
    }

    /// The modes of vectors.
    pub(crate) fn decode(&mut self, vectors: &[Coefficients]) -> Result<Vec<Mode>> {
        let Some(gpu) = &mut self.gpu else { return Ok(self.codec.decode_batch(vectors, &self.decoder)?) };
        let codes: Vec<f32> = vectors.iter().flat_map(|e| e.as_slice()).map(|value| *value as f32).collect();
        let places = gpu.decode(&codes)?;
        // Heights and widths of the peaks are the CPU's, in f64.
        let modes = vectors.par_iter().zip(places).map(|(e, place)| self.codec.mode_at(e, place));
        Ok(modes.collect::<Result<_, _>>()?)
    }
}

/// The GPU's twin of a decoder, where it has one.
fn on_gpu(device: &Device, degree: Degree, decoder: &Decoder, most: usize) -> Result<Option<DeviceDecoder>> {
    Ok(match decoder {
        Decoder::Exact { window_rad: None } => Some(DeviceDecoder::exact(device, degree.get(), most)?),
        Decoder::Anchors(anchors) if anchors.is_single() => {
            Some(DeviceDecoder::anchors(device, degree.get(), anchors.points(), most)?)
        }
        _ => None,
    })
}
