//! `locdiff immich` against a server that speaks immich's routes.
#![cfg(feature = "bundled")]

use crate::{common, immich_server as server};

use common::{command, fixture, stderr};
use locdiff_testing::http::{self, Response};
use locdiff_testing::wait_until;
use serde_json::Value;
use server::{Fake, KEY, id};
use std::io::{BufRead, BufReader};
use std::process::{Output, Stdio};
use std::{fs, path::Path};

fn immich(folder: &Path, fake: &Fake, words: &str) -> Output {
    let words = format!("immich {} {words}", fake.url);
    command(folder, &words).env("IMMICH_API_KEY", KEY).output().unwrap()
}

#[track_caller]
fn said(output: &Output, code: i32) -> String {
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), stderr(output));
    assert_eq!(output.status.code(), Some(code), "{text}");
    assert!(!text.contains(KEY), "the key is shown: {text}");
    text
}

#[test]
fn photos_are_suggested_written_and_taken_back() {
    let rome = (41.9, 12.5);
    let fake = Fake::new(&[Some(rome), None, None, Some(rome)]);
    fake.set(|state| {
        state.photo = fs::read(fixture("vision/china.jpg")).unwrap();
        for (k, asset) in state.assets.iter_mut().enumerate() {
            asset.time = format!("2024-05-12T10:{:02}:00.000Z", 5 * k);
        }
        // The server fails at the third photo.
        state.failing = Some((format!("{}/thumbnail", id(2)), 500, 3));
    });
    let path = &*common::scratch();
    let failed = said(&immich(path, &fake, "suggest --device cpu --threads 1"), 1);
    assert!(failed.contains("500") && failed.contains("go on with the same command"), "{failed}");
    assert!(!path.join("immich-suggestions.json").exists());
    // The second run looks only at what is left.
    fake.set(|state| state.log.clear());
    let done = said(&immich(path, &fake, "suggest --device cpu"), 0);
    assert!(done.contains("going on after 3 photos") && done.contains("2 suggestions, 2 of them ticked"), "{done}");
    assert_eq!(fake.asked("thumbnail"), 1);
    assert!(!path.join("immich-suggestions.json.partial").exists());
    let text = fs::read_to_string(path.join("immich-suggestions.json")).unwrap();
    let suggestions: Value = serde_json::from_str(&text).unwrap();
    for one in suggestions["suggestions"].as_array().unwrap() {
        let off = |name: &str, truth: f64| (one[name].as_f64().unwrap() - truth).abs();
        assert!(off("lat", rome.0) < 0.01 && off("lon", rome.1) < 0.01, "{one}");
    }
    assert!(said(&immich(path, &fake, "suggest --device cpu"), 1).contains("exists: add --force"));
    assert!(said(&immich(path, &fake, "apply --dry-run"), 0).contains("2 of 2 suggestions would be written"));
    assert_eq!(fake.asked("PUT"), 0, "nothing is written yet");
    // One photo was tagged by hand meanwhile.
    fake.set(|state| state.assets[1].place = Some((1.0, 2.0)));
    assert!(said(&immich(path, &fake, "apply"), 0).contains("1 written, 1 had a place already"));
    assert!(said(&immich(path, &fake, "undo"), 0).contains("1 taken back"));
    assert_eq!(fake.places(), [Some(rome), Some((1.0, 2.0)), Some((0.0, 0.0)), Some(rome)]);
}

#[test]
fn keys_and_addresses_are_asked_for() {
    let fake = Fake::new(&[None]);
    let path = &*common::scratch();
    let words = format!("immich {} undo", fake.url);
    let none = command(path, &words).env_remove("IMMICH_API_KEY").output().unwrap();
    assert!(said(&none, 1).contains("no API key: put one into IMMICH_API_KEY"));
    fs::write(path.join("key"), "wrong\n").unwrap();
    let wrong = immich(path, &fake, "suggest --device cpu --key-file key");
    assert!(said(&wrong, 1).contains("answers 401"));
    let other = command(path, "immich ftp://photos.example undo").env("IMMICH_API_KEY", KEY).output().unwrap();
    assert!(said(&other, 1).contains("https://photos.example"));
    assert!(said(&immich(path, &fake, "undo"), 1).contains("give the journal that `apply` named"));
}

#[test]
fn the_page_is_reviewed() {
    let fake = Fake::new(&[None]);
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        r#"{{"server":"{}","suggestions":[{{"asset":"{}","name":"a.jpg","time":"","lat":1.0,"lon":2.0,"place":"","radius_50_km":1.0,"radius_90_km":2.0,"because":"","warning":null,"take":false}}]}}"#,
        fake.url,
        id(0)
    );
    fs::write(folder.path().join("immich-suggestions.json"), text).unwrap();
    let mut review = command(folder.path(), &format!("immich {} review", fake.url));
    let mut review = review.env("IMMICH_API_KEY", KEY).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(review.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let (host, rest) = line.split_once("http://").unwrap().1.split_once('/').unwrap();
    let visit = |request: &str, headers: &str, body: &str| {
        let headers = format!("Host: {host}\r\nOrigin: http://{host}\r\n{headers}");
        Response::to(host, &http::request(request, &headers, body.as_bytes()))
    };
    let first = visit(&format!("GET /{}", rest.split(';').next().unwrap()), "", "");
    let cookie = first.header("set-cookie").unwrap().split(';').next().unwrap();
    let cookie = format!("Cookie: {cookie}\r\n");
    assert!(visit("GET /", &cookie, "").text().contains("LocDiff: review"));
    wait_until("the photos are read", || visit("GET /review/state", &cookie, "").json()["is_read"] == true);
    let act = format!(r#"{{"act":"take","photos":["{}"],"take":true}}"#, id(0));
    assert_eq!(visit("POST /review/act", &cookie, &act).status, 200);
    assert_eq!(visit("POST /review/act", &cookie, r#"{"act":"burn"}"#).status, 409);
    assert!(fs::read_to_string(folder.path().join("immich-suggestions.json")).unwrap().contains("\"take\": true"));
    assert_eq!(visit("POST /review/done", &cookie, "").status, 200);
    let output = review.wait_with_output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 of 1 are ticked"));
}
