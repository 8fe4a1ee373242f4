//! Places with names and numbers beside them: the predictions of any system.

use super::{columns::NotFound, columns::PointColumns, columns::Wanted, json, reader::PointReader, reader::header};
use crate::data::{DataError, Format, Result, csv_text::CsvRows, csv_text::unguarded, input::Input};
use crate::data::{error::At, error::list_names, json_lines::JsonLines, json_lines::json_reason};
use locdiff_base::{ensure, excerpt};
use locdiff_shdd::sphere::{LatLon, SphereError};
use serde_json::{Map, Value};
use std::path::Path;

/// A file of places, whole: what each row is called, where it is, and chosen numbers.
///
/// A row without a place (empty, `nan`, `none` or `null`, or NaN in an array) is `None`, not an error: a system may
/// have no answer for a photo.
///
/// ```
/// use locdiff_io::data::{PlaceTable, PointColumns};
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("predictions.csv");
/// std::fs::write(&path, "IMG_ID,lat,lon,radius_50_km\na.jpg,48.86,2.35,120\nb.jpg,,,\n").unwrap();
/// let table = PlaceTable::read(&path, None, &PointColumns::default(), None, |name| name.starts_with("radius_"))?;
/// assert_eq!(table.ids.unwrap().1, ["a.jpg", "b.jpg"]);
/// assert!(table.places[0].is_some() && table.places[1].is_none());
/// assert_eq!((table.numbers[0].0.as_str(), table.numbers[0].1[0]), ("radius_50_km", 120.0));
/// # Ok::<(), locdiff_io::data::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PlaceTable {
    /// Column that names the rows, and the names; `None` where there is no such column.
    pub ids: Option<(String, Vec<String>)>,
    /// The places.
    pub places: Vec<Option<LatLon>>,
    /// Chosen columns of numbers, NaN where empty.
    pub numbers: Vec<(String, Vec<f64>)>,
    /// The probabilities of countries by code, from a column `countries` as answers have it; empty if there is none.
    pub countries: Vec<Vec<(String, f64)>>,
}

