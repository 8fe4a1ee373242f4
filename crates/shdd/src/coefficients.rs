//! A checked coefficient vector.

use crate::{ShddError, sphere::Degree};

/// Clean codes are below 20, natural parameters below 10⁴; beyond this single precision would overflow.
const LARGEST: f64 = 1e9;

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
    /// Checks length and values. Fails if the length is not `(L+1)²` for a supported L, or a value is not finite.
    pub fn new(values: Vec<f64>) -> Result<Self, ShddError> {
        let degree = Degree::from_dimension(values.len())?;
        match values.iter().position(|v| v.is_nan() || v.abs() > LARGEST) {
            Some(index) if values[index].is_finite() => Err(ShddError::TooLarge { index, value: values[index] }),
            Some(index) => Err(ShddError::NotFinite { index, value: values[index] }),
            None => Ok(Self { degree, values }),
        }
    }

    /// `a·self + b·other`. Fails if the degrees differ, or a sum is not finite.
    ///
    /// ```
    /// use locdiff_shdd::Coefficients;
    /// let (one, two) = (Coefficients::new(vec![1.0; 4])?, Coefficients::new(vec![2.0; 4])?);
    /// assert_eq!(one.combine(3.0, &two, 0.5)?.as_slice(), [4.0; 4]);
    /// # Ok::<(), locdiff_shdd::ShddError>(())
    /// ```
    pub fn combine(&self, a: f64, other: &Self, b: f64) -> Result<Self, ShddError> {
        if self.degree != other.degree {
            return Err(ShddError::DegreeMismatch { expected: self.degree.get(), got: other.degree.get() });
        }
        Self::new(self.values.iter().zip(&other.values).map(|(x, y)| a * x + b * y).collect())
    }

    /// The field convolved with a Gaussian window that is as wide as a disc of this radius (the same mean squared distance):
    /// degree l shrinks by `exp(−l(l+1)·ρ²/8)`.
    ///
    /// ```
    /// use locdiff_shdd::Coefficients;
    /// let wide = Coefficients::new(vec![1.0; 9])?.windowed(0.5);
    /// assert_eq!(wide.as_slice()[0], 1.0); // the mean stays
    /// assert!(wide.as_slice()[8] < wide.as_slice()[3] && wide.as_slice()[3] < 1.0);
    /// # Ok::<(), locdiff_shdd::ShddError>(())
    /// ```
    #[must_use]
    pub fn windowed(&self, radius_rad: f64) -> Self {
        let mut values = self.values.clone();
        for l in 0..=self.degree.get() {
            let shrink = (-((l * (l + 1)) as f64) * radius_rad * radius_rad / 8.0).exp();
            values[l * l..(l + 1) * (l + 1)].iter_mut().for_each(|value| *value *= shrink);
        }
        Self { degree: self.degree, values }
    }

    /// Returns the degree L.
    pub fn degree(&self) -> Degree {
        self.degree
    }

    /// Returns the values.
    pub fn as_slice(&self) -> &[f64] {
        &self.values
    }

    /// Returns the values as a vector.
    pub fn into_vec(self) -> Vec<f64> {
        self.values
    }
}
