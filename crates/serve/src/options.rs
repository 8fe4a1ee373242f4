//! How a server behaves.

use crate::{ServeError, hosts::host_of};
use locdiff_base::{BadSetting, ensure, setting};
use std::{net::Ipv4Addr, net::SocketAddr, net::ToSocketAddrs, path::Path, time::Duration};

/// How a server behaves. The defaults are meant for one machine and its user.
///
/// ```
/// use locdiff_serve::ServeOptions;
/// let mut options = ServeOptions::default();
/// assert!(options.address.ip().is_loopback() && options.check().is_ok());
/// options.address = "0.0.0.0:8080".parse()?;
/// assert!(options.check().is_err()); // others reach it, and there is no key
/// options.keys = vec!["a long secret".to_owned()];
/// assert!(options.check().is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServeOptions {
    /// Where to listen; port 0 is any free one.
    pub address: SocketAddr,
    /// Who knows one of these may ask; empty: everybody who reaches the address.
    pub keys: Vec<String>,
    /// Listen where others reach it though there is no key.
    pub is_open: bool,
    /// Origins whose pages may ask; none by default.
    pub cors_origins: Vec<String>,
    /// Names by which it is asked, beside those of this machine and the address: the one of a proxy, say.
    pub allowed_hosts: Vec<String>,
    /// The most bytes of a request's body.
    pub max_body_bytes: u64,
    /// The most bytes of all bodies in memory together.
    pub max_memory_bytes: u64,
    /// The most millions of pixels of a photo.
    pub max_megapixels: u32,
    /// The most photos, or embeddings, of a request.
    pub max_photos: usize,
    /// The most photos that wait; more are refused with the time to wait.
    pub queue: usize,
    /// The most connections at a time. A new one takes the place of one that never asked anything, or waits to be accepted.
    pub connections: usize,
    /// A request's head must be here by then.
    pub header_timeout: Duration,
    /// Its body must be here by then.
    pub body_timeout: Duration,
    /// It must be answered by then.
    pub request_timeout: Duration,
    /// How long requests that are under way have when the server stops.
    pub shutdown_timeout: Duration,
    /// Whether a line is written to standard error for each request.
    pub is_logging: bool,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            keys: Vec::new(),
            is_open: false,
            cors_origins: Vec::new(),
            allowed_hosts: Vec::new(),
            max_body_bytes: 64 << 20,
            max_memory_bytes: 512 << 20,
            max_megapixels: 100,
            max_photos: 32,
            queue: 64,
            connections: 2048,
            header_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(30),
            request_timeout: Duration::from_mins(1),
            shutdown_timeout: Duration::from_secs(30),
            is_logging: true,
        }
    }
}

/// Shorter keys are guessed.
const SHORTEST_KEY: usize = 8;

impl ServeOptions {
    /// Reads an address and a port, such as `127.0.0.1:8080` or `localhost:8080`. Fails on a name that leads to no address.
    pub fn parse_address(text: &str) -> Result<SocketAddr, String> {
        let found = text.to_socket_addrs().map(Iterator::collect::<Vec<_>>).unwrap_or_default();
        let found = found.iter().find(|one| one.is_ipv4()).or(found.first()).copied();
        found.ok_or_else(|| "give an address and a port, such as 127.0.0.1:8080 or localhost:8080".to_owned())
    }

    /// Fails if a setting is out of range, or if others reach the address and there is no key.
    pub fn check(&self) -> Result<(), ServeError> {
        for (name, value) in [
            ("body limit", self.max_body_bytes),
            ("megapixels", self.max_megapixels.into()),
            ("photos of a request", self.max_photos as u64),
            ("connections", self.connections as u64),
        ] {
            ensure!(value != 0, setting::<BadSetting>(name, 0, "1 or more").into());
        }
        if self.queue < self.max_photos {
            let remedy = format!("at least the photos of a request, {}", self.max_photos);
            return Err(setting::<BadSetting>("queue", self.queue, remedy).into());
        }
        if self.max_memory_bytes < self.max_body_bytes {
            let remedy = format!("at least the body limit, {} bytes", self.max_body_bytes);
            return Err(setting::<BadSetting>("memory for bodies", self.max_memory_bytes, remedy).into());
        }
        if let Some(name) = self.allowed_hosts.iter().find(|name| host_of(name).is_none()) {
            return Err(setting::<BadSetting>("allowed host", name, "a name such as photos.example").into());
        }
        if let Some(key) = self.keys.iter().find(|key| key.len() < SHORTEST_KEY) {
            let remedy = format!("{SHORTEST_KEY} characters or more, they are guessed else");
            return Err(setting::<BadSetting>("length of a key", key.len(), remedy).into());
        }
        if !self.address.ip().is_loopback() && self.keys.is_empty() && !self.is_open {
            return Err(ServeError::Open { address: self.address });
        }
        Ok(())
    }
}

/// The keys in a file, one a line. Fails if the file cannot be read or holds none.
pub fn read_keys(path: &Path) -> Result<Vec<String>, ServeError> {
    let failed = |reason: String| ServeError::Keys { path: path.to_owned(), reason };
    let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    let keys: Vec<String> = text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect();
    if keys.is_empty() { Err(failed("it holds none, write one a line".to_owned())) } else { Ok(keys) }
}
