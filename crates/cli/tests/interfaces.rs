//! The same ten photos, a broken one and a HEIC among them, through every interface: the same bytes. The fifth interface, Python, sends the same
//! photos in python/tests/test_interfaces.py.
#![cfg(all(unix, feature = "bundled"))]

use crate::{common, geoclip_models as geoclip, immich_server as immich, server};
use common::{command, fixture, read, run, stderr};
use immich::{Fake, KEY, id};
use locdiff::batch::{Job, Task};
use locdiff_vision::sources::Photos;
use serde_json::Value;
use server::{Server, received};
use std::{fs, path::Path};

/// Ten photos with names that say when they were taken; the last one is cut off.
fn photos(folder: &Path) -> Vec<String> {
    let kinds = "china.jpg rgb.png turned.heic grey.jpg lossy.webp rgb.bmp animated.gif cmyk.jpg palette.png";
    let mut names = Vec::new();
    for (k, kind) in kinds.split(' ').enumerate() {
        let name = format!("IMG_20240512_10{k:02}00.{}", kind.split_once('.').unwrap().1);
        fs::copy(fixture("vision").join(kind), folder.join(&name)).unwrap();
        names.push(name);
    }
    let whole = fs::read(fixture("vision/china.jpg")).unwrap();
    fs::write(folder.join("IMG_20240512_100900.jpg"), &whole[..whole.len() / 2]).unwrap();
    names.push("IMG_20240512_100900.jpg".to_owned());
    names
}

/// A form of photos.
fn form(folder: &Path, names: &[String]) -> Vec<u8> {
    let mut body = Vec::new();
    for name in names {
        let head = format!("--x\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"{name}\"\r\n\r\n");
        body.extend([head.as_bytes(), &fs::read(folder.join(name)).unwrap(), b"\r\n"].concat());
    }
    body.extend(b"--x--\r\n");
    body
}

const FORM: &str = "Content-Type: multipart/form-data; boundary=x\r\n";

#[test]
fn every_interface_gives_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    send_through_every_interface(folder.path(), "");
}

/// The same with GeoCLIP's heads of random weights and a CLIP of random weights, by their names in the data folder.
#[test]
fn every_interface_gives_the_same_bytes_with_geoclip() {
    let folder = tempfile::tempdir().unwrap();
    geoclip::prepare(folder.path());
    let lines = send_through_every_interface(folder.path(), " --model geoclip");
    for answer in lines.iter().filter(|line| line["error"].is_null()) {
        geoclip::check_coherent(answer);
        assert_eq!((&answer["not_calibrated"], &answer["gallery"]["answered_by"]), (&true.into(), &"model".into()));
    }
}

