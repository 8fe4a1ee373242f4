//! Decoders: one point from a coefficient vector.

mod anchors;
mod exact;
mod kl;

pub use anchors::Anchors;

use crate::sphere::UnitVec;
use crate::{Codec, Coefficients, Mode, ShddError};
use rayon::prelude::*;

/// How to read a point off a coefficient vector.
#[derive(Debug, Clone)]
pub enum Decoder {
    /// The continuous maximum, refined on the sphere; of several, the one with the largest Laplace mass. With a window, the
    /// maximum of the field convolved with it ([`Coefficients::windowed`]). The default, without one.
    Exact {
        /// Window radius ρ in radians.
        window_rad: Option<f64>,
    },
    /// The paper's mode-seeking decoder over anchor points.
    Anchors(Anchors),
    /// The paper's PD_KL: the place whose code is nearest in reverse KL divergence, solved exactly.
    Kl,
}

impl Default for Decoder {
    fn default() -> Self {
        Self::Exact { window_rad: None }
    }
}

impl Codec {
    /// The place a coefficient vector means. Fails if the vector has another degree.
    pub fn decode(&self, e: &Coefficients, decoder: &Decoder) -> Result<Mode, ShddError> {
        self.check(e)?;
        self.decode_with(e, decoder, &mut self.search.scratch())
    }

    /// The places of many vectors, on all threads, in order. Fails if a vector has another degree.
    pub fn decode_batch(&self, vectors: &[Coefficients], decoder: &Decoder) -> Result<Vec<Mode>, ShddError> {
        vectors.iter().try_for_each(|e| self.check(e))?;
        vectors
            .par_iter()
            .map_init(|| self.search.scratch(), |scratch, e| self.decode_with(e, decoder, scratch))
            .collect()
    }

    /// What F is at a place that was found elsewhere (on a GPU, say): its value and curvature.
    ///
    /// ```
    /// use locdiff_shdd::{Codec, Decoder};
    /// use locdiff_shdd::sphere::{Degree, LatLon};
    /// let codec = Codec::new(Degree::new(7)?);
    /// let code = codec.encode(LatLon::new(40.0, -3.7)?);
    /// let mode = codec.decode(&code, &Decoder::Exact { window_rad: None })?;
    /// assert!((codec.mode_at(&code, mode.point)?.value - mode.value).abs() < 1e-9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Fails if the vector has another degree.
    pub fn mode_at(&self, e: &Coefficients, point: UnitVec) -> Result<Mode, ShddError> {
        self.check(e)?;
        let mut field = self.jets.field(e.as_slice())?;
        let jet = self.jets.jet(&mut field, point);
        Ok(Mode { point, value: jet.value, hessian: jet.hessian })
    }

    /// The places of many vectors, on this thread alone (for benches). Fails if a vector has another degree.
    pub fn decode_single_thread(&self, vectors: &[Coefficients], decoder: &Decoder) -> Result<Vec<Mode>, ShddError> {
        vectors.iter().try_for_each(|e| self.check(e))?;
        let mut scratch = self.search.scratch();
        vectors.iter().map(|e| self.decode_with(e, decoder, &mut scratch)).collect()
    }

    fn decode_with(
        &self,
        e: &Coefficients,
        decoder: &Decoder,
        scratch: &mut crate::search::SearchScratch,
    ) -> Result<Mode, ShddError> {
        match decoder {
            Decoder::Exact { window_rad } => exact::decode(self, e, *window_rad, scratch),
            Decoder::Anchors(anchors) => anchors.decode(self, e),
            Decoder::Kl => kl::decode(self, e, scratch),
        }
    }
}
