//! Reading points.

use super::columns::{NotFound, PointColumns, Wanted};
use super::{POINTS_TENSOR, json};
use crate::data::error::{At, list_names};
use crate::data::json_lines::{JsonLines, json_reason};
use crate::data::{
    DataError, Format, array::ArrayReader, array_file::open_array, csv_text::CsvRows, input::Input,
    safetensors_header::TensorChoice,
};
use locdiff_base::excerpt;
use locdiff_shdd::sphere::LatLon;
use std::path::Path;

const OBJECT_EXPECTED: &str = "one object like {\"lat\": 48.86, \"lon\": 2.35}";

/// Reads every point of a file; `-` is standard input. Without a format the path's extension says it.
///
/// # Errors
/// At the first thing that is wrong with the file, or when it has no points.
///
/// ```
/// use locdiff_io::data::{PointColumns, read_points};
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("places.csv");
/// std::fs::write(&path, "city,Latitude,Longitude\nParis,48.86,2.35\nLima,-12.05,-77.04\n").unwrap();
/// let places = read_points(&path, None, &PointColumns::default())?;
/// assert_eq!(places[1].lon_deg(), -77.04);
/// # Ok::<(), locdiff_io::data::DataError>(())
/// ```
pub fn read_points(path: &Path, format: Option<Format>, columns: &PointColumns) -> Result<Vec<LatLon>, DataError> {
    PointReader::open(path, format, columns)?.map(|item| item.map(|(_, place)| place)).collect()
}

/// Points one by one, each with its row number, from 1. A row that is wrong is an error and does not end the
/// iteration: a caller may report it and go on. When the file itself fails, the iteration ends after the error.
///
/// ```
/// use locdiff_io::data::{Format, PointColumns, PointReader};
/// let text = "lat,lon\n1,2\n95,0\n3,4\n".as_bytes().to_vec();
/// let reader = PointReader::from_bytes("places.csv", text, Format::Csv, &PointColumns::default())?;
/// let (good, bad): (Vec<_>, Vec<_>) = reader.partition(Result::is_ok);
/// assert_eq!(good.into_iter().map(|item| item.unwrap().0).collect::<Vec<_>>(), [1, 3]);
/// let message = bad.into_iter().next().unwrap().unwrap_err().to_string();
/// assert!(message.starts_with("places.csv, row 2 (line 3): latitude 95"));
/// # Ok::<(), locdiff_io::data::DataError>(())
/// ```
pub struct PointReader {
    source: Source,
    state: State,
}

enum Source {
    Csv { rows: CsvRows, lat: (usize, String), lon: (usize, String) },
    Jsonl { lines: JsonLines, lat: Wanted, lon: Wanted },
    Array { reader: ArrayReader, file: String, row: Vec<f64> },
}

#[derive(PartialEq)]
enum State {
    NothingRead,
    Reading,
    Ended,
}

impl PointReader {
    /// Opens a file; `-` is standard input.
    ///
    /// # Errors
    /// When the file cannot be opened, its format is unknown, or its header is missing, lacks the columns or is
    /// unsound.
    pub fn open(path: &Path, format: Option<Format>, columns: &PointColumns) -> Result<Self, DataError> {
        let (input, format, file) = Input::open(path, format)?;
        Self::new(input, file, format, columns)
    }

    /// Reads a file that is in memory already; `file` is its name in messages.
    ///
    /// # Errors
    /// As [`PointReader::open`].
    pub fn from_bytes(file: &str, bytes: Vec<u8>, format: Format, columns: &PointColumns) -> Result<Self, DataError> {
        Self::new(Input::from_bytes(bytes, format), file.to_owned(), format, columns)
    }

    pub(super) fn new(input: Input, file: String, format: Format, columns: &PointColumns) -> Result<Self, DataError> {
        let (lat, lon) = (columns.lat_names(), columns.lon_names());
        let source = match input {
            Input::Text(text) if format == Format::Csv => open_csv(CsvRows::new(text, file), &lat, &lon)?,
            Input::Text(text) => Source::Jsonl { lines: JsonLines::new(text, file), lat, lon },
            Input::Binary(bytes, length) => {
                let choice = TensorChoice { given: columns.tensor.as_deref(), preferred: POINTS_TENSOR };
                let reader = open_array(bytes, length, &file, format, choice)?;
                let layout = reader.layout();
                if layout.columns != 2 {
                    let shape = vec![layout.rows, layout.columns as u64];
                    return Err(DataError::Shape {
                        file,
                        shape,
                        expected: "[N, 2], latitude and longitude in degrees",
                    });
                }
                Source::Array { reader, file, row: Vec::with_capacity(2) }
            }
        };
        Ok(Self { source, state: State::NothingRead })
    }

