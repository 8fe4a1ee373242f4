//! GeoCLIP's vectors of a file of places: computed once, kept beside the file, found again by content.

use crate::{GeoClip, WEIGHTS_FILE};
use locdiff_data::{PointColumns, PositionedFile, read_points};
use locdiff_gallery::{Gallery, GalleryBuilder, Kind, Result, VectorType};
use locdiff_sphere::LatLon;
use std::path::{Path, PathBuf};
use twox_hash::XxHash3_128;

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

    /// A hash of everything the vectors depend on.
    fn key(&self) -> Result<String> {
        let places = hash_file(&self.places)?;
        let model = hash_file(&self.model.join(WEIGHTS_FILE))?;
        Ok(format!("{places:032x}-{model:032x}-{:?}", self.vectors).to_lowercase())
    }
}

/// XXH3 of a file's bytes.
fn hash_file(path: &Path) -> Result<u128> {
    const BLOCK: u64 = 4 << 20;
    let file = PositionedFile::open(path)?;
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

/// Opens the gallery of a file of places, after making it where there is none for this content. `progress` is told how many
/// places are done, of how many, while vectors are computed.
///
/// # Errors
/// Files that cannot be read, or a folder beside the places that cannot be written.
pub fn open_geoclip_gallery(
    cache: &GeoClipCache,
    model: &GeoClip,
    mut progress: impl FnMut(usize, usize),
) -> Result<Gallery> {
    let (folder, key) = (cache.folder(), cache.key()?);
    // A gallery that cannot be read is as good as none: it can always be made again.
    if let Some(gallery) = Gallery::open(&folder).ok().filter(|gallery| gallery.key() == key) {
        return Ok(gallery);
    }
    let places = read_points(&cache.places, None, &PointColumns::default())?;
    let builder = GalleryBuilder {
        kind: Kind::Geoclip,
        dimension: model.dimension(),
        vectors: cache.vectors,
        key,
        mean: Vec::new(),
        encoder: None,
    };
    let mut done = 0;
    builder.build(&folder, &places, |rows, out| {
        let block: Vec<LatLon> = rows.iter().map(|row| places[*row as usize]).collect();
        out.copy_from_slice(&model.embed_places(&block)?);
        done += rows.len();
        progress(done, places.len());
        Ok(())
    })?;
    Gallery::open(&folder)
}
