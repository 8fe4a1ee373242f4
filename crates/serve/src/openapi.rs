//! The document that describes the routes, made from the tables that the server itself reads, and its page for people.

use crate::routes::{Endpoint, ROUTES, Route};
use crate::{ask::PARAMETERS, ask::Parameter, problem::Kind, question::is_for};
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// The document without its routes, and what each route takes and gives, by path.
pub(crate) fn parts() -> [Value; 2] {
    let parts: Value = serde_json::from_str(include_str!("openapi.json")).expect("openapi.json is JSON");
    ["document", "routes"].map(|name| parts[name].clone())
}

/// The OpenAPI document.
pub(crate) fn document() -> Value {
    let [mut document, routes] = parts();
    for route in &ROUTES {
        let method = if route.is_post { "post" } else { "get" };
        document["paths"][route.path] = json!({ method: operation(route, &routes[route.path]) });
    }
    document["info"]["version"] = json!(env!("CARGO_PKG_VERSION"));
    let kinds = Kind::ALL.iter().map(|kind| json!(format!("urn:locdiff:problem:{}", kind.name())));
    document["components"]["schemas"]["Problem"]["properties"]["type"]["enum"] = kinds.collect();
    document
}

/// The problems that a route can answer with; whatever is sent by POST goes through the queue.
pub(crate) fn problems(route: &Route) -> Vec<Kind> {
    let own: &[Kind] = match route.endpoint {
        _ if route.is_post => &[
            Kind::Unauthorized,
            Kind::BodyTimeout,
            Kind::TooLarge,
            Kind::UnknownFormat,
            Kind::Unusable,
            Kind::Busy,
            Kind::Internal,
            Kind::Late,
            Kind::Stopping,
        ],
        Endpoint::Info | Endpoint::Regions | Endpoint::Metrics => &[Kind::Unauthorized],
        Endpoint::Ready => &[Kind::Stopping],
        _ => &[],
    };
    [&[Kind::BadRequest, Kind::CrossSite], own, &[Kind::MethodNotAllowed, Kind::NotFound, Kind::Misdirected]].concat()
}

