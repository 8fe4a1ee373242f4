//! The same rows in every way that pyarrow writes them (`scripts/parquet_fixtures.py`), and any cut or flipped byte.

use super::ParquetFile;
use std::{fs, path::PathBuf};

fn fixture(name: &str) -> PathBuf {
    locdiff_testing::fixture(&format!("parquet/{name}.parquet"))
}

#[test]
fn rows_are_those_that_were_written() {
    for name in ["snappy", "plain", "gzip", "v2", "groups", "pages"] {
        let mut file = ParquetFile::open(&fixture(name)).unwrap();
        assert_eq!(file.columns().collect::<Vec<_>>(), ["image.bytes", "image.path", "latitude", "longitude", "id"]);
        assert_eq!(file.rows, 8, "{name}");
        let [bytes, path] = ["image.bytes", "image.path"].map(|name| file.bytes_column(&[name]).unwrap());
        let [lat, lon, id] = ["LATITUDE", "longitude", "id"].map(|name| file.number_column(&[name]).unwrap());
        // Not in their order: any row at any time.
        for row in [7, 0, 5, 6, 3, 1, 2, 4] {
            let picture = file.bytes(bytes, row).unwrap().map(<[u8]>::to_vec);
            assert_eq!(picture.is_some(), row != 5 && row != 6, "{name}, row {row}");
            assert!(picture.is_none_or(|bytes| bytes.starts_with(b"\xff\xd8") && bytes.ends_with(b"\xff\xd9")));
            let expected = match row {
                5 => None,
                6 => Some("six".to_owned()),
                _ => Some(format!("{row}.jpg")),
            };
            let found = file.bytes(path, row).unwrap().map(|text| String::from_utf8(text.to_vec()).unwrap());
            assert_eq!(found, expected, "{name}, row {row}");
            assert_eq!(file.number(lat, row).unwrap(), (row != 3).then_some(1.5 * row as f64), "{name}, row {row}");
            assert_eq!(file.number(lon, row).unwrap(), Some(-2.0 * row as f64), "{name}, row {row}");
            assert_eq!(file.number(id, row).unwrap(), Some(row as f64), "{name}, row {row}");
        }
        assert_eq!(file.bytes(bytes, 8).unwrap(), None);
        assert!(file.bytes_column(&["latitude"]).is_none() && file.number_column(&["image.path"]).is_none());
    }
}

#[test]
fn what_is_not_read_is_refused_by_name() {
    for (name, words) in [("zstd", "is packed with Zstandard"), ("split", "has values in encoding 9")] {
        let mut file = ParquetFile::open(&fixture(name)).unwrap();
        let column = file.number_column(&["latitude"]).unwrap();
        let message = file.number(column, 0).unwrap_err().to_string();
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn cuts_and_flips_are_errors_or_other_values() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    for name in ["snappy", "plain", "v2", "groups"] {
        let whole = fs::read(fixture(name)).unwrap();
        for cut in (0..whole.len()).step_by(97) {
            fs::write(&path, &whole[..cut]).unwrap();
            assert!(ParquetFile::open(&path).is_err());
        }
        for at in (0..whole.len()).step_by(7) {
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << (at % 8);
            fs::write(&path, flipped).unwrap();
            let Ok(mut file) = ParquetFile::open(&path) else { continue };
            for column in [file.bytes_column(&["image.bytes"]), file.number_column(&["latitude"])].into_iter().flatten()
            {
                for row in 0..9 {
                    let _ = file.bytes(column, row);
                }
            }
        }
    }
}
