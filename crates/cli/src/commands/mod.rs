//! The commands: a file or a folder each.

pub(crate) mod album;
pub(crate) mod batch;
pub(crate) mod calibrate;
pub(crate) mod decode;
pub(crate) mod density;
pub(crate) mod embed;
pub(crate) mod encode;
pub(crate) mod encoder;
pub(crate) mod evaluate;
pub(crate) mod expose;
pub(crate) mod gallery;
pub(crate) mod get;
pub(crate) mod immich;
pub(crate) mod import;
pub(crate) mod locate;
pub(crate) mod review;
pub(crate) mod sample;
pub(crate) mod serve;
pub(crate) mod train;
pub(crate) mod undo;
pub(crate) mod version;
