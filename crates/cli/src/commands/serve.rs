//! `locdiff serve`: answers over HTTP.

use crate::{interrupt::InterruptGuard, request::GalleryArgs, request::ModelArgs, request::open, verbosity};
use anyhow::Result;
use clap::Args;
use locdiff::LocateOptions;
use locdiff_serve::{ServeOptions, Server};
use std::{net::SocketAddr, path::PathBuf, sync::atomic::Ordering, time::Duration};

#[derive(Debug, Args)]
#[command(
    after_help = "The page is at /, all routes are described at /docs and /openapi.json. Photos go to POST /v1/locate, /v1/album or /v1/expose. \
                  Monitoring uses /health/live, /health/ready and /metrics. SIGTERM or Ctrl-C finishes open requests; a second one \
                  exits at once. Exit codes: 0: stopped. 1: failure. 2: wrong usage."
)]
pub(crate) struct Serve {
    /// Listen on this address; if other machines can reach it, it needs --key-file or --insecure
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8080")]
    #[arg(env = "LOCDIFF_ADDRESS", hide_env_values = true, value_parser = ServeOptions::parse_address)]
    address: SocketAddr,
    /// Listen on this port, instead of the one in --address
    #[arg(long, value_name = "N", env = "LOCDIFF_PORT", hide_env_values = true)]
    port: Option<u16>,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    gallery: GalleryArgs,
    /// Require a key of this file, one per line; clients send `Authorization: Bearer KEY` or `x-api-key: KEY`
    #[arg(long, value_name = "FILE", env = "LOCDIFF_KEY_FILE", hide_env_values = true, help_heading = "Access")]
    key_file: Option<PathBuf>,
    /// Allow an address that other machines can reach, without a key
    #[arg(long, env = "LOCDIFF_INSECURE", hide_env_values = true, help_heading = "Access")]
    insecure: bool,
    /// Allow pages of this origin, such as https://photos.example. Repeat for several
    #[arg(long, value_name = "ORIGIN", value_delimiter = ',', help_heading = "Access")]
    #[arg(env = "LOCDIFF_CORS_ORIGIN", hide_env_values = true)]
    cors_origin: Vec<String>,
    /// Accept this host name, such as a proxy's. Repeat for several
    #[arg(long, value_name = "NAME", value_delimiter = ',', help_heading = "Access")]
    #[arg(env = "LOCDIFF_ALLOW_HOST", hide_env_values = true)]
    allow_host: Vec<String>,
    /// Do not log requests to standard error
    #[arg(long, env = "LOCDIFF_NO_LOG", hide_env_values = true)]
    no_log: bool,
    #[command(flatten)]
    limits: Limits,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
struct Limits {
    /// Refuse request bodies of more than this many million bytes
    #[arg(long, value_name = "MB", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=4000), env = "LOCDIFF_MAX_BODY", hide_env_values = true)]
    max_body: u32,
    /// Use at most this many million bytes for all request bodies
    #[arg(long, value_name = "MB", default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..), env = "LOCDIFF_MAX_MEMORY", hide_env_values = true)]
    max_memory: u32,
    /// Refuse photos with more than N million pixels
    #[arg(long, value_name = "N", default_value_t = LocateOptions::default().max_megapixels, value_parser = clap::value_parser!(u32).range(1..=4000), env = "LOCDIFF_MAX_MEGAPIXELS", hide_env_values = true)]
    max_megapixels: u32,
    /// Refuse requests with more than N photos
    #[arg(long, value_name = "N", default_value_t = 32, env = "LOCDIFF_MAX_PHOTOS", hide_env_values = true)]
    max_photos: usize,
    /// Let N photos wait; refuse further requests with Retry-After
    #[arg(long, value_name = "N", default_value_t = 64, env = "LOCDIFF_QUEUE", hide_env_values = true)]
    queue: usize,
    /// Accept N connections at a time
    #[arg(long, value_name = "N", default_value_t = 2048, env = "LOCDIFF_CONNECTIONS", hide_env_values = true)]
    connections: usize,
    /// Give a client this many seconds to send a request's head
    #[arg(long, value_name = "S", default_value = "10", value_parser = seconds, env = "LOCDIFF_HEADER_TIMEOUT", hide_env_values = true)]
    header_timeout: Duration,
    /// Give a client this many seconds to send a request's body
    #[arg(long, value_name = "S", default_value = "30", value_parser = seconds, env = "LOCDIFF_BODY_TIMEOUT", hide_env_values = true)]
    body_timeout: Duration,
    /// Answer a request within this many seconds, or refuse it
    #[arg(long, value_name = "S", default_value = "60", value_parser = seconds, env = "LOCDIFF_REQUEST_TIMEOUT", hide_env_values = true)]
    request_timeout: Duration,
    /// Finish open requests within this many seconds after SIGTERM
    #[arg(long, value_name = "S", default_value = "30", value_parser = seconds, env = "LOCDIFF_SHUTDOWN_TIMEOUT", hide_env_values = true)]
    shutdown_timeout: Duration,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let given: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    let is_allowed = (0.01..=86_400.0).contains(&given);
    is_allowed.then(|| Duration::from_secs_f64(given)).ok_or_else(|| "0.01 to 86400 seconds".to_owned())
}

/// A key in the environment; a flag would stand in the list of processes.
const KEY: &str = "LOCDIFF_KEY";

impl Serve {
    pub(crate) fn run(self) -> Result<()> {
        let options = self.options()?;
        options.check()?;
        let mut opened = self.model.options();
        (opened.gallery, opened.geoclip) = (self.gallery.gallery, self.gallery.geoclip);
        let server = Server::bind(open(&opened, &LocateOptions::default())?, options)?;
        // Before the address is printed: a client that reads it may send a signal at once.
        let guard = InterruptGuard::begin();
        verbosity::note(&format!("listening on http://{}", server.address()));
        server.run(|| guard.stop().load(Ordering::SeqCst))?;
        verbosity::note("stopped");
        Ok(())
    }

    fn options(&self) -> Result<ServeOptions> {
        const MILLION: u64 = 1_000_000;
        let mut options = ServeOptions::default();
        options.address = self.address;
        options.address.set_port(self.port.unwrap_or(self.address.port()));
        options.keys = self.keys()?;
        options.is_open = self.insecure;
        options.cors_origins.clone_from(&self.cors_origin);
        options.allowed_hosts.clone_from(&self.allow_host);
        options.is_logging = !self.no_log;
        options.max_body_bytes = u64::from(self.limits.max_body) * MILLION;
        options.max_memory_bytes = u64::from(self.limits.max_memory) * MILLION;
        options.max_megapixels = self.limits.max_megapixels;
        options.max_photos = self.limits.max_photos;
        options.queue = self.limits.queue;
        options.connections = self.limits.connections;
        options.header_timeout = self.limits.header_timeout;
        options.body_timeout = self.limits.body_timeout;
        options.request_timeout = self.limits.request_timeout;
        options.shutdown_timeout = self.limits.shutdown_timeout;
        Ok(options)
    }

    fn keys(&self) -> Result<Vec<String>> {
        let mut keys: Vec<String> = std::env::var(KEY).into_iter().collect();
        if let Some(path) = &self.key_file {
            keys.extend(locdiff_serve::read_keys(path)?);
        }
        Ok(keys)
    }
}