    /// How many points there are, where the format says so up front.
    pub fn rows(&self) -> Option<u64> {
        match &self.source {
            Source::Array { reader, .. } => Some(reader.layout().rows),
            Source::Csv { .. } | Source::Jsonl { .. } => None,
        }
    }

    fn nothing_read(&self) -> DataError {
        match &self.source {
            Source::Csv { rows, .. } => DataError::NoRows { file: rows.file().to_owned() },
            Source::Jsonl { lines, .. } => {
                DataError::Empty { file: lines.file().to_owned(), expected: OBJECT_EXPECTED }
            }
            Source::Array { file, .. } => DataError::NoRows { file: file.clone() },
        }
    }
}

impl Iterator for PointReader {
    type Item = Result<(u64, LatLon), DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.state == State::Ended {
            return None;
        }
        let item = self.source.next_place().transpose();
        self.state = match (&item, &self.state) {
            (None, State::NothingRead) => {
                self.state = State::Ended;
                return Some(Err(self.nothing_read()));
            }
            (None | Some(Err(DataError::Read { .. })), _) => State::Ended,
            _ => State::Reading,
        };
        item
    }
}

impl Source {
    fn next_place(&mut self) -> Result<Option<(u64, LatLon)>, DataError> {
        let (at, lat_deg, lon_deg): (At, f64, f64) = match self {
            Self::Csv { rows, lat, lon } => {
                if !rows.advance()? {
                    return Ok(None);
                }
                let lat_deg = rows.number(lat.0, || lat.1.clone())?;
                (rows.at(), lat_deg, rows.number(lon.0, || lon.1.clone())?)
            }
            Self::Jsonl { lines, lat, lon } => {
                if !lines.advance()? {
                    return Ok(None);
                }
                let found = json::coordinates(lines.line(), lat, lon).map_err(|error| DataError::Json {
                    at: lines.at(),
                    reason: json_reason(&error),
                    expected: OBJECT_EXPECTED,
                })?;
                let lat_deg = json_number(lines, lat, found.lat)?;
                (lines.at(), lat_deg, json_number(lines, lon, found.lon)?)
            }
            Self::Array { reader, file, row } => {
                row.clear();
                if !reader.next_row(row).map_err(|source| DataError::read(file, source))? {
                    return Ok(None);
                }
                (At { file: file.clone(), row: reader.rows_read(), line: None }, row[0], row[1])
            }
        };
        let row = at.row;
        let place = LatLon::new(lat_deg, lon_deg).map_err(|source| DataError::Place { at, source })?;
        Ok(Some((row, place)))
    }
}

fn open_csv(mut rows: CsvRows, lat: &Wanted, lon: &Wanted) -> Result<Source, DataError> {
    let file = rows.file().to_owned();
    if !rows.read_header()? {
        return Err(DataError::Empty { file, expected: "a header line with the columns lat and lon, then rows" });
    }
    let names: Vec<String> = rows.fields().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    let find = |wanted: &Wanted| {
        let index = wanted.find(&names).map_err(|problem| {
            let (file, wanted) = (file.clone(), wanted.describe());
            match problem {
                NotFound::Missing => {
                    let available = list_names(names.iter().map(String::as_str));
                    DataError::MissingColumn { file, wanted, available }
                }
                NotFound::Several(available) => DataError::AmbiguousColumn { file, wanted, available },
            }
        })?;
        Ok::<_, DataError>((index, excerpt(&names[index])))
    };
    let (lat, lon) = (find(lat)?, find(lon)?);
    Ok(Source::Csv { rows, lat, lon })
}

