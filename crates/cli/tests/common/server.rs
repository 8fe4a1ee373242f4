//! `locdiff serve` as a process.
#![allow(dead_code, unreachable_pub)] // a module of several test files, each of which uses a part of it

use crate::common::command;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::{net::TcpStream, path::Path, time::Duration};

pub struct Server {
    process: Child,
    address: String,
    log: BufReader<ChildStderr>,
}

impl Server {
    pub fn start(folder: &Path, flags: &str, environment: &[(&str, &str)]) -> Self {
        let mut asked = command(folder, &format!("serve --device cpu {flags}"));
        asked.envs(environment.iter().copied()).stderr(Stdio::piped()).stdout(Stdio::null());
        let mut process = asked.spawn().unwrap();
        let mut log = BufReader::new(process.stderr.take().unwrap());
        let mut line = String::new();
        log.read_line(&mut line).unwrap();
        let address = line.trim().rsplit("http://").next().unwrap().to_owned();
        Self { process, address, log }
    }

    pub fn send(&self, path: &str, body: &[u8], header: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(2))).unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{header}Content-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
        stream
    }

    /// Ends it as a service manager does; what it logged.
    pub fn end(mut self) -> String {
        let killed = Command::new("kill").args(["-TERM", &self.process.id().to_string()]).status().unwrap();
        assert!(killed.success());
        let mut rest = String::new();
        self.log.read_to_string(&mut rest).unwrap();
        assert_eq!(self.process.wait().unwrap().code(), Some(0), "{rest}");
        rest
    }
}

/// Status and body of a response that ends with the connection.
pub fn received(mut stream: TcpStream) -> (u16, String) {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no response: {text:?}"));
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}
