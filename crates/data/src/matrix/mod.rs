//! Matrices in and out: one row of numbers for each point or photo.

mod reader;
mod writer;

pub use reader::MatrixReader;
pub use writer::MatrixWriter;
