//! Photos of a Parquet file, as Hugging Face publishes datasets of images: `image` is a structure of `bytes` and `path`, the place
//! stands in columns of its row.

use super::{file::ParquetFile, pictures};
use crate::sources::{IngestError, PhotoSource, PlaceSource, Result};
use locdiff_shdd::sphere::LatLon;
use std::{path::Path, sync::Arc};

const ID_COLUMNS: [&str; 7] = ["id", "image_id", "img_id", "photo_id", "key", "__key__", "image.path"];
/// A longer name of a photo is none.
const LONGEST_NAME: usize = 4096;

/// The photos of a file, a row each. A row without a picture fails when its turn comes; one without a place has none.
pub(crate) fn photos(path: &Path) -> Result<Vec<PhotoSource>> {
    let mut file = ParquetFile::open(path)?;
    if pictures::column(&file).is_none() {
        let columns = file.columns().take(20).collect::<Vec<_>>().join(", ");
        return Err(IngestError::NoPictures { path: path.to_owned(), columns });
    }
    let id = file.bytes_column(&ID_COLUMNS);
    let number = file.number_column(&ID_COLUMNS);
    let lat = file.number_column(&["latitude", "lat"]);
    let lon = file.number_column(&["longitude", "lon", "lng", "long"]);
    let shared: Arc<Path> = Arc::from(path);
    let photo = |row: u64| PhotoSource::row(&format!("{}/{row}", path.display()), Arc::clone(&shared), row);
    let mut photos: Vec<_> = (0..file.rows).map(photo).collect();
    // A column at a time: pages are unpacked once.
    if let Some(column) = id {
        for (row, photo) in (0..).zip(&mut photos) {
            let name = file.bytes(column, row)?.filter(|name| name.len() <= LONGEST_NAME && !name.is_empty());
            if let Some(name) = name {
                *photo = photo.clone().called(&String::from_utf8_lossy(name));
            }
        }
    } else if let Some(column) = number {
        for (row, photo) in (0..).zip(&mut photos) {
            if let Some(name) = file.number(column, row)? {
                *photo = photo.clone().called(&name.to_string());
            }
        }
    }
    if let (Some(lat), Some(lon)) = (lat, lon) {
        let lats = (0..file.rows).map(|row| file.number(lat, row)).collect::<std::result::Result<Vec<_>, _>>()?;
        for ((row, photo), lat) in (0..).zip(&mut photos).zip(lats) {
            let place = lat.zip(file.number(lon, row)?).and_then(|(lat, lon)| LatLon::new(lat, lon).ok());
            *photo = photo.clone().at(place.map(|place| (place, PlaceSource::Json)));
        }
    }
    Ok(photos)
}
