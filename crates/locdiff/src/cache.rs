//! Embeddings of photos, kept in a file so that the next run need not read the photos again.

use crate::{EmbeddedPhoto, Embedding, LatLon, LocateError, error::Result};
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use locdiff_base::{WriteError, private};
use locdiff_model::answer::ReadText;
use locdiff_vision::{Encoder, Taken};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::{collections::HashMap, fs, io, io::Write, path::Path, path::PathBuf, time::UNIX_EPOCH};

const MOST_BYTES: u64 = 16 << 30;

/// Size and time of change of a file: another file, or the same after a change, has another stamp.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct FileStamp {
    size: u64,
    changed_s: f64,
}

impl FileStamp {
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        let changed = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Some(Self { size: metadata.len(), changed_s: changed.map_or(0.0, |time| time.as_secs_f64()) })
    }
}

#[derive(Serialize, Deserialize)]
struct Line {
    encoder: String,
    key: String,
    stamp: Option<FileStamp>,
    /// 32-bit numbers, the least byte first.
    embedding: String,
    time: Option<String>,
    offset: Option<String>,
    camera: Option<String>,
    gps: Option<(f64, f64)>,
    thumbnail: Option<String>,
    /// Lines of text with their confidences and corners; left out of lines of 0.3.
    #[serde(default)]
    text: Vec<(String, f32, [[f32; 2]; 4])>,
}

/// Embedded photos in a file of lines, by the encoder's fingerprint, the photo's key and, for files, a [`FileStamp`].
pub(crate) struct EmbeddingCache {
    path: PathBuf,
    file: File,
    encoder: String,
    known: HashMap<String, Line>,
}

impl EmbeddingCache {
    /// Opens or makes the file, for its owner alone. Lines of another encoder or another format are ignored, and so is a line that an interrupt cut.
    /// Fails on a file that cannot be read or written.
    pub(crate) fn open(path: &Path, encoder: Option<&Encoder>, reads_text: bool) -> Result<Self> {
        let mut name = encoder.map_or(String::new(), |encoder| encoder.fingerprint().to_string());
        if reads_text {
            name.push_str(" with text");
        }
        let failed = |error: io::Error| LocateError::of_source(format!("{}: {error}", path.display()));
        let (mut known, mut is_cut) = (HashMap::new(), false);
        locdiff_base::own_file(path).map_err(failed)?;
        if path.exists() {
            let text = locdiff_base::read_bounded(path, MOST_BYTES).map_err(failed)?;
            is_cut = text.last().is_some_and(|byte| *byte != b'\n');
            let lines = text.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Line>(line).ok());
            let own = lines.filter(|line| {
                let columns = encoder.map(Encoder::embedding);
                line.encoder == name && columns.is_none_or(|columns| values(line).is_some_and(|v| v.len() == columns))
            });
            known = own.map(|line| (line.key.clone(), line)).collect();
        }
        let mut file = private(&mut OpenOptions::new()).create(true).append(true).open(path).map_err(failed)?;
        if is_cut {
            file.write_all(b"\n").map_err(failed)?;
        }
        Ok(Self { path: path.to_owned(), file, encoder: name, known })
    }

    #[cfg(feature = "immich")]
    pub(crate) fn count(&self) -> usize {
        self.known.len()
    }

    /// A photo that an earlier run has added, and its small JPEG; with a stamp only if the file is still the same.
    pub(crate) fn get(&self, key: &str, stamp: Option<FileStamp>) -> Option<(EmbeddedPhoto, Option<Vec<u8>>)> {
        let line = self.known.get(key).filter(|line| stamp.is_none() || line.stamp == stamp)?;
        let mut taken = Taken::default();
        (taken.time, taken.offset, taken.camera) = (line.time.clone(), line.offset.clone(), line.camera.clone());
        let gps = line.gps.and_then(|(lat, lon)| LatLon::new(lat, lon).ok());
        let mut photo = EmbeddedPhoto::from(Embedding::new(values(line)?, None).ok()?).with_gps(gps).with_taken(taken);
        let text = line.text.iter().map(|(text, confidence, corners)| ReadText::new(text, *confidence, *corners));
        photo.text = text.collect();
        Some((photo, line.thumbnail.as_ref().and_then(|text| BASE64.decode(text).ok())))
    }

    /// Adds photos, each with its key, its stamp if it is a file, and its small JPEG. They are on the disk when this returns. A photo of
    /// several views is left out. Fails on a file that cannot be written.
    pub(crate) fn add<'p>(
        &mut self,
        photos: impl IntoIterator<Item = (&'p str, Option<FileStamp>, &'p EmbeddedPhoto, Option<&'p [u8]>)>,
    ) -> Result<()> {
        let failed = |reason| WriteError::new(&self.path.display().to_string(), reason);
        let mut text = Vec::new();
        for (key, stamp, photo, thumbnail) in photos {
            let EmbeddedPhoto { views, gps, taken, retrieval: None, text: lines, .. } = photo else { continue };
            let [view] = &views[..] else { continue };
            let bytes: Vec<u8> = view.values().iter().flat_map(|value| value.to_le_bytes()).collect();
            let (encoder, key, embedding) = (self.encoder.clone(), key.to_owned(), BASE64.encode(bytes));
            let Taken { time, offset, camera, .. } = taken.clone();
            let gps = gps.map(|at| (at.lat_deg(), at.lon_deg()));
            let thumbnail = thumbnail.map(|bytes| BASE64.encode(bytes));
            let lines = lines.iter().map(|line| (line.text.clone(), line.confidence, line.corners)).collect();
            let line = Line { encoder, key, stamp, embedding, time, offset, camera, gps, thumbnail, text: lines };
            serde_json::to_writer(&mut text, &line).map_err(|error| failed(error.into()))?;
            text.push(b'\n');
        }
        Ok(self.file.write_all(&text).and_then(|()| self.file.sync_data()).map_err(failed)?)
    }
}

