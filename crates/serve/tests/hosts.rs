//! Names that a server is asked by, pages that ask, and requests that two readers understand in two ways: raw requests.

use crate::common;

use common::{Refused, Response, Running, photo};
use std::io::Write;

#[test]
fn other_names_and_pages_of_other_sites_are_refused_on_every_route() {
    let server = Running::new(|options| {
        options.allowed_hosts = vec!["Photos.Example".to_owned()];
        options.cors_origins = vec!["https://friend.example".to_owned()];
    });
    let own = server.address.to_string();
    let ask = |line: &str, headers: &str| {
        let headers = headers.replace("OWN", &own);
        server.ask(format!("{line}\r\n{headers}Connection: close\r\nContent-Length: 0\r\n\r\n").as_bytes())
    };
    for line in include_str!("hosts.txt").lines().filter(|line| !line.starts_with('#')) {
        let (expected, headers) = line.split_once(' ').unwrap_or((line, ""));
        let expected: u16 = expected.parse().unwrap();
        let headers: String =
            headers.split("; ").filter(|one| !one.is_empty()).map(|one| format!("{one}\r\n")).collect();
        for path in ["/", "/page/app.js", "/docs", "/openapi.json", "/v1/info", "/metrics", "/health/live"] {
            let response = ask(&format!("GET {path} HTTP/1.1"), &headers);
            assert_eq!(response.status, expected, "{path} {headers}");
            if expected != 200 {
                response.problem();
            }
        }
        // Whatever else is wrong with a request is told to those who may ask only.
        for (line, own) in
            [("POST /v1/locate", 422), ("DELETE /v1/locate", 405), ("OPTIONS /v1/info", 405), ("GET /none", 404)]
        {
            let status = ask(&format!("{line} HTTP/1.1"), &headers).status;
            let is_asking_first = line.starts_with("OPTIONS") && headers.contains("friend");
            let own = if is_asking_first { 204 } else { own };
            assert_eq!(status, if expected == 200 { own } else { expected }, "{line} {headers}");
        }
    }
    assert_eq!(ask("GET /docs HTTP/1.0", "").status, 200, "HTTP/1.0 knows no Host");
    assert_eq!(ask("GET http://evil.example/docs HTTP/1.1", "Host: OWN\r\n").status, 421);
    assert_eq!(ask("GET http://localhost/docs HTTP/1.1", "Host: OWN\r\n").status, 200);
}

#[test]
fn a_length_that_is_said_in_two_ways_is_refused() {
    let server = Running::new(|_| {});
    let china = photo("china.jpg");
    let chunked = [format!("{:x}\r\n", china.len()).as_bytes(), &china, b"\r\n0\r\n\r\n"].concat();
    let line = "POST /v1/locate HTTP/1.1\r\nHost: localhost\r\n";
    let with = |headers: &str, body: &[u8]| [line.as_bytes(), headers.as_bytes(), b"\r\n", body].concat();
    let one = "Transfer-Encoding: chunked\r\n";
    for both in [
        "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n",
        "transfer-encoding: chunked\r\nx: y\r\ncontent-length:3\r\n",
    ] {
        let response = server.ask(&with(both, &chunked));
        assert_eq!((response.status, &*response.problem()), (400, "bad-request"), "{both}");
        // On a connection that was used before, too, also after a body that was waited for.
        let mut stream = server.connect();
        for before in [with(one, &chunked), with(&format!("Expect: 100-continue\r\n{one}"), b"")] {
            stream.write_all(&before).unwrap();
            let mut response = Response::read(&mut stream).unwrap();
            if response.status == 100 {
                stream.write_all(&chunked).unwrap();
                response = Response::read(&mut stream).unwrap();
            }
            assert_eq!(response.status, 200);
        }
        stream.write_all(&with(both, &chunked)).unwrap();
        assert_eq!(Response::read(&mut stream).unwrap().status, 400, "{both}");
    }
    // Requests that come before the last response went out: with a length they are answered, in pieces they may have both.
    let live = b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n";
    for (second, expected) in [(with(one, &chunked), 400), (live.to_vec(), 200)] {
        let mut stream = server.connect();
        stream.write_all(&[&live[..], &second].concat()).unwrap();
        // Byte by byte, so that the second response stays in the stream.
        let mut first = Vec::new();
        while !first.ends_with(b"}") {
            let mut byte = [0];
            std::io::Read::read_exact(&mut stream, &mut byte).unwrap();
            first.extend(byte);
        }
        assert!(first.starts_with(b"HTTP/1.1 200"));
        assert_eq!(Response::read(&mut stream).unwrap().status, expected);
    }
}
