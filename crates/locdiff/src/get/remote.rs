//! A remote file, on a server or in a folder: its size, facts about it, and its bytes from any position.

use super::error::{GetError, unreadable};
use std::{fs::File, io::Read, io::Seek, io::SeekFrom, path::PathBuf, time::Duration};

const MOST_HOPS: usize = 8;
/// A server that sends nothing for so long is gone.
const SILENCE: Duration = Duration::from_mins(1);

#[derive(Debug, Clone)]
pub(super) enum Place {
    Web(String),
    File(PathBuf),
}

/// Facts about a file before it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) bytes: u64,
    /// What changes when the file does.
    pub(super) version: Option<String>,
    pub(super) sha256: Option<String>,
}

pub(super) struct Opened {
    pub(super) input: Box<dyn Read>,
    /// Their start: 0 if the server does not support ranges.
    pub(super) from: u64,
}

pub(super) struct Remote {
    agent: ureq::Agent,
    /// Files to copy by hand without a network.
    pub(super) by_hand: String,
}

type Response = http::Response<ureq::Body>;

impl Remote {
    pub(super) fn new() -> Self {
        let config = ureq::Agent::config_builder()
            .timeout_connect(Some(Duration::from_secs(20)))
            .timeout_per_read(Some(SILENCE))
            .user_agent(concat!("locdiff/", env!("CARGO_PKG_VERSION")))
            .accept_encoding("identity")
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .build();
        Self { agent: ureq::Agent::new_with_config(config), by_hand: String::new() }
    }

    /// Returns the facts about a file; `None` if it does not exist.
    pub(super) fn head(&self, place: &Place) -> Result<Option<Head>, GetError> {
        match place {
            Place::File(path) => match std::fs::metadata(path) {
                Ok(there) if there.is_file() => {
                    let changed = there.modified().ok().and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
                    let version = changed.map(|at| format!("{}", at.as_nanos()));
                    Ok(Some(Head { bytes: there.len(), version, sha256: None }))
                }
                Ok(_) => Ok(None),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(unreadable(path)(error)),
            },
            Place::Web(address) => {
                let (response, said) = self.ask(address, None)?;
                if matches!(response.status().as_u16(), 404 | 410) {
                    return Ok(None);
                }
                ok(address, response.status().as_u16())?;
                let bytes = header(&response, "content-length").and_then(|text| text.parse().ok());
                let bytes = bytes.ok_or_else(|| answer(address, "it does not say how long the file is"))?;
                Ok(Some(Head { bytes, ..said }))
            }
        }
    }

    /// The bytes of a file from one on, to the end or before another. A server may give all of them instead.
    pub(super) fn open(&self, place: &Place, head: &Head, from: u64, to: u64) -> Result<Opened, GetError> {
        match place {
            Place::File(path) => {
                let mut file = File::open(path).map_err(unreadable(path))?;
                file.seek(SeekFrom::Start(from)).map_err(unreadable(path))?;
                Ok(Opened { input: Box::new(file.take(to - from)), from })
            }
            Place::Web(address) => {
                let (response, said) = self.ask(address, Some((from, to)))?;
                if said.version.is_some() && said.version != head.version {
                    return Err(answer(address, "the file has changed meanwhile: fetch again"));
                }
                let mut begin = 0;
                if response.status() == 206 {
                    let range = header(&response, "content-range").unwrap_or_default();
                    if range != format!("bytes {from}-{}/{}", to - 1, head.bytes) {
                        return Err(answer(address, &format!("asked for {from}-{}, it gives '{range}'", to - 1)));
                    }
                    begin = from;
                } else {
                    ok(address, response.status().as_u16())?;
                }
                let most = if begin == from { to - from } else { head.bytes };
                let input = response.into_body().into_with_config().limit(u64::MAX).reader().take(most);
                Ok(Opened { input: Box::new(input), from: begin })
            }
        }
    }

    pub(super) fn text(&self, address: &str, most: u64) -> Result<String, GetError> {
        let (response, _) = self.ask(address, Some((0, 0)))?;
        ok(address, response.status().as_u16())?;
        let text = response.into_body().into_with_config().limit(most).read_to_string();
        text.map_err(|error| answer(address, &error.to_string()))
    }