fn values(line: &Line) -> Option<Vec<f32>> {
    let bytes = BASE64.decode(&line.embedding).ok().filter(|bytes| bytes.len() % 4 == 0)?;
    Some(bytes.as_chunks().0.iter().map(|four| f32::from_le_bytes(*four)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_lines_and_those_of_other_formats_are_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("photos.jsonl");
        let photo = EmbeddedPhoto::from(Embedding::new(vec![0.5, -1.0], None).unwrap());
        let stamp = FileStamp { size: 1, changed_s: 0.1 };
        let open = || EmbeddingCache::open(&path, None, false).unwrap();
        open().add([("a", Some(stamp), &photo, Some(&b"jpeg"[..]))]).unwrap();
        let whole = fs::read(&path).unwrap();
        // Lines of immich in 0.3, of another encoder, of no JSON at all; then one that is cut.
        let other = String::from_utf8(whole.clone()).unwrap().replace(r#""encoder":"""#, r#""encoder":"x""#);
        let foreign = [&whole[..], b"{\"encoder\":\"\",\"asset\":\"b\",\"embedding\":[1.0]}\n\xff\n", other.as_bytes()];
        fs::write(&path, [&foreign.concat(), &whole[..20]].concat()).unwrap();
        open().add([("b", None, &photo, None)]).unwrap();
        let cache = open();
        assert_eq!(cache.known.len(), 2);
        let found = cache.get("a", Some(stamp)).unwrap();
        assert_eq!((found.0, found.1.as_deref()), (photo.clone(), Some(&b"jpeg"[..])));
        assert!(cache.get("a", Some(FileStamp { size: 2, ..stamp })).is_none(), "the file has changed");
        assert!(cache.get("a", None).is_some() && cache.get("b", None).is_some() && cache.get("c", None).is_none());
    }
}
