//! Reading points.

use super::{POINTS_TENSOR, columns::PointColumns, columns::Wanted, json};
use crate::data::json_lines::{JsonLines, json_reason};
use crate::data::{DataError, Format, Result, safetensors_header::TensorChoice};
use crate::{data::csv_text::CsvRows, data::error::list_names, data::input::Input, data::rows::Rows};
use locdiff_base::excerpt;
use locdiff_shdd::sphere::LatLon;
use std::path::Path;

const OBJECT_EXPECTED: &str = "one object like {\"lat\": 48.86, \"lon\": 2.35}";

/// Reads every point of a file; `-` is standard input. Without a format the path's extension says it. Fails at the
/// first thing that is wrong with the file, or if it has no points.
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
    source: Rows,
    lat: Wanted,
    lon: Wanted,
    /// Of a CSV file: the indices and names of the two columns.
    columns: Vec<(usize, String)>,
    is_begun: bool,
    is_over: bool,
}

impl PointReader {
    /// Opens a file; `-` is standard input. Fails if the file cannot be opened, its format is unknown, or its header is
    /// missing, lacks the columns or is unsound.
    pub fn open(path: &Path, format: Option<Format>, columns: &PointColumns) -> Result<Self, DataError> {
        let (input, format, file) = Input::open(path, format)?;
        Self::new(input, file, format, columns)
    }

    /// Reads a file that is in memory already; `file` is its name in messages. Fails as [`PointReader::open`] does.
    pub fn from_bytes(file: &str, bytes: Vec<u8>, format: Format, columns: &PointColumns) -> Result<Self, DataError> {
        Self::new(Input::from_bytes(bytes, format), file.to_owned(), format, columns)
    }

    pub(super) fn new(input: Input, file: String, format: Format, columns: &PointColumns) -> Result<Self, DataError> {
        let choice = TensorChoice { given: columns.tensor.as_deref(), preferred: POINTS_TENSOR };
        let mut source = Rows::open(input, file, format, choice)?;
        let (lat, lon) = (columns.lat_names(), columns.lon_names());
        let mut columns = Vec::new();
        match &mut source {
            Rows::Csv(rows) => {
                let names = header(rows)?;
                for wanted in [&lat, &lon] {
                    let index = wanted.column(&names, &rows.file)?;
                    columns.push((index, excerpt(&names[index])));
                }
            }
            Rows::Array(reader) if reader.layout.columns != 2 => {
                let shape = vec![reader.layout.rows, reader.layout.columns as u64];
                let expected = "[N, 2], latitude and longitude in degrees";
                return Err(DataError::Shape { file: reader.file.clone(), shape, expected });
            }
            Rows::Jsonl(_) | Rows::Array(_) => {}
        }
        Ok(Self { source, lat, lon, columns, is_begun: false, is_over: false })
    }

    /// How many points there are, where the format says so up front.
    pub fn rows(&self) -> Option<u64> {
        self.source.count()
    }

    fn next_place(&mut self) -> Result<Option<(u64, LatLon)>, DataError> {
        let mut found = Vec::with_capacity(2);
        let more = match &mut self.source {
            Rows::Csv(rows) => rows.advance()?,
            Rows::Jsonl(lines) => lines.advance()?,
            Rows::Array(reader) => reader.next_row(&mut found)?,
        };
        if !more {
            return Ok(None);
        }
        match &self.source {
            Rows::Csv(rows) => {
                for (index, name) in &self.columns {
                    found.push(rows.number(*index, || name.clone())?);
                }
            }
            Rows::Jsonl(lines) => {
                let (lat, lon, expected) = (&self.lat, &self.lon, OBJECT_EXPECTED);
                let failed = |error| DataError::Json { at: lines.at(), reason: json_reason(&error), expected };
                let values = json::coordinates(lines.line(), lat, lon).map_err(failed)?;
                for (wanted, value) in [lat, lon].into_iter().zip(values) {
                    found.push(json_number(lines, wanted, value)?);
                }
            }
            Rows::Array(_) => {}
        }
        let at = self.source.at();
        let row = at.row;
        LatLon::new(found[0], found[1])
            .map(|place| Some((row, place)))
            .map_err(|source| DataError::Place { at, source })
    }
}

impl Iterator for PointReader {
    type Item = Result<(u64, LatLon), DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let item = self.next_place().transpose();
        self.is_over = matches!(item, None | Some(Err(DataError::Read { .. })));
        let is_empty = item.is_none() && !self.is_begun;
        self.is_begun = true;
        if is_empty { Some(Err(self.source.without_rows(OBJECT_EXPECTED))) } else { item }
    }
}

pub(super) fn header(rows: &mut CsvRows) -> Result<Vec<String>, DataError> {
    if !rows.read()? {
        let expected = "a header line with the columns lat and lon, then rows";
        return Err(DataError::Empty { file: rows.file.clone(), expected });
    }
    Ok(rows.fields().map(|name| String::from_utf8_lossy(name).into_owned()).collect())
}

fn json_number(lines: &JsonLines, wanted: &Wanted, found: Option<(String, serde_json::Value)>) -> Result<f64> {
    let at = lines.at();
    let Some((key, value)) = found else {
        let available = list_names(json::keys(lines.line()).iter().map(String::as_str));
        return Err(DataError::MissingKey { at, wanted: wanted.describe(), available });
    };
    let text = || excerpt(&value.to_string());
    value.as_f64().ok_or_else(|| DataError::Number { at, column: excerpt(&key), value: text() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, format: Format) -> Result<Vec<LatLon>, DataError> {
        read_with(text, format, &PointColumns::default())
    }

    fn read_with(text: &str, format: Format, columns: &PointColumns) -> Result<Vec<LatLon>, DataError> {
        let reader = PointReader::from_bytes("x", text.as_bytes().to_vec(), format, columns)?;
        reader.map(|item| item.map(|(_, place)| place)).collect()
    }

    #[test]
    fn csv_is_read_whatever_the_column_order() {
        let places = read("name,LON,x,lat\na,2,7,1\n\"b, c\",-4.5,,3e0\n", Format::Csv).unwrap();
        assert_eq!(places, [LatLon::new(1.0, 2.0).unwrap(), LatLon::new(3.0, -4.5).unwrap()]);
        let columns = PointColumns { lat: Some("y".into()), lon: Some("x".into()), tensor: None };
        assert_eq!(read_with("x,y\n2,1\n", Format::Csv, &columns).unwrap(), places[..1]);
    }

    #[test]
    fn jsonl_is_read_and_extra_keys_are_ignored() {
        let text = "{\"lat\":1,\"lon\":2,\"tags\":[{}]}\n\n{\"longitude\":-4.5,\"LAT\":3.0}";
        let places = read(text, Format::Jsonl).unwrap();
        assert_eq!(places, [LatLon::new(1.0, 2.0).unwrap(), LatLon::new(3.0, -4.5).unwrap()]);
    }

    #[test]
    fn an_empty_file_is_one_error_then_the_end() {
        let mut reader = PointReader::from_bytes("x", vec![], Format::Jsonl, &PointColumns::default()).unwrap();
        assert!(reader.next().unwrap().is_err() && reader.next().is_none());
    }
}
