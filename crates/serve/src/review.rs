//! A review session as a page: requests that were admitted, and their responses.

use crate::files::{REVIEW, PAGE};
use crate::reply::{text, typed};
use crate::{LocalPage, ServeError, labels, query, shores};
use hyper::header::{CACHE_CONTROL, HeaderValue};
use hyper::{Method, Request, Response};
use locdiff::review::{ReviewAction, ReviewBackend, ReviewError, ReviewSession};
use locdiff_map::places::{NearestPlace, Places};
use serde_json::{Value, json};
use std::ops::ControlFlow;

/// Towns that a search lists.
const TOWNS: usize = 8;
const JSON: &str = "application/json";

type Reply = Response<Vec<u8>>;

/// Shows a session on a page until `stop` is true or the page says that it is done, while the session works. Fails if the system gives
/// no thread or socket.
pub fn run_review<B: ReviewBackend + Send>(
    page: LocalPage,
    session: &ReviewSession<B>,
    stop: impl Fn() -> bool,
) -> Result<(), ServeError> {
    std::thread::scope(|scope| {
        let working = scope.spawn(|| session.work());
        let result = page.run(|| stop() || working.is_finished(), |request| Ok(answer(session, request)));
        session.close();
        match working.join() {
            Ok(()) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// The response to a request, whose sender was checked; it breaks when the page says that it is done.
fn answer<B: ReviewBackend>(session: &ReviewSession<B>, request: &Request<Vec<u8>>) -> ControlFlow<Reply, Reply> {
    let (path, method) = (request.uri().path(), request.method());
    let file = REVIEW.iter().chain(PAGE.iter().skip(1)).find(|file| file.route.path == path);
    let query = request.uri().query().unwrap_or_default();
    let reply = match (method, path, file) {
        (&Method::GET, "/page/labels.json", _) => typed(200, JSON, labels::json().into()),
        (&Method::GET, "/page/shores.json", _) => typed(200, JSON, shores::json(query).into()),
        (&Method::GET, _, Some(file)) => typed(200, file.content_type, file.contents.to_vec()),
        (&Method::GET, ..) => asked(session, path, query),
        (&Method::POST, "/review/done", _) => return ControlFlow::Break(text(200, "done")),
        (&Method::POST, ..) => told(session, path, request.body()),
        _ => text(405, "GET and POST"),
    };
    ControlFlow::Continue(reply)
}

/// What is looked at.
fn asked<B: ReviewBackend>(session: &ReviewSession<B>, path: &str, query: &str) -> Reply {
    let Ok(pairs) = query::pairs(query) else { return text(400, "the address is not clear") };
    let value = |name: &str| pairs.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str());
    let number = |name: &str| value(name).and_then(|text| text.parse::<f64>().ok()).filter(|number| number.is_finite());
    match path {
        "/review/state" => json_of(&session.state(number("since").unwrap_or(0.0) as u64)),
        "/review/towns" => json_of(&towns(value("q").unwrap_or_default())),
        "/review/along" => json_of(&session.along(value("camera").unwrap_or_default(), number("ahead_s").unwrap_or(0.0))),
        "/review/photo" => {
            let Some(number) = value("k").and_then(|text| text.parse().ok()) else { return text(404, "no such photo") };
            match session.picture(number, value("size") == Some("large")) {
                Ok(bytes) => picture(bytes),
                Err(error) => text(404, &error.to_string()),
            }
        }
        _ => text(404, "not here"),
    }
}

/// What is done.
fn told<B: ReviewBackend>(session: &ReviewSession<B>, path: &str, body: &[u8]) -> Reply {
    let done = match path {
        "/review/act" => match serde_json::from_slice::<ReviewAction>(body) {
            Ok(act) => session.act(act),
            Err(error) => Err(ReviewError::of(format!("that is no act: {error}"))),
        },
        "/review/write" => {
            let body: Value = serde_json::from_slice(body).unwrap_or_default();
            session.write(body["way"].as_str().unwrap_or_default())
        }
        "/review/take-back" => session.take_back(),
        _ => return text(404, "not here"),
    };
    match done {
        Ok(()) => json_of(&session.state(0)),
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
    typed(200, JSON, value.to_string().into_bytes())
}

fn picture(bytes: Vec<u8>) -> Reply {
    let kind = if bytes.starts_with(b"RIFF") { "image/webp" } else { "image/jpeg" };
    let mut reply = typed(200, kind, bytes);
    reply.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("private, max-age=3600"));
    reply
}
