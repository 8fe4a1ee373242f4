//! A review session as a page: requests that were admitted, and their responses.

use crate::reply::{PAGE_POLICY, text, typed};
use crate::{LocalPage, ServeError, TileAddress, files::PAGE, files::REVIEW, labels, query, shores};
use hyper::{Method, Request, Response, header::CACHE_CONTROL, header::CONTENT_SECURITY_POLICY, header::HeaderValue};
use locdiff::review::{ReviewAction, ReviewBackend, ReviewError, ReviewSession};
use locdiff_map::places::{FoundPlace, search_places};
use serde_json::{Value, json};
use std::ops::ControlFlow;

/// Towns that a search lists.
const TOWNS: usize = 8;
/// How well typed coordinates are known: as well as any place by hand.
const POINT_KM: f64 = 0.01;
const JSON: &str = "application/json";

type Reply = Response<Vec<u8>>;

/// Shows a session on a page until `stop` is true or the page says that it is done, while the session works. The page loads map tiles
/// from one server, if that is given. Fails if the system gives no thread or socket.
pub fn run_review<B: ReviewBackend + Send>(
    page: LocalPage,
    session: &ReviewSession<B>,
    tiles: Option<&TileAddress>,
    stop: impl Fn() -> bool,
) -> Result<(), ServeError> {
    std::thread::scope(|scope| {
        let working = scope.spawn(|| session.work());
        let result = page.run(|| stop() || working.is_finished(), |request| Ok(answer(session, tiles, request)));
        session.close();
        match working.join() {
            Ok(()) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// The response to a request, whose sender was checked; it breaks when the page says that it is done.
fn answer<B: ReviewBackend>(
    session: &ReviewSession<B>,
    tiles: Option<&TileAddress>,
    request: &Request<Vec<u8>>,
) -> ControlFlow<Reply, Reply> {
    let (path, method) = (request.uri().path(), request.method());
    let file = REVIEW.iter().chain(PAGE.iter().skip(1)).find(|file| file.route.path == path);
    let query = request.uri().query().unwrap_or_default();
    let reply = match (method, path, file) {
        (&Method::GET, "/page/labels.json", _) => typed(200, JSON, labels::json().into()),
        (&Method::GET, "/page/shores.json", _) => typed(200, JSON, shores::json(query).into()),
        (&Method::GET, "/", Some(file)) => front(file.contents, tiles),
        (&Method::GET, _, Some(file)) => typed(200, file.content_type, file.contents.to_vec()),
        (&Method::GET, ..) => asked(session, path, query),
        (&Method::POST, "/review/done", _) => return ControlFlow::Break(text(200, "done")),
        (&Method::POST, ..) => told(session, path, request.body()),
        _ => text(405, "GET and POST"),
    };
    ControlFlow::Continue(reply)
}

/// The page itself; it may load from the tiles' server, if one is given, and says so.
fn front(contents: &[u8], tiles: Option<&TileAddress>) -> Reply {
    let mut reply = typed(200, "text/html; charset=utf-8", contents.to_vec());
    if let Some(tiles) = tiles {
        let named = format!("data-tiles=\"{}\"", tiles.attribute());
        *reply.body_mut() = String::from_utf8_lossy(contents).replacen("data-tiles=\"\"", &named, 1).into_bytes();
        let policy = PAGE_POLICY.replacen("img-src", &format!("img-src {}", tiles.origin()), 1);
        if let Ok(policy) = HeaderValue::from_str(&policy) {
            reply.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
        }
    }
    reply
}

/// What is looked at.
fn asked<B: ReviewBackend>(session: &ReviewSession<B>, path: &str, query: &str) -> Reply {
    let Ok(pairs) = query::pairs(query) else { return text(400, "the address is not clear") };
    let value = |name: &str| pairs.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str());
    let number = |name: &str| value(name).and_then(|text| text.parse::<f64>().ok()).filter(|number| number.is_finite());
    match path {
        "/review/state" => json_of(&session.state(number("since").unwrap_or(0.0) as u64)),
        "/review/towns" => json_of(&towns(value("q").unwrap_or_default())),
        "/review/along" => {
            json_of(&session.along(value("camera").unwrap_or_default(), number("ahead_s").unwrap_or(0.0)))
        }
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
            Err(error) => Err(ReviewError::of(format!("that is not an action: {error}"))),
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

/// Places that a text may mean.
fn towns(text: &str) -> Value {
    let one = |place: FoundPlace| {
        let (lat, lon) = (place.at.lat_deg(), place.at.lon_deg());
        // Typed coordinates are exact to the metre.
        let radius_km = if place.radius_km < 1.0 { POINT_KM } else { place.radius_km };
        json!({ "name": place.name, "of": place.of, "lat": lat, "lon": lon, "radius_km": radius_km })
    };
    json!(search_places(text, TOWNS).into_iter().map(one).collect::<Vec<_>>())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_coordinates_are_known_to_metres() {
        for text in ["48.858222, 2.2945", "48.858222 N 2.2945 E", "48°51'29.6\"N 2°17'40.2\"E"] {
            let found = towns(text)[0].clone();
            let off = |name: &str, truth: f64| (found[name].as_f64().unwrap() - truth).abs();
            assert!(
                off("lat", 48.858_222) < 1e-5 && off("lon", 2.2945) < 1e-5 && off("radius_km", 0.01) < 1e-9,
                "{found}"
            );
        }
        assert_eq!(towns("Cologne")[0]["name"], "Köln");
    }

    #[test]
    fn only_the_server_of_tiles_that_was_given_may_be_loaded_from() {
        let policy = |reply: &Reply| reply.headers()[CONTENT_SECURITY_POLICY].to_str().unwrap().to_owned();
        let html = |reply: Reply| String::from_utf8(reply.into_body()).unwrap();
        let without = front(REVIEW[0].contents, None);
        assert!(policy(&without) == PAGE_POLICY && html(without).contains("data-tiles=\"\""));
        let tiles: TileAddress = "https://a.example/{z}/{x}/{y}.png?a=1&b=2".parse().unwrap();
        let with = front(REVIEW[0].contents, Some(&tiles));
        assert!(policy(&with).contains("; img-src https://a.example 'self' blob:; "), "{}", policy(&with));
        assert_eq!(policy(&with).replace(" https://a.example", ""), PAGE_POLICY);
        assert!(html(with).contains("data-tiles=\"https://a.example/{z}/{x}/{y}.png?a=1&amp;b=2\""));
    }
}