/// A route, of which `own` says what it takes and gives.
fn operation(route: &Route, own: &Value) -> Value {
    let mut responses = Map::new();
    responses.insert("200".to_owned(), json!({ "description": "Success", "content": own["response"] }));
    for kind in problems(route) {
        let status = kind.status().to_string();
        let known = responses.get(&status).and_then(|known| known["description"].as_str());
        let description = known.map_or(kind.title().to_owned(), |known| format!("{known}; or: {}", kind.title()));
        let mut response = json!({
            "description": description,
            "content": { "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } } },
        });
        if kind == Kind::Busy {
            response["headers"] = json!({
                "Retry-After": { "description": "Seconds until what waits is done", "schema": { "type": "integer" } },
            });
        }
        responses.insert(status, response);
    }
    let mut operation = json!({
        "operationId": route.path.trim_matches('/').replace(['/', '.'], "_"),
        "summary": own["summary"],
        "responses": responses,
    });
    if !route.needs_key {
        operation["security"] = json!([]);
    }
    if let Some(content) = own.get("request") {
        operation["requestBody"] = json!({ "required": true, "content": content });
        let known = PARAMETERS.iter().filter(|parameter| is_for(parameter, route.endpoint));
        operation["parameters"] = known.map(parameter).collect();
    }
    operation
}

fn parameter(parameter: &Parameter) -> Value {
    let mut schema = json!({ "type": parameter.kind });
    if parameter.kind == "array" {
        let (items, most) = match &*parameter.name {
            "clue" => (json!({ "type": "string", "maxLength": 300 }), 50),
            "ignore_text" => (json!({ "type": "string" }), 200),
            _ => (json!({ "type": "string", "maxLength": 200 }), 16),
        };
        (schema["items"], schema["maxItems"]) = (items, json!(most));
    }
    if !parameter.choices.is_empty() {
        schema["enum"] = json!(parameter.choices);
    }
    if !parameter.default.is_empty() {
        schema["default"] = if ["integer", "number", "boolean"].contains(&&*parameter.kind) {
            serde_json::from_str(&parameter.default).unwrap_or_default()
        } else {
            json!(parameter.default)
        };
    }
    let Parameter { name, meaning, .. } = parameter;
    json!({ "name": name, "in": "query", "required": false, "description": meaning, "schema": schema })
}

const HEAD: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" \
    content=\"width=device-width\"><title>LocDiff: routes</title><link rel=\"icon\" href=\"/page/icon.svg\"><link rel=\"stylesheet\" href=\"/page/style.css\">\
    <body class=\"docs\"><main><h1>LocDiff over HTTP</h1><p>The same as a document for programs: <a href=\"/openapi.json\">\
    openapi.json</a>. Where the server has keys: <code>Authorization: Bearer KEY</code> or <code>x-api-key: KEY</code>. \
    Problems are <code>application/problem+json</code> (RFC 9457).</p>\
    <pre tabindex=\"0\">curl -H 'content-type: image/jpeg' -T photo.jpg -X POST 'http://127.0.0.1:8080/v1/locate?name=photo.jpg'</pre>";

/// The page.
pub(crate) fn page() -> String {
    let (mut out, [_, described]) = (HEAD.to_owned(), parts());
    for route in &ROUTES {
        let method = if route.is_post { "POST" } else { "GET" };
        let summary = escaped(described[route.path]["summary"].as_str().unwrap_or_default());
        let _ = write!(out, "<h2><code>{method} {}</code></h2><p>{summary}.</p>", route.path);
        let known: Vec<_> = PARAMETERS.iter().filter(|parameter| is_for(parameter, route.endpoint)).collect();
        if !known.is_empty() {
            out += "<table><thead><tr><th>parameter<th>type<th>default<th>meaning</thead><tbody>";
            for parameter in known {
                let Parameter { name, kind, choices, default, meaning } = parameter;
                let kind = if choices.is_empty() { kind.clone() } else { choices.join(" | ") };
                let _ = write!(out, "<tr><td><code>{name}</code><td>{kind}<td>{default}<td>{}", escaped(meaning));
            }
            out += "</tbody></table>";
        }
        let listed: Vec<String> = problems(route)
            .iter()
            .map(|kind| format!("{} {}", kind.status(), escaped(kind.title()).to_lowercase()))
            .collect();
        let _ = write!(out, "<p class=\"quiet\">Problems: {}.</p>", listed.join("; "));
    }
    out + "</main></body></html>"
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::ALBUMS;

    #[test]
    fn the_document_has_every_route_and_every_problem() {
        let document = document();
        let paths = document["paths"].as_object().unwrap();
        assert_eq!(paths.len(), ROUTES.len());
        assert_eq!(document["components"]["schemas"].as_object().unwrap().len(), 5);
        let mut seen = Vec::new();
        for route in &ROUTES {
            let operation = &paths[route.path][if route.is_post { "post" } else { "get" }];
            for kind in problems(route) {
                let status = kind.status().to_string();
                let response = &operation["responses"][&status];
                assert!(response["description"].as_str().unwrap().contains(kind.title()), "{} {status}", route.path);
                seen.push(kind);
            }
            assert!(operation["responses"]["200"]["content"].is_object(), "{}", route.path);
            assert_eq!(operation["requestBody"].is_object(), route.is_post, "{}", route.path);
            let form = &operation["requestBody"]["content"]["multipart/form-data"]["schema"];
            if let Some(photo) = form["properties"].get("photo") {
                assert!(form["required"].as_array().unwrap().contains(&"photo".into()), "{}", route.path);
                assert!(photo["type"] == "string" || photo["minItems"] == 1, "{}", route.path);
            }
            assert_eq!(operation["security"].is_array(), !route.needs_key, "{}", route.path);
        }
        assert!(Kind::ALL.iter().all(|kind| seen.contains(kind)));
        let locate = &paths["/v1/locate"]["post"]["parameters"];
        assert_eq!(locate.as_array().unwrap().len(), PARAMETERS.len() - ALBUMS.len());
    }
}
