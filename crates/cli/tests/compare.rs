//! `locdiff compare` and `locdiff reproduce` on toy data.

use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Photos of six cities; an embedding tells the city.
fn toy(folder: &Path, name: &str, rows: u32, seed: u32) {
    let columns = 6;
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    let padded = format!("{header:<117}\n");
    bytes.extend((padded.len() as u16).to_le_bytes());
    bytes.extend(padded.as_bytes());
    let cities = [(48.9, 2.3), (35.7, 139.7), (-33.9, 151.2), (40.7, -74.0), (-1.3, 36.8), (-23.5, -46.6)];
    let mut text = "lat,lon\n".to_owned();
    for k in 0..rows {
        let city = (k * 7 + seed) % 6;
        let shift = f64::from((k * 31 + seed) % 17) * 0.01;
        let (lat, lon) = cities[city as usize];
        writeln!(text, "{},{}", lat + shift, lon - shift).unwrap();
        for c in 0..columns {
            let noise = f64::from((k * 13 + c * 5 + seed) % 11) * 0.01;
            bytes.extend(((f64::from(u8::from(c == city)) + noise) as f32).to_le_bytes());
        }
    }
    fs::write(folder.join(format!("{name}.npy")), bytes).unwrap();
    fs::write(folder.join(format!("{name}.csv")), text).unwrap();
}

fn locdiff(folder: &Path, command: &str, more: &[&str]) -> Output {
    let data = "--embeddings train.npy --locations train.csv --validation-embeddings validation.npy --validation-locations \
                validation.csv --test-embeddings test.npy --test-locations test.csv --steps 40 --device cpu";
    let mut process = Command::new(env!("CARGO_BIN_EXE_locdiff"));
    process.args(command.split(' ')).args(data.split_whitespace()).args(more).current_dir(folder);
    process.output().unwrap()
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, rows, seed) in [("train", 300, 0), ("validation", 40, 1), ("test", 40, 2)] {
        toy(folder.path(), name, rows, seed);
    }
    folder
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn compare_makes_one_table_and_files_of_answers() {
    let folder = folder();
    let more = ["--methods", "knn,planet,rfm-s2", "--seeds", "2", "--json", "--out", "answers"];
    let report = json(&locdiff(folder.path(), "compare", &more));
    let methods = report["methods"].as_array().unwrap();
    assert_eq!(methods.len(), 3);
    for method in methods {
        let share = &method["within"][3]["share"];
        let [low, value, high] = ["low", "value", "high"].map(|key| share[key].as_f64().unwrap());
        assert!(low <= value && value <= high, "{method}");
        assert!(method["parameters"].as_u64().unwrap() > 0 && method["fit_seconds"].as_f64().unwrap() > 0.0);
    }
    // A city is told by its embedding: retrieval knows them all, and is not asked twice for the same answers.
    assert_eq!(methods[0]["within"][3]["share"]["value"], 1.0);
    assert_eq!((&methods[0]["seeds"], &methods[1]["seeds"]), (&1.into(), &2.into()));
    assert_eq!(report["far"]["n"], 0);
    let answers = fs::read_to_string(folder.path().join("answers/planet-1.csv")).unwrap();
    assert!(answers.starts_with("row,lat,lon,truth_log_density\n1,") && answers.lines().count() == 41);
    let markdown = fs::read_to_string(folder.path().join("answers/compare.md")).unwrap();
    assert!(markdown.contains("### Accuracy") && markdown.contains("| planet |"), "{markdown}");
    let again = json(&locdiff(folder.path(), "compare", &["--methods", "planet", "--seed", "1", "--json"]));
    let first = fs::read_to_string(folder.path().join("answers/planet-1.csv")).unwrap();
    locdiff(folder.path(), "compare", &["--methods", "planet", "--seed", "1", "--out", "again"]);
    assert_eq!(fs::read_to_string(folder.path().join("again/planet-1.csv")).unwrap(), first);
    assert_eq!(again["n"], 40);
}

#[test]
fn hidden_places_are_unseen() {
    let folder = folder();
    let output = locdiff(folder.path(), "compare", &["--methods", "knn", "--hide-km", "5000", "--json"]);
    // All cities are test cities: nothing is left to learn from.
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--hide-km"));
    let report = json(&locdiff(folder.path(), "compare", &["--methods", "knn", "--hide-km", "1", "--json"]));
    assert_eq!(report["n"], 40);
}

#[test]
fn bad_input_is_named() {
    let folder = folder();
    let says = |more: &[&str], code: i32, words: &str| {
        let output = locdiff(folder.path(), "compare", more);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{message}");
        assert!(message.contains(words), "{message}");
    };
    says(&["--methods", "magic"], 1, "magic");
    says(&["--methods", "knn", "--seeds", "0"], 2, "seeds");
    fs::copy(folder.path().join("test.csv"), folder.path().join("train.csv")).unwrap();
    says(&["--methods", "knn"], 1, "300 rows");
}

#[test]
fn tables_of_the_paper_stand_beside_ours() {
    let folder = folder();
    let more = ["--sizes", "500", "--json"];
    let report = json(&locdiff(folder.path(), "reproduce anchors", &more));
    let names: Vec<&str> =
        report["rows"].as_array().unwrap().iter().map(|r| r["name"].as_str().unwrap()).collect();
    assert!(
        names.contains(&"GeoCLIP-style, grid 500") && names.contains(&"LocDiff, exact maximum, no anchors")
    );
    assert_eq!(report["rows"][0]["paper_within_percent"][0], 34.47);
}
