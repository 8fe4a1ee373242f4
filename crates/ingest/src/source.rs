//! One photo that a user named: what it is called, where its bytes lie, and the place it comes with.

use locdiff_sphere::LatLon;
use locdiff_vision::{Photo, PhotoLimits, VisionError};
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

/// Extensions of the files that a folder or a shard is searched for. HEIC and AVIF are among them so that they are
/// listed as bad, with the remedy, and not passed over in silence.
const EXTENSIONS: [&str; 13] =
    ["jpg", "jpeg", "jpe", "jfif", "png", "webp", "tif", "tiff", "gif", "bmp", "heic", "heif", "avif"];

/// Whether a name ends like a picture's.
pub(crate) fn is_picture(name: &Path) -> bool {
    let extension = name.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| EXTENSIONS.iter().any(|known| extension.eq_ignore_ascii_case(known)))
}

/// Where a photo's location comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlaceSource {
    /// The photo's own EXIF data.
    Exif,
    /// The table that names the photo.
    Csv,
    /// The description beside the photo in a shard.
    Json,
}

impl PlaceSource {
    /// The one of a name, where there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Exif, Self::Csv, Self::Json].into_iter().find(|source| source.name() == name)
    }

    /// The name in files: `exif`, `csv` or `json`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exif => "exif",
            Self::Csv => "csv",
            Self::Json => "json",
        }
    }
}

/// A photo that has been found, but not read yet.
///
/// ```
/// use locdiff_ingest::{PhotoLimits, PhotoSource};
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/vision/china.jpg");
/// let source = PhotoSource::file(path);
/// assert_eq!(source.read(&PhotoLimits::default())?.width(), 640);
/// # Ok::<(), locdiff_vision::VisionError>(())
/// ```
#[derive(Debug, Clone)]
pub struct PhotoSource {
    name: String,
    place: Option<(LatLon, PlaceSource)>,
    bytes: Bytes,
}

/// Where its bytes lie.
#[derive(Debug, Clone)]
enum Bytes {
    File(PathBuf),
    Member { shard: Arc<Path>, offset: u64, length: u64 },
    Memory(Arc<[u8]>),
}

impl PhotoSource {
    /// A photo in a file of its own.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self { name: path.to_string_lossy().into_owned(), place: None, bytes: Bytes::File(path) }
    }

    /// A photo whose bytes lie inside another file, by offset and length.
    pub fn within(name: &str, file: impl Into<PathBuf>, (offset, length): (u64, u64)) -> Self {
        let bytes = Bytes::Member { shard: Arc::from(file.into()), offset, length };
        Self { name: name.to_owned(), place: None, bytes }
    }

    /// A photo inside a tar file.
    pub(crate) fn member(shard: &Arc<Path>, name: &str, offset: u64, length: u64) -> Self {
        let bytes = Bytes::Member { shard: Arc::clone(shard), offset, length };
        Self { name: format!("{}/{name}", shard.display()), place: None, bytes }
    }

    /// A photo whose file is in memory already.
    pub fn memory(name: &str, contents: Vec<u8>) -> Self {
        Self { name: name.to_owned(), place: None, bytes: Bytes::Memory(contents.into()) }
    }

    /// The photo with the place that something beside it gives.
    #[must_use]
    pub fn at(self, place: Option<(LatLon, PlaceSource)>) -> Self {
        Self { place, ..self }
    }

    /// The same under another name.
    #[must_use]
    pub fn called(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }

    /// Offset and length of its bytes, where they lie inside another file.
    pub fn span(&self) -> Option<(u64, u64)> {
        match &self.bytes {
            Bytes::Member { offset, length, .. } => Some((*offset, *length)),
            Bytes::File(_) | Bytes::Memory(_) => None,
        }
    }

    /// Its path, or its shard's path and its name inside.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The place that a table or a shard gives it.
    pub fn place(&self) -> Option<(LatLon, PlaceSource)> {
        self.place
    }

    /// The photo's own file, where it is one.
    pub fn file_path(&self) -> Option<&Path> {
        match &self.bytes {
            Bytes::File(path) => Some(path),
            Bytes::Member { .. } | Bytes::Memory(_) => None,
        }
    }

    /// The file on the disk that holds it, which no output may overwrite; an empty path where there is none.
    pub fn path(&self) -> &Path {
        match &self.bytes {
            Bytes::File(path) => path,
            Bytes::Member { shard, .. } => shard,
            Bytes::Memory(_) => Path::new(""),
        }
    }

    /// Reads and decodes it.
    ///
    /// # Errors
    /// As [`Photo::open`].
    pub fn read(&self, limits: &PhotoLimits) -> Result<Photo, VisionError> {
        match &self.bytes {
            Bytes::File(path) => Photo::open(path, limits),
            Bytes::Memory(contents) => {
                let (bytes, max_bytes) = (contents.len() as u64, limits.max_bytes);
                if bytes > max_bytes {
                    return Err(VisionError::TooManyBytes { file: self.name.clone(), bytes, max_bytes });
                }
                Photo::decode(contents, &self.name, limits)
            }
            Bytes::Member { shard, offset, length } => {
                let (file, max_bytes) = (self.name.clone(), limits.max_bytes);
                if *length > max_bytes {
                    return Err(VisionError::TooManyBytes { file, bytes: *length, max_bytes });
                }
                let mut contents = Vec::new();
                let read = File::open(shard).and_then(|mut shard| {
                    shard.seek(SeekFrom::Start(*offset))?;
                    shard.take(*length).read_to_end(&mut contents)
                });
                match read {
                    Err(source) => Err(VisionError::Read { file, source }),
                    Ok(count) if (count as u64) < *length => Err(VisionError::Truncated { file }),
                    Ok(_) => Photo::decode(&contents, &self.name, limits),
                }
            }
        }
    }

    /// Adds what tells this photo from another to a checksum: name, place, size and time of change.
    pub(crate) fn add_to(&self, sum: &mut crc32fast::Hasher) {
        let offset = match &self.bytes {
            Bytes::File(_) => 0,
            Bytes::Member { offset, .. } => *offset,
            Bytes::Memory(contents) => crc32fast::hash(contents).into(),
        };
        let (size, time) = fs::metadata(self.path()).map_or((0, 0), |data| {
            let time = data.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            (data.len(), time.map_or(0, |time| time.as_nanos() as u64))
        });
        sum.update(self.name.as_bytes());
        for number in [offset, size, time] {
            sum.update(&number.to_le_bytes());
        }
        if let Some((place, _)) = self.place {
            sum.update(&place.lat_deg().to_le_bytes());
            sum.update(&place.lon_deg().to_le_bytes());
        }
    }
}
