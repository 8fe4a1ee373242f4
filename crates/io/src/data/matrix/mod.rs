//! Matrices in and out: one row of numbers for each point or photo.

mod random_access;
mod reader;
mod writer;

pub use random_access::RowFile;
pub use reader::MatrixReader;
pub use writer::MatrixWriter;
