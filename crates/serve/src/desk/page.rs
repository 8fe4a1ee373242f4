//! A desk as a page: requests that were admitted, and their responses.

use crate::files::{DESK, PAGE, PageFile};
use crate::{LocalPage, ServeError, labels, query, reply::PAGE_POLICY, shores};
use hyper::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response};
use locdiff::review::{Act, Bench, BenchResult, Desk, DeskError};
use locdiff_map::places::{NearestPlace, Places};
use serde_json::{Value, json};
use std::ops::ControlFlow;

/// Towns that a search lists.
const TOWNS: usize = 8;
const JSON: &str = "application/json";

type Reply = Response<Vec<u8>>;

/// Shows a desk on a page until `stop` is true or the page says that it is done; work goes on beside it.
///
/// # Errors
/// No thread or socket from the system.
pub fn run_desk<B: Bench + Send>(page: LocalPage, desk: &Desk<B>, stop: impl Fn() -> bool) -> Result<(), ServeError> {
    std::thread::scope(|scope| {
        let working = scope.spawn(|| desk.work());
        let result = page.run(|| stop() || working.is_finished(), |request| Ok(answer(desk, request)));
        desk.close();
        match working.join() {
            Ok(()) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// The response to a request, whose sender was checked; it breaks when the page says that it is done.
fn answer<B: Bench>(desk: &Desk<B>, request: &Request<Vec<u8>>) -> ControlFlow<Reply, Reply> {
    let (path, method) = (request.uri().path(), request.method());
    let file = DESK.iter().chain(PAGE.iter().skip(1)).find(|file| file.route.path == path);
    let reply = match (method, path) {
        (&Method::GET, "/page/labels.json") => typed(JSON, labels::json().as_bytes().to_vec()),
        (&Method::GET, "/page/shores.json") => {
            typed(JSON, shores::json(request.uri().query().unwrap_or_default()).into_bytes())
        }
        (&Method::GET, _) if file.is_some() => file.map_or_else(|| text(404, "not here"), page_file),
        (&Method::GET, _) => asked(desk, path, request.uri().query().unwrap_or_default()),
        (&Method::POST, "/desk/done") => return ControlFlow::Break(text(200, "done")),
        (&Method::POST, _) => told(desk, path, request.body()),
        _ => text(405, "GET and POST"),
    };
    ControlFlow::Continue(reply)
}

/// What is looked at.
fn asked<B: Bench>(desk: &Desk<B>, path: &str, query: &str) -> Reply {
    let Ok(pairs) = query::pairs(query) else { return text(400, "the address is not clear") };
    let value = |name: &str| pairs.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str());
    let number = |name: &str| value(name).and_then(|text| text.parse::<f64>().ok()).filter(|number| number.is_finite());
    match path {
        "/desk/state" => json_of(&desk.state(number("since").unwrap_or(0.0) as u64)),
        "/desk/towns" => json_of(&towns(value("q").unwrap_or_default())),
        "/desk/along" => json_of(&desk.along(value("camera").unwrap_or_default(), number("ahead_s").unwrap_or(0.0))),
        "/desk/photo" => {
            let Some(number) = value("k").and_then(|text| text.parse().ok()) else { return text(404, "no such photo") };
            match desk.picture(number, value("size") == Some("large")) {
                Ok(bytes) => picture(bytes),
                Err(error) => text(404, &error.to_string()),
            }
        }
        _ => text(404, "not here"),
    }
}

/// What is done.
fn told<B: Bench>(desk: &Desk<B>, path: &str, body: &[u8]) -> Reply {
    let done: BenchResult<()> = match path {
        "/desk/act" => match serde_json::from_slice::<Act>(body) {
            Ok(act) => desk.act(act),
            Err(error) => Err(DeskError(format!("that is no act: {error}"))),
        },
        "/desk/write" => {
            let body: Value = serde_json::from_slice(body).unwrap_or_default();
            desk.write(body["way"].as_str().unwrap_or_default())
        }
        "/desk/take-back" => desk.take_back(),
        _ => return text(404, "not here"),
    };
    match done {
        Ok(()) => json_of(&desk.state(0)),
        Err(error) => text(409, &error.to_string()),
    }
}

/// Towns by the beginning of their names, or the place that two numbers mean.
fn towns(text: &str) -> Value {
    let numbers: Vec<f64> = text.split([',', ' ']).filter_map(|part| part.trim().parse().ok()).collect();
    if let [lat, lon] = numbers[..]
        && let Ok(at) = locdiff::LatLon::new(lat, lon)
    {
        let (lat, lon) = (at.lat_deg(), at.lon_deg());
        let place = locdiff_map::places::describe(at).to_string();
        return json!([{ "name": format!("{lat:.5}, {lon:.5}"), "of": place, "lat": lat, "lon": lon, "radius_km": 0.1 }]);
    }
    let town = |town: NearestPlace| {
        let radius_km = (f64::from(town.population) / (4000.0 * std::f64::consts::PI)).sqrt().clamp(2.0, 30.0);
        let of: Vec<String> = [town.region, town.country].into_iter().filter(|name| !name.is_empty()).collect();
        json!({ "name": town.name, "of": of.join(", "), "lat": town.lat_deg, "lon": town.lon_deg, "radius_km": radius_km })
    };
    json!(Places::bundled().search(text, TOWNS).into_iter().map(town).collect::<Vec<_>>())
}

fn json_of(value: &Value) -> Reply {
    typed(JSON, value.to_string().into_bytes())
}

fn picture(bytes: Vec<u8>) -> Reply {
    let kind = if bytes.starts_with(b"RIFF") { "image/webp" } else { "image/jpeg" };
    let mut reply = typed(kind, bytes);
    reply.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("private, max-age=3600"));
    reply
}

fn page_file(file: &PageFile) -> Reply {
    let mut reply = typed(file.content_type, file.contents.to_vec());
    if file.content_type.starts_with("text/html") {
        reply.headers_mut().insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(PAGE_POLICY));
    }
    reply
}

fn typed(kind: &'static str, bytes: Vec<u8>) -> Reply {
    let mut reply = Response::new(bytes);
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    reply
}

fn text(status: u16, message: &str) -> Reply {
    let mut reply = typed("text/plain; charset=utf-8", message.as_bytes().to_vec());
    *reply.status_mut() = status.try_into().unwrap_or_default();
    reply
}
