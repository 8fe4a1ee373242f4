//! What was read of a folder's photos, kept so that the next session need not read them again.

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use locdiff::review::{BenchResult, DeskError};
use locdiff::{EmbeddedPhoto, Embedding, Encoder, LatLon, Read};
use locdiff_vision::Taken;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::{File, Metadata, OpenOptions};
use std::path::Path;
use std::{io::Write, time::UNIX_EPOCH};

const MOST_BYTES: u64 = 16 << 30;

/// When a file was changed, and its size: another file, or the same no longer, has another.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Stamp {
    size: u64,
    changed_s: f64,
}

impl Stamp {
    pub(super) fn of(metadata: &Metadata) -> Self {
        let changed = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Self { size: metadata.len(), changed_s: changed.map_or(0.0, |time| time.as_secs_f64()) }
    }
}

#[derive(Serialize, Deserialize)]
struct Line {
    encoder: String,
    key: String,
    stamp: Stamp,
    /// 32-bit numbers, the least byte first.
    embedding: String,
    time: Option<String>,
    offset: Option<String>,
    camera: Option<String>,
    gps: Option<(f64, f64)>,
    thumbnail: Option<String>,
}

/// A photo that was read before.
pub(super) struct KeptPhoto {
    pub(super) photo: EmbeddedPhoto,
    pub(super) thumbnail: Option<Vec<u8>>,
}

/// Photos in a file of lines.
pub(super) struct KeptPhotos {
    file: File,
    name: String,
    encoder: String,
    known: HashMap<String, Line>,
}

impl KeptPhotos {
    /// Opens or makes the file; lines of another encoder, lines that are none and those that an interrupt cut are passed over.
    pub(super) fn open(path: &Path, encoder: Option<&Encoder>) -> BenchResult<Self> {
        let encoder = encoder.map_or(String::new(), |encoder| encoder.fingerprint().to_string());
        let name = path.display().to_string();
        let failed = |error: std::io::Error| DeskError(format!("{name}: {error}"));
        let (mut known, mut is_cut) = (HashMap::new(), false);
        if path.exists() {
            let text = locdiff_base::read_bounded(path, MOST_BYTES).map_err(failed)?;
            is_cut = text.last().is_some_and(|byte| *byte != b'\n');
            let lines = text.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Line>(line).ok());
            known = lines.filter(|line| line.encoder == encoder).map(|line| (line.key.clone(), line)).collect();
        }
        let mut file = OpenOptions::new().create(true).append(true).open(path).map_err(failed)?;
        if is_cut {
            file.write_all(b"\n").map_err(failed)?;
        }
        Ok(Self { file, name, encoder, known })
    }

    /// A photo, where it is the same still; whatever the file is by now, where we wrote into it ourselves.
    pub(super) fn take(&mut self, key: &str, stamp: Stamp, is_ours: bool) -> Option<KeptPhoto> {
        let line = self.known.remove(key).filter(|line| is_ours || line.stamp == stamp)?;
        let bytes = BASE64.decode(&line.embedding).ok().filter(|bytes| bytes.len() % 4 == 0)?;
        let (numbers, _) = bytes.as_chunks::<4>();
        let values: Vec<f32> = numbers.iter().map(|four| f32::from_le_bytes(*four)).collect();
        let mut taken = Taken::default();
        (taken.time, taken.offset, taken.camera) = (line.time, line.offset, line.camera);
        let gps = line.gps.and_then(|(lat, lon)| LatLon::new(lat, lon).ok());
        let photo = EmbeddedPhoto::from(Embedding::new(values, None).ok()?).with_gps(gps).with_taken(taken);
        let thumbnail = line.thumbnail.and_then(|text| BASE64.decode(text).ok());
        Some(KeptPhoto { photo, thumbnail })
    }

    /// Adds photos that were read, each with its key and stamp, and puts them on the disk.
    pub(super) fn add<'a>(&mut self, read: impl Iterator<Item = (&'a str, Stamp, &'a Read)>) -> BenchResult<()> {
        let mut text = Vec::new();
        for (key, stamp, read) in read {
            let Ok(EmbeddedPhoto { views, gps, taken, retrieval: None, .. }) = &read.photo else { continue };
            let [view] = &views[..] else { continue };
            let bytes: Vec<u8> = view.values().iter().flat_map(|value| value.to_le_bytes()).collect();
            let line = Line {
                encoder: self.encoder.clone(),
                key: key.to_owned(),
                stamp,
                embedding: BASE64.encode(bytes),
                time: taken.time.clone(),
                offset: taken.offset.clone(),
                camera: taken.camera.clone(),
                gps: gps.map(|at| (at.lat_deg(), at.lon_deg())),
                thumbnail: read.thumbnail.as_ref().map(|bytes| BASE64.encode(bytes)),
            };
            serde_json::to_writer(&mut text, &line).map_err(DeskError::of)?;
            text.push(b'\n');
        }
        let written = self.file.write_all(&text).and_then(|()| self.file.sync_data());
        written.map_err(|error| DeskError(format!("{}: {error}", self.name)))
    }
}
