//! GeoCLIP, galleries and LocDiff-H as people use them.

use crate::common;

use common::{
    TOWNS, TRAIN, csv, fixture, json, json_lines, number, ok, read, refused_with, run, write_npy, write_photos,
};
use std::{fmt::Write, fs, path::Path};

/// Photos of four towns, each town with streets 10 km apart that only the embedding's last numbers tell.
fn towns(path: &Path, name: &str, first: usize) {
    let photo = |k: usize| {
        let (town, street) = (k % 4, (k / 4) % 15);
        let angle = street as f32 * std::f32::consts::TAU / 15.0;
        let noise = (k as f32 * 12.9898).sin() * 0.01;
        let mut row = vec![noise; 6];
        row[town] = 1.0;
        (row[4], row[5]) = (0.5 * angle.cos() + noise, 0.5 * angle.sin());
        let (lat, lon) = TOWNS[town];
        (row, (lat + 0.1 * street as f64, lon + 0.002 * (k as f64).sin()))
    };
    write_photos(path, name, (first..first + 120).map(photo));
}

/// Photos to train and to test with, and galleries that do not fit.
pub(crate) fn train_and_test(path: &Path) {
    towns(path, "train", 0);
    towns(path, "test", 1000);
    write_npy(path.join("one.npy"), &[vec![1.0; 6]]);
    write_npy(path.join("five.npy"), &vec![vec![1.0; 5]; 120]);
}

/// `locate` says the same place as `sample`, with probabilities about it.
#[test]
fn a_hybrid_location_has_probabilities() {
    let path = &*common::scratch();
    train_and_test(path);
    ok(path, &format!("{TRAIN} --embeddings train.npy --locations train.csv"));
    ok(path, "gallery build --embeddings train.npy --locations train.csv --device cpu --out gallery");
    let rule = "--device cpu --samples 8 --steps 10 --hybrid gallery --hybrid-rule paper --hybrid-radius-km 1500";
    ok(path, &format!("sample --model run --embeddings test.npy --out h.csv {rule}"));
    let located = json_lines(path, &format!("locate --model run --embeddings test.npy {rule}"));
    assert_eq!(located.len(), 120);
    for (answer, row) in located.iter().zip(&csv(path.join("h.csv"))[1..]) {
        for (cell, axis) in [(1, "lat"), (2, "lon")] {
            assert_eq!(number(&answer["best"][axis]), row[cell].parse::<f64>().unwrap());
        }
        assert!(number(&answer["radius_50_km"]) > 0.0);
    }
}

#[test]
fn a_gallery_is_mixed_with_the_model_and_says_what_it_did() {
    let path = &*common::scratch();
    towns(path, "train", 0);
    towns(path, "validation", 1000);
    towns(path, "test", 3000);
    ok(path, &format!("{TRAIN} --embeddings train.npy --locations train.csv"));
    ok(path, "gallery build --embeddings train.npy --locations train.csv --device cpu --out gallery");
    let locate = "locate --model run --embeddings test.npy --device cpu --samples 4";
    // Never fitted: it says so, and answers all the same.
    let note = common::stderr(&common::run(path, &format!("{locate} --gallery gallery --json")));
    assert!(note.contains("never calibrated with this gallery"), "{note}");
    let calibrate = "calibrate --model run --truth validation.csv --embeddings validation.npy --device cpu --samples 4";
    let said = json(path, &format!("{calibrate} --gallery gallery"));
    assert!(said["gallery"]["share"].as_f64().unwrap() > 0.5, "{said}");
    let plain = json_lines(path, locate);
    let mixed = json_lines(path, &format!("{locate} --gallery gallery --csv mixed.csv"));
    let radius = |answers: &[serde_json::Value]| {
        answers.iter().map(|answer| answer["radius_50_km"].as_f64().unwrap()).sum::<f64>()
    };
    assert!(radius(&mixed) < 0.8 * radius(&plain));
    assert!(plain.iter().all(|answer| answer["gallery"].is_null()));
    for answer in &mixed {
        assert_eq!(answer["best"]["lat"], answer["hypotheses"][0]["lat"]);
        let word = &answer["gallery"];
        assert_eq!(word["answered_by"], "gallery", "{answer}");
        assert!((0.5..=1.0).contains(&word["share"].as_f64().unwrap()), "{answer}");
        let row = word["match"]["row"].as_u64().unwrap();
        assert!((1..=120).contains(&row) && word["match"]["similarity"].as_f64().unwrap() > 0.9, "{answer}");
        assert!(word["match"]["distance_km"].as_f64().unwrap() < 500.0 && word["match"]["lat"].is_f64());
    }
    let table = csv(path.join("mixed.csv"));
    let columns = table[0].len() - 10;
    assert_eq!(
        table[0][columns..].join(","),
        "answered_by,gallery_share,match_row,match_name,match_lat,match_lon,match_km,match_similarity,gps_lat,gps_lon"
    );
    // The words of a place hold commas.
    assert_eq!(table[1][table[1].len() - 10], "gallery", "{:?}", table[1]);
    let text = ok(path, &format!("{locate} --gallery gallery --details"));
    assert!(
        text.contains("answered by  the gallery; the gallery has") && text.contains("  match        row "),
        "{text}"
    );
    // Knowledge holds for both parts.
    let (lat, lon) = TOWNS[1];
    let within = format!("--within={},{},{},{}", lat - 2.0, lon - 2.0, lat + 2.0, lon + 2.0);
    for answer in json_lines(path, &format!("{locate} --gallery gallery {within}")).iter().take(8) {
        assert!((answer["best"]["lat"].as_f64().unwrap() - lat).abs() <= 2.0, "{answer}");
    }
    // LocDiff-H says the same things by its own rule.
    let hybrid = format!("{locate} --steps 5 --hybrid gallery --hybrid-rule paper --hybrid-radius-km 1500");
    for answer in json_lines(path, &hybrid) {
        let word = &answer["gallery"];
        let from_gallery = word["answered_by"] == "gallery";
        assert_eq!(from_gallery, word["match"].is_object(), "{answer}");
        assert!(!from_gallery || word["match"]["distance_km"].as_f64().unwrap() < 0.1, "{answer}");
    }
    assert_eq!(run(path, &format!("{locate} --gallery gallery --hybrid gallery")).status.code(), Some(2));
    refused_with(path, &format!("{locate} --gallery nowhere"), "is no folder");
    ok(path, "gallery build --embeddings validation.npy --locations validation.csv --out same");
    refused_with(path, &format!("{calibrate} --gallery same"), "holds the photos that it is fitted on");
}

