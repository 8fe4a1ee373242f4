//! A photo as an interface hands it over: not decoded yet, or as its embedding.

use crate::{EmbeddedPhoto, LatLon, LocateError, PhotoTime, error::Failure, error::Result, table::failure_json};
use crate::{reading::joined, reading::read_text};
use locdiff_io::data::RowFile;
use locdiff_model::answer::ReadText;
use locdiff_vision::{Photo, PhotoLimits, VisionError, sources::PhotoSource, sources::PlaceSource};
use serde_json::Value;
use std::{path::Path, path::PathBuf, sync::Arc};

type ReadPhoto = dyn Fn(&PhotoLimits) -> Result<Photo> + Send + Sync;
type ReadLines = dyn Fn(&Photo) -> Result<Vec<ReadText>> + Send + Sync;

/// A photo to locate.
///
/// ```
/// # #[cfg(feature = "bundled")] {
/// use locdiff::{LocateOptions, Locator, Source};
/// # std::env::set_current_dir("../../fixtures/vision").unwrap();
/// let sources = [Source::file("china.jpg"), Source::bytes(Some("b.jpg"), vec![1, 2, 3])];
/// let locator = Locator::bundled()?;
/// let found: Vec<_> = locator.locate_all(sources, &LocateOptions::new())?.collect();
/// assert!(found[0].answer.is_ok());
/// assert!(found[1].to_json()["error"].as_str().unwrap().contains("b.jpg"));
/// # }
/// # Ok::<(), locdiff::LocateError>(())
/// ```
#[must_use]
pub struct Source {
    name: Option<String>,
    kind: Kind,
    /// The number of pixels to decode, if it is known.
    pub(crate) pixels: u64,
    known: Known,
    album: Option<String>,
    /// Another reader of its text.
    lines: Option<Box<ReadLines>>,
}

enum Kind {
    Photo(PhotoSource),
    /// A file in memory, and its name in messages.
    Bytes(Box<dyn AsRef<[u8]> + Send + Sync>, String),
    Read(Box<ReadPhoto>),
    Embedded(Box<EmbeddedPhoto>),
    Row(Arc<RowFile>, usize, Option<Arc<RowFile>>),
}

/// Facts about a photo from elsewhere; they override the photo's own.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known {
    pub(crate) time: Option<PhotoTime>,
    /// The time as a text of EXIF or ISO 8601.
    pub(crate) time_text: Option<String>,
    pub(crate) gps: Option<LatLon>,
    pub(crate) camera: Option<String>,
}

impl Source {
    fn new(name: Option<String>, kind: Kind) -> Self {
        Self { name, kind, pixels: 0, known: Known::default(), album: None, lines: None }
    }

    /// Names a photo file.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        PhotoSource::file(path).into()
    }

    /// Takes a photo in memory.
    pub fn bytes(name: Option<&str>, contents: impl AsRef<[u8]> + Send + Sync + 'static) -> Self {
        let called = name.unwrap_or(UNNAMED).to_owned();
        Self::new(name.map(str::to_owned), Kind::Bytes(Box::new(contents), called))
    }

    /// Takes a photo that a function reads when its turn comes.
    pub fn reader(name: Option<&str>, read: impl Fn(&PhotoLimits) -> Result<Photo> + Send + Sync + 'static) -> Self {
        Self::new(name.map(str::to_owned), Kind::Read(Box::new(read)))
    }

    /// Takes an embedded photo.
    pub fn embedded(photo: EmbeddedPhoto) -> Self {
        Self::new(photo.name.clone(), Kind::Embedded(Box::new(photo)))
    }

    /// Takes a row of a file of embeddings, and of another file if retrieval has its own.
    pub fn row(file: &Arc<RowFile>, row: usize, retrieval: Option<&Arc<RowFile>>) -> Self {
        Self::new(Some(format!("row {}", row + 1)), Kind::Row(file.clone(), row, retrieval.cloned()))
    }

    /// Sets the name in messages and tables.
    pub fn called(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// Sets the pixels of the photo: large photos are not decoded at the same time.
    pub fn with_pixels(self, pixels: u64) -> Self {
        Self { pixels, ..self }
    }

    /// Sets the location it was taken at. It replaces the photo's own: used in albums, reported elsewhere.
    pub fn with_gps(mut self, gps: Option<LatLon>) -> Self {
        self.known.gps = gps.or(self.known.gps);
        self
    }

    /// Sets the time it was taken at. It replaces the photo's own.
    pub fn with_time(mut self, time: Option<PhotoTime>) -> Self {
        self.known.time = time.or(self.known.time);
        self
    }

    /// Sets the time as an EXIF or ISO 8601 text. A time without an offset is a camera's clock.
    pub fn with_time_text(mut self, time: Option<String>) -> Self {
        self.known.time_text = time.or(self.known.time_text);
        self
    }

    /// Sets the camera. It replaces the photo's own.
    pub fn with_camera(mut self, camera: Option<String>) -> Self {
        self.known.camera = camera.or(self.known.camera);
        self
    }

    /// Sets the name of its album.
    pub fn in_album(self, album: impl Into<String>) -> Self {
        Self { album: Some(album.into()), ..self }
    }

    /// Adds what another reader reads in the photo.
    #[cfg(feature = "immich")]
    pub(crate) fn with_lines(self, lines: impl Fn(&Photo) -> Result<Vec<ReadText>> + Send + Sync + 'static) -> Self {
        Self { lines: Some(Box::new(lines)), ..self }
    }

    /// The lines of text in the photo.
    pub(crate) fn text(&self, photo: &Photo) -> Result<Vec<ReadText>> {
        let others = self.lines.as_ref().map_or_else(|| Ok(Vec::new()), |lines| lines(photo))?;
        Ok(joined(read_text(photo), others))
    }

    pub(crate) fn origin(&self, row: usize) -> Origin {
        let source = if let Kind::Photo(source) = &self.kind { Some(source) } else { None };
        Origin {
            row,
            name: self.name.clone(),
            path: source.and_then(|source| source.file_path().map(Path::to_owned)),
            place: source.and_then(PhotoSource::place),
            known: self.known.clone(),
            album: self.album.clone(),
        }
    }

    /// Returns its embedding, if the source holds one.
    pub(crate) fn own_embedding(&self) -> Option<Result<EmbeddedPhoto>> {
        match &self.kind {
            Kind::Embedded(photo) => Some(Ok((**photo).clone())),
            Kind::Row(file, row, retrieval) => Some(row_of(file, *row, retrieval.as_deref())),
            Kind::Photo(_) | Kind::Bytes(..) | Kind::Read(_) => None,
        }
    }

    /// Returns the bytes of its file, if it is one, and its name in messages.
    pub(crate) fn file_bytes(&self, limits: &PhotoLimits) -> Option<(Result<Vec<u8>, VisionError>, String)> {
        match &self.kind {
            Kind::Photo(source) => Some((source.contents(limits), source.called_in_messages())),
            Kind::Bytes(contents, called) => Some((Ok((**contents).as_ref().to_vec()), called.clone())),
            Kind::Read(_) | Kind::Embedded(_) | Kind::Row(..) => None,
        }
    }

    pub(crate) fn read(&self, limits: &PhotoLimits) -> Result<Photo> {
        match &self.kind {
            Kind::Photo(source) => Ok(source.read(limits)?),
            Kind::Bytes(contents, called) => Ok(Photo::decode((**contents).as_ref(), called, limits)?),
            Kind::Read(read) => read(limits),
            Kind::Embedded(_) | Kind::Row(..) => Err(Failure::NoEncoder.into()),
        }
    }
}