/// Ten photos through the command, the server, a job and immich; the command's lines.
fn send_through_every_interface(folder: &Path, model: &str) -> Vec<Value> {
    let home = folder.join("home");
    let names = photos(folder);
    let listed: Vec<&str> = names.iter().map(String::as_str).collect();
    let ok = |words: &str, photos: &[&str]| {
        let words = format!("{words} {}", photos.join(" "));
        let output = command(folder, &words).env("LOCDIFF_HOME", &home).output().unwrap();
        assert!(output.status.success(), "{words}: {}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    };

    // Photos one by one: the command, the server, a job.
    let wanted = ok(&format!("locate --device cpu --json --allow-bad{model}"), &listed);
    let lines: Vec<Value> = wanted.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 10);
    assert!(lines[0]["best"]["lat"].is_number() && lines[9]["error"].as_str().unwrap().contains("100900.jpg"));
    let environment = [("LOCDIFF_HOME", home.to_str().unwrap())];
    let server = Server::start(folder, &format!("--address 127.0.0.1:0 --no-log{model}"), &environment);
    let body = form(folder, &names);
    assert_eq!(received(server.send("/v1/locate", &body, FORM)), (200, wanted.clone()), "the server");
    ok(&format!("batch plan --shard-photos 4 --out job{model}"), &listed);
    ok("batch run job --device cpu", &[]);
    ok("batch merge job --out merged.jsonl", &[]);
    assert_eq!(read(folder.join("merged.jsonl")), wanted, "a job");

    // As an album: the command, the server, immich.
    let album = ok(&format!("album --device cpu --json --allow-bad --trust-clocks{model}"), &listed);
    let album: Vec<Value> = album.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(album[9], lines[9], "a photo that cannot be used has the same line everywhere");
    let (status, text) = received(server.send("/v1/album?trust_clocks=true", &body, FORM));
    assert_eq!(status, 200, "{text}");
    server.end();
    let mut answer: Value = serde_json::from_str(&text).unwrap();
    for photo in answer["photos"].as_array_mut().unwrap().iter_mut().filter(|photo| photo["error"].is_null()) {
        photo["time"].as_object_mut().unwrap().remove("utc");
    }
    assert_eq!(answer["photos"].as_array().unwrap(), &album, "the server's album");
    let fake = Fake::new(&[None; 10]);
    fake.set(|state| {
        for (k, name) in names.iter().enumerate() {
            state.assets[k].time = format!("2024-05-12T10:{k:02}:00.000Z");
            state.photos.insert(id(k), fs::read(folder.join(name)).unwrap());
        }
    });
    let suggest = format!("immich {} suggest --device cpu --trust-clocks{model}", fake.url);
    let suggested = command(folder, &suggest).envs(environment).env("IMMICH_API_KEY", KEY).output().unwrap();
    assert!(suggested.status.success(), "{}", stderr(&suggested));
    let found: Value = serde_json::from_str(&read(folder.join("immich-suggestions.json"))).unwrap();
    let found = found["suggestions"].as_array().unwrap();
    let answered: Vec<&Value> = album.iter().filter(|photo| photo["error"].is_null()).collect();
    assert_eq!(found.len(), answered.len());
    for (suggestion, answer) in found.iter().zip(answered) {
        assert_eq!((&suggestion["lat"], &suggestion["lon"]), (&answer["best"]["lat"], &answer["best"]["lon"]));
        for field in ["place", "radius_50_km", "radius_90_km"] {
            assert_eq!(suggestion[field], answer[field], "{field}");
        }
    }
    lines
}

/// A sampler or its steps without anything that makes samples are refused by every interface. Python's test is in python/tests.
#[test]
fn a_sampler_without_samples_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::copy(fixture("vision/china.jpg"), folder.join("a.jpg")).unwrap();
    for words in ["locate a.jpg --steps 7 --device cpu", "batch plan a.jpg --out job --sampler ddpm"] {
        let output = run(folder, words);
        assert!(output.status.code() == Some(2) && stderr(&output).contains("--pool"), "{words}: {}", stderr(&output));
    }
    assert!(!folder.join("job").exists());
    let locator = locdiff::Locator::bundled().unwrap();
    let mut options = locdiff::LocateOptions::new();
    options.steps = 7;
    let refused = locator.locate_with(folder.join("a.jpg"), &options).unwrap_err();
    assert!(refused.kind() == locdiff::ErrorKind::Setting && refused.to_string().contains("steps"), "{refused}");
    let photos = Photos::gather(&[folder.join("a.jpg")], None).unwrap();
    let flat = locdiff::FlatOptions::new(locdiff::LocatorOptions::default(), options.clone());
    assert!(Job::plan(&photos, &folder.join("job"), Task::Locate, flat, 1).is_err());
    assert!(locator.locate_album([folder.join("a.jpg")], &album_of(options.clone())).is_err());
    assert!(locator.locate_with(folder.join("a.jpg"), &options.clone().pool(locdiff::Pooling::Mean)).is_ok());
    let traced = locator.locate_all([folder.join("a.jpg")], &options.with_trace(true)).unwrap().next().unwrap();
    assert!(traced.answer.is_ok() && !traced.trace.is_empty());
}

fn album_of(photos: locdiff::LocateOptions) -> locdiff::AlbumOptions {
    let mut options = locdiff::AlbumOptions::default();
    options.photos = photos;
    options
}
