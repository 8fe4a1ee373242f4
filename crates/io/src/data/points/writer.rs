//! Writing points, with numbers about each.

use super::POINTS_TENSOR;
use crate::data::output::{Output, push_number, push_numbers};
use crate::data::safetensors_header::{OutputTensor, file_header};
use crate::data::{DataError, Format, array::Dtype, csv_text::push_record};
use locdiff_base::excerpt;
use locdiff_shdd::sphere::LatLon;
use std::path::Path;

/// Writes points one by one. Nothing is left on the disk unless [`PointWriter::finish`] succeeds.
///
/// The columns are given in their order and must include `lat` and `lon`; the others take the `extra` numbers of
/// each row. CSV and JSON lines write all of them. `.npy` holds lat and lon only; safetensors holds them as the
/// tensor `points` and each other column as a tensor of its own, collected in memory until the end.
#[derive(Debug)]
pub struct PointWriter {
    output: Output,
    format: Format,
    columns: Vec<String>,
    rows: u64,
    buffer: Vec<u8>,
    /// safetensors: the bytes of each extra column.
    extra_tensors: Vec<Vec<u8>>,
}

impl PointWriter {
    /// Opens the output; `-` is standard output. Without a format the path's extension says it. Fails if the format is
    /// unknown, the output cannot be created, or the columns lack `lat` or `lon` or repeat a name.
    pub fn create(path: &Path, format: Option<Format>, columns: &[&str]) -> Result<Self, DataError> {
        let format = Format::of_output(path, format, Format::Csv)?;
        check_columns(columns, format)
            .map_err(|reason| DataError::OutputColumns { file: locdiff_base::display_name(path, "-"), reason })?;
        let columns: Vec<String> = columns.iter().map(ToString::to_string).collect();
        let output = Output::create(path, format)?;
        let extra_tensors = vec![Vec::new(); if format == Format::Safetensors { columns.len() - 2 } else { 0 }];
        let mut this = Self { output, format, columns, rows: 0, buffer: Vec::new(), extra_tensors };
        if format == Format::Csv {
            push_record(&mut this.buffer, this.columns.iter().map(String::as_str));
        }
        this.buffer.extend(this.header().unwrap_or_default());
        this.output.write(&this.buffer)?;
        Ok(this)
    }

    /// Writes a point and its extra numbers, one for each other column. What is not finite is written as `NaN` or `inf`
    /// in CSV and as `null` in JSON. Fails if the output fails or `extra` has the wrong length.
    pub fn write(&mut self, place: LatLon, extra: &[f64]) -> Result<(), DataError> {
        let expected = self.columns.len() - 2;
        if extra.len() != expected {
            let reason = format!("row {} has {} extra numbers: give {expected}", self.rows + 1, extra.len());
            return Err(DataError::OutputColumns { file: self.output.name.clone(), reason });
        }
        self.rows += 1;
        self.buffer.clear();
        match self.format {
            Format::Csv => {
                let values = self.values(place, extra);
                push_numbers(&mut self.buffer, &values, push_number);
                self.buffer.push(b'\n');
            }
            Format::Jsonl => self.push_json(&self.values(place, extra)),
            Format::Npy | Format::Safetensors => {
                Dtype::F64.push(&mut self.buffer, place.lat_deg());
                Dtype::F64.push(&mut self.buffer, place.lon_deg());
                for (tensor, &value) in self.extra_tensors.iter_mut().zip(extra) {
                    Dtype::F64.push(tensor, value);
                }
            }
        }
        self.output.write(&self.buffer)
    }

    /// Completes the file. Returns how many points it holds. Fails if the output fails; no file is left then.
    pub fn finish(mut self) -> Result<u64, DataError> {
        for tensor in &self.extra_tensors {
            self.output.write(tensor)?;
        }
        if let Some(header) = self.header() {
            self.output.write_at_start(&header)?;
        }
        self.output.finish()?;
        Ok(self.rows)
    }

    fn values(&self, place: LatLon, extra: &[f64]) -> Vec<f64> {
        let mut extra = extra.iter();
        let value = |column: &String| match column.as_str() {
            "lat" => place.lat_deg(),
            "lon" => place.lon_deg(),
            _ => *extra.next().unwrap_or(&f64::NAN),
        };
        self.columns.iter().map(value).collect()
    }

    fn push_json(&mut self, values: &[f64]) {
        for (index, &value) in values.iter().enumerate() {
            self.buffer.push(if index > 0 { b',' } else { b'{' });
            let key = serde_json::Value::from(self.columns[index].as_str()).to_string();
            self.buffer.extend_from_slice(key.as_bytes());
            self.buffer.push(b':');
            if value.is_finite() {
                push_number(&mut self.buffer, value);
            } else {
                self.buffer.extend_from_slice(b"null");
            }
        }
        self.buffer.extend_from_slice(b"}\n");
    }