fn row_of(file: &RowFile, row: usize, retrieval: Option<&RowFile>) -> Result<EmbeddedPhoto> {
    let mut photo = EmbeddedPhoto::from(file.embedding(row)?);
    photo.retrieval = retrieval.map(|own| own.embedding(row)).transpose()?;
    Ok(photo)
}

macro_rules! from_path {
    ($($path:ty),*) => {$(
        impl From<$path> for Source {
            fn from(path: $path) -> Self {
                Self::file(path)
            }
        }
    )*};
}

from_path!(PathBuf, &Path, &str);

impl From<EmbeddedPhoto> for Source {
    fn from(photo: EmbeddedPhoto) -> Self {
        Self::embedded(photo)
    }
}

impl From<PhotoSource> for Source {
    fn from(source: PhotoSource) -> Self {
        Self::new(Some(source.name().to_owned()), Kind::Photo(source))
    }
}

/// What a photo without a name is called in messages.
pub(crate) const UNNAMED: &str = "the photo";

/// Source of an answer's photo, see [`Located::origin`](crate::Located::origin).
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Origin {
    /// Number among the sources, from 0.
    pub row: usize,
    /// Name, if it has one.
    pub name: Option<String>,
    /// File of the photo, if it has its own.
    pub path: Option<PathBuf>,
    /// Location that a table or a shard gives.
    pub place: Option<(LatLon, PlaceSource)>,
    pub(crate) known: Known,
    pub(crate) album: Option<String>,
}

impl Origin {
    /// Returns the name in messages.
    pub fn called(&self) -> &str {
        self.name.as_deref().unwrap_or(UNNAMED)
    }

    /// Returns the JSON object that every interface writes about a photo without an answer.
    pub fn failure_json(&self, error: &LocateError) -> Value {
        failure_json(self.called(), &self.reason(error))
    }

    /// Returns the reason why it has no answer, in one line under its name in tables.
    pub fn reason(&self, error: &LocateError) -> String {
        let (message, name) = (error.to_string(), self.called());
        let path = self.path.as_ref().map(|path| path.display().to_string());
        match path.filter(|path| path != name && message.contains(path.as_str())) {
            Some(path) => message.replace(&path, name),
            None if message.contains(name) => message,
            None => format!("{name}: {message}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_has_the_name_that_tables_have() {
        let reason = |source: PhotoSource, name: &str, file: &str| {
            let error = LocateError::table(file, "cut off");
            Source::from(source).called(name).origin(0).reason(&error)
        };
        let file = || PhotoSource::file("/photos/a.jpg");
        assert_eq!(reason(file(), "a.jpg", "/photos/a.jpg"), "a.jpg: cut off");
        assert_eq!(reason(file(), "row 7", "/photos/a.jpg"), "row 7: cut off");
        let member = PhotoSource::within("s.tar/a.jpg", "s.tar", (0, 1));
        assert_eq!(reason(member, "s.tar/a.jpg", "s.tar/a.jpg"), "s.tar/a.jpg: cut off");
    }
}
