//! The entry point of the fuzz target: any bytes in the place of a file.

use crate::sources::parquet::{ParquetError, ParquetFile};
use std::path::Path;

/// Reads the first and last rows of every column of a file.
pub fn parquet(path: &Path) {
    let one_line = |error: ParquetError| {
        assert!(!error.to_string().contains(['\n', '\r']), "one line: {error}");
    };
    let mut file = match ParquetFile::open(path) {
        Err(error) => return one_line(error),
        Ok(file) => file,
    };
    for name in file.columns().map(str::to_owned).take(20).collect::<Vec<_>>() {
        for row in [0, 1, file.rows.saturating_sub(1), u64::MAX] {
            if let Some(column) = file.number_column(&[&name]) {
                file.number(column, row).map_err(one_line).ok();
            }
            if let Some(column) = file.bytes_column(&[&name]) {
                file.bytes(column, row).map(|_| ()).map_err(one_line).ok();
            }
        }
    }
}
