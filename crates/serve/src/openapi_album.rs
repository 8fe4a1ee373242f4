//! Albums in the OpenAPI document.

use serde_json::{Value, json};

/// The form that an album is sent as.
pub(crate) fn album_form() -> Value {
    let text = |meaning: &str| json!({ "type": "array", "items": { "type": "string" }, "description": meaning });
    json!({
        "schema": {
            "type": "object",
            "properties": {
                "photo": { "type": "array", "items": { "type": "string", "format": "binary" } },
                "time": text("When the photo before it was taken: 2024-05-12T13:45:10+02:00, 2024:05:12 13:45:10 or seconds since 1970"),
                "gps": text("Where the photo before it was taken: latitude,longitude in degrees"),
                "camera": text("The camera of the photo before it: cameras have clocks of their own"),
            },
            "required": ["photo"],
        },
    })
}

/// What comes back.
pub(crate) fn album_schema() -> Value {
    let clock = json!({
        "type": "object",
        "required": ["camera", "ahead_h", "gain_nats", "photos"],
        "properties": {
            "camera": { "type": "string" },
            "ahead_h": { "type": "integer" },
            "gain_nats": { "type": "number" },
            "photos": { "type": "integer" },
        },
    });
    json!({
        "type": "object",
        "required": ["photos", "clocks", "track"],
        "properties": {
            "photos": {
                "type": "array",
                "description": "In the order they were sent; one that cannot be read has 'photo' and 'error' only",
                "items": photo_schema(),
            },
            "clocks": { "type": "array", "items": clock, "description": "Cameras whose clocks were off, and were set" },
            "track": {
                "type": "object",
                "description": "A GeoJSON FeatureCollection in order of time: the track as a line, without what does not fit, and a point for each photo",
            },
        },
    })
}

fn photo_schema() -> Value {
    let (number, text) = (json!({ "type": "number" }), json!({ "type": "string" }));
    let place = json!({ "$ref": "#/components/schemas/Place" });
    let maybe = |schema: &Value| json!({ "anyOf": [schema, { "type": "null" }] });
    let sources = json!(["table", "exif", "clock", "name", "order"]);
    let outlier = json!({
        "type": "object",
        "required": ["probability", "reason"],
        "properties": { "probability": number, "reason": text },
    });
    json!({
        "type": "object",
        "required": ["photo"],
        "properties": {
            "photo": text,
            "error": text,
            "time": {
                "type": "object",
                "required": ["seconds", "source", "utc"],
                "properties": {
                    "seconds": number,
                    "source": { "type": "string", "enum": sources, "description": "Where the time is from; table: the form" },
                    "utc": { "type": "string", "description": "The same in words; of the camera's clock where no offset is known" },
                },
            },
            "gps": maybe(&place),
            "best": place,
            "place": text,
            "country": maybe(&text),
            "radius_50_km": number,
            "radius_90_km": number,
            "probability": { "type": "number", "deprecated": true },
            "locatability": number,
            "hypotheses": { "type": "array", "items": { "$ref": "#/components/schemas/Hypothesis" } },
            "alternatives": { "type": "array", "items": { "$ref": "#/components/schemas/Hypothesis" }, "deprecated": true },
            "can_tell": { "type": "boolean" },
            "country_code": maybe(&text),
            "alone": maybe(&place),
            "moved_km": { "type": "number", "description": "The distance to the photo's own single-photo answer" },
            "because": { "type": "string", "description": "Why, in one sentence" },
            "elsewhere": { "type": "number", "description": "The probability that it is from elsewhere: another trip, another time" },
            "hint": maybe(&outlier),
            "outlier": maybe(&outlier),
        },
    })
}
