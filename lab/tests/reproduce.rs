//! `locdiff-lab reproduce drift|gallery-bias` as people use them.

use crate::common::{self, json, ok, refused_with, root, run, skipped, stderr};
use serde_json::Value;
use std::fs;

#[test]
fn drift_is_reproducible_and_at_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = "reproduce drift -L 23 -n 600 --seed 5 --json";
    let output = run(folder.path(), arguments);
    assert_eq!(stderr(&output), "", "nothing is said where standard error is no terminal");
    let first = String::from_utf8(output.stdout).unwrap();
    assert_eq!(first, ok(folder.path(), arguments), "the same seed gives the same bytes");
    let answer: Value = serde_json::from_str(&first).unwrap();
    let (mean, limit) = (answer["mean_km"].as_f64().unwrap(), answer["cramer_rao_km"].as_f64().unwrap());
    assert!((limit - 9.84).abs() < 0.01 && (mean / limit - 1.0).abs() < 0.1, "{answer}");
    assert!(ok(folder.path(), "reproduce drift -n 50").contains("the paper's"));
}

#[test]
fn codes_of_kept_dimensions_drift() {
    let path = &*common::scratch();
    fs::write(path.join("p.csv"), "lat,lon\n48.86,2.35\n40.71,-74.01\n-33.87,151.21\n35.68,139.69\n").unwrap();
    let mean = |count: &str| {
        let drift = format!("reproduce drift -L 15 --places p.csv --json --keep-dimensions {count}");
        let answer: Value = serde_json::from_str(&ok(path, &drift)).unwrap();
        assert_eq!((answer["n"].as_u64(), answer["dimension"].as_u64()), (Some(4), Some(256)));
        answer["without_noise"]["mean_km"].as_f64().unwrap()
    };
    assert!(mean("256") < 0.01 && mean("64") > 1.0);
    let text = ok(path, "reproduce drift -L 15 --places p.csv --keep-dimensions 128");
    assert!(text.contains("128 of 256") && text.contains("no noise"), "{text}");
    refused_with(path, "reproduce drift -L 15 --places p.csv --keep-dimensions 257", "257");
}

#[test]
fn the_gallery_table() {
    let path = &*common::scratch();
    // 12 places at one test photo, one 10 km from the other.
    fs::write(path.join("g.csv"), format!("LAT,LON\n{}0,20.0899\n", "0,10\n".repeat(12))).unwrap();
    fs::write(path.join("t.csv"), "lat,lon\n0,10\n0,20\n").unwrap();
    let table = json(path, "reproduce gallery-bias --gallery g.csv --truth t.csv --grid fibonacci:50");
    assert_eq!(table["gallery"]["at_least"], serde_json::json!([[50.0, 50.0, 0.0, 0.0], [100.0, 50.0, 0.0, 0.0]]));
    assert_eq!(table["gallery"]["more_than"], serde_json::json!([[50.0, 50.0, 0.0, 0.0], [50.0, 50.0, 0.0, 0.0]]));
    refused_with(path, "reproduce gallery-bias --gallery nothing.csv --truth t.csv", "cannot read nothing.csv");
    let absent = "skipped gallery-bias: gallery/coordinates_100K.csv is absent";
    assert!(ok(path, "reproduce gallery-bias").contains(absent));

    let (gallery, truth) =
        (root().join("gallery/coordinates_100K.csv"), root().join("../shared/data/benchmarks/im2gps3k.csv"));
    if !truth.exists() {
        skipped(
            "cannot run here: the published table of reproduce gallery-bias: its truths may not be committed, and ../shared is absent",
        );
        return;
    }
    if !gallery.exists() {
        skipped("the published table of reproduce gallery-bias: run scripts/fetch_gallery.py, with ../shared at hand");
        return;
    }
    let table = json(&root(), "reproduce gallery-bias --truth ../shared/data/benchmarks/im2gps3k.csv");
    let round = |row: &Value| -> Vec<String> {
        row.as_array().unwrap().iter().map(|v| format!("{:.1}", v.as_f64().unwrap())).collect()
    };
    let (at_least, more_than) = (&table["gallery"]["at_least"], &table["gallery"]["more_than"]);
    assert_eq!(round(&at_least[1]), ["95.2", "75.7", "51.9", "42.0"]);
    assert_eq!(round(&at_least[0])[0], "63.5");
    assert_eq!(round(&more_than[0])[1..], ["32.7", "14.9", "9.8"]);
}
