//! What a loss gives.

/// A loss and its gradient in the coefficients.
#[derive(Debug, Clone, PartialEq)]
pub struct Loss {
    /// The loss.
    pub value: f64,
    /// ∂loss/∂e.
    pub gradient: Vec<f64>,
}
