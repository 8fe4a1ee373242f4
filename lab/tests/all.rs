//! All tests of the program in one binary: linking one for each file took longer than compiling them.
mod commands;
#[path = "../../crates/cli/tests/common/mod.rs"]
mod common;
mod compare;
mod datasets;
mod divergence;
mod figures;
mod recipe;
mod theory;
#[path = "../../crates/shdd/tests/common/zonal.rs"]
mod zonal;
