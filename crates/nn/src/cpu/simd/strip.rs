//! A product of two matrices that both are laid out on the way: a block of the left side's rows at once, the right side tile by
//! tile.

use super::{
    layout::{lay_columns, lay_rows},
    scratch::with_scratch,
    side::{Side, Start},
    tile::{ROWS, Tile, TileStart, WIDTH},
};
use std::ops::Range;

/// Numbers of a sum taken at a time: a tile's block stays near the processor while all rows are multiplied with it.
const BLOCK: usize = 576;

/// Where a part's first number goes, and the distance of rows.
pub(super) struct Out {
    pub(super) c: *mut f32,
    pub(super) stride: usize,
}

/// Some rows of `a` times some columns of `b`.
///
/// # Safety
/// `out` must have room for them that no other thread touches.
pub(super) unsafe fn product(
    out: &Out,
    a: Side<'_>,
    b: Side<'_>,
    rows: Range<usize>,
    cols: Range<usize>,
    start: Start<'_>,
) {
    let (_, depth, ..) = a.layout();
    let length = block_length(depth);
    with_scratch((rows.len().next_multiple_of(ROWS) + WIDTH) * length, |scratch| {
        let (tile, groups) = scratch.split_at_mut(WIDTH * length);
        for first in (0..depth.max(1)).step_by(length) {
            let block = first..(first + length).min(depth);
            lay_rows(a, rows.clone(), block.clone(), groups, ROWS * length);
            for col in cols.clone().step_by(WIDTH) {
                let columns = col..cols.end.min(col + WIDTH);
                lay_columns(b, columns.clone(), block.clone(), tile);
                for (group, x) in groups.chunks_exact(ROWS * length).enumerate() {
                    let row = group * ROWS;
                    let sums = Tile {
                        // SAFETY: the caller's promise: the tile's rows and columns are inside `c` and ours.
                        c: unsafe { out.c.add(row * out.stride + (col - cols.start)) },
                        stride: out.stride,
                        rows: ROWS.min(rows.len() - row),
                        cols: columns.len(),
                        start: match start {
                            _ if first > 0 => TileStart::Kept,
                            Start::Zero => TileStart::Zero,
                            Start::Kept => TileStart::Kept,
                            Start::Row(row) => TileStart::Row(row[columns.clone()].as_ptr()),
                        },
                    };
                    // SAFETY: as above.
                    unsafe { sums.add(&tile[..block.len() * WIDTH], &x[..block.len() * ROWS]) };
                }
            }
        }
    });
}

/// Blocks of equal length, none longer than [`BLOCK`] by much.
fn block_length(depth: usize) -> usize {
    depth.div_ceil(depth.div_ceil(BLOCK).max(1)).max(1)
}
