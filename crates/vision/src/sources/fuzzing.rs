//! The entry point of the fuzz target: any bytes in the place of a file.

use crate::sources::parquet::{ParquetError, ParquetFile};
use std::path::Path;

/// Reads the first and last rows of every column of a file.
pub fn parquet(path: &Path) {
    let one_line = |error: ParquetError| {
        assert!(!error.to_string().contains(['\n', '\r']), "one line: {error}");
    };
    match ParquetFile::open(path) {
        Err(error) => one_line(error),
        Ok(mut file) => {
            let names: Vec<String> = file.columns().map(str::to_owned).take(20).collect();
            for name in names {
                let names = [name.as_str()];
                for row in [0, 1, file.rows().saturating_sub(1), u64::MAX] {
                    if let Some(column) = file.number_column(&names) {
                        file.number(column, row).map_err(one_line).ok();
                    }
                    if let Some(column) = file.bytes_column(&names) {
                        file.bytes(column, row).map(|_| ()).map_err(one_line).ok();
                    }
                }
            }
        }
    }
}
