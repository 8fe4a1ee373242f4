//! One file a command.

pub(crate) mod decode;
pub(crate) mod density;
pub(crate) mod embed;
pub(crate) mod encode;
pub(crate) mod encoder;
pub(crate) mod evaluate;
pub(crate) mod gallery_bias;
pub(crate) mod plot;
pub(crate) mod reproduce;
pub(crate) mod sample;
pub(crate) mod train;
