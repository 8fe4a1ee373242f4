//! One photo that a user named: what it is called, where its bytes lie, and the place it comes with.

use crate::{Photo, PhotoLimits, VisionError, sources::parquet};
use locdiff_base::ensure;
use locdiff_io::tags::MediaKind;
use locdiff_shdd::sphere::LatLon;
use std::io::{Read, Seek, SeekFrom};
use std::{fs, fs::File, path::Path, path::PathBuf, sync::Arc, time::UNIX_EPOCH};

pub(crate) fn is_picture(name: &Path) -> bool {
    MediaKind::of(name).is_photo()
}

/// Where a photo's location comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlaceSource {
    /// The photo's own EXIF data, its XMP, or a sidecar.
    Exif,
    /// The table that names the photo.
    Csv,
    /// The description beside the photo in a shard, or its row of a Parquet file.
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
#[derive(Debug, Clone)]
pub struct PhotoSource {
    name: String,
    place: Option<(LatLon, PlaceSource)>,
    bytes: Bytes,
}

#[derive(Debug, Clone)]
enum Bytes {
    File(PathBuf),
    /// Inside another file; deflated where it has a size of its own.
    Member {
        shard: Arc<Path>,
        offset: u64,
        length: u64,
        deflated: Option<u64>,
    },
    Row {
        file: Arc<Path>,
        row: u64,
    },
    /// In a way that is not read, and which.
    Unreadable {
        shard: Arc<Path>,
        reason: Arc<str>,
    },
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
        let bytes = Bytes::Member { shard: Arc::from(file.into()), offset, length, deflated: None };
        Self { name: name.to_owned(), place: None, bytes }
    }

    /// A photo in a row of a Parquet file, in its column of pictures.
    pub fn row(name: &str, file: impl Into<Arc<Path>>, row: u64) -> Self {
        Self { name: name.to_owned(), place: None, bytes: Bytes::Row { file: file.into(), row } }
    }

    pub(crate) fn member(shard: &Arc<Path>, name: &str, offset: u64, length: u64) -> Self {
        let bytes = Bytes::Member { shard: Arc::clone(shard), offset, length, deflated: None };
        Self { name: format!("{}/{name}", shard.display()), place: None, bytes }
    }

    /// The same, whose bytes in the other file are deflated and `size` when they are unpacked.
    #[must_use]
    pub fn deflated(mut self, size: u64) -> Self {
        if let Bytes::Member { deflated, .. } = &mut self.bytes {
            *deflated = Some(size);
        }
        self
    }

    #[must_use]
    #[cfg_attr(target_family = "wasm", expect(dead_code, reason = "of zip archives, which are not read there"))]
    pub(crate) fn unreadable(self, reason: &str) -> Self {
        let shard = Arc::from(self.path());
        Self { bytes: Bytes::Unreadable { shard, reason: Arc::from(reason) }, ..self }
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
        if let Bytes::Member { offset, length, .. } = &self.bytes { Some((*offset, *length)) } else { None }
    }

    /// Its size unpacked, where it is deflated in the other file.
    pub fn deflated_size(&self) -> Option<u64> {
        if let Bytes::Member { deflated, .. } = &self.bytes { *deflated } else { None }
    }

    /// Its row of a Parquet file, where it is in one.
    pub fn row_number(&self) -> Option<u64> {
        if let Bytes::Row { row, .. } = &self.bytes { Some(*row) } else { None }
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
        if let Bytes::File(path) = &self.bytes { Some(path) } else { None }
    }

    /// The file on the disk that holds it, which no output may overwrite; an empty path where there is none.
    pub fn path(&self) -> &Path {
        match &self.bytes {
            Bytes::File(path) => path,
            Bytes::Member { shard, .. } | Bytes::Unreadable { shard, .. } => shard,
            Bytes::Row { file, .. } => file,
            Bytes::Memory(_) => Path::new(""),
        }
    }

    /// Reads and decodes it. Fails as [`Photo::open`] does.
    pub fn read(&self, limits: &PhotoLimits) -> Result<Photo, VisionError> {
        match &self.bytes {
            Bytes::File(path) => Photo::open(path, limits),
            Bytes::Memory(contents) => Photo::decode(contents, &self.name, limits),
            _ => Photo::decode(&self.contents(limits)?, &self.name, limits),
        }
    }

    /// What it is called where it cannot be read.
    pub fn called_in_messages(&self) -> String {
        self.file_path().map_or_else(|| self.name.clone(), |path| path.display().to_string())
    }

    /// The bytes of its file. Fails as [`Photo::contents`] does.
    pub fn contents(&self, limits: &PhotoLimits) -> Result<Vec<u8>, VisionError> {
        let failed = |source| VisionError::Read { file: self.name.clone(), source };
        match &self.bytes {
            Bytes::File(path) => Photo::contents(path, limits),
            Bytes::Memory(contents) => Ok(contents.to_vec()),
            Bytes::Member { shard, offset, length, deflated } => {
                self.within_limit(*length, limits.max_bytes)?;
                self.within_limit(deflated.unwrap_or(0), limits.max_bytes.min(most_unpacked(*length)))?;
                let mut contents = Vec::new();
                let read = File::open(shard).and_then(|mut shard| {
                    shard.seek(SeekFrom::Start(*offset))?;
                    shard.take(*length).read_to_end(&mut contents)
                });
                ensure!((read.map_err(failed)? as u64) >= *length, VisionError::Truncated { file: self.name.clone() });
                match deflated {
                    Some(size) => inflate(&contents, *size).map_err(failed),
                    None => Ok(contents),
                }
            }
            Bytes::Row { file, row } => parquet::picture(file, *row, limits.max_bytes).map_err(failed),
            Bytes::Unreadable { reason, .. } => Err(failed(std::io::Error::other(reason.to_string()))),
        }
    }

    fn within_limit(&self, bytes: u64, max_bytes: u64) -> Result<(), VisionError> {
        let file = self.name.clone();
        if bytes > max_bytes { Err(VisionError::TooManyBytes { file, bytes, max_bytes }) } else { Ok(()) }
    }

    /// Adds what tells this photo from another to a checksum: name, place, size and time of change.
    pub fn add_to(&self, sum: &mut crc32fast::Hasher) {
        let offset = match &self.bytes {
            Bytes::File(_) | Bytes::Unreadable { .. } => 0,
            Bytes::Member { offset, .. } => *offset,
            Bytes::Row { row, .. } => *row,
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

/// What any photo may unpack to, and how many times its packed size beyond that: pictures are packed already, and even plain pixels
/// shrink less.
const FREE_BYTES: u64 = 16 << 20;
const MOST_TIMES: u64 = 100;

/// The most bytes that so many deflated ones may unpack to; without it a small archive takes any memory.
fn most_unpacked(packed: u64) -> u64 {
    packed.saturating_mul(MOST_TIMES).max(FREE_BYTES)
}

/// What deflated bytes hold, where they are the `size` that the directory says.
fn inflate(packed: &[u8], size: u64) -> std::io::Result<Vec<u8>> {
    let mut found = Vec::new();
    flate2::read::DeflateDecoder::new(packed).take(size.saturating_add(1)).read_to_end(&mut found)?;
    let is_whole = found.len() as u64 == size;
    is_whole.then_some(found).ok_or_else(|| std::io::Error::other("its size differs from its archive's index"))
}
