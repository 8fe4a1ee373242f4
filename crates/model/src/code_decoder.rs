//! Decoding on the device that was asked for.

use crate::{DeviceDecoder, Result};
use locdiff_base::setting;
use locdiff_nn::{Device, DeviceSpec};
use locdiff_shdd::{Codec, Coefficients, Decoder, Mode, sphere::Degree};
use rayon::prelude::*;

/// `auto` takes a GPU for files of this many vectors: opening one takes longer than a dozen processors take for fewer.
fn gpu_from(decoder: &Decoder) -> u64 {
    if let Decoder::Anchors(_) = decoder { 20_000 } else { 1_000_000 }
}

/// A decoder on the CPU, or its places from a GPU.
///
/// ```
/// use locdiff_model::CodeDecoder;
/// use locdiff_nn::DeviceSpec;
/// use locdiff_shdd::{Codec, Decoder};
/// use locdiff_shdd::sphere::{Degree, LatLon};
/// let degree = Degree::new(9)?;
/// let mut decoder = CodeDecoder::open(degree, Decoder::default(), DeviceSpec::Cpu, None, 512)?;
/// let code = Codec::new(degree).encode(LatLon::new(-33.9, 151.2)?);
/// assert!((decoder.decode(&[code])?[0].place().lat_deg() + 33.9).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct CodeDecoder {
    codec: Codec,
    decoder: Decoder,
    gpu: Option<DeviceDecoder>,
}

impl CodeDecoder {
    /// For up to `most` vectors at a time, of `rows` where that is known.
    /// Fails on a GPU that is asked for and cannot be opened, or does not have this decoder.
    pub fn open(degree: Degree, decoder: Decoder, spec: DeviceSpec, rows: Option<u64>, most: usize) -> Result<Self> {
        let gpu = match spec {
            DeviceSpec::Cuda(_) if !runs_on_gpu(&decoder) => {
                let remedy = "choose the CPU: a GPU supports the exact decoder and anchors only, without a window";
                return Err(setting("device", "cuda", remedy));
            }
            DeviceSpec::Auto if !runs_on_gpu(&decoder) => None,
            DeviceSpec::Auto if rows.is_none_or(|rows| rows < gpu_from(&decoder)) => None,
            _ => on_gpu(&Device::open(spec)?, degree, &decoder, most)?,
        };
        Ok(Self { codec: Codec::new(degree), decoder, gpu })
    }

    /// The modes of vectors. Fails on vectors of another degree, or more than asked for.
    pub fn decode(&mut self, vectors: &[Coefficients]) -> Result<Vec<Mode>> {
        let Some(gpu) = &mut self.gpu else { return Ok(self.codec.decode_batch(vectors, &self.decoder)?) };
        let codes: Vec<f32> = vectors.iter().flat_map(Coefficients::as_slice).map(|value| *value as f32).collect();
        let places = gpu.decode(&codes)?;
        // Heights and widths of the peaks are the CPU's, in f64.
        let modes = vectors.par_iter().zip(places).map(|(e, place)| self.codec.mode_at(e, place));
        Ok(modes.collect::<Result<_, locdiff_shdd::ShddError>>()?)
    }
}

fn runs_on_gpu(decoder: &Decoder) -> bool {
    match decoder {
        Decoder::Exact { window_rad } => window_rad.is_none(),
        Decoder::Anchors(anchors) => anchors.is_single(),
        Decoder::Kl => false,
    }
}

/// The GPU's twin of a decoder that has one, where the device is a GPU.
fn on_gpu(device: &Device, degree: Degree, decoder: &Decoder, most: usize) -> Result<Option<DeviceDecoder>> {
    let made = match decoder {
        _ if !device.is_cuda() => return Ok(None),
        Decoder::Anchors(anchors) => DeviceDecoder::anchors(device, degree.get(), anchors.points(), most),
        _ => DeviceDecoder::exact(device, degree.get(), most),
    };
    made.map(Some)
}
