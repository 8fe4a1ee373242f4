//! Codes as the model sees them: SHDD codes in f32, through the low-pass filter.

use crate::{ModelConfig, ModelError};
use locdiff_sphere::{Harmonics, UnitVec};

/// Writes codes, on the fly, from locations.
///
/// ```
/// use locdiff_model::{CodeWriter, ModelConfig};
/// use locdiff_sphere::UnitVec;
/// let writer = CodeWriter::new(&ModelConfig::new(3, 8))?;
/// let mut code = [0.0; 16];
/// writer.write(&[UnitVec::NORTH], &mut code)?;
/// assert!((code[0] - 0.2820948).abs() < 1e-6);
/// # Ok::<(), locdiff_model::ModelError>(())
/// ```
#[derive(Debug)]
pub struct CodeWriter {
    harmonics: Harmonics,
    /// One factor a coefficient; empty without a filter.
    filter: Vec<f32>,
}

impl CodeWriter {
    /// For a model's degree and filter.
    ///
    /// # Errors
    /// A degree out of range.
    pub fn new(config: &ModelConfig) -> Result<Self, ModelError> {
        let low_pass = config.low_pass();
        let each = low_pass.iter().enumerate().flat_map(|(l, f)| std::iter::repeat_n(*f as f32, 2 * l + 1));
        let filter = if config.low_pass_km.is_some() { each.collect() } else { Vec::new() };
        Ok(Self { harmonics: Harmonics::new(config.degree()?), filter })
    }

    /// Numbers in a code.
    pub fn dimension(&self) -> usize {
        self.harmonics.degree().dimension()
    }

    /// The codes of `points`, one row a point, on all threads.
    ///
    /// # Errors
    /// When `out` has another length.
    pub fn write(&self, points: &[UnitVec], out: &mut [f32]) -> Result<(), ModelError> {
        self.write_plain(points, out)?;
        if !self.filter.is_empty() {
            for row in out.chunks_exact_mut(self.dimension()) {
                row.iter_mut().zip(&self.filter).for_each(|(value, factor)| *value *= factor);
            }
        }
        Ok(())
    }

    /// The same without the filter: the harmonics that a quadrature needs.
    ///
    /// # Errors
    /// When `out` has another length.
    pub fn write_plain(&self, points: &[UnitVec], out: &mut [f32]) -> Result<(), ModelError> {
        Ok(self.harmonics.write(points, out)?)
    }
}