    /// A request with its redirects: HEAD without a range, GET with one (an empty one is the whole file). Whatever a hop says of the file counts:
    /// a hub knows its hash, the server behind it does not.
    fn ask(&self, address: &str, range: Option<(u64, u64)>) -> Result<(Response, Head), GetError> {
        let mut at = address.to_owned();
        let mut linked = None;
        for _ in 0..MOST_HOPS {
            let sent = match range {
                None => self.agent.head(&at).call(),
                Some((_, 0)) => self.agent.get(&at).call(),
                Some((from, to)) => self.agent.get(&at).header("range", format!("bytes={from}-{}", to - 1)).call(),
            };
            let response = sent.map_err(|error| {
                let (reason, by_hand) = (locdiff_base::one_line(&error.to_string()), self.by_hand.clone());
                GetError::Unreachable { address: address.to_owned(), reason, by_hand }
            })?;
            linked = linked.or_else(|| header(&response, "x-linked-etag").as_deref().map(plain));
            let own = || header(&response, "etag").as_deref().map(plain);
            if !response.status().is_redirection() {
                let version: Option<String> = linked.or_else(own);
                let is_hash = |text: &String| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
                let sha256 = version.clone().filter(is_hash);
                return Ok((response, Head { bytes: 0, version, sha256 }));
            }
            let next = header(&response, "location").unwrap_or_default();
            at = joined(&at, &next).ok_or_else(|| answer(address, &format!("it leads to '{next}'")))?;
        }
        Err(answer(address, "it redirects without end"))
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Web(address) => f.write_str(address),
            Self::File(path) => path.display().fmt(f),
        }
    }
}

pub(super) fn answer(address: &str, reason: &str) -> GetError {
    GetError::Answer { address: address.to_owned(), reason: locdiff_base::one_line(reason) }
}

/// Fails unless a request went well.
fn ok(address: &str, status: u16) -> Result<(), GetError> {
    if status == 200 { Ok(()) } else { Err(answer(address, &format!("it answers with status {status}"))) }
}

fn header(response: &Response, name: &str) -> Option<String> {
    Some(response.headers().get(name)?.to_str().ok()?.to_owned())
}

fn plain(tag: &str) -> String {
    tag.trim_start_matches("W/").trim_matches('"').to_lowercase()
}

/// Where a redirect leads; never from https to http.
fn joined(from: &str, to: &str) -> Option<String> {
    let (scheme, rest) = from.split_once("://")?;
    if to.starts_with("https://") || (to.starts_with("http://") && scheme == "http") {
        Some(to.to_owned())
    } else if to.starts_with("//") {
        Some(format!("{scheme}:{to}"))
    } else if to.starts_with('/') {
        Some(format!("{scheme}://{}{to}", rest.split('/').next()?))
    } else if to.is_empty() || to.contains("://") {
        None
    } else {
        let base = from.split(['?', '#']).next()?;
        Some(format!("{}/{to}", base.rsplit_once('/').filter(|(head, _)| head.len() > scheme.len() + 2)?.0))
    }
}

#[cfg(test)]
mod tests {
    use super::joined;

    #[test]
    fn redirects_lead_where_they_may() {
        let at = "https://hub.example/a/b/model?x=1";
        assert_eq!(joined(at, "https://cdn.example/x").unwrap(), "https://cdn.example/x");
        assert_eq!(joined(at, "/c/d").unwrap(), "https://hub.example/c/d");
        assert_eq!(joined(at, "e").unwrap(), "https://hub.example/a/b/e");
        assert_eq!(joined(at, "//cdn.example/x").unwrap(), "https://cdn.example/x");
        assert_eq!(joined("http://a.example/b", "http://c.example/d").unwrap(), "http://c.example/d");
        for bad in ["http://cdn.example/x", "file:///etc/passwd", "ftp://x.example/y", ""] {
            assert_eq!(joined(at, bad), None, "{bad}");
        }
    }
}
