//! GeoCLIP's vectors of a file of places: computed once, kept beside the file, found again by content.

use crate::gallery::{Gallery, GalleryBuilder, Kind, Result, VectorType};
use crate::geoclip::{GeoClip, WEIGHTS_FILE};
use locdiff_base::{AtomicFile, read_text_bounded};
use locdiff_io::data::{PointColumns, PositionedFile, read_points};
use locdiff_shdd::sphere::LatLon;
use serde::{Deserialize, Serialize};
use std::{path::Path, path::PathBuf, time::Duration, time::SystemTime, time::UNIX_EPOCH};
use twox_hash::XxHash3_128;

/// The file in a gallery's folder that says what its sources looked like when they were last read.
const SOURCES_FILE: &str = "sources.json";
/// A file that was changed so short a time before it was read may change again within the same tick of its clock.
const FRESH: Duration = Duration::from_secs(2);

/// A file of places, GeoCLIP's folder, and where the gallery made of both is kept.
#[derive(Debug, Clone)]
pub struct GeoClipCache {
    /// The places: CSV, JSON lines, npy or safetensors.
    pub places: PathBuf,
    /// GeoCLIP's folder.
    pub model: PathBuf,
    /// The number type of the vectors.
    pub vectors: VectorType,
}

impl GeoClipCache {
    /// The gallery's folder: the file's name with `.gallery` behind it.
    pub fn folder(&self) -> PathBuf {
        let mut name = self.places.file_name().unwrap_or_default().to_owned();
        name.push(".gallery");
        self.places.with_file_name(name)
    }

    /// A hash of everything the vectors depend on. Files of a size and time of change that were met before are not read again.
    fn key(&self) -> Result<String> {
        let folder = self.folder();
        let known = Source::read_all(&folder);
        let files = [self.places.clone(), self.model.join(WEIGHTS_FILE)];
        let sources = files.iter().map(|path| Source::of(path, &known)).collect::<Result<Vec<Source>>>()?;
        if sources != known {
            Source::save_all(&sources, &folder);
        }
        let [places, model] = [0, 1].map(|k| &sources[k].hash);
        Ok(format!("{places}-{model}-{:?}", self.vectors).to_lowercase())
    }
}

/// A file that vectors depend on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Source {
    name: PathBuf,
    bytes: u64,
    /// When it was changed, in nanoseconds since 1970; `None` for one that must be read again.
    changed_ns: Option<u64>,
    hash: String,
}

impl Source {
    /// The file as it is, by what is known of it where it looks the same.
    fn of(path: &Path, known: &[Self]) -> Result<Self> {
        let file = PositionedFile::open(path)?;
        let name = path.file_name().map_or_else(|| path.to_owned(), PathBuf::from);
        let changed = std::fs::metadata(path).and_then(|about| about.modified()).ok();
        let changed = changed.filter(|at| SystemTime::now().duration_since(*at).is_ok_and(|age| age >= FRESH));
        let changed_ns = changed.and_then(|at| u64::try_from(at.duration_since(UNIX_EPOCH).ok()?.as_nanos()).ok());
        let looks_alike = |one: &&Self| (&one.name, one.bytes, one.changed_ns) == (&name, file.bytes(), changed_ns);
        if let Some(one) = known.iter().find(looks_alike).filter(|_| changed_ns.is_some()) {
            return Ok(one.clone());
        }
        let hash = format!("{:032x}", hash_file(&file)?);
        Ok(Self { name, bytes: file.bytes(), changed_ns, hash })
    }

    /// What is known; nothing where that cannot be read.
    fn read_all(folder: &Path) -> Vec<Self> {
        let text = read_text_bounded(&folder.join(SOURCES_FILE), 1 << 20).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Remembers them, where there is a folder that can be written.
    fn save_all(sources: &[Self], folder: &Path) {
        if folder.is_dir()
            && let Ok(text) = serde_json::to_string(sources)
        {
            let _ = AtomicFile::write_whole(&folder.join(SOURCES_FILE), text.as_bytes());
        }
    }
}

/// XXH3 of a file's bytes.
fn hash_file(file: &PositionedFile) -> Result<u128> {
    const BLOCK: u64 = 4 << 20;
    let mut hasher = XxHash3_128::with_seed(0);
    let mut bytes = Vec::new();
    let mut offset = 0;
    while offset < file.bytes() {
        bytes.resize(BLOCK.min(file.bytes() - offset) as usize, 0);
        file.read_at(offset, &mut bytes)?;
        hasher.write(&bytes);
        offset += bytes.len() as u64;
    }
    Ok(hasher.finish_128())
}

/// Opens the gallery of a file of places, made if there is none for this content; `tell` gets how many of how many
/// are done. Fails for files that cannot be read, or a folder next to the places that cannot be written.
pub fn open_geoclip_gallery(at: &GeoClipCache, model: &GeoClip, mut tell: impl FnMut(usize, usize)) -> Result<Gallery> {
    let (folder, key) = (at.folder(), at.key()?);
    // A gallery that cannot be read is as good as none: it can always be made again.
    if let Some(gallery) = Gallery::open(&folder).ok().filter(|gallery| gallery.key() == key) {
        return Ok(gallery);
    }
    let places = read_points(&at.places, None, &PointColumns::default())?;
    let (kind, dimension, vectors, mean, encoder) = (Kind::Geoclip, model.dimension(), at.vectors, Vec::new(), None);
    let builder = GalleryBuilder { kind, dimension, vectors, key, mean, encoder };
    let mut done = 0;
    builder.build(&folder, &places, |rows, out| {
        let block: Vec<LatLon> = rows.iter().map(|row| places[*row as usize]).collect();
        out.copy_from_slice(&model.embed_places(&block)?);
        done += rows.len();
        tell(done, places.len());
        Ok(())
    })?;
    Gallery::open(&folder)
}
