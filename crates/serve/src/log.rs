//! A line for each request: the route, status and times, never a photo or its name.

use serde_json::json;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{io::Write, sync::atomic::AtomicU64, sync::atomic::Ordering};

/// Makes ids of requests: different in one process, and hardly ever the same in two.
#[derive(Debug)]
pub(crate) struct RequestIds {
    begin: u64,
    count: AtomicU64,
}

impl RequestIds {
    pub(crate) fn new() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { begin: (now.as_nanos() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15), count: AtomicU64::new(0) }
    }

    /// The client's own id where it is a harmless one, else a new one.
    pub(crate) fn id(&self, given: Option<&str>) -> String {
        let is_harmless = |text: &&str| {
            (1..=64).contains(&text.len())
                && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        };
        given.filter(is_harmless).map_or_else(
            || format!("{:016x}", self.begin.wrapping_add(self.count.fetch_add(1, Ordering::Relaxed))),
            str::to_owned,
        )
    }
}

/// A request in the log.
pub(crate) struct Line<'a> {
    pub(crate) request_id: &'a str,
    pub(crate) method: &'a str,
    /// The route, not the path that was asked for.
    pub(crate) route: &'static str,
    pub(crate) status: u16,
    pub(crate) took: Duration,
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
    /// What went wrong, by name: details may hold what the client sent.
    pub(crate) problem: Option<&'static str>,
}

/// Writes a line to standard error.
pub(crate) fn write(line: &Line<'_>) {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as u64;
    let text = json!({
        "time_ms": time, "request_id": line.request_id, "method": line.method, "route": line.route,
        "status": line.status, "ms": (line.took.as_secs_f64() * 1e4).round() / 10.0,
        "bytes_in": line.bytes_in, "bytes_out": line.bytes_out, "problem": line.problem,
    });
    // Nothing to do where standard error is closed.
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_the_clients_or_new() {
        let ids = RequestIds::new();
        assert_eq!(ids.id(Some("a-B_1.2")), "a-B_1.2");
        let new = ids.id(Some("bad\nid"));
        assert!(new.len() == 16 && new != ids.id(None) && ids.id(Some(&"x".repeat(65))).len() == 16);
    }
}
