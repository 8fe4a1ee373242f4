//! What can be wrong with what is to be reported.

/// A failure below, or answers that do not fit.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages name the fields, the types what is passed on")]
#[non_exhaustive]
pub enum ReportError {
    #[error(transparent)]
    Setting(#[from] locdiff_base::BadSetting),
    #[error(transparent)]
    Rows(#[from] crate::report::RowError),
    #[error("no row has a truth and an answer: there is nothing to evaluate")]
    Nothing,
    #[error("{answers} answers are too few for PRDC: switch it off")]
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
