//! Published lists of photos: a row names a photo and says where it was taken; the picture lies elsewhere.
//!
//! | list | as it comes |
//! |---|---|
//! | MP16, MP16-Pro, Im2GPS, Im2GPS3k, YFCC26k | CSV, `IMG_ID`, `LAT`, `LON` and columns of scenes |
//! | OpenStreetView-5M | CSV, `id`, `latitude`, `longitude` and some thirty more |
//! | YFCC100M, MediaEval's placing tasks, YFCC4k's `info.txt` | lines of fields between tabs, without a header |
//! | GeoCLIP's, GWS15k | CSV, `IMG_FILE`, `LAT`, `LON` |
//!
//! A row that cannot be used is named and passed over: lists of millions have some.

use crate::sources::{IngestError, Result, folder::Skipped};
use locdiff_base::excerpt;
use locdiff_io::data::{DataError, TableReader};
use locdiff_shdd::sphere::LatLon;
use std::io::{BufRead, BufReader, Read};
use std::{fs::File, path::Path, path::PathBuf};

const ID_COLUMNS: &str = "IMG_ID IMG_FILE image_id photo_id id image file_name filename path file key hash";
/// A longer line is none of a list's.
const LONGEST_LINE: u64 = 1 << 20;

/// A photo of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedPhoto {
    /// What the list calls it.
    pub id: String,
    /// Where it was taken.
    pub place: LatLon,
    /// Another name that its picture may have: YFCC's hash.
    pub(crate) hash: Option<String>,
}

/// A published list of photos.
///
/// ```
/// use locdiff_vision::sources::PhotoList;
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("im2gps_places365.csv");
/// std::fs::write(&path, "IMG_ID,AUTHOR,LAT,LON\na.jpg,7@N00,-16.6,145.5\nb.jpg,7@N00,,\n").unwrap();
/// let list = PhotoList::read(&path)?;
/// assert_eq!((list.photos.len(), list.bad.len()), (1, 1));
/// assert_eq!(list.photos[0].id, "a.jpg");
/// # Ok::<(), locdiff_vision::sources::IngestError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PhotoList {
    /// The file.
    pub path: PathBuf,
    /// Its photos, in its order.
    pub photos: Vec<ListedPhoto>,
    /// The rows that cannot be used, and why.
    pub bad: Vec<Skipped>,
    /// Whether its columns of latitude and longitude have each other's names, as in one published version of Im2GPS3k's.
    pub is_swapped: bool,
}

/// A row before its numbers are believed.
struct Row {
    at: u64,
    id: String,
    hash: Option<String>,
    numbers: Option<(f64, f64)>,
}

impl PhotoList {
    /// Reads a list. Fails for a file that cannot be read, or has no columns that name photos and places.
    pub fn read(path: &Path) -> Result<Self> {
        let rows = match yfcc_columns(path)? {
            Some(columns) => yfcc_rows(path, columns)?,
            None => table_rows(path)?,
        };
        // One published version of Im2GPS3k's list calls the latitude LON and the longitude LAT.
        let beyond = |pick: fn((f64, f64)) -> f64| {
            rows.iter().filter_map(|row| row.numbers.map(pick)).any(|degrees| degrees.abs() > 90.0)
        };
        let is_swapped = beyond(|numbers| numbers.0) && !beyond(|numbers| numbers.1);
        let mut this = Self { path: path.to_owned(), photos: Vec::new(), bad: Vec::new(), is_swapped };
        for Row { at, id, hash, numbers } in rows {
            let numbers = numbers.map(|(lat, lon)| if is_swapped { (lon, lat) } else { (lat, lon) });
            let place = match numbers {
                None => Err("it has no location".to_owned()),
                Some((lat, lon)) => LatLon::new(lat, lon).map_err(|error| error.to_string()),
            };
            let reason = match place {
                Ok(place) if !id.is_empty() => {
                    this.photos.push(ListedPhoto { id, place, hash });
                    continue;
                }
                Ok(_) => "it has no name".to_owned(),
                Err(reason) => reason,
            };
            this.bad.push(Skipped { path: path.to_owned(), reason: format!("row {at}: {}", excerpt(&reason)) });
        }
        Ok(this)
    }
}

fn table_rows(path: &Path) -> Result<Vec<Row>> {
    let mut table = TableReader::open(path)?;
    let missing = |error: DataError| IngestError::NoList { list: path.to_owned(), reason: error.to_string() };
    let id = table.column(&ID_COLUMNS.split(' ').collect::<Vec<_>>()).map_err(missing)?;
    let hash = table.find(&["hash"]).filter(|hash| *hash != id);
    let lat = table.column(&["lat", "latitude"]).map_err(missing)?;
    let lon = table.column(&["lon", "lng", "long", "longitude"]).map_err(missing)?;
    let mut rows = Vec::new();
    for at in 1.. {
        match table.next_row() {
            Ok(None) => break,
            Ok(Some((_, mut fields))) => {
                let numbers = table.number(&fields[lat]).zip(table.number(&fields[lon]));
                let hash = hash.map(|hash| std::mem::take(&mut fields[hash]));
                rows.push(Row { at, id: fields[id].trim().to_owned(), hash, numbers });
            }
            Err(DataError::RowLength { .. }) => rows.push(Row { at, id: String::new(), hash: None, numbers: None }),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(rows)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct YfccColumns {
    id: usize,
    hash: Option<usize>,
    lon: usize,
    lat: usize,
}

/// As YFCC100M's database is written out, and as its first files were.
const YFCC: [YfccColumns; 2] =
    [YfccColumns { id: 1, hash: Some(2), lon: 12, lat: 13 }, YfccColumns { id: 0, hash: None, lon: 10, lat: 11 }];

/// The columns of a list without a header; `None` where it has one.
fn yfcc_columns(path: &Path) -> Result<Option<YfccColumns>> {
    let line = lines(path)?.next().transpose()?.unwrap_or_default();
    let fields: Vec<&str> = line.split('\t').collect();
    let is_place = |columns: &YfccColumns| number(&fields, columns.lat).zip(number(&fields, columns.lon)).is_some();
    Ok(YFCC.into_iter().find(is_place))
}

fn yfcc_rows(path: &Path, columns: YfccColumns) -> Result<Vec<Row>> {
    let row = |(at, line): (u64, Result<String>)| {
        let line = line?;
        let fields: Vec<&str> = line.split('\t').collect();
        let text = |column: usize| fields.get(column).map(|field| field.trim().to_owned());
        let numbers = number(&fields, columns.lat).zip(number(&fields, columns.lon));
        Ok(Row { at, id: text(columns.id).unwrap_or_default(), hash: columns.hash.and_then(text), numbers })
    };
    (1..).zip(lines(path)?).map(row).collect()
}

fn number(fields: &[&str], column: usize) -> Option<f64> {
    fields.get(column)?.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

/// The lines of a file that are not empty; bytes that are no text are replaced.
fn lines(path: &Path) -> Result<impl Iterator<Item = Result<String>>> {
    let list = path.to_owned();
    let failed = move |reason| IngestError::List { list: list.clone(), reason };
    let mut file = BufReader::new(File::open(path).map_err(&failed)?);
    let lines = std::iter::from_fn(move || {
        let mut line = Vec::new();
        match file.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
            Err(reason) => Some(Err(failed(reason))),
            Ok(0) => None,
            Ok(_) => Some(Ok(String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned())),
        }
    });
    Ok(lines.filter(|line| !line.as_ref().is_ok_and(|line| line.trim().is_empty())))
}
