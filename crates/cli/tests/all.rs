//! All tests of this crate in one program: linking one for each file took longer than compiling them.
mod batch;
mod belonging;
mod command;
mod common;
mod embed;
mod formats;
mod fuzz_smoke;
#[path = "common/geoclip.rs"]
mod geoclip_models;
mod immich;
#[path = "../../locdiff/tests/immich/common/mod.rs"]
mod immich_server;
mod interfaces;
mod locate;
mod onnx;
mod pipes;
mod prepared;
mod regression;
mod serve;
#[path = "common/server.rs"]
mod server;
mod snapshots;
mod structure;
mod tagging;
mod train;
mod transcripts;
mod verbosity;
#[path = "common/words.rs"]
mod words;
