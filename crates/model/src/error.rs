//! What can go wrong with a model.

/// A setting out of range, a model folder that cannot be used, or a failure below.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages name the fields, the types what is passed on")]
#[non_exhaustive]
pub enum ModelError {
    #[error(transparent)]
    Setting(#[from] locdiff_base::BadSetting),
    #[error("{path}: {reason}", path = path.display())]
    Folder { path: std::path::PathBuf, reason: String },
    #[error("photo {photo}: the sample is not finite; the model diverged in training, or the embedding is far off")]
    NotFinite { photo: usize },
    #[error("an embedding of {met} numbers, the model takes {model}: use the encoder it was trained with")]
    EmbeddingSize { met: usize, model: usize },
    #[error(transparent)]
    Engine(#[from] locdiff_nn::NnError),
    #[error(transparent)]
    Codec(#[from] locdiff_shdd::ShddError),
    #[error(transparent)]
    Sphere(#[from] locdiff_shdd::sphere::SphereError),
    #[error(transparent)]
    Data(#[from] locdiff_io::data::DataError),
    #[error(transparent)]
    Write(#[from] locdiff_base::WriteError),
}

pub(crate) type Result<T, E = ModelError> = std::result::Result<T, E>;
