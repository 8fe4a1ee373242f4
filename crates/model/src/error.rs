//! What can go wrong with a model.

use locdiff_base::{BadSetting, WriteError};
use std::path::PathBuf;

/// A setting out of range, a model folder that cannot be used, or a failure below.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages name the fields, the types what is passed on")]
#[non_exhaustive]
pub enum ModelError {
    #[error(transparent)]
    Setting(#[from] BadSetting),
    /// A model folder that cannot be used.
    #[error("{path}: {reason}", path = path.display())]
    Folder { path: PathBuf, reason: String },
    /// The network gave a number that is not finite.
    #[error("photo {photo}: the sample is not finite; the model diverged in training, or the embedding is far off")]
    NotFinite { photo: usize },
    /// An embedding that is not as long as the model's.
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
    Write(#[from] WriteError),
}

pub(crate) type Result<T, E = ModelError> = std::result::Result<T, E>;
