//! LocDiff over HTTP: photos in, places with calibrated probabilities out, and a page with a globe at `/`.
//!
//! | you want | item |
//! |---|---|
//! | a server | [`Server::bind`], [`Server::run`] |
//! | its address, keys, limits and times | [`ServeOptions`] |
//! | a page of another program, for the user of this machine alone | [`LocalPage`] |
//! | a desk to review places, on such a page | [`run_desk`], [`FolderBench`] |
//!
//! One thread reads and writes all connections; another owns the model and computes what waited while it computed. The
//! answer to a photo is the text that `locdiff locate` prints for it as JSON, alone or among others.
//!
//! ```no_run
//! use locdiff_serve::{ServeOptions, Server};
//! # fn locator() -> locdiff::Locator { unimplemented!() }
//! let server = Server::bind(locator(), ServeOptions::default())?;
//! println!("http://{}", server.address());
//! server.run(|| false)?; // forever
//! # Ok::<(), locdiff_serve::ServeError>(())
//! ```

mod access;
mod ask;
mod backend;
mod body;
mod budget;
mod connections;
mod desk;
mod docs;
mod error;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod hosts;
mod job;
mod labels;
mod local_page;
mod log;
mod metrics;
mod multipart;
mod openapi;
mod options;
mod problem;
mod query;
mod queue;
mod render;
mod reply;
mod routes;
mod server;
mod service;
mod shores;
mod stall;
mod tagging;
mod trips;
mod uploads;

pub use desk::{FolderBench, FolderSettings, run_desk};
pub use error::ServeError;
pub use local_page::LocalPage;
pub use options::{ServeOptions, read_keys};
pub use server::Server;
