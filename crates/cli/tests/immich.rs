//! `locdiff immich` against a server that speaks immich's routes.
#![cfg(feature = "bundled")]

use crate::{common, immich_server as server};

use common::{command, fixture, stderr};
use locdiff_testing::{http, http::Response, wait_until};
use serde_json::Value;
use server::{Fake, KEY, id};
use std::{fs, io::BufRead, io::BufReader, path::Path, process::Output, process::Stdio};

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
        state.texts.insert(id(2), "Metropolis");
        // The server fails at the third photo.
        state.failing = Some((format!("{}/thumbnail", id(2)), 500, 3));
    });
    let path = &*common::scratch();
    let failed = said(&immich(path, &fake, "suggest --device cpu --threads 1"), 1);
    assert!(failed.contains("500") && failed.contains("repeat the command"), "{failed}");
    assert!(!path.join("immich-suggestions.json").exists());
    // The second run looks only at what is left.
    fake.set(|state| state.log.clear());
    let done = said(&immich(path, &fake, "suggest --device cpu"), 0);
    assert!(done.contains("continuing after 3 photos") && done.contains("2 suggestions, 2 of them ticked"), "{done}");
    assert_eq!(fake.asked("thumbnail"), 1);
    let kept = fs::read_to_string(path.join("immich-suggestions.json.photos.jsonl")).unwrap();
    assert_eq!(kept.matches(r#"["Metropolis",0.95,[["#).count(), 1, "the server's own text counts: {kept:.2000}");
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
    assert!(said(&immich(path, &fake, "apply"), 0).contains("1 written, 1 had a location already"));
    assert!(said(&immich(path, &fake, "undo"), 0).contains("1 removed"));
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

/// Runs `immich review` until its page is done, beside a client that asks for routes.
fn reviewed(folder: &Path, fake: &Fake, client: impl FnOnce(&dyn Fn(&str, &str) -> Response)) -> Output {
    let mut review = command(folder, &format!("immich {} review", fake.url));
    let mut review = review.env("IMMICH_API_KEY", KEY).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut notes = BufReader::new(review.stderr.take().unwrap()).lines().map(Result::unwrap);
    let line = notes.find(|line| line.contains("/?token=")).unwrap();
    let (host, rest) = line.split_once("http://").unwrap().1.split_once('/').unwrap();
    let visit = |request: &str, headers: &str, body: &str| {
        let headers = format!("Host: {host}\r\nOrigin: http://{host}\r\n{headers}");
        Response::to(host, &http::request(request, &headers, body.as_bytes()))
    };
    // The address ends the line, so that it can be copied.
    let first = visit(&format!("GET /{rest}"), "", "");
    let cookie = first.header("set-cookie").unwrap().split(';').next().unwrap();
    let cookie = format!("Cookie: {cookie}\r\n");
    let ask = |request: &str, body: &str| visit(request, &cookie, body);
    wait_until("the photos are read", || ask("GET /review/state", "").json()["is_read"] == true);
    client(&ask);
    assert_eq!(ask("POST /review/done", "").status, 200);
    review.wait_with_output().unwrap()
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
    let output = reviewed(folder.path(), &fake, |ask| {
        assert!(ask("GET /", "").text().contains("LocDiff: review"));
        let act = format!(r#"{{"act":"take","photos":["{}"],"take":true}}"#, id(0));
        assert_eq!(ask("POST /review/act", &act).status, 200);
        assert_eq!(ask("POST /review/act", r#"{"act":"burn"}"#).status, 409);
        assert!(fs::read_to_string(folder.path().join("immich-suggestions.json")).unwrap().contains("\"take\": true"));
    });
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 of 1 are ticked"));
}

#[test]
fn a_place_by_hand_places_the_other_photos_of_its_trip_again() {
    let fake = Fake::new(&[None, None, None]);
    fake.set(|state| {
        state.photo = fs::read(fixture("vision/china.jpg")).unwrap();
        for (k, asset) in state.assets.iter_mut().enumerate() {
            // The last one is of another trip.
            asset.time = format!("2024-0{}-12T10:0{k}:00.000Z", 5 + k / 2);
        }
    });
    let path = &*common::scratch();
    said(&immich(path, &fake, "suggest --device cpu"), 0);
    fake.set(|state| state.log.clear());
    let file = || -> Value {
        let text = fs::read_to_string(path.join("immich-suggestions.json")).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()["suggestions"].clone()
    };
    let before = file();
    reviewed(path, &fake, |ask| {
        let settled = || {
            let state = || ask("GET /review/state", "").json();
            wait_until("nothing is left to do", || state()["is_busy"] == false);
            state()["photos"].clone()
        };
        let first = settled();
        let rome = r#""lat":41.9,"lon":12.5,"radius_km":0.05,"how":"coordinates""#;
        let act = format!(r#"{{"act":"move","photos":["{}"],{rome}}}"#, id(0));
        assert_eq!(ask("POST /review/act", &act).status, 200);
        let photos = settled();
        let [moved, beside, other] = [0, 1, 2].map(|k| &photos[k]["said"]);
        let off = (beside["best"]["lat"].as_f64().unwrap() - 41.9).abs();
        assert!(off < 0.1 && beside["because"].as_str().unwrap().contains("which you placed"), "{beside}");
        assert!(photos[1]["take"] == true && beside["trip"] == moved["trip"] && beside["trip"] != other["trip"]);
        assert_eq!(other, &first[2]["said"], "another trip stays");
        // What `apply` would write is in the file, and what was suggested is still known.
        let saved = file();
        assert_eq!(saved[1]["corrected"]["lat"], beside["best"]["lat"]);
        assert_eq!((&saved[1]["lat"], &saved[1]["take"]), (&before[1]["lat"], &Value::Bool(true)));
        assert_eq!(ask("POST /review/act", r#"{"act":"undo"}"#).status, 200);
        assert_eq!(settled(), first);
        assert_eq!(file()[1]["corrected"], Value::Null);
    });
    assert_eq!(fake.asked("thumbnail"), 0, "no photo is read again");
}
