//! Bytes that are deflated inside a zip archive.

use std::io::{self, Read};

/// What any photo may unpack to, and how many times its packed size beyond that: pictures are packed already, and even plain pixels
/// shrink less.
const FREE_BYTES: u64 = 16 << 20;
const MOST_TIMES: u64 = 100;

/// The most bytes that so many deflated ones may unpack to; without it a small archive takes any memory.
pub(crate) fn most_unpacked(packed: u64) -> u64 {
    packed.saturating_mul(MOST_TIMES).max(FREE_BYTES)
}

/// What deflated bytes hold, where they are the `size` that the directory says.
pub(crate) fn inflate(packed: &[u8], size: u64) -> io::Result<Vec<u8>> {
    let mut found = Vec::new();
    flate2::read::DeflateDecoder::new(packed).take(size.saturating_add(1)).read_to_end(&mut found)?;
    if found.len() as u64 == size {
        Ok(found)
    } else {
        Err(io::Error::other("it has another size than its archive says"))
    }
}
