//! GeoCLIP as a model, by its name in the data folder: a random one, 24 numbers a photo.

mod common;

use common::{command, fixture, ok, stderr, write_npy};
use serde_json::Value;
use std::path::Path;
use std::{fmt::Write, fs};

/// GeoCLIP with more places than its fixture has, in a data folder, and rows of features.
fn prepare(path: &Path) {
    ok(path, &format!("import geoclip {} --out home/models/geoclip", fixture("geoclip").display()));
    let mut places = "LAT,LON\n".to_owned();
    for k in 0..1500 {
        let turn = f64::from(k) * 2.399_963;
        let z = 1.0 - 2.0 * (f64::from(k) + 0.5) / 1500.0;
        let _ = writeln!(places, "{},{}", z.asin().to_degrees(), turn.to_degrees().rem_euclid(360.0) - 180.0);
    }
    fs::write(path.join("home/models/geoclip/gallery.csv"), places).unwrap();
    let features = |rows: usize, offset: usize| -> Vec<Vec<f32>> {
        (0..rows).map(|k| (0..24).map(|c| (((k + offset) * 24 + c) as f32 * 0.7).sin()).collect()).collect()
    };
    write_npy(path.join("photos.npy"), &features(30, 0));
    write_npy(path.join("known.npy"), &features(200, 1000));
}

fn answers(path: &Path, words: &str) -> Vec<Value> {
    let output = command(path, words).env("LOCDIFF_HOME", path.join("home")).output().unwrap();
    assert!(output.status.success(), "{words}: {}", stderr(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

#[test]
fn a_geoclip_model_answers_as_ours_do() {
    let path = &*common::scratch();
    prepare(path);
    let locate = "locate --model geoclip --embeddings photos.npy --device cpu --json";
    let found = answers(path, locate);
    assert_eq!(found.len(), 30);
    for answer in &found {
        assert_eq!(answer["best"]["lat"], answer["hypotheses"][0]["lat"]);
        assert!(number(&answer["radius_50_km"]) < number(&answer["radius_90_km"]), "{answer}");
        assert!(number(&answer["area_50_km2"]) < number(&answer["area_90_km2"]), "{answer}");
        let sum: f64 = answer["hypotheses"].as_array().unwrap().iter().map(|one| number(&one["probability"])).sum();
        assert!(sum <= 1.0 + 1e-9 && answer["not_calibrated"] == true, "{answer}");
        assert!(answer["gallery"]["match"]["row"].as_u64().is_some_and(|row| row <= 1500), "{answer}");
    }
    // The first place is the one that retrieval finds, with its score.
    let search = "gallery search home/models/geoclip/gallery.csv --geoclip home/models/geoclip --embeddings photos.npy";
    ok(path, &format!("{search} --device cpu --top 1 --out hits.csv"));
    for (answer, hit) in found.iter().zip(&common::csv(path.join("hits.csv"))[1..]) {
        let first = &answer["gallery"]["match"];
        assert_eq!(first["row"].as_u64().unwrap().to_string(), hit[4], "{answer} {hit:?}");
        assert!((number(&first["similarity"]) - hit[5].parse::<f64>().unwrap()).abs() < 1e-6);
    }
    // Regions, priors and other doors.
    for answer in answers(path, &format!("{locate} --within Africa")) {
        assert!(number(&answer["best"]["lon"]) > -20.0 && number(&answer["best"]["lon"]) < 60.0, "{answer}");
    }
    let by_environment = command(path, "locate --embeddings photos.npy --device cpu --json")
        .envs([("LOCDIFF_HOME", path.join("home")), ("LOCDIFF_MODEL", "geoclip".into())])
        .output()
        .unwrap();
    let lines: Vec<Value> = String::from_utf8(by_environment.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines, found);
    let times: Vec<String> = (0..30).map(|k| format!("p{k},2024-05-12T10:{k:02}:00Z\n")).collect();
    fs::write(path.join("times.csv"), format!("photo,time\n{}", times.concat())).unwrap();
    let album = answers(path, "album --model geoclip --embeddings photos.npy --times times.csv --device cpu --json");
    assert!(album.len() >= 30, "{}", album.len());

    // Truths that GeoCLIP knows something of: its own first places. Then answers are calibrated, and surer.
    ok(path, &format!("{} --device cpu --top 1 --out known_hits.csv", search.replace("photos.npy", "known.npy")));
    let truth: String =
        common::csv(path.join("known_hits.csv"))[1..].iter().fold("lat,lon\n".to_owned(), |text, hit| {
            format!("{text}{},{}\n", hit[2].parse::<f64>().unwrap() * 0.999, hit[3])
        });
    fs::write(path.join("known.csv"), truth).unwrap();
    let fit = "calibrate --model geoclip --embeddings known.npy --truth known.csv --device cpu --json";
    let fitted = answers(path, fit);
    assert!(number(&fitted[0]["gallery"]["share"]) >= 0.9, "{fitted:?}");
    let after = answers(path, locate);
    assert!(after.iter().all(|answer| answer["not_calibrated"].is_null()), "{}", after[0]);
    let radius = |answers: &[Value]| answers.iter().map(|answer| number(&answer["radius_90_km"])).sum::<f64>();
    assert!(radius(&after) < 0.8 * radius(&found), "{} {}", radius(&after), radius(&found));
}

#[test]
fn what_geoclip_has_not_is_said() {
    let path = &*common::scratch();
    prepare(path);
    let refused = |words: &str, part: &str| {
        let output = command(path, words).env("LOCDIFF_HOME", path.join("home")).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{words}");
        assert!(stderr(&output).contains(part), "{words}: {}", stderr(&output));
    };
    fs::write(path.join("a.jpg"), "").unwrap();
    refused("locate a.jpg --model geoclip", "names no encoder");
    refused("locate --embeddings photos.npy --model geoclip --pool mean", "it has no samples");
    refused("locate --embeddings photos.npy --model geoclop", "geoclop");
    write_npy(path.join("short.npy"), &[vec![1.0; 5]]);
    refused("locate --embeddings short.npy --model geoclip", "takes 24");
    fs::remove_file(path.join("home/models/geoclip/gallery.csv")).unwrap();
    refused("locate --embeddings photos.npy --model geoclip", "no gallery.csv");
}
