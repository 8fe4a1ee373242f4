//! The packed outlines and tables that `scripts/map_coastline.py` and `scripts/places_table.py` write.

use crate::sphere::polygon::Ring;

/// Reads packed bytes from front to back: numbers of seven bits a byte, the least first; differences with the sign in
/// the lowest bit; texts with their length before them. Made for files of a program: a fault in them panics.
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
    /// Begins at the first byte.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    fn take(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self.bytes.split_at(length);
        self.bytes = rest;
        taken
    }

    /// A number from 0 up.
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

    /// A difference, of either sign.
    pub fn delta(&mut self) -> i32 {
        let value = self.number() as u32;
        (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
    }

    /// So many positions of an outline, `[longitude, latitude]` in degrees: differences in 500ths of a degree.
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

    /// A text of so many bytes.
    pub fn text(&mut self, length: usize) -> String {
        String::from_utf8_lossy(self.take(length)).into_owned()
    }

    /// A text with its length before it.
    pub fn string(&mut self) -> String {
        let length = self.number();
        self.text(length)
    }

    /// Puts a text with its length before it at the end of another.
    pub fn push_string(&mut self, onto: &mut String) {
        let length = self.number();
        onto.push_str(&String::from_utf8_lossy(self.take(length)));
    }

    /// Whether all was read.
    pub fn is_at_end(&self) -> bool {
        self.bytes.is_empty()
    }
}
