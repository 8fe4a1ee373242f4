//! The commands: a file or a folder each, and `experiment`, which those that train and test share.

pub(crate) mod album;
pub(crate) mod batch;
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
pub(crate) mod immich;
pub(crate) mod import;
pub(crate) mod locate;
pub(crate) mod manual;
pub(crate) mod plot;
pub(crate) mod plot_study;
pub(crate) mod recipe;
pub(crate) mod reproduce;
pub(crate) mod sample;
pub(crate) mod serve;
pub(crate) mod train;
pub(crate) mod undo;
pub(crate) mod version;