/// Pictures of the vision fixtures, with made-up places.
fn photo_list(path: &Path) -> usize {
    let photos = fixture("vision").canonicalize().unwrap();
    let mut list = "path,lat,lon\n".to_owned();
    let mut count = 0;
    let names = "china.jpg grey.jpg lossy.webp rgb.bmp palette.png lzw.tiff progressive.jpg lossless.webp";
    for name in names.split(' ') {
        writeln!(list, "{},{},{}", photos.join(name).display(), 5.0 * count as f64, 10.0 * count as f64).unwrap();
        count += 1;
    }
    fs::write(path.join("photos.csv"), list).unwrap();
    count
}

/// The path of a user with CLIP: encoder folder, embeddings, a model of them, GeoCLIP's retrieval, the hybrid.
#[test]
fn clip_conditions_the_model_and_geoclip_picks_the_place() {
    let path = &*common::scratch();
    let photos = photo_list(path);
    let clip = fixture("clip/whole");
    let encoder = format!("--encoder {} --device cpu", clip.display());
    ok(path, &format!("embed photos.csv -o e.safetensors {encoder}"));
    ok(path, &format!("import geoclip {} --out geoclip", fixture("geoclip").display()));
    ok(
        path,
        "train --embeddings e.safetensors --locations e.csv --preset small --degree 5 --width 16 --batch 8 --steps 10 --device cpu --out run",
    );
    let sample = "sample --model run --embeddings e.safetensors --device cpu --samples 4 --steps 5";
    let hybrid = "--hybrid geoclip/gallery.csv --geoclip geoclip --hybrid-radius-km 20020 --hybrid-rule paper";
    let answer = json(path, &format!("{sample} --out h.csv {hybrid}"));
    assert!(answer["rows"] == photos && answer["from_gallery"] == photos, "{answer}");
    // With caps around the whole Earth the hybrid is plain retrieval.
    ok(
        path,
        "gallery search geoclip/gallery.csv --geoclip geoclip --embeddings e.safetensors --device cpu --top 1 --out r.csv",
    );
    let places = |file: &str, lat: usize| -> Vec<(String, String)> {
        csv(path.join(file)).iter().skip(1).map(|row| (row[lat].clone(), row[lat + 1].clone())).collect()
    };
    assert_eq!(places("h.csv", 1), places("r.csv", 2));

    // One's own photos as the gallery, from the photos themselves.
    let built = json(path, &format!("gallery build photos.csv --out own {encoder}"));
    assert!(built["places"] == photos && built["dimension"] == 24 && built["kind"] == "photos", "{built}");
    // Every photo finds itself, or the same picture in another format.
    ok(path, "gallery search own --embeddings e.safetensors --device cpu --top 1 --out s.csv");
    let scores = read(path.join("s.csv"));
    let score = |line: &str| line.rsplit(',').next().unwrap().parse::<f64>().unwrap();
    assert!(scores.lines().count() == photos + 1 && scores.lines().skip(1).all(|line| score(line) > 0.999), "{scores}");
    assert!(path.join("own/photos.csv").exists());
    let answer = json(path, &format!("{sample} --hybrid own"));
    assert_eq!(answer["rows"], photos);
    fs::write(path.join("none.txt"), "x").unwrap();
    for (text, part) in [
        ("gallery build none.txt --out x", "no photo of 1 could be used"),
        ("gallery build --locations e.csv --out x", "give --embeddings or --geoclip"),
    ] {
        refused_with(path, text, part);
    }
}
