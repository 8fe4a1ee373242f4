//! How pages are packed: Snappy, which pyarrow uses unless it is told otherwise, and gzip.

use super::error::{Reason, cut_off, damaged};
use flate2::read::MultiGzDecoder;
use locdiff_base::ensure;
use std::io::Read;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Codec {
    Plain,
    Snappy,
    Gzip,
}

impl Codec {
    pub(crate) fn of(code: i64) -> Result<Self, Reason> {
        let name = match code {
            0 => return Ok(Self::Plain),
            1 => return Ok(Self::Snappy),
            2 => return Ok(Self::Gzip),
            3 => "LZO",
            4 => "Brotli",
            5 | 7 => "LZ4",
            6 => "Zstandard",
            _ => return Err(damaged(format!("its pages are packed in way {code}"))),
        };
        Err(Reason::Unknown(format!("is packed with {name}, which is not read here")))
    }

    /// Unpacks bytes that must be `size` in the end.
    pub(crate) fn unpack(self, packed: &[u8], size: usize) -> Result<Vec<u8>, Reason> {
        let found = match self {
            Self::Plain => packed.to_vec(),
            Self::Snappy => snappy(packed, size)?,
            Self::Gzip => {
                let mut found = Vec::new();
                let read = MultiGzDecoder::new(packed).take(size as u64 + 1).read_to_end(&mut found);
                read.map_err(|error| damaged(format!("a page cannot be unpacked: {error}")))?;
                found
            }
        };
        if found.len() == size { Ok(found) } else { Err(damaged("a page's size differs from its header")) }
    }
}

/// Snappy's raw format: literals and copies of what was written before.
fn snappy(mut packed: &[u8], size: usize) -> Result<Vec<u8>, Reason> {
    ensure!(short_number(&mut packed)? == size as u64, damaged("a page's size differs from its header"));
    // A copy of 64 bytes takes two at least: nothing grows more than 32 times.
    let mut found = Vec::with_capacity(size.min(packed.len().saturating_mul(32)));
    while !packed.is_empty() {
        let tag = take(&mut packed, 1)?[0];
        let (length, distance) = match tag & 3 {
            0 => {
                let short = usize::from(tag >> 2);
                let length = if short < 60 { short } else { number(take(&mut packed, short - 59)?) };
                let literal = take(&mut packed, length.checked_add(1).ok_or_else(cut_off)?)?;
                ensure!(found.len() + literal.len() <= size, damaged("a page is larger than its header says"));
                found.extend_from_slice(literal);
                continue;
            }
            1 => {
                let low = usize::from(take(&mut packed, 1)?[0]);
                (4 + usize::from(tag >> 2 & 7), usize::from(tag >> 5) << 8 | low)
            }
            2 => (1 + usize::from(tag >> 2), number(take(&mut packed, 2)?)),
            _ => (1 + usize::from(tag >> 2), number(take(&mut packed, 4)?)),
        };
        if distance == 0 || distance > found.len() || found.len() + length > size {
            return Err(damaged("a page copies bytes that it does not have"));
        }
        let from = found.len() - distance;
        if distance >= length {
            found.extend_from_within(from..from + length);
        } else {
            (from..from + length).for_each(|k| found.push(found[k]));
        }
    }
    Ok(found)
}

/// A number of at most 35 bits, seven a byte, the lowest first.
pub(super) fn short_number(bytes: &mut &[u8]) -> Result<u64, Reason> {
    let mut number = 0;
    for shift in (0..35).step_by(7) {
        let byte = take(bytes, 1)?[0];
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    Ok(number)
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Result<&'a [u8], Reason> {
    let (first, rest) = bytes.split_at_checked(count).ok_or_else(cut_off)?;
    *bytes = rest;
    Ok(first)
}

/// A number of at most four bytes, the lowest first.
fn number(bytes: &[u8]) -> usize {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | usize::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snappy_is_unpacked_and_lies_are_refused() {
        // "abc", a copy of 6 from 3 back, a copy of 4 from 1 back.
        let packed = [13, 2 << 2, b'a', b'b', b'c', 5 << 2 | 2, 3, 0, 1, 1];
        let found = Codec::Snappy.unpack(&packed, 13).unwrap();
        assert_eq!(found, b"abcabcabccccc");
        for (bytes, size) in [
            (&packed[..], 12),
            (&packed[..9], 13),
            (&[4, 1, 1][..], 4),          // a copy of nothing
            (&[2, 60 << 2, 9, 0][..], 2), // a literal that is cut off
            (&[255, 255, 255, 255, 15][..], 1),
            (&[3, 2 << 2, 1, 2, 3, 2 << 2, 1, 2, 3][..], 3), // more than said
        ] {
            assert!(Codec::Snappy.unpack(bytes, size).is_err(), "{bytes:?}");
        }
        assert!(matches!(Codec::of(6), Err(Reason::Unknown(what)) if what.contains("Zstandard")));
    }
}
