//! One file a command.

pub(crate) mod calibrate;
pub(crate) mod decode;
pub(crate) mod density;
pub(crate) mod embed;
pub(crate) mod encode;
pub(crate) mod encoder;
pub(crate) mod locate;
pub(crate) mod reproduce;
pub(crate) mod sample;
pub(crate) mod train;
