//! One file a command.

pub(crate) mod calibrate;
pub(crate) mod compare;
pub(crate) mod decode;
pub(crate) mod density;
pub(crate) mod embed;
pub(crate) mod embed_location;
pub(crate) mod encode;
pub(crate) mod encoder;
pub(crate) mod evaluate;
pub(crate) mod experiment;
pub(crate) mod gallery;
pub(crate) mod gallery_bias;
pub(crate) mod import;
pub(crate) mod locate;
pub(crate) mod plot;
pub(crate) mod reproduce;
pub(crate) mod reproduce_anchors;
pub(crate) mod reproduce_models;
pub(crate) mod reproduce_timing;
pub(crate) mod sample;
pub(crate) mod table;
pub(crate) mod train;
pub(crate) mod trial;
