//! A server made from immich's own document (`openapi.json`): requests that it does not know are refused, and answers have the fields that it
//! names and no others. So a field that immich renames fails a test, once `scripts/immich_api.py` has brought the new document.
#![allow(dead_code, unreachable_pub)] // a module of two test files, each of which uses a part of it

mod document;

pub use document::Document;
use locdiff_testing::http::{Request, respond};
use serde_json::{Value, json};
use std::io::{Read, Result, Write};
use std::{collections::HashMap, net::TcpListener, net::TcpStream, sync::Arc, sync::Mutex};

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
    /// What it read in a photo, by the photo's number: a line over its middle.
    pub texts: HashMap<String, &'static str>,
    /// `METHOD path`, in order.
    pub log: Vec<String>,
    /// Requests whose line contains this are answered with the status, so many times.
    pub failing: Option<(String, u16, usize)>,
    pub document: Document,
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
        Self::over(places, "http", |stream| stream)
    }

    /// The same over what becomes of connections, such as TLS.
    pub fn over<S: Read + Write>(
        places: &[Option<(f64, f64)>],
        scheme: &str,
        wrap: impl Fn(TcpStream) -> S + Send + 'static,
    ) -> Self {
        let assets = places.iter().enumerate().map(|(k, place)| FakeAsset {
            id: id(k),
            kind: "IMAGE",
            time: format!("2024-05-12T{:02}:00:00.000Z", 8 + k),
            place: *place,
        });
        let state = State { assets: assets.collect(), photo: b"\xff\xd8 no photo".to_vec(), ..State::default() };
        let state = Arc::new(Mutex::new(state));
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("{scheme}://{}", server.local_addr().unwrap());
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in server.incoming().flatten() {
                // A client that has gone away is no error.
                let _ = answer(wrap(stream), &shared);
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

fn described(asset: &FakeAsset, document: &Document) -> std::result::Result<Value, String> {
    let exif = json!({
        "make": "Acme", "model": "One", "dateTimeOriginal": asset.time,
        "latitude": asset.place.map(|place| place.0), "longitude": asset.place.map(|place| place.1),
    });
    let own = json!({
        "id": asset.id, "type": asset.kind, "originalFileName": format!("{}.jpg", asset.id),
        "fileCreatedAt": asset.time, "localDateTime": asset.time, "exifInfo": document.filled("ExifResponseDto", exif)?,
    });
    document.filled("AssetResponseDto", own)
}

/// One request and its response on a connection.
fn answer(mut stream: impl Read + Write, state: &Mutex<State>) -> Result<()> {
    let request = Request::read(&mut stream)?;
    let line = request.line();
    let state = &mut *state.lock().unwrap();
    state.log.push(line.to_owned());
    let failing = state.failing.as_mut().filter(|(what, _, left)| line.contains(what.as_str()) && *left > 0);
    let (status, bytes) = if let Some((_, status, left)) = failing {
        *left -= 1;
        (*status, Vec::new())
    } else if request.header("x-api-key") == Some(KEY) {
        let body = serde_json::from_slice(&request.body).ok();
        // What the document does not have is this server's failure: nobody may pass over it.
        checked(line, body.as_ref(), state)
            .unwrap_or_else(|wrong| (400, json!({ "message": [wrong] }).to_string().into_bytes()))
    } else {
        (401, br#"{"message":"Invalid API key","statusCode":401}"#.to_vec())
    };
    respond(&mut stream, status, "", &bytes)
}

/// A request that the document knows, and its answer by the document.
fn checked(line: &str, body: Option<&Value>, state: &mut State) -> std::result::Result<(u16, Vec<u8>), String> {
    let (method, target) = line.split_once(' ').unwrap_or_default();
    let status = match state.document.check(method, target, body) {
        Ok(status) => status,
        Err(wrong) if wrong.is_empty() => return Ok((404, br#"{"message":"Cannot find route"}"#.to_vec())),
        Err(wrong) => return Err(wrong),
    };
    let document = state.document.clone();
    let parts: Vec<&str> = target.split(['/', '?']).collect();
    let no_body = Value::Null;
    let body = body.unwrap_or(&no_body);
    Ok(match (method, parts.as_slice()) {
        ("POST", ["", "api", "search", "metadata"]) => {
            let page = body["page"].as_u64().unwrap_or(1) as usize;
            let few = state.assets.iter().skip((page - 1) * PAGE).take(PAGE);
            let items: Vec<Value> =
                few.map(|asset| described(asset, &document)).collect::<std::result::Result<_, _>>()?;
            let next = (page * PAGE < state.assets.len()).then(|| (page + 1).to_string());
            let assets =
                json!({ "total": items.len(), "count": items.len(), "items": items, "facets": [], "nextPage": next });
            let assets = document.filled("SearchAssetResponseDto", assets)?;
            (status, document.filled("SearchResponseDto", json!({ "assets": assets }))?.to_string().into_bytes())
        }
        ("GET", ["", "api", "assets", id]) => match state.assets.iter().find(|asset| asset.id == *id) {
            Some(asset) => (status, described(asset, &document)?.to_string().into_bytes()),
            None => (400, br#"{"message":"Not found or no asset.read access"}"#.to_vec()),
        },
        ("GET", ["", "api", "assets", id, "thumbnail", ..]) => {
            (status, state.photos.get(*id).unwrap_or(&state.photo).clone())
        }
        ("GET", ["", "api", "assets", id, "ocr"]) => {
            let line = |text: &&str| {
                let mut own =
                    json!({ "x1": 0.2, "y1": 0.4, "x2": 0.8, "y2": 0.4, "x3": 0.8, "y3": 0.6, "x4": 0.2, "y4": 0.6 });
                (own["assetId"], own["text"], own["textScore"]) = (json!(id), json!(text), json!(0.95));
                document.filled("AssetOcrResponseDto", own)
            };
            let lines =
                state.texts.get(*id).iter().map(|text| line(text)).collect::<std::result::Result<Vec<_>, _>>()?;
            (status, json!(lines).to_string().into_bytes())
        }
        _ => {
            let place = body["latitude"].as_f64().zip(body["longitude"].as_f64());
            let ids: Vec<&str> = body["ids"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            for asset in state.assets.iter_mut().filter(|asset| ids.contains(&asset.id.as_str())) {
                asset.place = place.or(asset.place);
            }
            (status, Vec::new())
        }
    })
}
