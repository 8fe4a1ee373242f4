//! Codes as the model sees them: SHDD codes in f32, through the low-pass filter.

use crate::{ModelConfig, Result, device_harmonics::DeviceHarmonics, device_harmonics::Recurrence};
use locdiff_nn::{Device, NnError};
use locdiff_shdd::sphere::{SphericalHarmonics, UnitVec};

/// Points whose whole codes are held while some coefficients are picked.
const BLOCK: usize = 512;

/// Writes codes, on the fly, from locations.
#[derive(Debug)]
pub struct CodeWriter {
    harmonics: SphericalHarmonics,
    /// One factor a coefficient; empty without a filter.
    filter: Vec<f32>,
    /// The coefficients that are written, where not all of them.
    kept: Option<Vec<u32>>,
}

impl CodeWriter {
    /// For a model's degree and filter. Fails on a degree out of range.
    pub fn new(config: &ModelConfig) -> Result<Self> {
        let low_pass = config.low_pass();
        let each = low_pass.iter().enumerate().flat_map(|(l, f)| std::iter::repeat_n(*f as f32, 2 * l + 1));
        let mut filter: Vec<f32> = if config.low_pass_km.is_some() { each.collect() } else { Vec::new() };
        if let (Some(kept), false) = (&config.kept, filter.is_empty()) {
            filter = kept.iter().map(|place| filter[*place as usize]).collect();
        }
        Ok(Self { harmonics: SphericalHarmonics::new(config.degree()?), filter, kept: config.kept.clone() })
    }

    /// A writer on a CUDA device, for recorded steps. Fails on the CPU, or if device memory is too small.
    pub fn on_device(&self, device: &Device) -> Result<DeviceHarmonics, NnError> {
        let (steps, diagonal) = self.harmonics.recurrence();
        let (degree, kept) = (self.harmonics.degree().get(), self.kept.as_deref());
        let recurrence = Recurrence { degree, steps: &steps, diagonal: &diagonal, factors: &self.filter, kept };
        DeviceHarmonics::new(device, recurrence)
    }

    /// Numbers in a code.
    pub fn dimension(&self) -> usize {
        self.kept.as_ref().map_or(self.harmonics.degree().dimension(), Vec::len)
    }

    /// The codes of `points`, one row a point, on all threads. Fails if `out` has another length.
    pub fn write(&self, points: &[UnitVec], out: &mut [f32]) -> Result<()> {
        self.write_plain(points, out)?;
        if !self.filter.is_empty() {
            for row in out.chunks_exact_mut(self.dimension()) {
                row.iter_mut().zip(&self.filter).for_each(|(value, factor)| *value *= factor);
            }
        }
        Ok(())
    }

    /// The unfiltered codes of `points`: the harmonics that a quadrature needs. Fails if `out` has another length.
    pub fn write_plain(&self, points: &[UnitVec], out: &mut [f32]) -> Result<()> {
        let Some(kept) = &self.kept else { return Ok(self.harmonics.write(points, out)?) };
        if out.len() != points.len() * kept.len() {
            let remedy = format!("{} rows of {}", points.len(), kept.len());
            return Err(locdiff_base::setting("codes", out.len(), remedy));
        }
        // A block at a time: whole codes of many points would fill the memory that keeping few saves.
        let whole = self.harmonics.degree().dimension();
        let mut codes = vec![0.0; BLOCK.min(points.len()) * whole];
        for (points, out) in points.chunks(BLOCK).zip(out.chunks_mut(BLOCK * kept.len())) {
            let codes = &mut codes[..points.len() * whole];
            self.harmonics.write(points, codes)?;
            for (row, code) in out.chunks_exact_mut(kept.len()).zip(codes.chunks_exact(whole)) {
                row.iter_mut().zip(kept).for_each(|(value, place)| *value = code[*place as usize]);
            }
        }
        Ok(())
    }
}
