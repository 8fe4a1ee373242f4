//! The directories of a TIFF structure, which EXIF data is. Nothing is moved: a changed directory is appended and the
//! pointer to it changed, so that offsets within maker notes and picture data stay true.

use std::borrow::Cow;

pub(crate) const BYTE: u16 = 1;
pub(crate) const ASCII: u16 = 2;
pub(crate) const SHORT: u16 = 3;
pub(crate) const LONG: u16 = 4;
pub(crate) const RATIONAL: u16 = 5;
pub(crate) const UNDEFINED: u16 = 7;
/// Numbers with a sign, which some phones write where EXIF wants none.
pub(crate) const SIGNED_LONG: u16 = 9;
pub(crate) const SIGNED_RATIONAL: u16 = 10;
pub(crate) const IFD: u16 = 13;

/// Texts and lists of numbers that are read are shorter, in bytes.
pub(crate) const MOST_TEXT: usize = 1 << 12;

pub(crate) type Reason = String;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    pub(crate) fn u16(self, value: u16) -> [u8; 2] {
        if self == Self::Little { value.to_le_bytes() } else { value.to_be_bytes() }
    }

    pub(crate) fn u32(self, value: u32) -> [u8; 4] {
        if self == Self::Little { value.to_le_bytes() } else { value.to_be_bytes() }
    }

    pub(crate) fn read_u16(self, bytes: [u8; 2]) -> u16 {
        if self == Self::Little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) }
    }

    pub(crate) fn read_u32(self, bytes: [u8; 4]) -> u32 {
        if self == Self::Little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) }
    }
}

/// An entry of a directory: twelve bytes, of which the last four hold the value or point to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) tag: u16,
    /// Type, count and value as they stand in the file.
    pub(crate) rest: [u8; 10],
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Directory {
    pub(crate) entries: Vec<Entry>,
    /// Where the next one of the chain stands; 0 at its end.
    pub(crate) next: u32,
}

impl Directory {
    pub(crate) fn find(&self, tag: u16) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.tag == tag)
    }

    /// Puts an entry in the place of the one of its tag, else before the first of a greater one. The others keep their
    /// order, which is not always that of their tags: readers that meet a damaged entry first give up on the directory.
    pub(crate) fn put(&mut self, entry: Entry) {
        let at = self.entries.iter().position(|other| other.tag == entry.tag);
        self.entries.retain(|other| other.tag != entry.tag);
        let at = at.or_else(|| self.entries.iter().position(|other| other.tag > entry.tag));
        self.entries.insert(at.unwrap_or(self.entries.len()), entry);
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Tiff<'a> {
    pub(crate) bytes: Cow<'a, [u8]>,
    pub(crate) order: ByteOrder,
}

impl<'a> Tiff<'a> {
    /// An empty structure: a header and a first directory without entries.
    pub(crate) fn empty() -> Self {
        let bytes = vec![b'M', b'M', 0, 42, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0];
        Self { bytes: bytes.into(), order: ByteOrder::Big }
    }

    /// Of a TIFF file, EXIF data or an Olympus RAW file, whose first bytes are others.
    pub(crate) fn parse(bytes: impl Into<Cow<'a, [u8]>>) -> Result<Self, Reason> {
        let bytes = bytes.into();
        let order = match bytes.first_chunk() {
            Some(b"II*\0" | b"IIRO" | b"IIRS") => ByteOrder::Little,
            Some(b"MM\0*" | b"MMOR") => ByteOrder::Big,
            Some(b"II+\0" | b"MM\0+") => return Err("it is a BigTIFF file".to_owned()),
            _ => return Err("its EXIF part has no header".to_owned()),
        };
        Ok(Self { bytes, order })
    }

    /// A part of a file with directories of its own and no header.
    pub(crate) fn part(bytes: &'a [u8], order: ByteOrder) -> Self {
        Self { bytes: bytes.into(), order }
    }

    pub(crate) fn first(&self) -> Result<Directory, Reason> {
        self.directory(self.first_offset()?)
    }

    pub(crate) fn first_offset(&self) -> Result<u32, Reason> {
        self.u32_at(4)
    }

    pub(crate) fn directory(&self, offset: u32) -> Result<Directory, Reason> {
        let start = offset as usize;
        let count = usize::from(self.order.read_u16(self.array_at(start)?));
        let entry = |index: usize| {
            let [a, b, rest @ ..] = self.array_at::<12>(start + 2 + 12 * index)?;
            Ok(Entry { tag: self.order.read_u16([a, b]), rest })
        };
        let entries = (0..count).map(entry).collect::<Result<_, Reason>>()?;
        // Some writers leave out the pointer at the very end.
        let next = self.u32_at(start + 2 + 12 * count).unwrap_or(0);
        Ok(Directory { entries, next })
    }

    /// The offset that an entry holds, such as that of the GPS directory.
    pub(crate) fn pointer(&self, entry: &Entry) -> u32 {
        let [_, _, _, _, _, _, value @ ..] = entry.rest;
        self.order.read_u32(value)
    }

