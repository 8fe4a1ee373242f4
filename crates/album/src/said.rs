//! What a network says of a photo, kept for every photo of an album.

use crate::AlbumError;
use locdiff_shdd::Coefficients;

/// Natural parameters; in single precision where that loses nothing, as networks give them.
#[derive(Debug, Clone)]
pub(crate) enum Said {
    Single(Box<[f32]>),
    Double(Coefficients),
}

impl Said {
    pub(crate) fn of(evidence: Coefficients) -> Self {
        let single: Vec<f32> = evidence.as_slice().iter().map(|value| *value as f32).collect();
        let is_exact = |(single, double): (&f32, &f64)| f64::from(*single).to_bits() == double.to_bits();
        if single.iter().zip(evidence.as_slice()).all(is_exact) {
            Self::Single(single.into())
        } else {
            Self::Double(evidence)
        }
    }

    /// As it was given.
    pub(crate) fn coefficients(&self) -> Result<Coefficients, AlbumError> {
        Ok(match self {
            Self::Single(values) => Coefficients::new(values.iter().map(|value| f64::from(*value)).collect())?,
            Self::Double(evidence) => evidence.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost() {
        let exact = Coefficients::new(vec![0.5, -0.0, f64::from(0.1_f32), 1e-30_f32.into()]).unwrap();
        let finer = Coefficients::new(vec![0.5, 0.0, 0.1, 1e-300]).unwrap();
        assert!(matches!(Said::of(exact.clone()), Said::Single(_)));
        assert!(matches!(Said::of(finer.clone()), Said::Double(_)));
        for evidence in [exact, finer] {
            assert_eq!(Said::of(evidence.clone()).coefficients().unwrap(), evidence);
        }
    }
}
