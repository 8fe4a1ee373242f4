//! A server of the bundled model in this process, and a client that can misbehave.
#![allow(dead_code, unreachable_pub)] // a module of every test file, each of which uses a part of it

use locdiff::Locator;
use locdiff_serve::{ServeOptions, Server};
pub use locdiff_testing::http::{FORM, Response, part};
use locdiff_testing::{LIMIT, fixture, fixture_bytes, http, wait_until};
use std::sync::atomic::{AtomicBool, Ordering};
use std::{io::Write, net::SocketAddr, net::TcpStream, path::PathBuf, sync::Arc, thread::JoinHandle};

/// A server that runs until it is dropped.
pub struct Running {
    pub address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    /// With the bundled model, on a free port, without log lines. No time is up while a test waits, unless it sets that time itself.
    pub fn new(change: impl FnOnce(&mut ServeOptions)) -> Self {
        let mut options = ServeOptions::default();
        options.address = "127.0.0.1:0".parse().unwrap();
        options.is_logging = false;
        for time in [
            &mut options.header_timeout,
            &mut options.body_timeout,
            &mut options.request_timeout,
            &mut options.shutdown_timeout,
        ] {
            *time = 2 * LIMIT;
        }
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
    #[track_caller]
    pub fn wait(&mut self) {
        let thread = self.thread.take().unwrap();
        wait_until("the server ends", || thread.is_finished());
        thread.join().unwrap();
    }

    pub fn connect(&self) -> TcpStream {
        http::connect(self.address)
    }

    /// A connection on which a request, or a part of one, was sent.
    pub fn send(&self, request: &[u8]) -> TcpStream {
        let mut stream = self.connect();
        stream.write_all(request).unwrap();
        stream
    }

    /// The response to a request, on a connection of its own.
    pub fn ask(&self, request: &[u8]) -> Response {
        Response::to(self.address, request)
    }

    pub fn get(&self, path: &str) -> Response {
        self.ask(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").as_bytes())
    }

    pub fn post(&self, path: &str, content_type: &str, body: &[u8]) -> Response {
        self.ask(&post(path, content_type, body))
    }

    /// A number among the metrics.
    pub fn metric(&self, line: &str) -> Option<f64> {
        let request = http::request("GET /metrics", "Host: localhost\r\n", b"");
        let text = Response::if_any(self.address, &request)?.text();
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
    http::request(&format!("POST {path}"), &format!("Host: localhost\r\nContent-Type: {content_type}\r\n"), body)
}

/// A form of photos with their names.
pub fn form(photos: &[(&str, &[u8])]) -> Vec<u8> {
    http::form(&photos.iter().map(|(name, contents)| part("photo", Some(name), contents)).collect::<Vec<_>>())
}

/// What a refusal holds.
pub trait Refused {
    /// The name of the problem; fails unless the whole is as RFC 9457 wants it.
    fn problem(&self) -> String;
}

impl Refused for Response {
    #[track_caller]
    fn problem(&self) -> String {
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
    fixture_bytes(&format!("vision/{name}"))
}

pub fn photo_path(name: &str) -> PathBuf {
    fixture("vision").join(name)
}
