//! A trip over HTTP, where a transcript does not do (`crates/cli/tests/transcripts`).

use crate::common;

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use common::{FORM, Running, part, photo, post};
use locdiff_testing::http::form;
use serde_json::{Value, json};

/// A photo with its fields.
fn described(name: &str, contents: &[u8], fields: &[(&str, &str)]) -> Vec<u8> {
    let fields = fields.iter().map(|(field, words)| part(field, None, words.as_bytes()));
    [part("photo", Some(name), contents)].into_iter().chain(fields).collect::<Vec<_>>().concat()
}

#[test]
fn an_album_in_parts_is_the_album_at_once() {
    let server = Running::new(|_| {});
    let photos =
        [("IMG_20240512_134510.jpg", "turned_6.jpg"), ("IMG_20240512_135010.jpg", "china.jpg"), ("x.png", "rgb.png")];
    let parts = photos.map(|(name, file)| described(name, &photo(file), &[]));
    let whole = server.post("/v1/album", FORM, &form(&parts)).json();
    let row = |(name, file): (&str, &str)| {
        let said = server.post(&format!("/v1/embed?name={name}"), "image/jpeg", &photo(file)).json();
        let values: Vec<f32> = serde_json::from_value(said["embedding"].clone()).unwrap();
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        json!({
            "name": name, "embedding": BASE64.encode(bytes), "time": said["time"], "offset": said["offset"],
            "camera": said["camera"], "gps": said["gps"],
        })
    };
    let rows = photos.map(row);
    let ask = |body: Value| server.post("/v1/album/embeddings", "application/json", body.to_string().as_bytes());
    assert_eq!(ask(json!({ "photos": rows })).json(), whole);
    assert!(whole["photos"][0]["gps"].is_object());
    let bad = |field: &str, value: Value| {
        let mut row = rows[0].clone();
        row[field] = value;
        ask(json!({ "photos": [row] }))
    };
    for (field, value) in [
        ("embedding", json!("AAAA")),
        ("embedding", json!("?")),
        ("gps", json!([91, 0])),
        ("time", json!("x".repeat(101))),
        ("else", json!(1)),
    ] {
        assert_eq!(bad(field, value).status, 400, "{field}");
    }
    assert_eq!(ask(json!({ "photos": [] })).status, 400);
}

#[test]
fn albums_wait_in_the_same_queue() {
    let server = Running::new(|options| {
        options.max_photos = 4;
        options.queue = 4;
    });
    let body = form(&vec![described("a.jpg", &photo("rgb.jpg"), &[]); 4]);
    let responses = crate::load::crowd(&server, &post("/v1/album", FORM, &body), |response| response.status == 429);
    let statuses: Vec<u16> = responses.iter().map(|response| response.status).collect();
    assert!(statuses.iter().all(|status| [200, 429].contains(status)), "{statuses:?}");
    assert!(statuses.contains(&200), "{statuses:?}");
}

#[test]
fn every_field_of_an_album_is_described() {
    let server = Running::new(|_| {});
    let schema = &server.get("/openapi.json").json()["paths"]["/v1/album"]["post"]["responses"]["200"]["content"]["application/json"]
        ["schema"]["properties"];
    let body = form(&[described("a.jpg", &photo("rgb.jpg"), &[("gps", "0,0")]), described("b.jpg", b"no", &[])]);
    let answer = server.post("/v1/album", FORM, &body).json();
    for name in answer.as_object().unwrap().keys() {
        assert!(schema[name].is_object(), "{name}");
    }
    for photo in answer["photos"].as_array().unwrap() {
        for name in photo.as_object().unwrap().keys() {
            assert!(schema["photos"]["items"]["properties"][name].is_object(), "{name}");
        }
    }
}
