//! CSV records with their place in the file.
//!
//! On `csv-core`, the state machine inside the crate `csv`, because that crate counts lines one short in files with
//! Windows line ends or blank lines, and reads a quote that is never closed until the memory is full.

use crate::data::{DataError, csv_dialect::Dialect, error::At};
use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use locdiff_base::excerpt;
use std::io::Read;

/// Longest record that is read: a pipe without line ends must not fill the memory.
const LONGEST_RECORD_BYTES: usize = 64 << 20;

/// Records of equal length, counted from 1. Fields are bytes: a Latin-1 city name does no harm to its coordinates.
pub(crate) struct CsvRows {
    input: Box<dyn Read + Send>,
    /// What was read from the input and not yet parsed is `buffer[parsed..filled]`.
    buffer: Vec<u8>,
    parsed: usize,
    filled: usize,
    /// Made once the first line has told the dialect.
    core: Option<Box<Reader>>,
    dialect: Dialect,
    record: Record,
    /// Fields of the first record.
    columns: Option<usize>,
    pub(crate) file: String,
    rows: u64,
    /// Line ends passed.
    lines: u64,
    /// The header turned out to be data: it is the first row again.
    pub(crate) put_back: bool,
}

/// Fields one after another, and where each ends.
#[derive(Default)]
struct Record {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    fields: usize,
    /// Where the record begins.
    line: u64,
}

impl CsvRows {
    pub(crate) fn new(input: Box<dyn Read + Send>, file: String) -> Self {
        Self {
            input,
            buffer: vec![0; 1 << 16],
            parsed: 0,
            filled: 0,
            core: None,
            dialect: Dialect::COMMAS,
            record: Record { bytes: vec![0; 1024], ends: vec![0; 64], ..Record::default() },
            columns: None,
            file,
            rows: 0,
            lines: 0,
            put_back: false,
        }
    }

    pub(crate) fn advance(&mut self) -> Result<bool, DataError> {
        self.rows += 1;
        if std::mem::take(&mut self.put_back) { Ok(true) } else { self.read() }
    }

    pub(crate) fn fields(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.record.fields).map(|index| self.field(index))
    }

    fn field(&self, index: usize) -> &[u8] {
        let begin = if index == 0 { 0 } else { self.record.ends[index - 1] };
        &self.record.bytes[begin..self.record.ends[index]]
    }

    pub(crate) fn at(&self) -> At {
        At { file: self.file.clone(), row: self.rows, line: Some(self.record.line) }
    }

    pub(crate) fn number(&self, index: usize, column_name: impl FnOnce() -> String) -> Result<f64, DataError> {
        let field = self.field(index);
        self.parse(field).ok_or_else(|| DataError::Number {
            at: self.at(),
            column: column_name(),
            value: excerpt(&String::from_utf8_lossy(field)),
        })
    }

    pub(crate) fn parse(&self, field: &[u8]) -> Option<f64> {
        self.dialect.number(field)
    }

    /// The parser of the dialect that the first line shows.
    fn make_core(&mut self) -> Result<Box<Reader>, DataError> {
        let begin = self.parsed;
        while !self.buffer[begin..self.filled].contains(&b'\n') && self.filled < self.buffer.len() {
            if self.read_more()? == 0 {
                break;
            }
        }
        self.dialect = Dialect::of(&self.buffer[begin..self.filled]);
        Ok(Box::new(ReaderBuilder::new().delimiter(self.dialect.delimiter).build()))
    }

    /// Reads a record, the header first; false at the end.
    pub(crate) fn read(&mut self) -> Result<bool, DataError> {
        self.skip_line_ends()?;
        if self.core.is_none() {
            self.core = Some(self.make_core()?);
        }
        self.record.line = self.lines + 1;
        let (mut bytes, mut ends) = (0, 0);
        loop {
            let Some(core) = &mut self.core else { return Ok(false) };
            let (result, taken, new_bytes, new_ends) = core.read_record(
                &self.buffer[self.parsed..self.filled],
                &mut self.record.bytes[bytes..],
                &mut self.record.ends[ends..],
            );
            self.count_lines(taken);
            (bytes, ends) = (bytes + new_bytes, ends + new_ends);
            match result {
                ReadRecordResult::InputEmpty => _ = self.fill()?, // at the end of the file the parser sees no bytes
                ReadRecordResult::OutputFull if bytes >= LONGEST_RECORD_BYTES => {
                    let line = self.record.line;
                    let reason = format!("the row at line {line} is longer than 64 MiB: is a quote not closed?");
                    return Err(DataError::read(&self.file, std::io::Error::other(reason)));
                }
                ReadRecordResult::OutputFull => self.record.bytes.resize(2 * bytes.max(512), 0),
                ReadRecordResult::OutputEndsFull => self.record.ends.resize(2 * ends.max(32), 0),
                ReadRecordResult::End => return Ok(false),
                ReadRecordResult::Record => break,
            }
        }
        self.record.fields = ends;
        let expected = *self.columns.get_or_insert(ends);
        if ends == expected { Ok(true) } else { Err(DataError::RowLength { at: self.at(), expected, found: ends }) }
    }

    /// Passes what is left of the last line end, and blank lines, so that the record's line is where it begins.
    fn skip_line_ends(&mut self) -> Result<(), DataError> {
        loop {
            let rest = &self.buffer[self.parsed..self.filled];
            let blank = rest.iter().take_while(|&&byte| byte == b'\n' || byte == b'\r').count();
            let all = blank == rest.len();
            self.count_lines(blank);
            if !all || self.fill()? == 0 {
                return Ok(());
            }
        }
    }

    #[expect(clippy::naive_bytecount, reason = "a sum the compiler vectorises is fast enough beside the parser")]
    fn count_lines(&mut self, taken: usize) {
        let passed = &self.buffer[self.parsed..self.parsed + taken];
        self.lines += passed.iter().filter(|&&byte| byte == b'\n').count() as u64;
        self.parsed += taken;
    }

    /// Reads more once all is parsed; says how many bytes, 0 at the end of the file.
    fn fill(&mut self) -> Result<usize, DataError> {
        (self.parsed, self.filled) = (0, 0);
        self.read_more()
    }

    /// Reads after what is there; says how many bytes.
    fn read_more(&mut self) -> Result<usize, DataError> {
        loop {
            match self.input.read(&mut self.buffer[self.filled..]) {
                Ok(count) => {
                    self.filled += count;
                    return Ok(count);
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(DataError::read(&self.file, error)),
            }
        }
    }
}

