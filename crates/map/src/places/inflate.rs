//! Embedded tables are deflated.

use flate2::read::DeflateDecoder;
use locdiff_shdd::sphere::{Polygon, Ring, Unpacker};
use std::io::Read;

/// The content of an embedded file. A fault in it is a bug of this crate, and panics.
pub(crate) fn inflate(deflated: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    DeflateDecoder::new(deflated).read_to_end(&mut bytes).expect("the embedded table is whole");
    bytes
}

/// The polygons of an area: how many, then each ring by ring, the outer one first.
pub(crate) fn unpack_polygons(unpacker: &mut Unpacker) -> Vec<Polygon> {
    (0..unpacker.number())
        .map(|_| {
            let mut rings: Vec<Ring> = (0..unpacker.number()).map(|_| unpack_ring(unpacker)).collect();
            let outer = rings.remove(0);
            Polygon { outer, holes: rings }
        })
        .collect()
}

/// A ring is packed without its last position, which is the first.
fn unpack_ring(unpacker: &mut Unpacker) -> Ring {
    let count = unpacker.number();
    let mut positions = unpacker.positions(count);
    positions.extend(positions.first().copied());
    positions
}
