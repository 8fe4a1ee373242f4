//! Pages: their headers, the levels that say which values are absent, and where each value's bytes lie.

use super::footer::{Chunk, Leaf, MOST_ROWS_OF_A_GROUP, Type};
use super::thrift::{Kind, Thrift, fields};
use super::{codec::short_number, error::Reason, error::cut_off, error::damaged};
use locdiff_base::ensure;
use std::{ops::Range, sync::Arc};

/// The largest page: no picture that is read is larger.
const LARGEST: u64 = 1 << 30;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    /// The values that others name by number.
    Dictionary,
    /// Values; whether its levels stand before what is packed.
    Values {
        levels_apart: bool,
    },
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Page {
    pub(crate) holds: Holds,
    /// Where its bytes begin in the file, and how many they are there.
    pub(crate) begin: u64,
    pub(crate) packed: u64,
    /// And unpacked.
    size: u64,
    pub(crate) values: u64,
    encoding: i64,
    /// Bytes of its levels, where they stand apart.
    levels: (u64, u64),
    is_packed: bool,
}

impl Page {
    /// The header at the front of bytes that lie at `at`, and the place after the page.
    pub(crate) fn parse(bytes: &[u8], at: u64, chunk: &Chunk) -> Result<(Self, u64), Reason> {
        let (mut size, mut packed, mut code) = (0, 0, -1);
        let (mut values, mut encoding, mut levels, mut is_packed) = (0, 0, (0, 0), true);
        let mut thrift = Thrift::new(bytes);
        fields!(thrift, this,
            (1, Int) => code = this.int()?,
            (2, Int) => size = this.count()?,
            (3, Int) => packed = this.count()?,
            (5 | 7, Struct) => {
                fields!(this, this, (1, Int) => values = this.count()?, (2, Int) => encoding = this.int()?,)?;
            },
            (8, Struct) => fields!(this, this,
                (1, Int) => values = this.count()?,
                (4, Int) => encoding = this.int()?,
                (5, Int) => levels.0 = this.count()?,
                (6, Int) => levels.1 = this.count()?,
                (7, False) => is_packed = false,
            )?,
        )?;
        let holds = match code {
            0 => Holds::Values { levels_apart: false },
            2 => Holds::Dictionary,
            3 => Holds::Values { levels_apart: true },
            _ => Holds::Other,
        };
        let begin = at + thrift.read() as u64;
        let end = begin.checked_add(packed).filter(|end| *end <= chunk.begin + chunk.bytes);
        let end = end.ok_or_else(|| damaged("a page lies beyond its column"))?;
        ensure!(size <= LARGEST && values <= MOST_ROWS_OF_A_GROUP, damaged("a page is larger than any"));
        Ok((Self { holds, begin, packed, size, values, encoding, levels, is_packed }, end))
    }
}

/// A page's bytes unpacked, and where each row's value lies in them.
#[derive(Debug, Clone)]
pub(crate) struct Values {
    bytes: Arc<Vec<u8>>,
    cells: Vec<Option<Range<u32>>>,
}

impl Values {
    pub(crate) fn decode(
        page: &Page,
        packed: &[u8],
        chunk: &Chunk,
        leaf: &Leaf,
        dictionary: Option<&Self>,
    ) -> Result<Self, Reason> {
        let size = page.size as usize;
        let (levels, bytes) = match page.holds {
            Holds::Values { levels_apart: true } => {
                let (definition, repetition) = page.levels;
                let before = definition.checked_add(repetition).and_then(|n| usize::try_from(n).ok());
                let before = before.ok_or_else(cut_off)?;
                let (levels, rest) = packed.split_at_checked(before).ok_or_else(cut_off)?;
                let size = size.checked_sub(before).ok_or_else(cut_off)?;
                let codec = if page.is_packed { chunk.codec()? } else { super::codec::Codec::Plain };
                (Some(&levels[repetition as usize..]), codec.unpack(rest, size)?)
            }
            _ => (None, chunk.codec()?.unpack(packed, size)?),
        };
        let count = page.values as usize;
        if page.holds == Holds::Dictionary {
            let cells = plain(&bytes, 0, leaf.kind, &mut (0..count).map(|_| true))?;
            return Ok(Self { bytes: Arc::new(bytes), cells });
        }
        let mut at = 0;
        let present = match levels {
            _ if leaf.levels == 0 => vec![true; count],
            Some(levels) => present(levels, leaf.levels, count)?,
            None => {
                at = 4 + u32::from_le_bytes(*bytes.first_chunk().ok_or_else(cut_off)?) as usize;
                present(bytes.get(4..at).ok_or_else(cut_off)?, leaf.levels, count)?
            }
        };
        match (page.encoding, dictionary) {
            (0, _) => {
                let cells = plain(&bytes, at, leaf.kind, &mut present.into_iter())?;
                Ok(Self { bytes: Arc::new(bytes), cells })
            }
            (2 | 8, Some(dictionary)) => {
                let there = present.iter().filter(|there| **there).count();
                let (&width, rest) = match bytes.get(at..).and_then(<[u8]>::split_first) {
                    Some(found) => found,
                    None if there == 0 => (&0, &[][..]),
                    None => return Err(cut_off()),
                };
                let mut numbers = hybrid(rest, width, there)?.into_iter();
                let cell = |there: bool| {
                    let number = if there { numbers.next() } else { return Ok(None) };
                    let cell = number.and_then(|number| dictionary.cells.get(number as usize).cloned().flatten());
                    cell.map(Some).ok_or_else(|| damaged("a value is not in its dictionary"))
                };
                let cells = present.into_iter().map(cell).collect::<Result<_, Reason>>()?;
                Ok(Self { bytes: Arc::clone(&dictionary.bytes), cells })
            }
            (2 | 8, None) => Err(damaged("a column's dictionary is missing")),
            (code, _) => Err(Reason::Unknown(format!("has values in encoding {code}, which is not read here"))),
        }
    }

