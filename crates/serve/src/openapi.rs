//! The document that describes the routes, made from the tables that the server itself reads.

use crate::ask::{PARAMETERS, Parameter};
use crate::openapi_album::{album_form, album_schema};
use crate::problem::Kind;
use crate::routes::{Endpoint, ROUTES, Route};
use serde_json::{Map, Value, json};

/// The OpenAPI document.
pub(crate) fn document() -> Value {
    let mut paths = Map::new();
    for route in &ROUTES {
        let method = if route.is_post { "post" } else { "get" };
        paths.insert(route.path.to_owned(), json!({ method: operation(route) }));
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "LocDiff",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Where on Earth was this photo taken? A photo in, places with calibrated probabilities out.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "security": [{}, { "bearer": [] }, { "key": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "bearer": { "type": "http", "scheme": "bearer" },
                "key": { "type": "apiKey", "in": "header", "name": "x-api-key" },
            },
            "schemas": { "Problem": problem_schema(), "Answer": answer_schema(), "Place": place_schema(), "Hypothesis": hypothesis_schema() },
        },
    })
}

/// The problems that a route can answer with.
pub(crate) fn problems(endpoint: Endpoint) -> Vec<Kind> {
    let own: &[Kind] = match endpoint {
        Endpoint::Locate | Endpoint::LocateEmbeddings | Endpoint::Embed | Endpoint::Steps | Endpoint::Album => &[
            Kind::BadRequest,
            Kind::Unauthorized,
            Kind::CrossSite,
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
    [own, &[Kind::MethodNotAllowed, Kind::NotFound]].concat()
}

fn operation(route: &Route) -> Value {
    let mut responses = Map::new();
    responses.insert("200".to_owned(), json!({ "description": "Success", "content": content(route.endpoint) }));
    for kind in problems(route.endpoint) {
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
        "summary": route.summary,
        "responses": responses,
    });
    if !route.needs_key {
        operation["security"] = json!([]);
    }
    if let Some(body) = request_body(route.endpoint) {
        operation["requestBody"] = body;
        let known = PARAMETERS.iter().filter(|parameter| is_for(parameter, route.endpoint));
        operation["parameters"] = known.map(parameter).collect();
    }
    operation
}

/// Whether a parameter means something at an endpoint.
pub(crate) fn is_for(parameter: &Parameter, endpoint: Endpoint) -> bool {
    match endpoint {
        Endpoint::Locate => parameter.name != "trust_clocks",
        Endpoint::LocateEmbeddings => !["name", "views", "trust_clocks"].contains(&parameter.name),
        Endpoint::Embed => parameter.name == "name",
        Endpoint::Steps => ["name", "views", "seed"].contains(&parameter.name),
        Endpoint::Album => ["views", "seed", "trust_clocks"].contains(&parameter.name),
        _ => false,
    }
}

fn parameter(parameter: &Parameter) -> Value {
    let mut schema = json!({ "type": parameter.kind });
    if parameter.kind == "array" {
        schema["items"] = json!({ "type": "string", "maxLength": 200 });
        schema["maxItems"] = json!(16);
    }
    if !parameter.choices.is_empty() {
        schema["enum"] = json!(parameter.choices);
    }
    if !parameter.default.is_empty() {
        schema["default"] = if ["integer", "number", "boolean"].contains(&parameter.kind) {
            serde_json::from_str(parameter.default).unwrap_or_default()
        } else {
            json!(parameter.default)
        };
    }
    json!({
        "name": parameter.name,
        "in": "query",
        "required": false,
        "description": parameter.meaning,
        "schema": schema,
    })
}

fn request_body(endpoint: Endpoint) -> Option<Value> {
    let bytes = json!({ "schema": { "type": "string", "format": "binary" } });
    let form = json!({
        "schema": {
            "type": "object",
            "properties": { "photo": { "type": "array", "items": { "type": "string", "format": "binary" } } },
            "required": ["photo"],
        },
    });
    let content = match endpoint {
        Endpoint::Locate | Endpoint::Embed | Endpoint::Steps => {
            json!({ "image/*": bytes, "application/octet-stream": bytes, "multipart/form-data": form })
        }
        Endpoint::Album => json!({ "multipart/form-data": album_form() }),
        Endpoint::LocateEmbeddings => json!({
            "application/json": { "schema": {
                "type": "object",
                "properties": {
                    "embeddings": { "type": "array", "minItems": 1, "items": { "type": "array", "items": { "type": "number" } } },
                },
                "required": ["embeddings"],
                "additionalProperties": false,
            } },
        }),
        _ => return None,
    };
    Some(json!({ "required": true, "content": content }))
}

fn content(endpoint: Endpoint) -> Value {
    let object = json!({ "schema": { "type": "object" } });
    let text = json!({ "schema": { "type": "string" } });
    let answer = json!({ "schema": { "$ref": "#/components/schemas/Answer" } });
    match endpoint {
        Endpoint::Locate | Endpoint::LocateEmbeddings => json!({
            "application/json": answer,
            "application/x-ndjson": text,
            "application/geo+json": object,
            "application/vnd.google-earth.kml+xml": text,
            "image/png": { "schema": { "type": "string", "format": "binary" } },
            "image/tiff": { "schema": { "type": "string", "format": "binary" } },
        }),
        Endpoint::Embed => json!({ "application/json": object, "application/x-ndjson": text }),
        Endpoint::Steps => json!({ "application/json": { "schema": steps_schema() } }),
        Endpoint::Album => json!({ "application/json": { "schema": album_schema() } }),
        Endpoint::Metrics => json!({ "text/plain": text }),
        Endpoint::Docs | Endpoint::Page(_) => json!({ "text/html": text }),
        Endpoint::Info | Endpoint::Regions | Endpoint::Live | Endpoint::Ready | Endpoint::OpenApi => {
            json!({ "application/json": object })
        }
    }
}

fn steps_schema() -> Value {
    let place = json!({ "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 2, "description": "lon, lat" });
    let step = json!({
        "type": "object",
        "required": ["t", "places"],
        "properties": { "t": { "type": "integer" }, "places": { "type": "array", "items": place } },
    });
    json!({ "type": "object", "required": ["steps"], "properties": { "steps": { "type": "array", "items": step } } })
}

fn problem_schema() -> Value {
    let kinds: Vec<String> = Kind::ALL.iter().map(|kind| format!("urn:locdiff:problem:{}", kind.name())).collect();
    json!({
        "type": "object",
        "description": "RFC 9457",
        "required": ["type", "title", "status", "detail", "request_id"],
        "properties": {
            "type": { "type": "string", "enum": kinds },
            "title": { "type": "string" },
            "status": { "type": "integer" },
            "detail": { "type": "string" },
            "request_id": { "type": "string" },
        },
    })
}

fn place_schema() -> Value {
    json!({
        "type": "object",
        "required": ["lat", "lon"],
        "properties": { "lat": { "type": "number" }, "lon": { "type": "number" } },
    })
}

fn grid_schema() -> Value {
    let (number, integer) = (json!({ "type": "number" }), json!({ "type": "integer" }));
    json!({
        "type": "object",
        "description": "The density on a rectangle of latitudes and longitudes, where it was asked for",
        "required": ["south", "north", "west", "east", "rows", "columns", "depth_nats", "values"],
        "properties": {
            "south": number, "north": number, "west": number,
            "east": { "type": "number", "description": "Above 180 where the rectangle crosses the antimeridian" },
            "rows": integer, "columns": integer, "depth_nats": number,
            "values": { "type": "string", "contentEncoding": "base64" },
        },
    })
}

fn hypothesis_schema() -> Value {
    let number = json!({ "type": "number" });
    json!({
        "type": "object",
        "required": ["lat", "lon", "probability", "place"],
        "properties": { "lat": number, "lon": number, "probability": number, "place": { "type": "string" } },
    })
}

fn answer_schema() -> Value {
    let number = json!({ "type": "number" });
    let place = json!({ "$ref": "#/components/schemas/Place" });
    json!({
        "type": "object",
        "description": "What `locdiff locate` says of a photo as JSON",
        "required": [
            "photo", "gps", "best", "place", "country", "country_code", "radius_50_km", "radius_90_km", "area_50_km2",
            "area_90_km2", "window_km", "hypotheses", "locatability", "can_tell", "familiarity", "information_nats",
        ],
        "properties": {
            "photo": { "type": ["string", "null"] },
            "gps": { "anyOf": [place, { "type": "null" }], "description": "The photo's own tag: reported, never used" },
            "best": place,
            "place": { "type": "string", "description": "The best place in words" },
            "country": { "type": ["string", "null"] },
            "country_code": { "type": ["string", "null"] },
            "radius_50_km": number,
            "radius_90_km": number,
            "area_50_km2": number,
            "area_90_km2": number,
            "window_km": number,
            "hypotheses": { "type": "array", "items": { "$ref": "#/components/schemas/Hypothesis" } },
            "locatability": { "type": "number", "description": "The probability of being right to within 750 km" },
            "can_tell": { "type": "boolean" },
            "familiarity": number,
            "information_nats": number,
            "gallery": { "type": "object" },
            "density": { "type": "object", "description": "A GeoJSON FeatureCollection, where it was asked for" },
            "grid": grid_schema(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_has_every_route_and_every_problem() {
        let document = document();
        let paths = document["paths"].as_object().unwrap();
        assert_eq!(paths.len(), ROUTES.len());
        let mut seen = Vec::new();
        for route in &ROUTES {
            let operation = &paths[route.path][if route.is_post { "post" } else { "get" }];
            for kind in problems(route.endpoint) {
                let status = kind.status().to_string();
                let response = &operation["responses"][&status];
                assert!(response["description"].as_str().unwrap().contains(kind.title()), "{} {status}", route.path);
                seen.push(kind);
            }
            assert_eq!(operation["security"].is_array(), !route.needs_key, "{}", route.path);
        }
        assert!(Kind::ALL.iter().all(|kind| seen.contains(kind)));
        let locate = &paths["/v1/locate"]["post"]["parameters"];
        assert_eq!(locate.as_array().unwrap().len(), PARAMETERS.len() - 1, "clocks are an album's");
    }
}
