//! CSV files as columns of text: lists of photos, reasons, sources.

use crate::data::csv_text::unguarded;
use crate::data::{DataError, Format, csv_text::CsvRows, csv_text::guarded, csv_text::push_record};
use crate::{data::error::At, data::error::list_names, data::input::Input, data::output::Output};
use locdiff_base::{ensure, excerpt};
use std::path::Path;

/// Rows of text from a CSV file with a header; `-` is standard input.
///
/// ```
/// use locdiff_io::data::TableReader;
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("photos.csv");
/// std::fs::write(&path, "id,Path\n7,\"a, b.jpg\"\n").unwrap();
/// let mut table = TableReader::open(&path)?;
/// let column = table.column(&["file", "path"])?;
/// let (at, fields) = table.next_row()?.unwrap();
/// assert_eq!((at.row, fields[column].as_str()), (1, "a, b.jpg"));
/// assert!(table.next_row()?.is_none());
/// # Ok::<(), locdiff_io::data::DataError>(())
/// ```
pub struct TableReader {
    rows: CsvRows,
    header: Vec<String>,
}

impl TableReader {
    /// Opens a file and reads its header. Fails if the file cannot be read or is empty.
    pub fn open(path: &Path) -> Result<Self, DataError> {
        let (input, _, file) = Input::open(path, Some(Format::Csv))?;
        let Input::Text(text) = input else { unreachable!("CSV is text") };
        let mut rows = CsvRows::new(text, file);
        ensure!(rows.read()?, DataError::Empty { file: rows.file, expected: "a header and rows" });
        let header = rows.fields().map(text_of).collect();
        Ok(Self { rows, header })
    }

    /// The column of one of these names in any case, the first of them that there is; `None` where there is none.
    pub fn find(&self, names: &[&str]) -> Option<usize> {
        let at = |name: &&str| self.header.iter().position(|column| column.trim().eq_ignore_ascii_case(name));
        names.iter().find_map(at)
    }

    /// As [`TableReader::find`]. The error names the columns that there are.
    pub fn column(&self, names: &[&str]) -> Result<usize, DataError> {
        self.find(names).ok_or_else(|| DataError::MissingColumn {
            file: self.rows.file.clone(),
            wanted: names.iter().map(|name| format!("'{}'", excerpt(name))).collect::<Vec<_>>().join(" or "),
            available: list_names(self.header.iter().map(String::as_str)),
        })
    }

    /// A field as a number: `1,5` is one and a half in files that are separated by semicolons or tabs.
    pub fn number(&self, field: &str) -> Option<f64> {
        self.rows.parse(field.as_bytes())
    }

    /// The next row's fields and where it is; `None` at the end. Bytes that are not UTF-8 are replaced. Fails if the
    /// file fails or the row has more or fewer fields than the header.
    pub fn next_row(&mut self) -> Result<Option<(At, Vec<String>)>, DataError> {
        Ok(self.rows.advance()?.then(|| (self.rows.at(), self.rows.fields().map(text_of).collect())))
    }
}

fn text_of(field: &[u8]) -> String {
    unguarded(String::from_utf8_lossy(field).into_owned())
}

/// Writes rows of text as CSV. Nothing is left on the disk unless [`TableWriter::finish`] succeeds.
///
/// Text that a spreadsheet would run as a formula begins with `=`, `+`, `-`, `@`, a tab or a carriage return, and is no number.
/// It is written with a `'` before it, which [`TableReader`] and [`PlaceTable`](crate::data::PlaceTable) remove.
///
/// ```
/// use locdiff_io::data::TableWriter;
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("bad.csv");
/// let mut table = TableWriter::create(&path, &["path", "reason"])?;
/// table.write(&["a.jpg", "cut off, \"half\" of it"])?;
/// table.finish()?;
/// let text = std::fs::read_to_string(&path).unwrap();
/// assert_eq!(text, "path,reason\na.jpg,\"cut off, \"\"half\"\" of it\"\n");
/// # Ok::<(), locdiff_io::data::DataError>(())
/// ```
#[derive(Debug)]
pub struct TableWriter {
    output: Output,
    columns: usize,
    rows: u64,
    line: Vec<u8>,
    is_plain: bool,
}

impl TableWriter {
    /// Opens the output and writes the header; `-` is standard output. Fails if the output cannot be created.
    pub fn create(path: &Path, columns: &[&str]) -> Result<Self, DataError> {
        Self::begin(path, columns, false)
    }

    /// [`TableWriter::create`] for a program that takes every field as it is, and no spreadsheet.
    pub fn create_plain(path: &Path, columns: &[&str]) -> Result<Self, DataError> {
        Self::begin(path, columns, true)
    }

    fn begin(path: &Path, columns: &[&str], is_plain: bool) -> Result<Self, DataError> {
        let output = Output::create(path, Format::Csv)?;
        let mut this = Self { output, columns: columns.len(), rows: 0, line: Vec::new(), is_plain };
        this.push(columns)?;
        Ok(this)
    }

    /// Writes a row. Fails if the output fails or the row has not one field a column.
    pub fn write(&mut self, fields: &[&str]) -> Result<(), DataError> {
        self.rows += 1;
        if fields.len() != self.columns {
            let at = At { file: self.output.name.clone(), row: self.rows, line: None };
            return Err(DataError::RowLength { at, expected: self.columns, found: fields.len() });
        }
        self.push(fields)
    }

    fn push(&mut self, fields: &[&str]) -> Result<(), DataError> {
        self.line.clear();
        let field = |field: &&'_ str| if self.is_plain { (*field).to_owned() } else { guarded(field).into_owned() };
        let fields: Vec<_> = fields.iter().map(field).collect();
        push_record(&mut self.line, fields.iter().map(String::as_str));
        self.output.write(&self.line)
    }

    /// Completes the file. Returns how many rows it holds. Fails if the output fails; no file is left then.
    pub fn finish(self) -> Result<u64, DataError> {
        self.output.finish()?;
        Ok(self.rows)
    }
}
