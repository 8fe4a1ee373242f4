//! What can go wrong between a photo and an answer.

use locdiff_album::AlbumError;
use locdiff_io::data::{DataError, Fingerprint};
use locdiff_model::ModelError;
use locdiff_vision::VisionError;
use std::{error::Error, fmt};

/// Reason why there is no answer, in one line that names the file, the value and the remedy.
///
/// ```
/// use locdiff::{ErrorKind, LocateOptions};
/// let error = LocateOptions::new().within("Atlantis").resolved().unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Region);
/// assert!(error.to_string().contains("Atlantis"));
/// ```
#[derive(Debug)]
pub struct LocateError {
    kind: ErrorKind,
    error: Box<dyn Error + Send + Sync>,
}

/// A result whose error is [`LocateError`].
pub(crate) type Result<T, E = LocateError> = std::result::Result<T, E>;

/// Kind of a [`LocateError`].
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
    /// A photo's source failed; the message gives the reason.
    Source,
    /// The run was asked to stop.
    Stopped,
    /// A file that cannot be written.
    Write,
    /// A prior that cannot be used.
    Prior,
}

impl LocateError {
    /// Wraps an error of a photo's source, such as a server that does not answer.
    pub fn of_source(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { kind: ErrorKind::Source, error: error.into() }
    }

    /// Creates the error of a run that was asked to stop.
    pub fn stopped() -> Self {
        Failure::Stopped.into()
    }

    pub(crate) fn table(at: impl fmt::Display, reason: impl fmt::Display) -> Self {
        Failure::Table { at: at.to_string(), reason: reason.to_string() }.into()
    }

    /// Whether the encoder gave numbers that are not finite.
    pub(crate) fn is_not_finite(&self) -> bool {
        matches!(self.error.downcast_ref(), Some(VisionError::Data(DataError::EmbeddingNotFinite { .. })))
    }

    /// Returns the kind.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns whether it concerns one photo alone, so that a run goes on with the others.
    pub fn is_about_photo(&self) -> bool {
        use ErrorKind::{Photo, PhotoFormat, PhotoTooLarge, PhotoTooManyBytes};
        matches!(self.kind, Photo | PhotoFormat | PhotoTooLarge | PhotoTooManyBytes)
    }

    /// Returns the error of the lower layer, to downcast.
    pub fn get_ref(&self) -> &(dyn Error + Send + Sync + 'static) {
        &*self.error
    }
}

impl fmt::Display for LocateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl Error for LocateError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}

/// Errors of lower layers, and what each is about.
macro_rules! from_lower {
    ($($(#[$cfg:meta])? $error:ty => $kind:expr;)*) => {$(
        $(#[$cfg])?
        impl From<$error> for LocateError {
            fn from(error: $error) -> Self {
                let kind: fn(&$error) -> ErrorKind = $kind;
                Self { kind: kind(&error), error: error.into() }
            }
        }
    )*};
}

from_lower! {
    VisionError => vision_kind;
    ModelError => |error| match error {
        ModelError::NotFinite { .. } => ErrorKind::Photo,
        ModelError::Folder { .. } => ErrorKind::ModelFolder,
        _ => ErrorKind::Model,
    };
    locdiff_nn::NnError => |_| ErrorKind::Device;
    locdiff_model::answer::AnswerError => |_| ErrorKind::Density;
    AlbumError => |error| match error {
        AlbumError::Track { .. } => ErrorKind::Track,
        AlbumError::Time { .. } => ErrorKind::Time,
        _ => ErrorKind::Album,
    };
    DataError => |_| ErrorKind::Data;
    locdiff_model::report::RowError => |_| ErrorKind::Data;
    locdiff_map::places::PlacesError => |_| ErrorKind::Region;
    locdiff_map::clues::ClueError => |_| ErrorKind::Setting;
    locdiff_map::MapError => |_| ErrorKind::Map;
    locdiff_retrieval::gallery::GalleryError => |_| ErrorKind::Gallery;
    locdiff_retrieval::geoclip::GeoClipError => |_| ErrorKind::GeoClip;
    locdiff_base::BadSetting => |_| ErrorKind::Setting;
    locdiff_base::WriteError => |_| ErrorKind::Write;
    Failure => Failure::kind;
}

fn vision_kind(error: &VisionError) -> ErrorKind {
    match error {
        VisionError::Device(_) => ErrorKind::Device,
        VisionError::TooManyPixels { .. } => ErrorKind::PhotoTooLarge,
        VisionError::TooManyBytes { .. } => ErrorKind::PhotoTooManyBytes,
        VisionError::UnknownFormat { .. } | VisionError::NoLibheif { .. } | VisionError::NoHeifCodec { .. } => {
            ErrorKind::PhotoFormat
        }
        _ => ErrorKind::Photo,
    }
}

/// What goes wrong in this crate itself.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("{at}: {reason}")]
    Table { at: String, reason: String },
    #[error(
        "the encoder gives embeddings of {encoder} numbers, the model takes {model}: use the encoder it was trained with"
    )]
    Mismatch { encoder: usize, model: usize },
    #[error("the model was trained with the encoder {model}, these embeddings are {met}'s: use one encoder for both")]
    OtherEncoder { met: Fingerprint, model: Fingerprint },
    #[error("this locator was opened without an encoder: it locates embeddings, not photos")]
    NoEncoder,
    #[error(
        "a model trained with the loss {loss} gives no densities: take locations from samples, or train with nll or kl"
    )]
    NoDensities { loss: String },
    #[error("this answer has no density, so it has no regions and no map")]
    NoDensity,
    #[cfg_attr(feature = "bundled", expect(dead_code, reason = "both are here"))]
    #[error("this program was built without the bundled {what}: give a folder of one")]
    NotBundled { what: &'static str },
    #[error("{name} is not downloaded. Download it with: locdiff get {name}")]
    NotFetched { name: String },
    #[error("stopped before the end: nothing was written")]
    Stopped,
    #[error("{file}: {reason}")]
    Prior { file: String, reason: String },
}

impl Failure {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Table { .. } => ErrorKind::Table,
            Self::Mismatch { .. } => ErrorKind::EncoderSize,
            Self::OtherEncoder { .. } => ErrorKind::OtherEncoder,
            Self::NoEncoder => ErrorKind::NoEncoder,
            Self::NoDensities { .. } => ErrorKind::NoDensities,
            Self::NoDensity => ErrorKind::NoDensity,
            Self::NotBundled { what: "encoder" } => ErrorKind::NoBundledEncoder,
            Self::NotBundled { .. } => ErrorKind::NoBundledModel,
            Self::NotFetched { .. } => ErrorKind::Model,
            Self::Stopped => ErrorKind::Stopped,
            Self::Prior { .. } => ErrorKind::Prior,
        }
    }
}
