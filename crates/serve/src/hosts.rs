//! The names by which a server may be asked. A page of another site can give its own name this machine's address (DNS rebinding),
//! and is then of the same origin for the browser: only the `Host` tells.

use crate::problem::{Kind, Problem};
use hyper::{Version, header::HOST, header::HeaderName, header::HeaderValue, header::ORIGIN, http::request::Parts};
use locdiff_base::ensure;
use std::net::IpAddr;

/// The host of `host[:port]` as it is compared, where it is one: an address, or a name in small letters.
pub(crate) fn host_of(text: &str) -> Option<String> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => rest.split_once(']').filter(|(host, _)| host.contains(':'))?,
        None => text.split_at(text.find(':').unwrap_or(text.len())),
    };
    if !(port.is_empty() || port.strip_prefix(':')?.bytes().all(|byte| byte.is_ascii_digit())) {
        return None;
    }
    if let Ok(address) = host.parse::<IpAddr>() {
        return Some(address.to_canonical().to_string());
    }
    let name = host.strip_suffix('.').unwrap_or(host);
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
    is_name.then(|| name.to_ascii_lowercase())
}

/// Loopback names, the address that the server listens on, and those that were allowed.
#[derive(Debug)]
pub(crate) struct Hosts {
    address: IpAddr,
    allowed: Vec<String>,
}

impl Hosts {
    pub(crate) fn new(address: IpAddr, allowed: &[String]) -> Self {
        Self { address: address.to_canonical(), allowed: allowed.iter().filter_map(|name| host_of(name)).collect() }
    }

    fn is_own(&self, host: &str) -> bool {
        let is_own = |address: IpAddr| address.is_loopback() || address == self.address;
        host == "localhost" || host.parse().is_ok_and(is_own) || self.allowed.iter().any(|allowed| allowed == host)
    }

    /// Fails for a request by another name, for one whose host is not clear, and for one from a page of another host, unless
    /// `origins` has it.
    pub(crate) fn check(&self, head: &Parts, origins: &[String]) -> Result<(), Problem> {
        let values = |name: HeaderName| head.headers.get_all(name).into_iter().map(HeaderValue::to_str);
        ensure!(values(HOST).count() <= 1, Problem::bad("the request has two headers 'Host'"));
        let given = values(HOST).next().map(|text| text.ok().and_then(host_of));
        ensure!(given.is_some() || head.version != Version::HTTP_11, Problem::bad("the request has no header 'Host'"));
        // A target with a host of its own goes before the header.
        let target = head.uri.authority().map(|authority| host_of(authority.as_str()));
        for host in given.iter().chain(&target) {
            let host = host.as_ref().ok_or_else(|| Problem::bad("the host is neither a name nor an address"))?;
            // Where it listens on every address, each may be meant; nobody can rebind one.
            let is_any = self.address.is_unspecified() && host.parse::<IpAddr>().is_ok();
            if !(is_any || self.is_own(host)) {
                let detail =
                    format!("this server does not answer by the name '{host}', unless it was started with it allowed");
                return Err(Problem::new(Kind::Misdirected, detail));
            }
        }
        let is_known = |origin: &str| {
            let host = origin.split_once("://").and_then(|(_, host)| host_of(host));
            let is_same = host.is_some() && Some(&host) == target.as_ref().or(given.as_ref());
            origins.iter().any(|known| known == origin) || is_same || host.is_some_and(|host| self.is_own(&host))
        };
        if values(ORIGIN).all(|origin| origin.is_ok_and(is_known)) {
            return Ok(());
        }
        Err(Problem::new(Kind::CrossSite, "the page that asks is of another origin, which is not allowed here"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_compared_without_port_and_case() {
        for (text, expected) in [
            ("LocalHost:8080", "localhost"),
            ("a.example.", "a.example"),
            ("127.0.0.1:", "127.0.0.1"),
            ("[::1]:80", "::1"),
            ("[::ffff:127.0.0.1]", "127.0.0.1"),
        ] {
            assert_eq!(host_of(text).as_deref(), Some(expected), "{text}");
        }
        for none in ["", ":80", "::1", "[::1", "[::1]x", "[a]", "a:b", "a@localhost", "localhost/x", "a b", "https://a"]
        {
            assert_eq!(host_of(none), None, "{none}");
        }
    }

    fn status(hosts: &Hosts, headers: &[(HeaderName, &str)]) -> u16 {
        let mut request = hyper::Request::new(());
        for (name, value) in headers {
            request.headers_mut().append(name, value.parse().unwrap());
        }
        hosts.check(&request.into_parts().0, &[]).map_or_else(|problem| problem.kind.status(), |()| 200)
    }

    #[test]
    fn a_server_on_every_address_is_asked_by_any_and_by_no_other_name() {
        let every = Hosts::new("0.0.0.0".parse().unwrap(), &[]);
        let one = Hosts::new("192.168.1.5".parse().unwrap(), &[]);
        for (host, origin, at_every, at_one) in [
            ("192.168.1.5:8080", "http://192.168.1.5:8080", 200, 200),
            ("192.168.1.6", "http://192.168.1.6", 200, 421),
            ("192.168.1.5", "http://203.0.113.5", 403, 403),
            ("evil.example", "http://evil.example", 421, 421),
        ] {
            let headers = [(HOST, host), (ORIGIN, origin)];
            assert_eq!((status(&every, &headers), status(&one, &headers)), (at_every, at_one), "{host} {origin}");
        }
    }
}
