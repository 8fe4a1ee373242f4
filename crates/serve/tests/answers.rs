//! The same answer over HTTP as from the library, alone and among others.

mod common;

use common::{FORM, Running, form, photo, photo_path};
use locdiff::{LocateOptions, Locator};

/// What the library says of a photo, as the command prints it.
fn said(name: &str) -> String {
    let path = photo_path(name);
    let answer = Locator::bundled().unwrap().locate_with(&path, &LocateOptions::default()).unwrap();
    format!("{}\n", answer.to_json())
}

#[test]
fn one_photo_alone_and_among_a_hundred_others() {
    let names = ["china.jpg", "rgb.png"];
    let wanted = names.map(said);
    let server = Running::new(|options| options.queue = 200);
    let target = |name: &str| format!("/v1/locate?name={}", photo_path(name).display());
    for (name, wanted) in names.iter().zip(&wanted) {
        let response = server.post(&target(name), "image/jpeg", &photo(name));
        assert_eq!((response.status, response.text()), (200, wanted.clone()), "{name} alone");
        assert_eq!(response.header("content-type"), Some("application/json"));
        for stage in ["queue", "decode", "encode", "answer"] {
            let ms: f64 = response.header(&format!("x-{stage}-ms")).unwrap().parse().unwrap();
            assert!((0.0..60_000.0).contains(&ms));
        }
    }
    std::thread::scope(|scope| {
        let ask = |k: usize| {
            let (name, wanted) = (names[k % 2], &wanted[k % 2]);
            // Others with other settings wait in the same batches.
            let others = if k % 5 == 4 { "&seed=7&within=Japan" } else { "" };
            let response = server.post(&(target(name) + others), "application/octet-stream", &photo(name));
            assert_eq!(response.status, 200, "{}", response.text());
            if others.is_empty() {
                assert_eq!(response.text(), *wanted, "{name} among others");
            } else {
                assert_eq!(response.json()["country_code"], "JP");
            }
        };
        let all: Vec<_> = (0..100).map(|k| scope.spawn(move || ask(k))).collect();
        for one in all {
            one.join().unwrap();
        }
    });
    assert_eq!(server.metric("locdiff_photos_answered_total"), Some(102.0));
    let batches = server.metric("locdiff_batch_photos_count").unwrap();
    assert!(batches < 60.0, "{batches} batches for 102 photos: what waited goes together");
}

#[test]
fn a_form_of_several_photos_is_a_line_each() {
    let server = Running::new(|_| {});
    let china = photo_path("china.jpg").display().to_string();
    let (good, bad) = (photo("china.jpg"), &photo("china.jpg")[..2000]);
    let body = form(&[(&china, &good), ("cut.jpg", bad), ("no.jpg", b"text"), (&china, &good)]);
    let response = server.post("/v1/locate", FORM, &body);
    assert_eq!((response.status, response.header("content-type")), (200, Some("application/x-ndjson")));
    let text = response.text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[0], said("china.jpg").trim_end());
    assert_eq!(lines[3], lines[0]);
    assert!(
        lines[1].starts_with("{\"error\":\"cut.jpg is cut off") && lines[2].contains("no.jpg is not a JPEG")
    );
    // One alone in a form is one answer.
    let response = server.post("/v1/locate", FORM, &form(&[(&china, &good)]));
    assert_eq!(response.text(), said("china.jpg"));
}

#[test]
fn embeddings_there_and_back() {
    let server = Running::new(|_| {});
    let response = server.post("/v1/embed?name=china.jpg", "image/jpeg", &photo("china.jpg"));
    let embedded = response.json();
    assert_eq!(embedded["photo"], "china.jpg");
    assert_eq!(embedded["encoder"], server.get("/v1/info").json()["encoder"]);
    let body =
        serde_json::json!({ "embeddings": [embedded["embedding"], embedded["embedding"]] }).to_string();
    let response = server.post("/v1/locate/embeddings", "application/json", body.as_bytes());
    let wanted: serde_json::Value = serde_json::from_str(&said("china.jpg")).unwrap();
    for (k, line) in response.text().lines().enumerate() {
        let answer: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(answer["photo"], format!("row {}", k + 1));
        assert_eq!(answer["best"], wanted["best"]);
    }
    for (body, status) in [
        ("{}", 400),
        ("[]", 400),
        (r#"{"embeddings":[]}"#, 400),
        (r#"{"embeddings":[[1,2]]}"#, 400),
        (r#"{"embeddings":[["a"]]}"#, 400),
        (r#"{"embeddings":[[]],"more":1}"#, 400),
    ] {
        let response = server.post("/v1/locate/embeddings", "application/json", body.as_bytes());
        assert_eq!((response.status, &*response.problem()), (status, "bad-request"), "{body}");
    }
    let wide = format!(
        "{{\"embeddings\":[[{}1e39]]}}",
        "0,".repeat(embedded["embedding"].as_array().unwrap().len() - 1)
    );
    let response = server.post("/v1/locate/embeddings", "application/json", wide.as_bytes());
    assert!([400, 422].contains(&response.status), "{}", response.text());
}

#[test]
fn maps_and_options() {
    let server = Running::new(|_| {});
    let china = photo("china.jpg");
    for (format, content_type, begin) in [
        ("geojson", "application/geo+json", "{\"type\":\"FeatureCollection\"".as_bytes()),
        ("kml", "application/vnd.google-earth.kml+xml", b"<?xml"),
        ("png", "image/png", b"\x89PNG"),
        ("geotiff", "image/tiff", b"II*\0"),
    ] {
        let response = server.post(&format!("/v1/locate?format={format}"), "image/jpeg", &china);
        assert_eq!((response.status, response.header("content-type")), (200, Some(content_type)));
        assert!(response.body.starts_with(begin), "{format}");
    }
    let response =
        server.post("/v1/locate?density=geojson&hypotheses=2&within=JP&within=KR", "image/jpeg", &china);
    let answer = response.json();
    assert!(["JP", "KR"].contains(&answer["country_code"].as_str().unwrap()));
    assert!(answer["hypotheses"].as_array().unwrap().len() <= 2);
    assert_eq!(answer["density"]["type"], "FeatureCollection");
    assert_eq!(answer["photo"], serde_json::Value::Null);
    let two = form(&[("a", &china), ("b", &china)]);
    assert_eq!(server.post("/v1/locate?format=png", FORM, &two).problem(), "bad-request");
    for (query, words) in [
        ("within=Atlantis", "is no continent"),
        ("within=/etc/passwd", "is no continent"),
        ("view=3", "is no parameter"),
        ("views=0", "from 1 to 16"),
        ("within=0,0,95,10", "is not a box"),
    ] {
        let response = server.post(&format!("/v1/locate?{query}"), "image/jpeg", &china);
        assert_eq!((response.status, &*response.problem()), (400, "bad-request"), "{query}");
        assert!(response.text().contains(words), "{query}: {}", response.text());
    }
}
