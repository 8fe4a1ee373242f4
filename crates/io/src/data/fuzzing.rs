//! The bodies of the fuzz targets: whatever the bytes, nothing may panic, hang or take memory beyond the input's size;
//! what is read must be sound, and every error one line. `fuzz/` and the command's test `fuzz_smoke` run them.

use crate::data::{DataError, Format, MatrixReader, PointColumns, PointReader};
use std::path::Path;

/// A path or a name that should say a format.
pub fn format(bytes: &[u8]) {
    let name = String::from_utf8_lossy(bytes);
    for result in [Format::from_path(Path::new(name.as_ref())), name.parse()] {
        if let Some(format) = checked(result) {
            assert_eq!(format.name().parse::<Format>().ok(), Some(format));
        }
    }
}

/// A file of a format as points.
pub fn points(bytes: &[u8], format: Format) {
    let reader = PointReader::from_bytes("fuzz", bytes.to_vec(), format, &PointColumns::default());
    let Some(reader) = checked(reader) else { return };
    let promised = reader.rows();
    let mut last_row = 0;
    let mut items = 0;
    for item in reader {
        items += 1;
        if let Some((row, place)) = checked(item) {
            assert!(row > last_row, "rows count upwards");
            assert!((-90.0..=90.0).contains(&place.lat_deg()) && (-180.0..=180.0).contains(&place.lon_deg()));
            last_row = row;
        }
        assert!(items <= bytes.len() + 1, "no more items than bytes, and one error for an empty file");
    }
    assert!(promised.is_none_or(|rows| rows == items as u64), "a header keeps its promise");
}

/// The same as a matrix; of a safetensors file the only tensor, and one of a name.
pub fn matrix(bytes: &[u8], format: Format) {
    rows(bytes, format, None);
    if format == Format::Safetensors {
        rows(bytes, format, Some("a"));
    }
}

fn rows(bytes: &[u8], format: Format, tensor: Option<&str>) {
    let reader = MatrixReader::from_bytes("fuzz", bytes.to_vec(), format, tensor);
    let Some(mut reader) = checked(reader) else { return };
    let mut values = Vec::new();
    let mut errors = 0;
    loop {
        match checked(reader.read_row(&mut values)) {
            Some(false) => break,
            more => errors += usize::from(more.is_none()),
        }
        assert!(errors <= bytes.len(), "every error takes at least a byte");
    }
    assert!(values.iter().all(|value| value.is_finite()));
    assert_eq!(values.len() as u64, reader.columns() as u64 * reader.rows_read());
    assert!(values.len() <= bytes.len(), "a number takes at least a byte");
}

/// The value, or `None` after the error's message was looked at.
fn checked<T>(result: Result<T, DataError>) -> Option<T> {
    result.map_err(|error| assert!(!error.to_string().contains(['\n', '\r']), "one line: {error}")).ok()
}
