//! What can go wrong between a photo and an answer.

use locdiff_io::data::Fingerprint;

/// Why there is no answer, in one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum LocateError {
    /// The photo or the encoder.
    #[error(transparent)]
    Vision(#[from] locdiff_vision::VisionError),
    /// The model or its device.
    #[error(transparent)]
    Model(#[from] locdiff_model::ModelError),
    /// The engine.
    #[error(transparent)]
    Engine(#[from] locdiff_nn::NnError),
    /// The calibration, the density or what is also known.
    #[error(transparent)]
    Answer(#[from] locdiff_model::answer::AnswerError),
    /// An album.
    #[error(transparent)]
    Album(#[from] locdiff_album::AlbumError),
    /// A row of an album's table.
    #[error("{at}: {reason}")]
    Table { at: String, reason: String },
    /// A file of embeddings or places.
    #[error(transparent)]
    Data(#[from] locdiff_io::data::DataError),
    /// A region.
    #[error(transparent)]
    Places(#[from] locdiff_map::places::PlacesError),
    /// A map or a raster.
    #[cfg(feature = "maps")]
    #[error(transparent)]
    Map(#[from] locdiff_map::MapError),
    /// A gallery.
    #[cfg(feature = "gallery")]
    #[error(transparent)]
    Gallery(#[from] locdiff_retrieval::gallery::GalleryError),
    /// GeoCLIP's files.
    #[cfg(feature = "gallery")]
    #[error(transparent)]
    GeoClip(#[from] locdiff_retrieval::geoclip::GeoClipError),
    /// A setting out of range.
    #[error(transparent)]
    Setting(#[from] locdiff_base::BadSetting),
    /// An encoder and a model that do not belong together.
    #[error(
        "the encoder gives embeddings of {encoder} numbers, the model takes {model}: use the encoder it was trained with"
    )]
    Mismatch { encoder: usize, model: usize },
    /// Embeddings of another encoder than the model was trained with.
    #[error("the model was trained with the encoder {model}, these embeddings are {met}'s: use one encoder for both")]
    OtherEncoder { met: Box<Fingerprint>, model: Box<Fingerprint> },
    /// Photos for a locator that was opened without an encoder.
    #[error("this locator was opened without an encoder: it locates embeddings, not photos")]
    NoEncoder,
    /// A model whose network gives no densities.
    #[error(
        "a model trained with the loss {loss} gives no densities: take the places of its samples, or train with nll or kl"
    )]
    NoDensities { loss: String },
    /// An answer of an album, whose posterior is not kept, or of a model that gives none.
    #[error("this answer has no density of its own, so that no region or map can be drawn of it")]
    NoDensity,
    /// A program without the bundled model and encoder.
    #[error("this program was built without the bundled {what}: give a folder of one")]
    NotBundled { what: &'static str },
    /// A source that fails for a reason of its own, such as a server that does not answer.
    #[error(transparent)]
    Source(Box<dyn std::error::Error + Send + Sync>),
    /// It was asked to stop: nothing was written.
    #[error("stopped before the end: nothing was written")]
    Stopped,
    /// A file that cannot be written.
    #[error(transparent)]
    Write(#[from] locdiff_base::WriteError),
    /// A prior that cannot be used.
    #[error("{file}: {reason}")]
    Prior { file: String, reason: String },
}

impl LocateError {
    /// Whether it is one photo's alone, so that others can go on.
    pub fn is_about_photo(&self) -> bool {
        match self {
            Self::Vision(locdiff_vision::VisionError::Device(_)) => false,
            Self::Vision(_) | Self::Model(locdiff_model::ModelError::NotFinite { .. }) => true,
            _ => false,
        }
    }
}
