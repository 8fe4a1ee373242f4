//! Embedded tables are deflated.

use flate2::read::DeflateDecoder;
use std::io::Read;

/// The content of an embedded file, for a [`locdiff_sphere::Unpacker`]. The files are part of this crate and tested as
/// such, so a fault in them is a bug and panics.
pub(crate) fn inflate(deflated: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    DeflateDecoder::new(deflated).read_to_end(&mut bytes).expect("the embedded table is whole");
    bytes
}
