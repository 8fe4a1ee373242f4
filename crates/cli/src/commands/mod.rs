//! One file a command.

pub(crate) mod calibrate;
pub(crate) mod decode;
pub(crate) mod density;
pub(crate) mod embed;
pub(crate) mod embed_location;
pub(crate) mod encode;
pub(crate) mod encoder;
pub(crate) mod gallery;
pub(crate) mod import;
pub(crate) mod locate;
pub(crate) mod reproduce;
pub(crate) mod sample;
pub(crate) mod train;