    /// The bytes of a tag's value, where it is of one of these types, no longer than `most`, and lies inside.
    pub(crate) fn value(&self, directory: &Directory, tag: u16, kinds: &[u16], most: usize) -> Option<Vec<u8>> {
        let [a, b, c, d, e, f, value @ ..] = directory.find(tag)?.rest;
        let kind = self.order.read_u16([a, b]);
        let size = match kind {
            BYTE | ASCII | UNDEFINED => 1,
            SHORT => 2,
            LONG | SIGNED_LONG | IFD => 4,
            RATIONAL | SIGNED_RATIONAL => 8,
            _ => return None,
        };
        let length = (self.order.read_u32([c, d, e, f]) as usize).checked_mul(size)?;
        if !kinds.contains(&kind) || length > most {
            return None;
        }
        if length <= 4 {
            return Some(value[..length].to_vec());
        }
        let start = self.order.read_u32(value) as usize;
        self.bytes.get(start..start.checked_add(length)?).map(<[u8]>::to_vec)
    }

    pub(crate) fn numbers(&self, directory: &Directory, tag: u16) -> Vec<u32> {
        let longs = |bytes: Vec<u8>| bytes.as_chunks().0.iter().map(|&four| self.order.read_u32(four)).collect();
        let shorts = |bytes: Vec<u8>| bytes.as_chunks().0.iter().map(|&two| self.order.read_u16(two).into()).collect();
        let value = self.value(directory, tag, &[LONG, SIGNED_LONG, IFD], MOST_TEXT).map(longs);
        value.or_else(|| self.value(directory, tag, &[SHORT], MOST_TEXT).map(shorts)).unwrap_or_default()
    }

    pub(crate) fn below(&self, directory: &Directory, tag: u16) -> Option<Directory> {
        self.directory(*self.numbers(directory, tag).first()?).ok()
    }

    pub(crate) fn append_directory(&mut self, directory: Directory) -> Result<u32, Reason> {
        let count = u16::try_from(directory.entries.len()).map_err(|_| "it has too many tags")?;
        let offset = self.append(&self.order.u16(count))?;
        for entry in directory.entries {
            self.bytes.to_mut().extend(self.order.u16(entry.tag));
            self.bytes.to_mut().extend(entry.rest);
        }
        self.bytes.to_mut().extend(self.order.u32(directory.next));
        Ok(offset)
    }

    pub(crate) fn set_first(&mut self, offset: u32) {
        self.bytes.to_mut()[4..8].copy_from_slice(&self.order.u32(offset));
    }

    /// An entry with its value in place or, where it is longer than four bytes, appended.
    pub(crate) fn entry(&mut self, tag: u16, kind: u16, count: u32, value: &[u8]) -> Result<Entry, Reason> {
        let mut rest = [0; 10];
        rest[..2].copy_from_slice(&self.order.u16(kind));
        rest[2..6].copy_from_slice(&self.order.u32(count));
        if value.len() <= 4 {
            rest[6..6 + value.len()].copy_from_slice(value);
        } else {
            let offset = self.append(value)?;
            rest[6..].copy_from_slice(&self.order.u32(offset));
        }
        Ok(Entry { tag, rest })
    }

    fn append(&mut self, bytes: &[u8]) -> Result<u32, Reason> {
        if self.bytes.len() % 2 == 1 {
            self.bytes.to_mut().push(0);
        }
        let offset = u32::try_from(self.bytes.len()).map_err(|_| "it is larger than 4 GiB")?;
        self.bytes.to_mut().extend(bytes);
        Ok(offset)
    }

    fn u32_at(&self, at: usize) -> Result<u32, Reason> {
        Ok(self.order.read_u32(self.array_at(at)?))
    }

    fn array_at<const N: usize>(&self, at: usize) -> Result<[u8; N], Reason> {
        let found = self.bytes.get(at..).and_then(<[u8]>::first_chunk);
        found.copied().ok_or_else(|| "its EXIF part is damaged".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_keep_their_order() {
        let entry = |tag| Entry { tag, rest: [0; 10] };
        // As a camera and an editor left it: one entry is damaged, and has another's tag.
        let entries = [0x10e, 0x112, 0x1, 0x132, 0x8825, 0x9999].map(entry).to_vec();
        let mut directory = Directory { entries, next: 0 };
        directory.put(Entry { tag: 0x8825, rest: [7; 10] });
        directory.put(entry(0x8769));
        directory.put(entry(0xffff));
        let tags: Vec<u16> = directory.entries.iter().map(|entry| entry.tag).collect();
        assert_eq!(tags, [0x10e, 0x112, 0x1, 0x132, 0x8769, 0x8825, 0x9999, 0xffff]);
        assert_eq!(directory.find(0x8825).unwrap().rest, [7; 10]);
    }
}
