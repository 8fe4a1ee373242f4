//! The maximal degree L of an expansion and the coefficient layout.

use crate::sphere::SphereError;

/// Maximal spherical-harmonic degree L. An expansion has `(L+1)²` coefficients; `(l, m)` sits at `l*l + l + m`.
///
/// ```
/// use locdiff_shdd::sphere::Degree;
/// let degree = Degree::new(47)?;
/// assert_eq!(degree.dimension(), 2304);
/// assert_eq!(Degree::from_dimension(576)?.get(), 23);
/// assert!(Degree::new(0).is_err());
/// # Ok::<(), locdiff_shdd::sphere::SphereError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Degree(u16);

impl Degree {
    /// The largest degree: beyond it s^m and the polynomial part leave the range that tests cover.
    pub const MAX: Degree = Degree(511);

    /// Checks a degree L. Fails if L is 0 or above [`Degree::MAX`].
    pub fn new(l: usize) -> Result<Self, SphereError> {
        if (1..=usize::from(Self::MAX.0)).contains(&l) { Ok(Self(l as u16)) } else { Err(SphereError::Degree(l)) }
    }

    /// Returns the degree whose expansion has `dimension` coefficients. Fails if `dimension` is not `(L+1)²` for a supported L.
    pub fn from_dimension(dimension: usize) -> Result<Self, SphereError> {
        let root = dimension.isqrt();
        if root * root != dimension || root < 2 {
            return Err(SphereError::Dimension(dimension));
        }
        Self::new(root - 1).map_err(|_| SphereError::Dimension(dimension))
    }

    /// Returns L.
    #[inline]
    pub const fn get(self) -> usize {
        self.0 as usize
    }

    /// Returns the number of coefficients, `(L+1)²`.
    #[inline]
    pub const fn dimension(self) -> usize {
        (self.get() + 1) * (self.get() + 1)
    }

    /// Peak of a clean code's field, `(L+1)²/4π`: also the squared norm of every code.
    #[inline]
    pub fn peak(self) -> f64 {
        self.dimension() as f64 / (4.0 * std::f64::consts::PI)
    }

    /// Curvature of a clean code's field at its peak, `I = L(L+1)²(L+2)/16π`: minus the Hessian's eigenvalue, in
    /// rad⁻², and the Fisher information about position that unit noise leaves.
    pub fn curvature(self) -> f64 {
        let l = self.get() as f64;
        l * (l + 1.0).powi(2) * (l + 2.0) / (16.0 * std::f64::consts::PI)
    }
}

impl std::fmt::Display for Degree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimension_round_trips_and_rejects_the_rest() {
        for l in 1..=511 {
            let degree = Degree::new(l).unwrap();
            assert_eq!(Degree::from_dimension(degree.dimension()), Ok(degree));
        }
        for bad in [0, 1, 2, 575, 577, 513 * 513, usize::MAX] {
            assert_eq!(Degree::from_dimension(bad), Err(SphereError::Dimension(bad)));
        }
        assert_eq!(Degree::new(512), Err(SphereError::Degree(512)));
    }

    #[test]
    fn peak_standard_deviations_match_the_method_page() {
        let km = |l| crate::sphere::EARTH_RADIUS_KM / Degree::new(l).unwrap().curvature().sqrt();
        for (l, expected) in [(23, 78.5), (47, 19.6), (127, 2.8)] {
            assert!((km(l) - expected).abs() < 0.05, "L={l}: {}", km(l));
        }
    }
}
