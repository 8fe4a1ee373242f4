//! Decoders: one point from a coefficient vector.

mod anchors;

pub use anchors::Anchors;

use crate::{Codec, Coefficients, Mode, ShddError, error::Result, search::SearchScratch, sphere::UnitVec};
use rayon::prelude::*;

/// At most this many peaks are refined.
const MOST_PEAKS: usize = 32;
/// Peaks at least this share of the highest (above the field's mean) compete: a lower one cannot hold more mass.
const COMPETE: f64 = 0.8;

/// Method of decoding a coefficient vector into a location.
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
    /// Decodes a coefficient vector into a location. Fails if the vector has another degree.
    pub fn decode(&self, e: &Coefficients, decoder: &Decoder) -> Result<Mode, ShddError> {
        self.check(e)?;
        self.decode_with(e, decoder, &mut self.search.scratch())
    }

    /// Decodes many vectors in order, on all threads. Fails if a vector has another degree.
    pub fn decode_batch(&self, vectors: &[Coefficients], decoder: &Decoder) -> Result<Vec<Mode>, ShddError> {
        vectors.iter().try_for_each(|e| self.check(e))?;
        let decode = |scratch: &mut SearchScratch, e: &Coefficients| self.decode_with(e, decoder, scratch);
        vectors.par_iter().map_init(|| self.search.scratch(), decode).collect()
    }

    /// Returns value and curvature of F at a point that was found elsewhere, such as on a GPU. Fails if the vector has another degree.
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
    pub fn mode_at(&self, e: &Coefficients, point: UnitVec) -> Result<Mode, ShddError> {
        self.check(e)?;
        let mut field = self.jets.field(e.as_slice())?;
        let jet = self.jets.jet(&mut field, point);
        Ok(Mode { point, value: jet.value, hessian: jet.hessian })
    }

    fn decode_with(&self, e: &Coefficients, decoder: &Decoder, scratch: &mut SearchScratch) -> Result<Mode> {
        match decoder {
            Decoder::Exact { window_rad: None } => self.maximum(e, Mode::whole_mass, scratch),
            Decoder::Exact { window_rad: Some(radius_rad) } => {
                self.maximum(&e.windowed(*radius_rad), |mode| mode.value, scratch)
            }
            Decoder::Anchors(anchors) => anchors.decode(self, e),
            // KL(q_e ‖ p_x) = −H(q_e) − E_q[Y]·Y(x) + log Z_p, and neither the entropy nor log Z_p depends on x: the
            // argmin is the maximum of the field whose coefficients are the mean parameters E_q[Y].
            Decoder::Kl => self.maximum(&self.density(e)?.mean_parameters(), Mode::whole_mass, scratch),
        }
    }

    /// The continuous maximum of F; of several, the one that ranks highest.
    fn maximum(&self, e: &Coefficients, rank: impl Fn(&Mode) -> f64, scratch: &mut SearchScratch) -> Result<Mode> {
        self.search.synthesize(e.as_slice(), scratch);
        let mean = e.as_slice()[0] / (4.0 * std::f64::consts::PI).sqrt();
        let floor = |highest| mean + COMPETE * (highest - mean);
        let modes = self.search.modes(&self.jets, e, scratch, MOST_PEAKS, floor)?;
        // A field without a maximum is constant: any point is as good as another.
        modes.into_iter().max_by(|a, b| rank(a).total_cmp(&rank(b))).ok_or(ShddError::ZeroVector)
    }
}
