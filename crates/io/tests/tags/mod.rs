//! All tests of this crate in one program: linking one for each file took longer than compiling them.
mod common;
mod facts;
mod heif;
mod location;
mod photos;
mod raw;
mod tagger;
