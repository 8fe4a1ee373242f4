//! All tests of this crate in one program: linking one for each file took longer than compiling them.
mod augment;
mod batches;
mod bulk;
mod clip;
mod common;
mod encoder;
mod fingerprint;
mod heif;
mod lite2;
mod networks;
mod onnx;
mod photos;
mod resize;
mod towers;
