//! All tests of this crate in one program: linking one for each file took longer than compiling them.
mod album;
mod batch;
mod belonging;
mod command;
mod common;
mod embed;
mod evaluate;
mod formats;
mod fuzz_smoke;
mod geoclip;
#[path = "common/geoclip.rs"]
mod geoclip_models;
mod hybrid;
mod immich;
#[path = "../../locdiff/tests/immich/common/mod.rs"]
mod immich_server;
mod inputs;
mod interfaces;
mod locate;
mod onnx;
mod pipes;
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
