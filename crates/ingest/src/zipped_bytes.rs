//! Bytes that are deflated inside a zip archive.

use std::io::{self, Read};

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
