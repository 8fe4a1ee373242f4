//! Limits, keys, and bodies that mean harm: a clear refusal each, and the server goes on.

use crate::common;

use common::{FORM, Refused, Response, Running, form, photo, post};
use std::io::Write;

/// A PNG file that says it has so many pixels, and holds none.
fn png_bomb(width: u32, height: u32) -> Vec<u8> {
    let crc = |bytes: &[u8]| {
        !bytes.iter().fold(u32::MAX, |crc, byte| {
            (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 * (crc & 1)))
        })
    };
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    let head = [&b"IHDR"[..], &width.to_be_bytes(), &height.to_be_bytes(), &[8, 6, 0, 0, 0]].concat();
    for chunk in [&head[..], b"IDAT\x78\x9c\x03\x00\x00\x00\x00\x01", b"IEND"] {
        bytes.extend((chunk.len() as u32 - 4).to_be_bytes());
        bytes.extend(chunk);
        bytes.extend(crc(chunk).to_be_bytes());
    }
    bytes
}

#[test]
fn hostile_bodies_are_refused_by_name() {
    let server = Running::new(|options| options.max_body_bytes = 300_000);
    let china = photo("china.jpg");
    assert!(china.len() < 300_000);
    let large = vec![0; 300_001];
    let mut broken = china.clone();
    for byte in &mut broken[700..20_000] {
        *byte = byte.wrapping_mul(7);
    }
    let cases: Vec<(&str, &str, Vec<u8>, &[u16])> = vec![
        ("noise inside", "image/jpeg", broken, &[200, 422]),
        ("too large", "image/jpeg", large, &[413]),
        ("bomb", "image/png", png_bomb(60_000, 60_000), &[413]),
        ("bomb of the largest size", "image/png", png_bomb(u32::MAX >> 1, u32::MAX >> 1), &[413, 422]),
        ("thin bomb", "image/png", png_bomb(99_000_000, 1), &[413, 422]),
        ("form without end", FORM, form(&[("a", &china)])[..5000].to_vec(), &[400]),
        // The same boundary inside: a part that begins with a head and is no photo.
        ("form in a form", FORM, form(&[("a", &form(&[("b", &china)]))]), &[415]),
    ];
    for (what, content_type, body, allowed) in cases {
        let response = server.post("/v1/locate", content_type, &body);
        assert!(allowed.contains(&response.status), "{what}: {} {}", response.status, response.text());
        if response.status != 200 {
            response.problem();
        }
    }
    // What only announces a gigabyte, or sends more than it may in pieces.
    let head = "POST /v1/locate HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/jpeg\r\n";
    let response = server.ask(format!("{head}Content-Length: 1000000000\r\n\r\nabc").as_bytes());
    assert_eq!((response.status, &*response.problem()), (413, "too-large"));
    let piece = [&b"10000\r\n"[..], &vec![7; 65536], b"\r\n"].concat();
    let pieces = piece.repeat(6);
    let response = server.ask(&[format!("{head}Transfer-Encoding: chunked\r\n\r\n").as_bytes(), &pieces].concat());
    assert_eq!(response.status, 413);
    assert_eq!(server.metric("locdiff_body_bytes"), Some(0.0), "all memory is given back");
    assert_eq!(server.post("/v1/locate", "image/jpeg", &china).status, 200);
}

#[test]
fn strange_requests_end_without_harm() {
    let server = Running::new(|_| {});
    let china = photo("china.jpg");
    let both = "POST /v1/locate HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    for (what, request) in [
        ("header flood", format!("GET / HTTP/1.1\r\nHost: localhost\r\n{}\r\n", "a: b\r\n".repeat(2000)).into_bytes()),
        (
            "long header",
            format!("GET / HTTP/1.1\r\nHost: localhost\r\na: {}\r\n\r\n", "b".repeat(200_000)).into_bytes(),
        ),
        ("long path", format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "b".repeat(200_000)).into_bytes()),
        ("two lengths", both.as_bytes().to_vec()),
        ("no HTTP", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello".to_vec()),
        ("bad query", post("/v1/locate?name=%ZZ", "image/jpeg", &china)),
        (
            "bad type",
            b"POST /v1/locate HTTP/1.1\r\nHost: localhost\r\nContent-Type: \xff\xfe\r\nContent-Length: 0\r\n\r\n"
                .to_vec(),
        ),
    ] {
        let mut stream = server.connect();
        let _ = stream.write_all(&request);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        if let Some(response) = Response::read(&mut stream) {
            assert!((400..500).contains(&response.status), "{what}: {}", response.status);
        }
    }
    assert_eq!(server.get("/health/live").status, 200);
    assert_eq!(server.post("/v1/locate", "image/jpeg", &china).status, 200);
}

#[test]
fn the_document_is_what_the_server_does() {
    let server = Running::new(|_| {});
    let document = server.get("/openapi.json").json();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let response = if method == "get" { server.get(path) } else { server.post(path, "text/html", b"") };
            let status = response.status.to_string();
            let described = &operation["responses"][&status];
            let content_type = response.header("content-type").unwrap().split(';').next().unwrap();
            assert!(described["content"][content_type].is_object(), "{method} {path}: {status} {content_type}");
            let other = if *method == "get" { server.post(path, "image/png", b"") } else { server.get(path) };
            assert_eq!((other.status, &*other.problem()), (405, "method-not-allowed"), "{path}");
            assert_eq!(other.header("allow"), Some(if *method == "get" { "GET, HEAD" } else { "POST" }), "{path}");
        }
    }
    // Every field of an answer is described, and every field that must be is there.
    let answer = server.post("/v1/locate", "image/jpeg", &photo("china.jpg")).json();
    let schema = &document["components"]["schemas"]["Answer"];
    for name in answer.as_object().unwrap().keys() {
        assert!(schema["properties"][name].is_object(), "{name} is not described");
    }
    for name in schema["required"].as_array().unwrap() {
        assert!(answer.get(name.as_str().unwrap()).is_some(), "{name} is not there");
    }
    let ids = server
        .ask(b"GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Request-Id: mine-1\r\n\r\n");
    assert_eq!(ids.header("x-request-id"), Some("mine-1"));
    // The page loads nothing from elsewhere, and may not.
    let page = server.get("/");
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe") && !policy.contains("http"));
    for (_, tail) in page
        .text()
        .match_indices("src=\"")
        .chain(page.text().match_indices("href=\""))
        .map(|(k, m)| (k, page.text()[k + m.len()..].to_owned()))
    {
        let target = tail.split('"').next().unwrap();
        // Paths beside the page, so that it can lie anywhere.
        let is_beside = !target.contains(':') && !target.starts_with('/');
        assert!(is_beside && server.get(&format!("/{target}")).status == 200, "{target}");
    }
}
