//! Reads the layout of `scripts/places_table.py`.

use flate2::read::DeflateDecoder;
use std::io::Read;

/// The unpacked content of an embedded file, read from front to back. The files are part of this crate and tested as
/// such, so a fault in them is a bug and panics.
pub(crate) struct Unpacker {
    bytes: Vec<u8>,
    at: usize,
}

impl Unpacker {
    pub(crate) fn new(deflated: &[u8]) -> Self {
        let mut bytes = Vec::new();
        DeflateDecoder::new(deflated).read_to_end(&mut bytes).expect("the embedded table is whole");
        Self { bytes, at: 0 }
    }

    pub(crate) fn number(&mut self) -> usize {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = self.bytes[self.at];
            self.at += 1;
            value |= usize::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                return value;
            }
        }
    }

    pub(crate) fn delta(&mut self) -> i32 {
        let value = self.number() as u32;
        (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
    }

    pub(crate) fn text(&mut self, length: usize) -> String {
        let end = self.at + length;
        let text = String::from_utf8_lossy(&self.bytes[self.at..end]).into_owned();
        self.at = end;
        text
    }

    pub(crate) fn string(&mut self) -> String {
        let length = self.number();
        self.text(length)
    }

    /// Puts a string at the end of another.
    pub(crate) fn push_string(&mut self, onto: &mut String) {
        let length = self.number();
        let end = self.at + length;
        onto.push_str(&String::from_utf8_lossy(&self.bytes[self.at..end]));
        self.at = end;
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }
}
