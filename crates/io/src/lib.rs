//! What LocDiff reads and writes: tables, arrays and embeddings in files ([`data`]), and the metadata of photos ([`tags`]).

pub mod data;
pub mod tags;
