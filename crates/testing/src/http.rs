//! A client that can misbehave, and the requests that a server of a test reads.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Result, Write};
use std::{net::TcpStream, net::ToSocketAddrs, time::Duration};

/// Connects. Fails only if the server never sends anything.
#[track_caller]
pub fn connect(address: impl ToSocketAddrs) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_mins(5))).unwrap();
    stream
}

/// A request after which the server closes the connection. `headers` are lines that end with `\r\n`.
pub fn request(method_and_path: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!("{method_and_path} HTTP/1.1\r\n{headers}Connection: close\r\nContent-Length: {length}\r\n\r\n");
    [head.as_bytes(), body].concat()
}

/// The type of a [`form`].
pub const FORM: &str = "multipart/form-data; boundary=BOUND";

/// A part of a form: a file with its name, or a field with words.
pub fn part(field: &str, file: Option<&str>, contents: &[u8]) -> Vec<u8> {
    let file = file.map_or(String::new(), |name| format!("; filename=\"{name}\""));
    let head = format!("--BOUND\r\nContent-Disposition: form-data; name=\"{field}\"{file}\r\n\r\n");
    [head.as_bytes(), contents, b"\r\n"].concat()
}

/// A form of its parts.
pub fn form(parts: &[Vec<u8>]) -> Vec<u8> {
    [&parts.concat()[..], b"--BOUND--\r\n"].concat()
}

/// The value of a header in the text of a head.
fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let mut pairs = head.lines().filter_map(|line| line.split_once(':'));
    pairs.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

/// Head and body of a message with a length.
fn read_message(stream: impl Read) -> Result<(String, Vec<u8>)> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
    let length = header(&head, "content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok((head, body))
}

/// A response.
#[derive(Debug)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The lines before the body.
    pub head: String,
    /// As many bytes as the server announced.
    pub body: Vec<u8>,
}

impl Response {
    /// Reads one response; none if the connection ends before it does.
    pub fn read(stream: impl Read) -> Option<Self> {
        let (head, body) = read_message(stream).ok()?;
        Some(Self { status: head.split(' ').nth(1)?.parse().ok()?, head, body })
    }

    /// Sends a request on a connection of its own and reads the response.
    #[track_caller]
    pub fn to(address: impl ToSocketAddrs, request: &[u8]) -> Self {
        Self::if_any(address, request).expect("a response")
    }

    /// Like [`Response::to`]; none if the server closes the connection without a response.
    #[track_caller]
    pub fn if_any(address: impl ToSocketAddrs, request: &[u8]) -> Option<Self> {
        let mut stream = connect(address);
        // A server that refuses early may close before all is written.
        let _ = stream.write_all(request);
        Self::read(stream)
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.head, name)
    }

    /// The body as text.
    #[track_caller]
    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).expect("text")
    }

    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }
}

/// A request, as a server of a test reads it.
#[derive(Debug)]
pub struct Request {
    head: String,
    /// As many bytes as the client announced.
    pub body: Vec<u8>,
}

impl Request {
    /// Reads one request.
    ///
    /// # Errors
    /// The connection ends before the request does.
    pub fn read(stream: impl Read) -> Result<Self> {
        let (head, body) = read_message(stream)?;
        Ok(Self { head, body })
    }

    /// The method and the target, such as `GET /path?query`.
    pub fn line(&self) -> &str {
        self.head.lines().next().and_then(|line| line.strip_suffix(" HTTP/1.1")).unwrap_or_default()
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.head, name)
    }
}

/// Sends a response and closes the connection.
///
/// # Errors
/// A client that has gone away.
pub fn respond(stream: &mut impl Write, status: u16, headers: &str, body: &[u8]) -> Result<()> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status} x\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n");
    stream.write_all(&[head.as_bytes(), body].concat())?;
    stream.flush()
}