    pub(crate) fn get(&self, row: usize) -> Option<&[u8]> {
        let range = self.cells.get(row)?.clone()?;
        self.bytes.get(range.start as usize..range.end as usize)
    }
}

/// Where values lie that are written one after another.
fn plain(
    bytes: &[u8],
    mut at: usize,
    kind: Type,
    present: &mut dyn Iterator<Item = bool>,
) -> Result<Vec<Option<Range<u32>>>, Reason> {
    let width = kind.width();
    let mut cells = Vec::new();
    for there in present {
        if !there {
            cells.push(None);
            continue;
        }
        let length = match kind {
            Type::Bytes => {
                let length = bytes.get(at..).and_then(<[u8]>::first_chunk).ok_or_else(cut_off)?;
                at += 4;
                u32::from_le_bytes(*length) as usize
            }
            _ if width == 0 => return Err(Reason::Unknown("has a column of a kind that is not read here".to_owned())),
            _ => width,
        };
        let end = at.checked_add(length).filter(|end| *end <= bytes.len()).ok_or_else(cut_off)?;
        cells.push(Some(at as u32..end as u32));
        at = end;
    }
    Ok(cells)
}

/// Which values are there: those at the last level.
fn present(bytes: &[u8], levels: u8, count: usize) -> Result<Vec<bool>, Reason> {
    let width = (8 - levels.leading_zeros()) as u8;
    Ok(hybrid(bytes, width, count)?.into_iter().map(|level| level == u32::from(levels)).collect())
}

/// Small numbers as runs of the same one and groups of eight in as few bits as they need.
fn hybrid(mut bytes: &[u8], width: u8, count: usize) -> Result<Vec<u32>, Reason> {
    ensure!(width <= 32, damaged("numbers of more than 32 bits"));
    let mut found = Vec::new();
    while found.len() < count {
        let head = short_number(&mut bytes)?;
        let left = count - found.len();
        if head & 1 == 0 {
            let (value, rest) = bytes.split_at_checked(usize::from(width.div_ceil(8))).ok_or_else(cut_off)?;
            bytes = rest;
            let value = value.iter().rev().fold(0_u32, |value, byte| value << 8 | u32::from(*byte));
            let run = usize::try_from(head >> 1).unwrap_or(left).min(left);
            ensure!(run != 0, damaged("a run of nothing"));
            found.resize(found.len() + run, value);
        } else {
            let groups = (head >> 1) as usize;
            let length = groups.saturating_mul(usize::from(width));
            // The last group may be cut where nothing of it is needed.
            let packed = &bytes[..length.min(bytes.len())];
            bytes = &bytes[packed.len()..];
            let run = groups.saturating_mul(8).min(left);
            ensure!(run != 0 && packed.len() * 8 >= run * usize::from(width), cut_off());
            found.extend((0..run).map(|k| bits(packed, k * usize::from(width), width)));
        }
    }
    Ok(found)
}

/// So many bits from a place on, the lowest first.
fn bits(bytes: &[u8], begin: usize, width: u8) -> u32 {
    let mut window = [0; 8];
    let from = begin / 8;
    let some = &bytes[from.min(bytes.len())..bytes.len().min(from + 8)];
    window[..some.len()].copy_from_slice(some);
    let value = u64::from_le_bytes(window) >> (begin % 8);
    (value & ((1_u64 << width) - 1)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_groups_are_read() {
        // Five sevens, then 0…7 in three bits each, as the format's own example packs them.
        let bytes = [10, 7, 3, 0b1000_1000, 0b1100_0110, 0b1111_1010];
        assert_eq!(hybrid(&bytes, 3, 13).unwrap(), [7, 7, 7, 7, 7, 0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(hybrid(&bytes, 3, 6).unwrap().len(), 6);
        assert!(hybrid(&bytes, 3, 14).is_err());
        assert!(hybrid(&[0, 1], 3, 1).is_err() && hybrid(&[], 3, 1).is_err());
        assert_eq!(hybrid(&[], 0, 0).unwrap(), [0; 0]);
    }
}
