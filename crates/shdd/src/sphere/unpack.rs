//! The packed outlines and tables that `scripts/map_coastline.py` and `scripts/places_table.py` write.

use crate::sphere::polygon::Ring;

/// Reads packed bytes from front to back. Numbers have seven bits per byte, the lowest first. Differences have their sign in
/// the lowest bit. Texts follow their length. For the files of a program: a fault in them panics.
///
/// ```
/// let mut unpacker = locdiff_shdd::sphere::Unpacker::new(&[0x96, 0x01, 3, 2, b'h', b'i']);
/// assert_eq!((unpacker.number(), unpacker.delta(), unpacker.string()), (150, -2, "hi".to_owned()));
/// assert!(unpacker.is_at_end());
/// ```
#[derive(Debug, Clone)]
pub struct Unpacker<'a> {
    bytes: &'a [u8],
}

impl<'a> Unpacker<'a> {
    /// Starts at the first byte.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    fn take(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self.bytes.split_at(length);
        self.bytes = rest;
        taken
    }

    /// Reads a number from 0 up.
    pub fn number(&mut self) -> usize {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = self.take(1)[0];
            value |= usize::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                return value;
            }
        }
    }

    /// Reads a difference with its sign.
    pub fn delta(&mut self) -> i32 {
        let value = self.number() as u32;
        (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
    }

    /// Reads `count` positions of an outline, `[longitude, latitude]` in degrees, from differences in 500ths of a degree.
    pub fn positions(&mut self, count: usize) -> Ring {
        const UNITS_PER_DEGREE: f64 = 500.0;
        let (mut x, mut y) = (0, 0);
        (0..count)
            .map(|_| {
                x += self.delta();
                y += self.delta();
                [f64::from(x) / UNITS_PER_DEGREE, f64::from(y) / UNITS_PER_DEGREE]
            })
            .collect()
    }

    /// Reads a text of `length` bytes.
    pub fn text(&mut self, length: usize) -> String {
        String::from_utf8_lossy(self.take(length)).into_owned()
    }

    /// Reads a text after its length.
    pub fn string(&mut self) -> String {
        let length = self.number();
        self.text(length)
    }

    /// Reads a text after its length, and appends it to another.
    pub fn push_string(&mut self, onto: &mut String) {
        let length = self.number();
        onto.push_str(&String::from_utf8_lossy(self.take(length)));
    }

    /// Returns whether all bytes were read.
    pub fn is_at_end(&self) -> bool {
        self.bytes.is_empty()
    }
}
