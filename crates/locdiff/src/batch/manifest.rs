//! The photos of a shard: a line of JSON each.

use crate::{LatLon, batch::BatchError, batch::Result, batch::sealed, batch::sealed::Opened, batch::sealed::damaged};
use locdiff_base::ensure;
use locdiff_vision::sources::{PhotoSource, PlaceSource};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

pub(crate) const FORMAT: &str = "locdiff-manifest";
/// The most photos of a shard.
pub(crate) const MOST_PHOTOS: usize = 20_000;
/// Twenty thousand photos with paths of four thousand letters.
const LONGEST: u64 = 1 << 28;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Head {
    pub(crate) shard: u32,
    pub(crate) photos: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// What it is called in tables.
    photo: String,
    /// The file, if its path differs from the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<(u64, u64)>,
    /// Its unpacked size in bytes, if it is deflated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deflated: Option<u64>,
    /// Its row, if the file is a Parquet file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    row: Option<u64>,
    /// Its location, and the source of the location.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<(f64, f64, String)>,
}

impl Entry {
    fn of(source: &PhotoSource) -> Result<Self> {
        ensure!(!source.path().as_os_str().is_empty(), BatchError::NoFile { photo: source.name().to_owned() });
        let file = source.path().to_string_lossy().into_owned();
        let at = source.place().map(|(place, from)| (place.lat_deg(), place.lon_deg(), from.name().to_owned()));
        let (photo, file) = (source.name().to_owned(), Some(file).filter(|file| file != source.name()));
        Ok(Self { photo, file, bytes: source.span(), deflated: source.deflated_size(), row: source.row_number(), at })
    }

    /// Returns the photo, with relative paths starting at `base`; `None` if its location is invalid.
    fn source(self, base: &Path) -> Option<PhotoSource> {
        let path: PathBuf = base.join(self.file.as_ref().unwrap_or(&self.photo));
        let source = match (self.bytes, self.row) {
            (None, Some(row)) => PhotoSource::row(&self.photo, path, row),
            (Some(span), None) => PhotoSource::within(&self.photo, path, span),
            (None, None) => PhotoSource::file(path).called(&self.photo),
            (Some(_), Some(_)) => return None,
        };
        let place = match self.at {
            Some((lat, lon, from)) => Some((LatLon::new(lat, lon).ok()?, PlaceSource::from_name(&from)?)),
            None => None,
        };
        Some(if let Some(size) = self.deflated { source.deflated(size) } else { source }.at(place))
    }
}

/// The photos of a shard, and the checksum of their list.
pub(crate) struct Manifest {
    pub(crate) photos: Vec<PhotoSource>,
    pub(crate) sum: String,
}

pub(crate) fn write(path: &Path, shard: u32, photos: &[PhotoSource]) -> Result<()> {
    let mut body = Vec::new();
    for photo in photos {
        serde_json::to_writer(&mut body, &Entry::of(photo)?).expect("texts and numbers");
        body.push(b'\n');
    }
    sealed::write(path, FORMAT, Head { shard, photos: photos.len() }, &body)
}

pub(crate) fn read(path: &Path, shard: u32, base: &Path) -> Result<Manifest> {
    parse(path, sealed::read(path, LONGEST)?, shard, base)
}

pub(crate) fn parse(path: &Path, bytes: Vec<u8>, shard: u32, base: &Path) -> Result<Manifest> {
    let Opened { head, body, sum } = sealed::open::<Head>(path, FORMAT, bytes)?;
    if head.shard != shard || head.photos > MOST_PHOTOS {
        return Err(damaged(path, format!("it says that it is shard {} of {} photos", head.shard, head.photos)));
    }
    let mut photos = Vec::new();
    for (k, line) in body.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty()) {
        let entry: Option<Entry> = serde_json::from_slice(line).ok();
        let source = entry.and_then(|entry| entry.source(base));
        photos.push(source.ok_or_else(|| damaged(path, format!("line {} is not a photo's", k + 2)))?);
    }
    ensure!(photos.len() == head.photos, damaged(path, format!("it names {} photos of {}", photos.len(), head.photos)));
    Ok(Manifest { photos, sum })
}
