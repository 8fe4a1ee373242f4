//! A checked coefficient vector.

use crate::ShddError;
use locdiff_sphere::Degree;

/// `(L+1)²` finite coefficients of a field on the sphere, `(l, m)` at `l*l + l + m`.
///
/// ```
/// use locdiff_shdd::Coefficients;
/// let flat = Coefficients::new(vec![0.0; 576])?;
/// assert_eq!(flat.degree().get(), 23);
/// assert!(Coefficients::new(vec![0.0; 577]).is_err());
/// assert!(Coefficients::new(vec![f64::NAN; 576]).is_err());
/// # Ok::<(), locdiff_shdd::ShddError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Coefficients {
    degree: Degree,
    values: Vec<f64>,
}

impl Coefficients {
    /// Checks length and values.
    ///
    /// # Errors
    /// When the length is not `(L+1)²` for a supported L, or a value is not finite.
    pub fn new(values: Vec<f64>) -> Result<Self, ShddError> {
        let degree = Degree::from_dimension(values.len())?;
        match values.iter().position(|v| !v.is_finite()) {
            Some(index) => Err(ShddError::NotFinite { index, value: values[index] }),
            None => Ok(Self { degree, values }),
        }
    }

    /// The degree L.
    pub fn degree(&self) -> Degree {
        self.degree
    }

    /// The values.
    pub fn as_slice(&self) -> &[f64] {
        &self.values
    }

    /// The values, owned.
    pub fn into_vec(self) -> Vec<f64> {
        self.values
    }
}
