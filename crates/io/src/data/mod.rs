//! Files in and out for points and for matrices (coefficients, embeddings): CSV, JSON lines, `.npy` and safetensors.
//! Everything streams, so memory stays bounded whatever the file's size; an output appears whole or not at all.
//!
//! | you want | item |
//! |---|---|
//! | the format of a path | [`Format`] |
//! | all points of a file | [`read_points`] |
//! | points one by one, in and out | [`PointReader`], [`PointWriter`] |
//! | places with names and numbers, some without an answer | [`PlaceTable`] |
//! | rows of coefficients or embeddings, in and out | [`MatrixReader`], [`MatrixWriter`] |
//! | one embedding, and the encoder it came from | [`Embedding`], [`Fingerprint`] |
//! | any row of an embedding file at any time | [`RowFile`] |
//! | any part of another file at any time | [`PositionedFile`] |
//! | named columns of text in CSV, in and out | [`TableReader`], [`TableWriter`] |
//! | any other output file, whole or not at all | [`locdiff_base::AtomicFile`] |
//! | what went wrong, in one line | [`DataError`] |
//!
//! | format | points | matrix | `-` |
//! |---|---|---|---|
//! | `.csv` | header, columns `lat`, `lon` | one row a line, header optional | yes |
//! | `.jsonl`, `.ndjson` | `{"lat": 48.9, "lon": 2.4}` a line | one array a line | yes |
//! | `.npy` | `[N, 2]`, degrees | `[N, D]` | no |
//! | `.safetensors` | tensor `points`, `[N, 2]`, degrees | the only tensor, or a named one, `[N, D]` | no |
//!
//! Binary arrays may hold f16, f32 or f64 (safetensors also bf16; npy also big-endian). They are read in row blocks, and
//! a header is believed only after it agrees with the file's size. The parser of `.npy` headers is this crate's own: `npyz`
//! allocates what a header asks for before looking, and brings big integers and a Python-literal grammar.

#![cfg_attr(test, allow(clippy::float_cmp, reason = "a round trip is exact or wrong"))]

mod array;
mod csv_dialect;
mod csv_text;
mod embedding;
mod error;
mod format;
mod input;
mod json_lines;
mod matrix;
mod npy;
mod output;
mod points;
mod positioned;
mod rows;
mod safetensors_header;
mod table;

pub use array::Dtype;
pub use embedding::{Embedding, Fingerprint};
pub(crate) use error::Result;
pub use error::{At, DataError};
pub use format::Format;
pub use matrix::{MatrixReader, MatrixWriter, RowFile};
pub use points::{PlaceTable, PointColumns, PointReader, PointWriter, read_points};
pub use positioned::PositionedFile;
pub use safetensors_header::tensor_names;
pub use table::{TableReader, TableWriter};
