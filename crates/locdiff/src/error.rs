//! What can go wrong between a photo and an answer.

use locdiff_io::data::Fingerprint;
use std::{error::Error, fmt};

/// Why there is no answer, in one line that names the file, the value and the remedy.
///
/// ```
/// use locdiff::{ErrorKind, LocateOptions};
/// let error = LocateOptions::new().within("Atlantis").resolved().unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Region);
/// assert!(error.to_string().contains("Atlantis"));
/// ```
#[derive(Debug)]
pub struct LocateError(Failure);

/// What an error is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A photo that cannot be used. Other photos are not affected.
    Photo,
    /// A photo with more pixels than allowed. Other photos are not affected.
    PhotoTooLarge,
    /// A photo with more bytes than allowed. Other photos are not affected.
    PhotoTooManyBytes,
    /// A photo in a format that cannot be read here. Other photos are not affected.
    PhotoFormat,
    /// The device, or its libraries.
    Device,
    /// A model that cannot be used.
    Model,
    /// A folder that holds no model.
    ModelFolder,
    /// A calibration or density that cannot be used, or knowledge that leaves no location.
    Density,
    /// An album.
    Album,
    /// A track that cannot be read.
    Track,
    /// A time that cannot be read.
    Time,
    /// A row of a table.
    Table,
    /// A file of embeddings or locations.
    Data,
    /// A region that is unknown.
    Region,
    /// A map.
    Map,
    /// A gallery.
    Gallery,
    /// GeoCLIP's files.
    GeoClip,
    /// An option out of range, or options that contradict each other.
    Setting,
    /// An encoder whose embeddings have another length than the model takes.
    EncoderSize,
    /// Embeddings of another encoder than the model was trained with.
    OtherEncoder,
    /// Photos for a locator without an encoder.
    NoEncoder,
    /// A model without densities: take locations from samples.
    NoDensities,
    /// An answer without a density: no map can be drawn of it.
    NoDensity,
    /// A program without the bundled model.
    NoBundledModel,
    /// A program without the bundled encoder.
    NoBundledEncoder,
    /// A photo's source, for a reason of its own.
    Source,
    /// The run was asked to stop.
    Stopped,
    /// A file that cannot be written.
    Write,
    /// A prior that cannot be used.
    Prior,
}

impl LocateError {
    /// An error of a photo's source, such as a server that does not answer.
    pub fn of_source(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(Failure::Source(error.into()))
    }

    /// The error of a run that was asked to stop.
    pub fn stopped() -> Self {
        Self(Failure::Stopped)
    }

    pub(crate) fn table(at: impl fmt::Display, reason: impl fmt::Display) -> Self {
        Self(Failure::Table { at: at.to_string(), reason: reason.to_string() })
    }

    /// Whether the encoder gave numbers that are not finite.
    pub(crate) fn is_not_finite(&self) -> bool {
        use locdiff_io::data::DataError;
        matches!(&self.0, Failure::Vision(locdiff_vision::VisionError::Data(DataError::EmbeddingNotFinite { .. })))
    }

    /// What it is about.
    pub fn kind(&self) -> ErrorKind {
        use locdiff_album::AlbumError;
        use locdiff_model::ModelError;
        use locdiff_vision::VisionError;
        match &self.0 {
            Failure::Vision(error) => match error {
                VisionError::Device(_) => ErrorKind::Device,
                VisionError::TooManyPixels { .. } => ErrorKind::PhotoTooLarge,
                VisionError::TooManyBytes { .. } => ErrorKind::PhotoTooManyBytes,
                VisionError::UnknownFormat { .. } | VisionError::NoLibheif { .. } | VisionError::NoHeifCodec { .. } => {
                    ErrorKind::PhotoFormat
                }
                _ => ErrorKind::Photo,
            },
            Failure::Model(ModelError::NotFinite { .. }) => ErrorKind::Photo,
            Failure::Model(ModelError::Folder { .. }) => ErrorKind::ModelFolder,
            Failure::Model(_) => ErrorKind::Model,
            Failure::Engine(_) => ErrorKind::Device,
            Failure::Answer(_) => ErrorKind::Density,
            Failure::Album(AlbumError::Track { .. }) => ErrorKind::Track,
            Failure::Album(AlbumError::Time { .. }) => ErrorKind::Time,
            Failure::Album(_) => ErrorKind::Album,
            Failure::Table { .. } => ErrorKind::Table,
            Failure::Data(_) => ErrorKind::Data,
            Failure::Places(_) => ErrorKind::Region,
            #[cfg(feature = "maps")]
            Failure::Map(_) => ErrorKind::Map,
            #[cfg(feature = "gallery")]
            Failure::Gallery(_) => ErrorKind::Gallery,
            #[cfg(feature = "gallery")]
            Failure::GeoClip(_) => ErrorKind::GeoClip,
            Failure::Setting(_) => ErrorKind::Setting,
            Failure::Mismatch { .. } => ErrorKind::EncoderSize,
            Failure::OtherEncoder { .. } => ErrorKind::OtherEncoder,
            Failure::NoEncoder => ErrorKind::NoEncoder,
            Failure::NoDensities { .. } => ErrorKind::NoDensities,
            Failure::NoDensity => ErrorKind::NoDensity,
            Failure::NotBundled { what: "encoder" } => ErrorKind::NoBundledEncoder,
            Failure::NotBundled { .. } => ErrorKind::NoBundledModel,
            Failure::Source(_) => ErrorKind::Source,
            Failure::Stopped => ErrorKind::Stopped,
            Failure::Write(_) => ErrorKind::Write,
            Failure::Prior { .. } => ErrorKind::Prior,
        }
    }

    /// Whether it is about one photo alone, so that a run goes on with the others.
    pub fn is_about_photo(&self) -> bool {
        use ErrorKind::{Photo, PhotoFormat, PhotoTooLarge, PhotoTooManyBytes};
        matches!(self.kind(), Photo | PhotoFormat | PhotoTooLarge | PhotoTooManyBytes)
    }

    /// The error of a lower layer that this one stands for, to downcast.
    pub fn get_ref(&self) -> Option<&(dyn Error + Send + Sync + 'static)> {
        Some(match &self.0 {
            Failure::Vision(error) => error,
            Failure::Model(error) => error,
            Failure::Engine(error) => error,
            Failure::Places(error) => error,
            Failure::Source(error) => &**error,
            _ => return None,
        })
    }
}

impl fmt::Display for LocateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for LocateError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

#[doc(hidden)]
impl<E: Into<Failure>> From<E> for LocateError {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

/// All that can go wrong.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
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
    #[cfg_attr(feature = "bundled", expect(dead_code, reason = "both are here"))]
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
