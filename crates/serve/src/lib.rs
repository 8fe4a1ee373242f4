//! HTTP server that locates photos with calibrated probabilities, and serves a page with a globe at `/`.
//!
//! | you want | item |
//! |---|---|
//! | a server | [`Server::bind`], [`Server::run`] |
//! | its address, keys, limits and times | [`ServeOptions`] |
//! | a page of another program, for the user of this machine alone | [`LocalPage`] |
//! | a session of [`locdiff::review`] on such a page | [`run_review`] |
//! | the same routes without a network, in a browser | [`Offline`] |
//!
//! One thread reads and writes all connections; another owns the model and computes what waited while it computed. The
//! answer to a photo is the text that `locdiff locate` prints for it as JSON, alone or among others.
//!
//! ```no_run
//! # #[cfg(feature = "server")] {
//! use locdiff_serve::{ServeOptions, Server};
//! # fn locator() -> locdiff::Locator { unimplemented!() }
//! let server = Server::bind(locator(), ServeOptions::default())?;
//! println!("http://{}", server.address());
//! server.run(|| false)?; // forever
//! # }
//! # Ok::<(), locdiff_serve::ServeError>(())
//! ```
#![cfg_attr(not(feature = "server"), allow(dead_code))] // reason: some parts of routes and problems are for the server alone

#[cfg(feature = "server")]
mod access;
mod ask;
#[cfg(feature = "server")]
mod backend;
#[cfg(feature = "server")]
mod body;
#[cfg(any(target_arch = "wasm32", test))]
mod browser;
#[cfg(feature = "server")]
mod connections;
mod engine;
#[cfg(feature = "server")]
mod error;
#[cfg(feature = "server")]
mod files;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
#[cfg(feature = "server")]
mod hosts;
mod labels;
#[cfg(feature = "server")]
mod local_page;
#[cfg(feature = "server")]
mod log;
#[cfg(feature = "server")]
mod metrics;
mod multipart;
mod offline;
#[cfg(feature = "server")]
mod openapi;
#[cfg(feature = "server")]
mod options;
mod problem;
mod query;
mod question;
#[cfg(feature = "server")]
mod queue;
mod regions;
mod render;
#[cfg(feature = "server")]
mod reply;
#[cfg(feature = "server")]
mod review;
mod routes;
#[cfg(feature = "server")]
mod server;
#[cfg(feature = "server")]
mod service;
mod shores;
#[cfg(feature = "server")]
mod stall;
mod tagging;
#[cfg(feature = "server")]
mod tiles;
mod trips;
mod uploads;
mod work;

pub use offline::{Offline, OfflineReply};
#[cfg(feature = "server")]
pub use {
    error::ServeError, local_page::LocalPage, options::ServeOptions, options::read_keys, review::run_review,
    server::Server, tiles::TileAddress,
};
