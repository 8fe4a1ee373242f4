//! What can be wrong with what is to be reported.

use locdiff_base::BadSetting;
use thiserror::Error;

/// A failure below, or answers that do not fit.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the messages name the fields, the types what is passed on")]
#[non_exhaustive]
pub enum ReportError {
    #[error(transparent)]
    Setting(#[from] BadSetting),
    #[error(transparent)]
    Rows(#[from] crate::report::RowError),
    /// No row has a truth and an answer.
    #[error("no row has a truth and an answer: there is nothing to evaluate")]
    Nothing,
    /// Too few answers for the precision, recall, density and coverage that were asked for.
    #[error("{answers} answers are too few for PRDC: do without it")]
    FewForPrdc { answers: usize },
    #[error(transparent)]
    Eval(#[from] crate::eval::EvalError),
    #[error(transparent)]
    Codec(#[from] locdiff_shdd::ShddError),
    #[error(transparent)]
    Map(#[from] locdiff_map::MapError),
    #[error(transparent)]
    Sphere(#[from] locdiff_shdd::sphere::SphereError),
}

pub(crate) type Result<T, E = ReportError> = std::result::Result<T, E>;