impl PlaceTable {
    /// Reads a file; `-` is standard input. Rows are named by the column `id`. If it is `None`, the first column or key called
    /// id, image_id, img_id, photo_id, image, photo, filename, file, path or key names them, in any case. Columns whose
    /// names `is_wanted` are read as numbers. Fails at the first error, or if there are no rows or no column `id`.
    pub fn read(
        path: &Path,
        format: Option<Format>,
        columns: &PointColumns,
        id: Option<&str>,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Self, DataError> {
        let (input, format, file) = Input::open(path, format)?;
        let ids = Ids { wanted: Wanted::for_ids(id), is_required: id.is_some() };
        let mut table = match input {
            Input::Text(text) if format == Format::Csv => {
                read_csv(CsvRows::new(text, file.clone()), columns, &ids, &is_wanted)?
            }
            Input::Text(text) => read_json(JsonLines::new(text, file.clone()), columns, &ids, &is_wanted)?,
            Input::Binary(..) if ids.is_required => {
                let (wanted, available) = (ids.wanted.describe(), "latitude and longitude only".to_owned());
                return Err(DataError::MissingColumn { file, wanted, available });
            }
            input @ Input::Binary(..) => read_array(PointReader::new(input, file.clone(), format, columns)?)?,
        };
        // Rows called `row 1`, `row 2` … have no names: `locate` calls rows of embeddings so.
        let are_numbers = |names: &[String]| (1..).zip(names).all(|(row, name)| *name == format!("row {row}"));
        table.ids = table.ids.filter(|(_, names)| !are_numbers(names));
        if table.places.is_empty() { Err(DataError::NoRows { file }) } else { Ok(table) }
    }
}

/// The column, or the key, of the probabilities of countries.
const COUNTRIES: &str = "countries";

struct Ids {
    wanted: Wanted,
    is_required: bool,
}

/// Whether a text stands for no value.
fn is_absent(text: &str) -> bool {
    ["", "nan", "none", "null", "na", "n/a"].iter().any(|word| word.eq_ignore_ascii_case(text.trim()))
}

/// A place from two numbers, of which NaN is none.
fn place(at: impl FnOnce() -> At, lat_deg: f64, lon_deg: f64) -> Result<Option<LatLon>, DataError> {
    if lat_deg.is_nan() || lon_deg.is_nan() {
        return Ok(None);
    }
    LatLon::new(lat_deg, lon_deg).map(Some).map_err(|source| DataError::Place { at: at(), source })
}

type IsWanted<'a> = &'a dyn Fn(&str) -> bool;

fn read_csv(mut rows: CsvRows, columns: &PointColumns, ids: &Ids, is_wanted: IsWanted<'_>) -> Result<PlaceTable> {
    let file = rows.file.clone();
    let names: Vec<String> = header(&mut rows)?.iter().map(|name| name.trim().to_owned()).collect();
    let (lat, lon) = (columns.lat_names().column(&names, &file)?, columns.lon_names().column(&names, &file)?);
    let id = match ids.wanted.find(&names) {
        Err(NotFound::Missing) if !ids.is_required => None,
        _ => Some(ids.wanted.column(&names, &file)?),
    };
    let chosen: Vec<usize> = (0..names.len()).filter(|&index| is_wanted(&names[index])).collect();
    let mut table = PlaceTable {
        ids: id.map(|index| (names[index].clone(), Vec::new())),
        places: Vec::new(),
        numbers: chosen.iter().map(|&index| (names[index].clone(), Vec::new())).collect(),
        countries: Vec::new(),
    };
    let countries = names.iter().position(|name| name == COUNTRIES);
    while rows.advance()? {
        let fields: Vec<&[u8]> = rows.fields().collect();
        let number = |index: usize| match std::str::from_utf8(fields[index]) {
            Ok(text) if is_absent(text) => Ok(f64::NAN),
            _ => rows.number(index, || excerpt(&names[index])),
        };
        table.places.push(place(|| rows.at(), number(lat)?, number(lon)?)?);
        for (column, &index) in table.numbers.iter_mut().zip(&chosen) {
            column.1.push(number(index)?);
        }
        if let (Some((_, names)), Some(index)) = (&mut table.ids, id) {
            names.push(unguarded(String::from_utf8_lossy(fields[index]).trim().to_owned()));
        }
        if let Some(index) = countries {
            let text = String::from_utf8_lossy(fields[index]);
            let share = |one: &str| one.rsplit_once(':').and_then(|(code, p)| Some((code.to_owned(), p.parse().ok()?)));
            table.countries.push(text.split('|').filter_map(share).collect());
        }
    }
    Ok(table)
}

fn read_json(mut lines: JsonLines, columns: &PointColumns, ids: &Ids, is_wanted: IsWanted<'_>) -> Result<PlaceTable> {
    let mut table = PlaceTable { ids: None, places: Vec::new(), numbers: Vec::new(), countries: Vec::new() };
    while lines.advance()? {
        let mut object: Map<String, Value> = serde_json::from_slice(lines.line()).map_err(|error| {
            let expected = "one object like {\"id\": \"a.jpg\", \"lat\": 48.86, \"lon\": 2.35}";
            DataError::Json { at: lines.at(), reason: json_reason(&error), expected }
        })?;
        if object.len() == 1 && object.contains_key("summary") {
            continue; // the last line of `locate --json --truth`
        }
        json::lift_answer(&mut object, columns);
        let keys: Vec<String> = object.keys().cloned().collect();
        let missing_key = |wanted: &Wanted| DataError::MissingKey {
            at: lines.at(),
            wanted: wanted.describe(),
            available: list_names(keys.iter().map(String::as_str)),
        };
        let number = |key: &str| match &object[key] {
            Value::Null => Ok(f64::NAN),
            Value::String(text) if is_absent(text) => Ok(f64::NAN),
            value => value.as_f64().ok_or_else(|| {
                let (column, value) = (excerpt(key), excerpt(&value.to_string()));
                DataError::Number { at: lines.at(), column, value }
            }),
        };
        let coordinate = |wanted: &Wanted| {
            wanted.find(&keys).map_err(|_| missing_key(wanted)).and_then(|index| number(&keys[index]))
        };
        let found = place(|| lines.at(), coordinate(&columns.lat_names())?, coordinate(&columns.lon_names())?)?;
        if table.places.is_empty() {
            let id = ids.wanted.find(&keys).ok().map(|index| keys[index].clone());
            ensure!(id.is_some() || !ids.is_required, missing_key(&ids.wanted));
            table.ids = id.map(|key| (key, Vec::new()));
            let chosen = keys.iter().filter(|key| is_wanted(key));
            table.numbers = chosen.map(|key| (key.clone(), Vec::new())).collect();
        }
        table.places.push(found);
        if let Some(Value::Array(all)) = object.get(COUNTRIES) {
            let text = |one: &Value, key: &str| one.get(key).and_then(Value::as_str).map(str::to_owned);
            let code = |one: &Value| text(one, "code").filter(|code| !code.is_empty()).or_else(|| text(one, "name"));
            let share = |one: &Value| Some((code(one)?, one.get("probability")?.as_f64()?));
            table.countries.resize(table.places.len() - 1, Vec::new());
            table.countries.push(all.iter().filter_map(share).collect());
        }
        for (key, column) in &mut table.numbers {
            column.push(if object.contains_key(key) { number(key)? } else { f64::NAN });
        }
        if let Some((key, names)) = &mut table.ids {
            names.push(match object.get(key) {
                Some(Value::String(text)) => text.clone(),
                Some(value) if !value.is_null() => value.to_string(),
                _ => return Err(missing_key(&ids.wanted)),
            });
        }
    }
    if !table.countries.is_empty() {
        table.countries.resize(table.places.len(), Vec::new());
    }
    Ok(table)
}

fn read_array(reader: PointReader) -> Result<PlaceTable> {
    use SphereError::{Latitude, Longitude};
    let place = |item| match item {
        Ok((_, place)) => Ok(Some(place)),
        Err(DataError::Place { source: Latitude(v) | Longitude(v), .. }) if v.is_nan() => Ok(None),
        Err(error) => Err(error),
    };
    let places = reader.map(place).collect::<Result<_>>()?;
    Ok(PlaceTable { ids: None, places, numbers: Vec::new(), countries: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, text: &str, id: Option<&str>) -> std::result::Result<PlaceTable, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let table = PlaceTable::read(&path, None, &PointColumns::default(), id, |name| name.starts_with("r_"));
        table.map_err(|error| error.to_string().replace(path.to_str().unwrap(), name))
    }

    /// What `locate --json` writes: places inside `best`, photos that could not be read, a summary.
    #[test]
    fn answers_are_read() {
        let lines = "{\"photo\":\"a\",\"best\":{\"lat\":1,\"lon\":2},\"r_a\":3,\"countries\":[{\"code\":\"DE\",\
                     \"probability\":0.5},{\"code\":\"\",\"name\":\"X\",\"probability\":0.25}]}\n\
                     {\"photo\":\"b\",\"error\":\"cut off\"}\n{\"summary\":{\"accuracy\":1}}\n";
        let table = read("p.jsonl", lines, None).unwrap();
        assert_eq!(table.ids.unwrap().1, ["a", "b"]);
        assert_eq!(table.places, [LatLon::new(1.0, 2.0).ok(), None]);
        assert!(table.numbers[0].1[0] == 3.0 && table.numbers[0].1[1].is_nan());
        let csv = read("p.csv", "photo,lat,lon,countries\na,1,2,DE:0.5|X:0.25\nb,,,\n", None).unwrap();
        assert_eq!(table.countries, [vec![("DE".to_owned(), 0.5), ("X".to_owned(), 0.25)], vec![]]);
        assert_eq!(csv.countries, table.countries);
        let rows = "{\"photo\":\"row 1\",\"best\":{\"lat\":1,\"lon\":2}}\n";
        assert_eq!(read("p.jsonl", rows, None).unwrap().ids, None);
    }
}