    fn header(&self) -> Option<Vec<u8>> {
        let tensor = |name, shape| OutputTensor { name, dtype: Dtype::F64, shape };
        let extras = self.columns.iter().filter(|name| !["lat", "lon"].contains(&name.as_str()));
        let extras = extras.map(|name| tensor(name.as_str(), vec![self.rows]));
        let tensors: Vec<_> = [tensor(POINTS_TENSOR, vec![self.rows, 2])].into_iter().chain(extras).collect();
        file_header(self.format, &tensors, None)
    }
}

fn check_columns(names: &[&str], format: Format) -> Result<(), String> {
    if let Some(required) = ["lat", "lon"].iter().find(|required| !names.contains(required)) {
        return Err(format!("its columns lack '{required}': add it"));
    }
    for (index, name) in names.iter().enumerate() {
        let taken = format == Format::Safetensors && [POINTS_TENSOR, "__metadata__"].contains(name);
        if taken || names[..index].contains(name) {
            return Err(format!("two columns would be called '{}': rename one", excerpt(name)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{PointColumns, read_points};
    use proptest::prelude::*;

    fn round_trip(format: Format, rows: &[(LatLon, f64, f64)], columns: &[&str]) -> (Vec<LatLon>, Vec<u8>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(format!("x.{format}"));
        let mut writer = PointWriter::create(&path, None, columns).unwrap();
        for &(place, first, second) in rows {
            writer.write(place, &[first, second]).unwrap();
        }
        assert_eq!(writer.finish().unwrap(), rows.len() as u64);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        (read_points(&path, None, &PointColumns::default()).unwrap(), std::fs::read(&path).unwrap())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))] // each case waits for the disk several times

        #[test]
        fn points_round_trip_to_the_last_bit_in_every_format(
            rows in prop::collection::vec((-90.0..=90.0f64, -180.0..=180.0f64, any::<f64>(), any::<f64>()), 1..20),
        ) {
            let rows: Vec<_> = rows.into_iter().map(|(lat, lon, a, b)| (LatLon::new(lat, lon).unwrap(), a, b)).collect();
            let places: Vec<LatLon> = rows.iter().map(|row| row.0).collect();
            for format in Format::ALL {
                for columns in [["row", "lat", "lon", "x"], ["lon", "a \"b\",\n", "c", "lat"]] {
                    prop_assert_eq!(&round_trip(format, &rows, &columns).0, &places, "{}", format);
                }
            }
        }
    }

    #[test]
    fn extra_numbers_arrive() {
        let rows = [(LatLon::new(1.0, -2.5).unwrap(), 1.0, f64::NAN), (LatLon::new(3.0, 4.0).unwrap(), 2.0, -0.5)];
        let columns = ["row", "lat", "lon", "score"];
        let text = |format| String::from_utf8(round_trip(format, &rows, &columns).1).unwrap();
        assert_eq!(text(Format::Csv), "row,lat,lon,score\n1,1,-2.5,NaN\n2,3,4,-0.5\n");
        let lines =
            "{\"row\":1,\"lat\":1,\"lon\":-2.5,\"score\":null}\n{\"row\":2,\"lat\":3,\"lon\":4,\"score\":-0.5}\n";
        assert_eq!(text(Format::Jsonl), lines);
        let bytes = round_trip(Format::Safetensors, &rows, &columns).1;
        let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
        assert_eq!(file.tensor("points").unwrap().shape(), [2, 2]);
        assert_eq!(file.tensor("row").unwrap().data(), [1f64.to_le_bytes(), 2f64.to_le_bytes()].concat());
        assert_eq!(file.tensor("score").unwrap().data()[8..], (-0.5f64).to_le_bytes());
    }

    #[test]
    fn wrong_columns_are_errors_and_leave_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.safetensors");
        for (columns, part) in [
            (&["lat"][..], "lack 'lon'"),
            (&["lat", "lon", "a", "a"], "two columns would be called 'a'"),
            (&["lat", "lon", "points"], "two columns would be called 'points'"),
        ] {
            let message = PointWriter::create(&path, None, columns).unwrap_err().to_string();
            assert!(message.contains(part), "{message}");
        }
        let mut writer = PointWriter::create(&path, None, &["lat", "lon", "a"]).unwrap();
        let message = writer.write(LatLon::new(0.0, 0.0).unwrap(), &[]).unwrap_err().to_string();
        assert!(message.contains("row 1 has 0 extra numbers: give 1"), "{message}");
        drop(writer);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn no_points_are_a_file_with_a_header() {
        let folder = tempfile::tempdir().unwrap();
        for format in Format::ALL {
            let path = folder.path().join(format!("x.{format}"));
            assert_eq!(PointWriter::create(&path, None, &["lat", "lon"]).unwrap().finish().unwrap(), 0);
            let message = read_points(&path, None, &PointColumns::default()).unwrap_err().to_string();
            assert!(message.contains("no rows") || message.contains("empty"), "{message}");
        }
    }
}
