//! All tests of the program in one binary: linking one for each file took longer than compiling them.
#[path = "../../crates/cli/tests/common/mod.rs"]
mod common;
mod compare;
mod datasets;
mod divergence;
mod embed_location;
mod figures;
mod messages;
mod plot;
mod recipe;
mod reproduce;
mod theory;
#[path = "../../crates/shdd/tests/common/zonal.rs"]
mod zonal;