/// Appends a line of fields, with quotes where one needs them.
pub(crate) fn push_record<'a>(text: &mut Vec<u8>, names: impl Iterator<Item = &'a str>) {
    let needs_quotes = |name: &str| name.contains([',', '"', '\n', '\r']);
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let fields: Vec<_> = names.map(|name| if needs_quotes(name) { quoted(name) } else { name.to_owned() }).collect();
    text.extend_from_slice(fields.join(",").as_bytes());
    text.push(b'\n');
}

pub(crate) fn guarded(field: &str) -> std::borrow::Cow<'_, str> {
    if would_run(field) && field.parse::<f64>().is_err() { format!("'{field}").into() } else { field.into() }
}

pub(crate) fn unguarded(field: String) -> String {
    match field.strip_prefix('\'') {
        Some(inner) if would_run(inner) => inner.to_owned(),
        _ => field,
    }
}

/// Whether a spreadsheet would take the field, or what is left of it without quotes, for a formula.
fn would_run(field: &str) -> bool {
    field.trim_start_matches('\'').starts_with(['=', '+', '-', '@', '\t', '\r'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rows_of(text: &[u8]) -> CsvRows {
        CsvRows::new(Box::new(std::io::Cursor::new(text.to_vec())), "x.csv".to_owned())
    }

    #[test]
    fn semicolons_tabs_and_decimal_commas_are_read() {
        for text in ["lat;lon\n48,86;2,35\n", "lat\tlon\n48,86\t2.35\n", "lat;lon\r\n48.86;2,35"] {
            let mut rows = rows_of(text.as_bytes());
            assert!(rows.read().unwrap() && rows.advance().unwrap());
            let number = |index| rows.number(index, String::new).unwrap();
            assert_eq!((number(0), number(1)), (48.86, 2.35), "{text}");
        }
    }

    #[test]
    fn rows_and_lines_are_counted_with_any_line_end() {
        for text in ["\u{feff}a,b\n1,2\n\n\"3\n\",4\n5,6\n", "a,b\r\n1,2\r\n\r\n\"3\r\n\",4\r\n5,6"] {
            let mut rows = rows_of(text.as_bytes());
            assert!(rows.read().unwrap());
            assert_eq!(rows.fields().collect::<Vec<_>>(), [b"a", b"b"]);
            let mut seen = Vec::new();
            while rows.advance().unwrap() {
                seen.push((rows.at().row, rows.at().line.unwrap(), rows.number(1, || "b".to_owned()).unwrap()));
            }
            assert_eq!(seen, [(1, 2, 2.0), (2, 4, 4.0), (3, 6, 6.0)]);
        }
    }

    #[test]
    fn a_quote_that_never_closes_ends() {
        // The line end inside the quote does not end the row.
        let endless = std::io::Cursor::new(b"a,b\n1,2\n3,\"4\n").chain(std::io::repeat(b'1'));
        let mut rows = CsvRows::new(Box::new(endless), "pipe".to_owned());
        assert!(rows.read().unwrap() && rows.advance().unwrap());
        let message = rows.advance().unwrap_err().to_string();
        assert_eq!(message, "cannot read pipe: the row at line 3 is longer than 64 MiB: is a quote not closed?");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn long_records_and_odd_names_survive_the_buffers(
            names in prop::collection::vec("[a-c\",\n\r é]{1,600}", 1..200),
        ) {
            let mut text = Vec::new();
            push_record(&mut text, names.iter().map(String::as_str));
            // A lone blank line end is no record.
            prop_assume!(names.len() > 1 || !names[0].trim_matches(['\n', '\r']).is_empty());
            let mut rows = rows_of(&text);
            prop_assert!(rows.read().unwrap());
            let fields: Vec<String> = rows.fields().map(|f| String::from_utf8(f.to_vec()).unwrap()).collect();
            prop_assert_eq!(fields, names);
        }
    }

    #[test]
    fn formulas_are_text_and_come_back() {
        for (field, written) in [
            ("=HYPERLINK(\"http://x\")", "'=HYPERLINK(\"http://x\")"),
            ("@sum", "'@sum"),
            ("-photo.jpg", "'-photo.jpg"),
            ("-12.5", "-12.5"),
            ("+1e3", "+1e3"),
            ("'=x", "''=x"),
            ("'quoted'", "'quoted'"),
            ("plain.jpg", "plain.jpg"),
            ("", ""),
        ] {
            assert_eq!(guarded(field), written);
            assert_eq!(unguarded(written.to_owned()), field);
        }
    }
}
