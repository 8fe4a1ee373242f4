//! A table of photos with times, for albums of embeddings.

use crate::{Control, EmbeddedPhoto, LocateError, LocateOptions, Locator, PhotoTime, Source, error::Result};
use locdiff_album::AlbumTrip;
use locdiff_base::{ensure, excerpt};
use locdiff_io::data::{RowFile, TableReader};
use locdiff_shdd::sphere::LatLon;
use std::{collections::HashMap, path::Path, sync::Arc};

#[derive(Debug, Clone, PartialEq)]
struct AlbumRow {
    /// The row of its embedding, from 0.
    row: usize,
    /// Its album; one name for all if the table has no column `album`.
    album: String,
    name: String,
    time: PhotoTime,
    /// Its GPS tag, from `gps_lat` and `gps_lon`; empty fields are none.
    gps: Option<LatLon>,
    /// Its true location, from `lat` and `lon`: used for evaluation only.
    truth: Option<LatLon>,
    camera: Option<String>,
    /// Whose album it is, where that is known: intervals resample persons.
    person: Option<String>,
    /// Whether it is known to be from elsewhere, from `stray` (1 or 0): to judge by, never used.
    is_stray: bool,
}

impl AlbumRow {
    /// Reads a table with the column `time`. Optional: `row` (of the embedding, from 0; else the table's own order), `album`,
    /// `name`, `gps_lat`, `gps_lon`, `camera`, `lat`, `lon`, `stray` and `person`.
    fn read(path: &Path) -> Result<Vec<Self>> {
        let mut table = TableReader::open(path)?;
        let time = table.column(&["time", "datetime", "DateTimeOriginal"])?;
        let find = |names: &[&str]| table.find(names);
        let (row, album, name) = (find(&["row"]), find(&["album"]), find(&["name", "photo", "file"]));
        let camera = find(&["camera", "model"]);
        let (stray, person) = (find(&["stray"]), find(&["person"]));
        let gps = find(&["gps_lat"]).zip(find(&["gps_lon"]));
        let truth = find(&["lat", "latitude"]).zip(find(&["lon", "longitude"]));
        let mut rows = Vec::new();
        while let Some((at, fields)) = table.next_row()? {
            let field = |column: Option<usize>| column.map(|k| fields[k].trim()).filter(|text| !text.is_empty());
            let bad = |what: &str, text: &str| LocateError::table(&at, format!("'{}' is not a {what}", excerpt(text)));
            let place = |columns: Option<(usize, usize)>| -> Result<Option<LatLon>> {
                let Some((lat, lon)) = columns.and_then(|(a, b)| Some((field(Some(a))?, field(Some(b))?))) else {
                    return Ok(None);
                };
                let number = |text: &str| table.number(text).ok_or_else(|| bad("number of degrees", text));
                let made = LatLon::new(number(lat)?, number(lon)?);
                made.map(Some).map_err(|error| LocateError::table(&at, error))
            };
            let time = match fields[time].trim() {
                "" => PhotoTime::UNKNOWN,
                text => PhotoTime::read(text, None).map_err(|error| LocateError::table(&at, error))?,
            };
            let number = field(row).map(|text| text.parse::<usize>().map_err(|_| bad("row", text))).transpose()?;
            let row = number.unwrap_or(rows.len());
            rows.push(Self {
                row,
                album: field(album).unwrap_or("album").to_owned(),
                name: field(name).map_or_else(|| format!("row {}", row + 1), str::to_owned),
                time,
                gps: place(gps)?,
                truth: place(truth)?,
                camera: field(camera).map(str::to_owned),
                person: field(person).map(str::to_owned),
                is_stray: field(stray) == Some("1"),
            });
        }
        Ok(rows)
    }

    /// The photo with its embedding from a file. Fails on a row that the file does not have.
    fn source(&self, file: &Arc<RowFile>) -> Result<Source> {
        if self.row >= file.rows() {
            let reason = format!("row {} of the embeddings is wanted, there are {}", self.row, file.rows());
            return Err(LocateError::table(&self.name, reason));
        }
        Ok(Source::row(file, self.row, None)
            .called(&*self.name)
            .with_gps(self.gps)
            .with_time(Some(self.time))
            .with_camera(self.camera.clone())
            .in_album(&*self.album))
    }
}

impl Source {
    /// Reads the photos of an album's table, with their embeddings from a file. The table has the column `time`, and may have `row` (of the
    /// embedding, from 0), `album`, `name`, `gps_lat`, `gps_lon` and `camera`. Fails if the table cannot be read, or a row has a bad time or no
    /// embedding.
    pub fn album_rows(table: &Path, file: &Arc<RowFile>) -> Result<Vec<Self>> {
        AlbumRow::read(table)?.iter().map(|row| row.source(file)).collect()
    }
}

impl Locator {
    /// Reads the albums of a table with known locations, in the order of their first rows. Fails if files cannot be read or do not belong
    /// together, a row has no location, or the table is empty.
    pub fn album_trips(&self, embeddings: &Path, tensor: Option<&str>, table: &Path) -> Result<Vec<AlbumTrip>> {
        let file = Arc::new(RowFile::open(embeddings, tensor)?);
        self.model().config().check_rows(&file)?;
        let rows = AlbumRow::read(table)?;
        let at = table.display().to_string();
        ensure!(!rows.is_empty(), LocateError::table(at, "it has no rows"));
        let sources: Vec<Source> = rows.iter().map(|row| row.source(&file)).collect::<Result<_, _>>()?;
        let options = LocateOptions::default();
        let mut read = self.read(sources, Arc::new(options.clone()), Control::new());
        let mut photos = Vec::with_capacity(rows.len());
        while let Some(block) = read.next_block()? {
            for one in block {
                photos.push(one.photo?);
            }
        }
        let times: Vec<PhotoTime> = rows.iter().map(|row| row.time).collect();
        let photos = self.album_photos(&photos.iter().collect::<Vec<&EmbeddedPhoto>>(), &times, &options)?;
        let mut trips: Vec<AlbumTrip> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        for (k, (row, photo)) in rows.into_iter().zip(photos).enumerate() {
            let reason = || format!("row {} has no lat and lon to judge by", k + 1);
            let truth = row.truth.ok_or_else(|| LocateError::table(&at, reason()))?;
            let person = row.person;
            let trip = *known.entry(row.album).or_insert_with_key(|name| {
                let (photos, truths, strays) = (Vec::new(), Vec::new(), Vec::new());
                trips.push(AlbumTrip { name: name.clone(), person, photos, truths, strays });
                trips.len() - 1
            });
            trips[trip].photos.push(photo);
            trips[trip].truths.push(truth);
            trips[trip].strays.push(row.is_stray);
        }
        Ok(trips)
    }
}
