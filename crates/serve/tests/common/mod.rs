//! A server of the bundled model in this process, and a client that can misbehave.
#![allow(dead_code, unreachable_pub)] // a module of every test file, each of which uses a part of it

use locdiff::Locator;
use locdiff_serve::{ServeOptions, Server};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{path::PathBuf, sync::Arc, thread::JoinHandle};

/// A server that runs until it is dropped.
pub struct Running {
    pub address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    /// With the bundled model, on a free port, without log lines.
    pub fn new(change: impl FnOnce(&mut ServeOptions)) -> Self {
        let mut options = ServeOptions::default();
        options.address = "127.0.0.1:0".parse().unwrap();
        options.is_logging = false;
        change(&mut options);
        let server = Server::bind(Locator::bundled().unwrap(), options).unwrap();
        let (address, stop) = (server.address(), Arc::new(AtomicBool::new(false)));
        let asked = stop.clone();
        let thread = std::thread::spawn(move || server.run(|| asked.load(Ordering::SeqCst)).unwrap());
        Self { address, stop, thread: Some(thread) }
    }

    /// Asks it to stop; it may still finish what it has.
    pub fn ask_to_stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
    }

    /// Waits for its end.
    pub fn wait(&mut self) {
        self.thread.take().unwrap().join().unwrap();
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(2))).unwrap();
        stream
    }

    /// The response to a request, on a connection of its own.
    pub fn ask(&self, request: &[u8]) -> Response {
        let mut stream = self.connect();
        // A server that refuses early may close before all is written.
        let _ = stream.write_all(request);
        Response::read(&mut stream).expect("a response")
    }

    pub fn get(&self, path: &str) -> Response {
        self.ask(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").as_bytes())
    }

    pub fn post(&self, path: &str, content_type: &str, body: &[u8]) -> Response {
        self.ask(&post(path, content_type, body))
    }

    /// A number among the metrics.
    pub fn metric(&self, line: &str) -> Option<f64> {
        let text = self.get("/metrics").text();
        let found = text.lines().find_map(|found| found.strip_prefix(line)?.strip_prefix(' '))?;
        found.parse().ok()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.ask_to_stop();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

/// A POST request.
pub fn post(path: &str, content_type: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// A form of photos with their names.
pub fn form(photos: &[(&str, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, contents) in photos {
        let head = format!(
            "--BOUND\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"{name}\"\r\nContent-Type: image/jpeg\r\n\r\n"
        );
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(contents);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(b"--BOUND--\r\n");
    body
}

pub const FORM: &str = "multipart/form-data; boundary=BOUND";

/// What came back.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    head: String,
    pub body: Vec<u8>,
}

impl Response {
    /// Until the server closes, or the length that it announced.
    pub fn read(stream: &mut impl Read) -> Option<Self> {
        let (mut bytes, mut buffer) = (Vec::new(), vec![0; 65536]);
        loop {
            if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
                let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
                let mut found =
                    Self { status: head.split(' ').nth(1)?.parse().ok()?, head, body: bytes[end + 4..].to_vec() };
                let length = found.header("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
                while found.body.len() < length {
                    let count = stream.read(&mut buffer).ok().filter(|count| *count > 0)?;
                    found.body.extend_from_slice(&buffer[..count]);
                }
                return Some(found);
            }
            let count = stream.read(&mut buffer).ok().filter(|count| *count > 0)?;
            bytes.extend_from_slice(&buffer[..count]);
        }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).expect("text")
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// The name of the problem; fails unless the whole is as RFC 9457 wants it.
    #[track_caller]
    pub fn problem(&self) -> String {
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        let object = self.json();
        assert_eq!(object["status"], self.status);
        assert_eq!(object["request_id"].as_str(), self.header("x-request-id"));
        assert!(object["title"].is_string() && !object["detail"].as_str().unwrap().contains('\n'));
        object["type"].as_str().unwrap().strip_prefix("urn:locdiff:problem:").unwrap().to_owned()
    }
}

/// A photo of the fixtures.
pub fn photo(name: &str) -> Vec<u8> {
    std::fs::read(photo_path(name)).unwrap()
}

pub fn photo_path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/vision").join(name)
}

/// Waits until something holds.
#[track_caller]
pub fn until(what: &str, holds: impl Fn() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_mins(1), "{what} never held");
        std::thread::sleep(Duration::from_millis(20));
    }
}
