//! Which photos: files, folders, lists, tables and shards as one list in an order that is always the same.

use super::shard;
use anyhow::{Context, Result, bail};
use locdiff_data::{DataError, TableReader};
use locdiff_sphere::LatLon;
use locdiff_vision::{Photo, PhotoLimits, VisionError};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

/// Extensions of the files that a folder or a shard is searched for. HEIC and AVIF are among them so that they are
/// listed as bad, with the remedy, and not passed over in silence.
const EXTENSIONS: [&str; 13] =
    ["jpg", "jpeg", "jpe", "jfif", "png", "webp", "tif", "tiff", "gif", "bmp", "heic", "heif", "avif"];

/// Names of the column of paths, best first.
const PATH_COLUMNS: [&str; 7] = ["path", "file", "file_name", "filename", "image", "photo", "img"];

/// Where a photo's location comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlaceSource {
    Exif,
    Csv,
    Json,
}

impl PlaceSource {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Exif => "exif",
            Self::Csv => "csv",
            Self::Json => "json",
        }
    }
}

/// A photo that is to be embedded.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    /// Its path, or its shard's path and its name inside.
    pub(crate) name: String,
    /// The place that a table or a shard gives it.
    pub(crate) place: Option<(LatLon, PlaceSource)>,
    bytes: Bytes,
}

/// Where its bytes lie.
#[derive(Debug, Clone)]
enum Bytes {
    File(PathBuf),
    Member { shard: Arc<Path>, offset: u64, length: u64 },
}

impl Source {
    pub(crate) fn file(path: PathBuf) -> Self {
        Self { name: path.to_string_lossy().into_owned(), place: None, bytes: Bytes::File(path) }
    }

    pub(crate) fn member(shard: &Arc<Path>, name: &str, offset: u64, length: u64) -> Self {
        let bytes = Bytes::Member { shard: Arc::clone(shard), offset, length };
        Self { name: format!("{}/{name}", shard.display()), place: None, bytes }
    }

