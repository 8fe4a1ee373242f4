//! `locdiff-lab compare` and `locdiff-lab reproduce` on toy data.

use crate::common::{read, run, stderr, write_photos};
use serde_json::Value;
use std::{fs, path::Path, process::Output};

/// Photos of six cities; an embedding tells the city.
fn toy(folder: &Path, name: &str, rows: u32, seed: u32) {
    let cities = [(48.9, 2.3), (35.7, 139.7), (-33.9, 151.2), (40.7, -74.0), (-1.3, 36.8), (-23.5, -46.6)];
    let photo = |k: u32| {
        let city = (k * 7 + seed) % 6;
        let shift = f64::from((k * 31 + seed) % 17) * 0.01;
        let noise = |c: u32| f64::from((k * 13 + c * 5 + seed) % 11) * 0.01;
        let embedding = (0..6).map(|c| (f64::from(u8::from(c == city)) + noise(c)) as f32).collect();
        let (lat, lon) = cities[city as usize];
        (embedding, (lat + shift, lon - shift))
    };
    write_photos(folder, name, (0..rows).map(photo));
}

fn locdiff(folder: &Path, command: &str, more: &str) -> Output {
    let data = "--embeddings train.npy --locations train.csv --validation-embeddings validation.npy --validation-locations \
                validation.csv --test-embeddings test.npy --test-locations test.csv --steps 10 --device cpu";
    run(folder, &format!("{command} {data} {more}"))
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, rows, seed) in [("train", 300, 0), ("validation", 20, 1), ("test", 20, 2)] {
        toy(folder.path(), name, rows, seed);
    }
    folder
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", stderr(output));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn compare_makes_one_table_and_files_of_answers() {
    let folder = folder();
    let more = "--methods knn,planet,rfm-s2 --seeds 2 --json --out answers";
    let report = json(&locdiff(folder.path(), "compare", more));
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
    let answers = read(folder.path().join("answers/planet-1.csv"));
    let header = "row,lat,lon,truth_log_density,truth_region_level,truth_region_area_km2\n1,";
    assert!(answers.starts_with(header) && answers.lines().count() == 21, "{answers}");
    let markdown = read(folder.path().join("answers/compare.md"));
    assert!(markdown.contains("### Accuracy") && markdown.contains("| planet |"), "{markdown}");
    // The same seed gives the same bytes.
    locdiff(folder.path(), "compare", "--methods planet --seed 1 --out again");
    assert_eq!(read(folder.path().join("again/planet-1.csv")), answers);
}

#[test]
fn hidden_places_are_unseen() {
    let folder = folder();
    let output = locdiff(folder.path(), "compare", "--methods knn --hide-km 5000 --json");
    // All cities are test cities: nothing is left to learn from.
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("--hide-km"));
    let report = json(&locdiff(folder.path(), "compare", "--methods knn --hide-km 1 --json"));
    assert_eq!(report["n"], 20);
}

#[test]
fn bad_input_is_named() {
    let folder = folder();
    let says = |more: &str, code: i32, words: &str| {
        let output = locdiff(folder.path(), "compare", more);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{message}");
        assert!(message.contains(words), "{message}");
    };
    says("--methods magic", 1, "magic");
    says("--methods knn --seeds 0", 2, "seeds");
    fs::copy(folder.path().join("test.csv"), folder.path().join("train.csv")).unwrap();
    says("--methods knn", 1, "300 rows");
}

#[test]
fn tables_of_the_paper_stand_beside_ours() {
    let folder = folder();
    let report = json(&locdiff(folder.path(), "reproduce anchors", "--sizes 500 --json"));
    let names: Vec<&str> = report["rows"].as_array().unwrap().iter().map(|r| r["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"GeoCLIP-style, grid 500") && names.contains(&"LocDiff-Bayes, exact maximum, no anchors"));
    assert_eq!(names[0], "always the best constant place");
    assert_eq!(report["rows"][1]["paper_within_percent"][0], 34.47);
}

#[test]
fn map_factors_are_measured_on_every_set() {
    let folder = folder();
    toy(folder.path(), "train", 2100, 0);
    let more = "--methods knn --seeds 2 --json --also late=test.npy:test.csv:5..";
    let report = json(&locdiff(folder.path(), "factors", more));
    let sets: Vec<&Value> = report["sets"].as_array().unwrap().iter().collect();
    for (set, (name, n)) in sets.iter().zip([("validation", 20), ("test", 20), ("late", 15)]) {
        for (row, (factors, seeds)) in (0..).zip([("knn, plain", 1), ("knn, land", 1), ("knn, all factors", 2)]) {
            let row = &set["rows"][row];
            assert_eq!((&set["set"], &row["name"], &row["n"]), (&name.into(), &factors.into(), &n.into()));
            assert_eq!(row["nll_by_seed"].as_array().unwrap().len(), seeds);
            assert!(row["nll"]["value"].as_f64().unwrap() < 0.0 && row["within"][2]["value"] == 1.0, "{row}");
        }
    }
}
