//! Photos named by a list of paths, or by a table with a column of paths and perhaps of places.

use crate::sources::{IngestError, PhotoSource, PlaceSource, Result};
use locdiff_base::read_text_bounded;
use locdiff_io::data::{DataError, TableReader};
use locdiff_shdd::sphere::LatLon;
use std::path::{Path, PathBuf};

const PATH_COLUMNS: [&str; 7] = ["path", "file", "file_name", "filename", "image", "photo", "img"];

/// A list of more bytes is not read: ten million paths.
const LONGEST_LIST: u64 = 1 << 30;

/// The photos of a text file with a path a line; blank lines are passed over.
pub(crate) fn list(list: &Path) -> Result<Vec<PhotoSource>> {
    let failed = |reason| IngestError::List { list: list.to_owned(), reason };
    let text = read_text_bounded(list, LONGEST_LIST).map_err(failed)?;
    let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim_end);
    Ok(lines.filter(|line| !line.is_empty()).map(|line| PhotoSource::file(beside(list, line))).collect())
}

pub(crate) fn table(path: &Path, path_column: Option<&str>) -> Result<Vec<PhotoSource>> {
    let mut table = TableReader::open(path)?;
    let column = match path_column {
        Some(name) => table.column(&[name])?,
        None => table.column(&PATH_COLUMNS).map_err(IngestError::PathColumn)?,
    };
    let lat = table.find(&["lat", "latitude"]);
    let lon = table.find(&["lon", "lng", "long", "longitude"]);
    let mut photos = Vec::new();
    while let Some((at, fields)) = table.next_row()? {
        let mut place = None;
        if let (Some(lat), Some(lon)) = (lat, lon)
            && !(fields[lat].trim().is_empty() && fields[lon].trim().is_empty())
        {
            let number = |column: usize, name: &str| {
                let (at, value) = (at.clone(), fields[column].clone());
                table.number(&value).ok_or(DataError::Number { at, column: name.to_owned(), value })
            };
            let read = LatLon::new(number(lat, "lat")?, number(lon, "lon")?);
            let read = read.map_err(|source| DataError::Place { at: at.clone(), source })?;
            place = Some((read, PlaceSource::Csv));
        }
        photos.push(PhotoSource::file(beside(path, &fields[column])).at(place));
    }
    Ok(photos)
}

/// A path in a list: as it stands where there is such a file, else from the list's own folder.
fn beside(list: &Path, path: &str) -> PathBuf {
    let given = PathBuf::from(path);
    let near = list.parent().map(|folder| folder.join(path)).filter(|near| !given.exists() && near.exists());
    near.unwrap_or(given)
}
