//! The boxes that ISO media files are made of: HEIC, AVIF, CR3, MP4, MOV.

use std::{io::Read, io::Seek, io::SeekFrom, ops::Range};

/// A file has no more boxes side by side.
const MOST_BOXES: usize = 10_000;

/// A box: its type, and where it and its contents lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IsoBox {
    pub(crate) kind: [u8; 4],
    pub(crate) start: u64,
    pub(crate) body: Range<u64>,
}

impl IsoBox {
    pub(crate) fn of<'a>(&self, file: &'a [u8]) -> &'a [u8] {
        file.get(self.body.start as usize..self.body.end as usize).unwrap_or_default()
    }
}

/// The boxes in a part of a file, and whether they fill it; where one does not fit, those before it. Only heads are read.
pub(crate) fn boxes(file: &mut (impl Read + Seek), part: Range<u64>) -> (Vec<IsoBox>, bool) {
    let (mut found, mut start) = (Vec::new(), part.start);
    while start < part.end && found.len() < MOST_BOXES {
        let Some(next) = head(file, start, part.end) else { return (found, false) };
        start = next.body.end;
        found.push(next);
    }
    (found, start == part.end)
}

fn head(file: &mut (impl Read + Seek), start: u64, most: u64) -> Option<IsoBox> {
    let head = read_at(file, start..most.min(start + 16))?;
    let (size, kind) = (head.first_chunk()?, head.get(4..)?.first_chunk()?);
    let (end, length) = match u32::from_be_bytes(*size) {
        0 => (most, 8),
        1 => (start.checked_add(u64::from_be_bytes(*head.get(8..)?.first_chunk()?))?, 16),
        size => (start.checked_add(size.into())?, 8),
    };
    let body = start + length..end;
    (body.start <= end && end <= most).then_some(IsoBox { kind: *kind, start, body })
}

/// Bytes of a file, all or none; asked for with small ranges only.
pub(crate) fn read_at(file: &mut (impl Read + Seek), range: Range<u64>) -> Option<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(range.end.checked_sub(range.start)?).ok()?];
    file.seek(SeekFrom::Start(range.start)).ok()?;
    file.read_exact(&mut bytes).ok()?;
    Some(bytes)
}

/// Big-endian numbers, one after the other.
pub(crate) struct Numbers<'a>(pub(crate) &'a [u8]);

impl Numbers<'_> {
    /// The next number, of 0 to 8 bytes.
    pub(crate) fn next(&mut self, bytes: usize) -> Option<u64> {
        let (number, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(number.iter().fold(0, |sum, &byte| (sum << 8) | u64::from(byte)))
    }
}