fn json_number(
    lines: &JsonLines,
    wanted: &Wanted,
    found: Option<(String, serde_json::Value)>,
) -> Result<f64, DataError> {
    let Some((key, value)) = found else {
        let available = list_names(json::keys(lines.line()).iter().map(String::as_str));
        return Err(DataError::MissingKey { at: lines.at(), wanted: wanted.describe(), available });
    };
    value.as_f64().ok_or_else(|| DataError::Number {
        at: lines.at(),
        column: excerpt(&key),
        value: excerpt(&value.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::npy;

    fn read(text: &str, format: Format) -> Result<Vec<LatLon>, DataError> {
        read_with(text, format, &PointColumns::default())
    }

    fn read_with(text: &str, format: Format, columns: &PointColumns) -> Result<Vec<LatLon>, DataError> {
        let reader = PointReader::from_bytes("x", text.as_bytes().to_vec(), format, columns)?;
        reader.map(|item| item.map(|(_, place)| place)).collect()
    }

    #[track_caller]
    fn assert_error(text: &str, format: Format, expected: &str) {
        assert_eq!(read(text, format).unwrap_err().to_string(), expected);
    }

    /// Each line is what is read, with `\n` for a line's end, and its error.
    #[track_caller]
    fn assert_errors(format: Format, table: &str) {
        for line in table.lines() {
            let (text, expected) = line.split_once(" => ").expect("two columns");
            assert_error(&text.replace("\\n", "\n"), format, expected);
        }
    }

    #[test]
    fn csv_is_read_whatever_the_column_order() {
        let places = read("name,LON,x,lat\na,2,7,1\n\"b, c\",-4.5,,3e0\n", Format::Csv).unwrap();
        assert_eq!(places, [LatLon::new(1.0, 2.0).unwrap(), LatLon::new(3.0, -4.5).unwrap()]);
        let columns = PointColumns { lat: Some("y".into()), lon: Some("x".into()), tensor: None };
        assert_eq!(read_with("x,y\n2,1\n", Format::Csv, &columns).unwrap(), places[..1]);
    }

    #[test]
    fn csv_errors_name_file_row_value_and_remedy() {
        let csv = Format::Csv;
        assert_errors(
            csv,
            r" => x is empty: expected a header line with the columns lat and lon, then rows
lat,lon\n => x has a header but no rows of data: add at least one row
a,b\n1,2\n => x has no column 'lat' or 'latitude': its columns are 'a', 'b'; rename one, or name the column to use
lat,b\n1,2\n => x has no column 'lon' or 'lng' or 'long' or 'longitude': its columns are 'lat', 'b'; rename one, or name the column to use
lat,lon,lat\n1,2,3\n => x has several columns for 'lat' or 'latitude': 'lat', 'lat'; name the column to use
lat,lon\n1,2\n1,2 E\n => x, row 2 (line 3), column lon: '2 E' is not a number: write it like -12.5 or 1e-3
lat,lon\n,2\n => x, row 1 (line 2), column lat: '' is not a number: write it like -12.5 or 1e-3
lat,lon\n1,2,3\n => x, row 1 (line 2): expected 2 fields as in the first row or header, found 3; every row needs the same
lat,lon\n1,2\nnan,2\n => x, row 2 (line 3): latitude NaN is not a number from -90 to 90 degrees; correct or remove the row
lat,lon\n1,inf\n => x, row 1 (line 2): longitude inf is not a finite number of degrees; correct or remove the row",
        );
    }

    #[test]
    fn jsonl_is_read_and_extra_keys_are_ignored() {
        let text = "{\"lat\":1,\"lon\":2,\"tags\":[{}]}\n\n{\"longitude\":-4.5,\"LAT\":3.0}";
        let places = read(text, Format::Jsonl).unwrap();
        assert_eq!(places, [LatLon::new(1.0, 2.0).unwrap(), LatLon::new(3.0, -4.5).unwrap()]);
    }

    #[test]
    fn jsonl_errors_name_file_row_value_and_remedy() {
        let jsonl = Format::Jsonl;
        let expected = "expected one object like {\"lat\": 48.86, \"lon\": 2.35}";
        assert_error(" \n", jsonl, &format!("x is empty: {expected}"));
        assert_error(
            "{\"lat\":1,\"lon\":2}\n{\"lat\":1",
            jsonl,
            &format!("x, row 2 (line 2): EOF while parsing an object at character 8: {expected} a line"),
        );
        assert_error(
            "[1,2]",
            jsonl,
            &format!("x, row 1 (line 1): invalid type: sequence, expected an object at character 0: {expected} a line"),
        );
        assert_errors(
            jsonl,
            r#"{"lat":1,"x":2} => x, row 1 (line 1): no key 'lon' or 'lng' or 'long' or 'longitude': the keys are 'lat', 'x'; rename one, or name the key to use
{"lat":"1","lon":2} => x, row 1 (line 1), column lat: '"1"' is not a number: write it like -12.5 or 1e-3
{"lat":-90.5,"lon":2} => x, row 1 (line 1): latitude -90.5 is not a number from -90 to 90 degrees; correct or remove the row"#,
        );
    }

    #[test]
    fn arrays_must_have_two_columns() {
        let mut bytes = npy::header_bytes(crate::data::Dtype::F32, 2, 3);
        bytes.resize(bytes.len() + 24, 0);
        let error = PointReader::from_bytes("x.npy", bytes, Format::Npy, &PointColumns::default()).err().unwrap();
        let expected = "x.npy: the array has shape [2, 3]: expected [N, 2], latitude and longitude in degrees";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn an_empty_file_is_one_error_then_the_end() {
        let mut reader = PointReader::from_bytes("x", vec![], Format::Jsonl, &PointColumns::default()).unwrap();
        assert!(reader.next().unwrap().is_err() && reader.next().is_none());
    }
}
