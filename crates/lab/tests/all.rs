//! All tests of this crate in one program: linking one for each file took longer than compiling them.
#[path = "../../cli/tests/common/mod.rs"]
mod common;
mod compare;
mod embed_location;
mod figures;
mod plot;
mod recipe;
mod reproduce;
mod snapshots;
