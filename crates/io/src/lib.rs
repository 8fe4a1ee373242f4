//! File formats of LocDiff: tables, arrays and embeddings ([`data`]), and the metadata of photos ([`tags`]).

pub mod data;
pub mod tags;