    /// Reads and decodes it.
    pub(crate) fn read(&self, limits: &PhotoLimits) -> Result<Photo, VisionError> {
        match &self.bytes {
            Bytes::File(path) => Photo::open(path, limits),
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
        let (path, offset) = match &self.bytes {
            Bytes::File(path) => (path.as_path(), 0),
            Bytes::Member { shard, offset, .. } => (shard.as_ref(), *offset),
        };
        let (size, time) = fs::metadata(path).map_or((0, 0), |data| {
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

    /// The photo's own file, where it is one.
    pub(crate) fn file_path(&self) -> Option<&Path> {
        match &self.bytes {
            Bytes::File(path) => Some(path),
            Bytes::Member { .. } => None,
        }
    }

    /// The file on the disk, to keep outputs from overwriting it.
    pub(crate) fn path(&self) -> &Path {
        match &self.bytes {
            Bytes::File(path) => path,
            Bytes::Member { shard, .. } => shard,
        }
    }
}

/// Whether a name ends like a picture's.
pub(crate) fn is_picture(name: &Path) -> bool {
    let extension = name.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| EXTENSIONS.iter().any(|known| extension.eq_ignore_ascii_case(known)))
}

/// The photos that the arguments name, and how many other files lay beside them in folders and shards.
pub(crate) fn gather(arguments: &[PathBuf], path_column: Option<&str>) -> Result<(Vec<Source>, usize)> {
    let mut gathered = Gathered::default();
    for argument in arguments {
        if let Some(list) = argument.to_str().and_then(|text| text.strip_prefix('@')) {
            gathered.list(Path::new(list))?;
        } else {
            gathered.argument(argument, path_column)?;
        }
    }
    let Gathered { photos, others } = gathered;
    let mut seen = HashMap::new();
    for (number, photo) in photos.iter().enumerate() {
        if let Some(first) = seen.insert(plain(Path::new(&photo.name)), number + 1) {
            bail!("{} comes twice, as photo {first} and {}: name each photo once", photo.name, number + 1);
        }
    }
    Ok((photos, others))
}

/// The path without `.` in it.
fn plain(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}

#[derive(Default)]
struct Gathered {
    photos: Vec<Source>,
    others: usize,
}

impl Gathered {
    fn argument(&mut self, path: &Path, path_column: Option<&str>) -> Result<()> {
        let name =
            path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
        let metadata = fs::metadata(path)
            .with_context(|| format!("cannot read {}; check the path and its permissions", path.display()))?;
        if metadata.is_dir() {
            return self.folder(path);
        }
        match Path::new(&name).extension().and_then(|extension| extension.to_str()) {
            Some("gz" | "tgz" | "zst" | "xz" | "bz2" | "zip") => {
                bail!("{} is compressed: unpack it to a folder or a plain .tar first", path.display())
            }
            Some("csv") => self.table(path, path_column),
            Some("tar") => {
                let (photos, others) = shard::photos(path)?;
                self.photos.extend(photos);
                self.others += others;
                Ok(())
            }
            _ => {
                self.photos.push(Source::file(path.to_owned()));
                Ok(())
            }
        }
    }

    /// Every picture below a folder, by name; links are followed, hidden files are not.
    fn folder(&mut self, folder: &Path) -> Result<()> {
        let hidden = |entry: &walkdir::DirEntry| {
            entry.depth() > 0 && entry.file_name().as_encoded_bytes().starts_with(b".")
        };
        let entries = walkdir::WalkDir::new(folder).follow_links(true).sort_by_file_name();
        for entry in entries.into_iter().filter_entry(|entry| !hidden(entry)) {
            let entry =
                entry.with_context(|| format!("cannot read all of the folder {}", folder.display()))?;
            if entry.file_type().is_dir() {
                continue;
            }
            if is_picture(entry.path()) {
                self.photos.push(Source::file(entry.into_path()));
            } else {
                self.others += 1;
            }
        }
        Ok(())
    }

    /// A text file with a path a line; blank lines are passed over.
    fn list(&mut self, list: &Path) -> Result<()> {
        let text = fs::read_to_string(list).with_context(|| {
            format!("cannot read the list {}: give a text file with a path a line", list.display())
        })?;
        let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim_end);
        self.photos
            .extend(lines.filter(|line| !line.is_empty()).map(|line| Source::file(beside(list, line))));
        Ok(())
    }

    /// A CSV file with a column of paths, and perhaps of places.
    fn table(&mut self, path: &Path, path_column: Option<&str>) -> Result<()> {
        let mut table = TableReader::open(path)?;
        let column = match path_column {
            Some(name) => table.column(&[name])?,
            None => table.column(&PATH_COLUMNS).context("name the column with --path-column")?,
        };
        let lat = table.find(&["lat", "latitude"]);
        let lon = table.find(&["lon", "lng", "long", "longitude"]);
        while let Some((at, fields)) = table.next_row()? {
            let mut photo = Source::file(beside(path, &fields[column]));
            if let (Some(lat), Some(lon)) = (lat, lon)
                && !(fields[lat].trim().is_empty() && fields[lon].trim().is_empty())
            {
                let number = |column: usize, name: &str| {
                    fields[column].trim().parse::<f64>().map_err(|_| DataError::Number {
                        at: at.clone(),
                        column: name.to_owned(),
                        value: fields[column].clone(),
                    })
                };
                let place = LatLon::new(number(lat, "lat")?, number(lon, "lon")?);
                let place = place.map_err(|source| DataError::Place { at: at.clone(), source })?;
                photo.place = Some((place, PlaceSource::Csv));
            }
            self.photos.push(photo);
        }
        Ok(())
    }
}

/// A path in a list: as it stands where there is such a file, else from the list's own folder.
fn beside(list: &Path, path: &str) -> PathBuf {
    let given = PathBuf::from(path);
    let near = list.parent().map(|folder| folder.join(path));
    match near {
        Some(near) if !given.exists() && near.exists() => near,
        _ => given,
    }
}
