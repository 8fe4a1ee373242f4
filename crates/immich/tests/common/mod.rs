//! A server that speaks immich's routes, as far as they are used, with its checks and its errors.
#![allow(dead_code, unreachable_pub)] // a module of two test files, each of which uses a part of it

use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Result, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// Assets of a page, whatever is asked for.
const PAGE: usize = 2;
pub const KEY: &str = "a-key-of-the-test";

#[derive(Debug, Clone)]
pub struct FakeAsset {
    pub id: String,
    pub kind: &'static str,
    pub time: String,
    pub place: Option<(f64, f64)>,
}

#[derive(Debug, Default)]
pub struct State {
    pub assets: Vec<FakeAsset>,
    pub photo: Vec<u8>,
    /// Photos that have one of their own, by their numbers.
    pub photos: HashMap<String, Vec<u8>>,
    /// `METHOD path`, in order.
    pub log: Vec<String>,
    /// Requests whose line contains this are answered with the status, so many times.
    pub failing: Option<(String, u16, usize)>,
}

pub struct Fake {
    pub url: String,
    pub state: Arc<Mutex<State>>,
}

pub fn id(k: usize) -> String {
    format!("00000000-0000-4000-8000-{k:012}")
}

impl Fake {
    /// Photos an hour apart, the places given.
    pub fn new(places: &[Option<(f64, f64)>]) -> Self {
        let assets = places.iter().enumerate().map(|(k, place)| FakeAsset {
            id: id(k),
            kind: "IMAGE",
            time: format!("2024-05-12T{:02}:00:00.000Z", 8 + k),
            place: *place,
        });
        let state = State { assets: assets.collect(), photo: b"\xff\xd8 no photo".to_vec(), ..State::default() };
        let state = Arc::new(Mutex::new(state));
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", server.local_addr().unwrap());
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in server.incoming().flatten() {
                // A client that has gone away is no error.
                let _ = answer(&stream, &shared);
            }
        });
        Self { url, state }
    }

    pub fn places(&self) -> Vec<Option<(f64, f64)>> {
        self.state.lock().unwrap().assets.iter().map(|asset| asset.place).collect()
    }

    pub fn set<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.state.lock().unwrap())
    }

    /// Requests so far whose line contains this.
    pub fn asked(&self, what: &str) -> usize {
        self.state.lock().unwrap().log.iter().filter(|line| line.contains(what)).count()
    }
}

fn described(asset: &FakeAsset) -> Value {
    json!({
        "id": asset.id, "type": asset.kind, "originalFileName": format!("{}.jpg", asset.id),
        "fileCreatedAt": asset.time, "localDateTime": asset.time,
        "exifInfo": {
            "make": "Acme", "model": "One", "dateTimeOriginal": asset.time,
            "latitude": asset.place.map(|place| place.0), "longitude": asset.place.map(|place| place.1),
        },
    })
}

/// One request and its response on a connection.
fn answer(stream: &TcpStream, state: &Mutex<State>) -> Result<()> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head)? > 0 {}
    let header = |wanted: &str| {
        let mut pairs = head.lines().filter_map(|line| line.split_once(':'));
        pairs.find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value.trim())
    };
    let length = header("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let line = head.lines().next().and_then(|line| line.strip_suffix(" HTTP/1.1")).unwrap_or_default();
    let state = &mut *state.lock().unwrap();
    state.log.push(line.to_owned());
    let failing = state.failing.as_mut().filter(|(what, _, left)| line.contains(what.as_str()) && *left > 0);
    let (status, bytes) = if let Some((_, status, left)) = failing {
        *left -= 1;
        (*status, Vec::new())
    } else if header("x-api-key") == Some(KEY) {
        route(line, &serde_json::from_slice(&body).unwrap_or_default(), state)
    } else {
        (401, br#"{"message":"Invalid API key","statusCode":401}"#.to_vec())
    };
    let length = bytes.len();
    let head = format!("HTTP/1.1 {status} x\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    (&mut &*stream).write_all(&[head.as_bytes(), &bytes].concat())
}

fn route(line: &str, body: &Value, state: &mut State) -> (u16, Vec<u8>) {
    let parts: Vec<&str> = line.split([' ', '/', '?']).collect();
    match parts.as_slice() {
        ["POST", "", "api", "search", "metadata"] => {
            let page = body["page"].as_u64().unwrap_or(1) as usize;
            let items: Vec<Value> = state.assets.iter().skip((page - 1) * PAGE).take(PAGE).map(described).collect();
            let next = (page * PAGE < state.assets.len()).then(|| (page + 1).to_string());
            let assets =
                json!({"total": items.len(), "count": items.len(), "items": items, "facets": [], "nextPage": next});
            (200, json!({"albums": {"items": []}, "assets": assets}).to_string().into_bytes())
        }
        ["GET", "", "api", "assets", id] => match state.assets.iter().find(|asset| asset.id == *id) {
            Some(asset) => (200, described(asset).to_string().into_bytes()),
            None => (400, br#"{"message":"Not found or no asset.read access"}"#.to_vec()),
        },
        ["GET", "", "api", "assets", id, "thumbnail", size] if size.starts_with("size=") => {
            (200, state.photos.get(*id).unwrap_or(&state.photo).clone())
        }
        ["PUT", "", "api", "assets"] => {
            let place = body["latitude"].as_f64().zip(body["longitude"].as_f64());
            let Some((lat, lon)) = place.filter(|(lat, lon)| lat.abs() <= 90.0 && lon.abs() <= 180.0) else {
                return (400, br#"{"message":["latitude must be a latitude string or number"]}"#.to_vec());
            };
            let ids: Vec<&str> = body["ids"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            for asset in state.assets.iter_mut().filter(|asset| ids.contains(&asset.id.as_str())) {
                asset.place = Some((lat, lon));
            }
            (204, Vec::new())
        }
        _ => (404, br#"{"message":"Cannot find route"}"#.to_vec()),
    }
}
