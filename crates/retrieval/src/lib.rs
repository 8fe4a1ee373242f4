//! Retrieval: galleries of located photos and exact search in them ([`gallery`]), GeoCLIP's location encoder and gallery ([`geoclip`]).

pub mod gallery;
pub mod geoclip;
