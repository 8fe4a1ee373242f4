//! How far a coefficient vector is from the code of a place, and the gradient of that in the coefficients.

mod anchored;
mod kl;
mod loss;
mod vector;
mod zonal;

pub use loss::Loss;
pub use zonal::Zonal;

use crate::sphere::{Grid, UnitVec};
use crate::{Codec, Coefficients, ShddError};

/// A loss between a coefficient vector e and the code y of the true place.
#[derive(Debug, Clone)]
pub enum Divergence {
    /// KL(q_e ‖ p), the paper's SHDD-KL, by exact zonal terms and local quadrature.
    ReverseKl,
    /// KL(p ‖ q_e), likewise.
    ForwardKl,
    /// −log q_e(x0): the forward KL to a point. Our default loss.
    Nll,
    /// The paper's SHDD-KL over anchor points (uniform random ones in its training).
    AnchoredReverseKl(Grid),
    /// 1 − cos(e, y).
    Cosine,
    /// Mean |e − y|.
    L1,
    /// Mean (e − y)².
    L2,
}

impl Codec {
    /// The loss of `e` against the code of `truth`, with its gradient.
    /// Fails if the vector has another degree, or is zero where a direction is needed.
    ///
    /// ```
    /// use locdiff_shdd::{Codec, Divergence};
    /// use locdiff_shdd::sphere::{Degree, LatLon};
    /// let codec = Codec::new(Degree::new(15)?);
    /// let truth = LatLon::new(35.0, 139.0)?;
    /// let code = codec.encode(truth);
    /// let loss = codec.divergence(&Divergence::ReverseKl, &code, truth.to_unit())?;
    /// assert!(loss.value.abs() < 1e-8); // a place is at distance 0 from its own code
    /// # Ok::<(), locdiff_shdd::ShddError>(())
    /// ```
    pub fn divergence(&self, kind: &Divergence, e: &Coefficients, truth: UnitVec) -> Result<Loss, ShddError> {
        self.check(e)?;
        let code = self.harmonics().at(truth);
        match kind {
            Divergence::ReverseKl => kl::reverse(self, e, &code),
            Divergence::ForwardKl => kl::forward(self, e, &code),
            Divergence::Nll => kl::nll(self, e, &code),
            Divergence::AnchoredReverseKl(grid) => anchored::reverse(self, e, &code, grid),
            Divergence::Cosine => vector::cosine(e.as_slice(), &code),
            Divergence::L1 => Ok(vector::l1(e.as_slice(), &code)),
            Divergence::L2 => Ok(vector::l2(e.as_slice(), &code)),
        }
    }
}
