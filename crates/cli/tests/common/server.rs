//! Commands that serve a page, as processes.
#![allow(dead_code, unreachable_pub)] // a module of several test files, each of which uses a part of it

use crate::common::command;
use locdiff_testing::{http, signal};
use std::io::{BufRead, BufReader, Read, Write};
use std::{net::TcpStream, path::Path, process::Child, process::ChildStderr, process::Stdio};

pub struct Server {
    process: Child,
    /// What it printed when it was ready.
    pub announced: String,
    log: BufReader<ChildStderr>,
}

impl Server {
    /// `locdiff serve`, for which no time is up while a test waits.
    pub fn start(folder: &Path, flags: &str, environment: &[(&str, &str)]) -> Self {
        let times = "--header-timeout 3600 --body-timeout 3600 --request-timeout 3600 --shutdown-timeout 3600";
        Self::run(folder, &format!("serve --device cpu {times} {flags}"), environment)
    }

    /// A command that announces an address.
    #[track_caller]
    pub fn run(folder: &Path, words: &str, environment: &[(&str, &str)]) -> Self {
        let mut asked = command(folder, words);
        asked.envs(environment.iter().copied()).stderr(Stdio::piped()).stdout(Stdio::null());
        let mut process = asked.spawn().unwrap();
        let mut log = BufReader::new(process.stderr.take().unwrap());
        let mut announced = String::new();
        while !announced.contains("http://") {
            announced.clear();
            assert!(log.read_line(&mut announced).unwrap() > 0, "{words} announces no address");
        }
        Self { process, announced, log }
    }

    /// Host and port.
    pub fn address(&self) -> &str {
        let behind = self.announced.split("http://").nth(1).unwrap();
        behind.split(['/', ';']).next().unwrap().trim()
    }

    pub fn send(&self, path: &str, body: &[u8], header: &str) -> TcpStream {
        let mut stream = http::connect(self.address());
        let headers = format!("Host: localhost\r\n{header}");
        stream.write_all(&http::request(&format!("POST {path}"), &headers, body)).unwrap();
        stream
    }

    /// A number among the metrics.
    pub fn metric(&self, name: &str, header: &str) -> f64 {
        let request = http::request("GET /metrics", &format!("Host: localhost\r\n{header}"), b"");
        let text = http::Response::to(self.address(), &request).text();
        let found = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        found.map_or(0.0, |number| number.parse().unwrap())
    }

    /// The most memory that it had at a time.
    #[cfg(target_os = "linux")]
    pub fn peak_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        peak.trim().trim_end_matches(" kB").parse().unwrap()
    }

    /// Ends it as a service manager does; what it logged.
    #[track_caller]
    pub fn end(mut self) -> String {
        signal(&self.process, "TERM");
        let mut rest = String::new();
        self.log.read_to_string(&mut rest).unwrap();
        assert_eq!(self.process.wait().unwrap().code(), Some(0), "{rest}");
        rest
    }
}

/// Status and body of a response.
#[track_caller]
pub fn received(stream: TcpStream) -> (u16, String) {
    let response = http::Response::read(stream).expect("a response");
    (response.status, response.text())
}
