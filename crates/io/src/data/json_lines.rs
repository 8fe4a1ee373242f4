//! Lines of JSON with their place in the file.

use crate::data::{DataError, error::At};
use std::io::{BufRead, BufReader, Read};

/// Longest line that is read: a pipe without line ends must not fill the memory.
const LONGEST_LINE_BYTES: u64 = 64 << 20;

/// Lines that are not blank, counted from 1.
pub(crate) struct JsonLines {
    input: BufReader<Box<dyn Read + Send>>,
    line: Vec<u8>,
    pub(crate) file: String,
    rows: u64,
    lines: u64,
}

impl JsonLines {
    pub(crate) fn new(input: Box<dyn Read + Send>, file: String) -> Self {
        Self { input: BufReader::with_capacity(1 << 16, input), line: Vec::new(), file, rows: 0, lines: 0 }
    }

    /// Goes to the next line that is not blank; false at the end.
    pub(crate) fn advance(&mut self) -> Result<bool, DataError> {
        loop {
            self.line.clear();
            let read = self.input.by_ref().take(LONGEST_LINE_BYTES).read_until(b'\n', &mut self.line);
            if read.map_err(|source| DataError::read(&self.file, source))? == 0 {
                return Ok(false);
            }
            self.lines += 1;
            if self.line.len() as u64 == LONGEST_LINE_BYTES {
                let reason = std::io::Error::other(format!("line {} is longer than 64 MiB", self.lines));
                return Err(DataError::read(&self.file, reason));
            }
            if self.lines == 1 && self.line.starts_with(b"\xef\xbb\xbf") {
                self.line.drain(..3);
            }
            if !self.line.trim_ascii().is_empty() {
                self.rows += 1;
                return Ok(true);
            }
        }
    }

    pub(crate) fn line(&self) -> &[u8] {
        self.line.trim_ascii()
    }

    pub(crate) fn at(&self) -> At {
        At { file: self.file.clone(), row: self.rows, line: Some(self.lines) }
    }
}

/// A parser's message without its "at line 1 column 9": every line is its own document, only the column says anything.
pub(crate) fn json_reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text.split_once(" at line ").map_or(text.as_str(), |(what, _)| what);
    format!("{} at character {}", locdiff_base::excerpt(what), error.column())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_and_a_byte_order_mark_are_skipped() {
        let text = "\u{feff}[1]\r\n\n  \n[2]";
        let mut lines = JsonLines::new(Box::new(text.as_bytes()), "x.jsonl".to_owned());
        let mut seen = Vec::new();
        while lines.advance().unwrap() {
            seen.push((String::from_utf8(lines.line().to_vec()).unwrap(), lines.at().to_string()));
        }
        let expected = [("[1]", "x.jsonl, row 1 (line 1)"), ("[2]", "x.jsonl, row 2 (line 4)")];
        assert_eq!(seen, expected.map(|(line, at)| (line.to_owned(), at.to_owned())));
    }

    #[test]
    fn endless_lines_end() {
        let mut lines = JsonLines::new(Box::new(std::io::repeat(b'1')), "pipe".to_owned());
        assert_eq!(lines.advance().unwrap_err().to_string(), "cannot read pipe: line 1 is longer than 64 MiB");
    }
}
