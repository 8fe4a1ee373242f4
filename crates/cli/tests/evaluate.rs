//! `locdiff evaluate` and `locdiff reproduce gallery-bias` as people use them.

use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn locdiff(folder: &Path, text: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_locdiff"));
    command.args(text.split(' ')).current_dir(folder).stdin(Stdio::null()).output().unwrap()
}

fn ok(folder: &Path, text: &str) -> String {
    let output = locdiff(folder, text);
    assert!(output.status.success(), "{text}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(folder: &Path, text: &str) -> Value {
    serde_json::from_str(ok(folder, &format!("{text} --json")).trim()).unwrap()
}

#[track_caller]
fn refused(folder: &Path, text: &str, part: &str) {
    let output = locdiff(folder, text);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}: {message}");
    assert!(message.contains(part) && message.trim_end().lines().count() == 1, "{text}: {message}");
}

/// The project's root, two folders up.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn percent(report: &Value) -> Vec<String> {
    let radii = report["scores"]["radii"].as_array().unwrap();
    radii.iter().map(|r| format!("{:.2}", 100.0 * r["share"]["value"].as_f64().unwrap())).collect()
}

/// A published table: predictions for Im2GPS3k by the authors of the "base M, f*" model.
#[test]
fn the_golden_table() {
    let folder = root().join("../shared/data/benchmarks");
    if !folder.exists() {
        println!("skipped: {} is absent", folder.display());
        return;
    }
    let report =
        json(&folder, "evaluate --truth im2gps3k.csv --predictions im2gps3k_predictions_base_M-fstar.csv");
    assert_eq!(percent(&report), ["9.74", "27.03", "35.64", "49.15", "66.00"]);
    assert_eq!((&report["scores"]["n"], &report["scores"]["missing"]), (&2997.into(), &0.into()));
}

/// 40 photos along the equator, answers 0, 10, 20 … km to the east; rows shuffled, two without an answer.
fn toy(folder: &Path) {
    let mut truth = "id,lat,lon\n".to_owned();
    let mut rows = Vec::new();
    let mut other = "id,lat,lon\n".to_owned();
    for k in 0..40 {
        let lon = f64::from(k) * 3.0;
        writeln!(truth, "p{k},0,{lon}").unwrap();
        let east = lon + f64::from(k) * 10.0 / 111.19;
        let radii = format!("{},{}", 205.0, 1000.0);
        rows.push(if k >= 38 { format!("p{k},,nan,{radii}") } else { format!("p{k},0,{east},{radii}") });
        writeln!(other, "p{k},0,{}", lon + 9.0).unwrap();
    }
    rows.reverse();
    fs::write(folder.join("t.csv"), truth).unwrap();
    fs::write(folder.join("p.csv"), format!("id,lat,lon,radius_50_km,radius_90_km\n{}\n", rows.join("\n")))
        .unwrap();
    fs::write(folder.join("q.csv"), other).unwrap();
}

#[test]
fn answers_are_matched_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    toy(path);
    let report = json(path, "evaluate --truth t.csv --predictions p.csv --train q.csv");
    // 0; 0, 10, 20; 0 … 190; 0 … 370 km: 1, 3, 20, 38 of 40.
    assert_eq!(percent(&report), ["2.50", "7.50", "50.00", "95.00", "95.00"]);
    assert_eq!(report["scores"]["missing"], 2);
    // 205 km hold 0 … 200 km: 21 of 40.
    let radii = &report["radii"]["curve"];
    assert_eq!((radii[0]["observed"].as_f64(), radii[1]["observed"].as_f64()), (Some(0.525), Some(0.95)));
    let by: Vec<&str> =
        report["breakdowns"].as_array().unwrap().iter().map(|b| b["by"].as_str().unwrap()).collect();
    assert_eq!(by, ["continent", "country", "distance to the nearest training photo"]);
    let skipped = json(path, "evaluate --truth t.csv --predictions p.csv --missing skip --by none");
    assert_eq!((&skipped["scores"]["n"], &skipped["skipped"]), (&38.into(), &2.into()));

    let paired = json(path, "evaluate --truth t.csv --predictions p.csv --predictions-b q.csv --seed 3");
    let radii = paired["rival"]["paired"]["radii"].as_array().unwrap();
    assert_eq!((&radii[3]["only_first"], &radii[3]["only_second"]), (&38.into(), &0.into()));
    assert!(radii[3]["p_value"].as_f64().unwrap() < 1e-9);
    assert_eq!(paired["bootstrap"]["seed"], 3);
    assert_eq!(
        paired,
        json(path, "evaluate --truth t.csv --predictions p.csv --predictions-b q.csv --seed 3")
    );
}

#[test]
fn reports_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    toy(path);
    fs::rename(path.join("p.csv"), path.join("<script>&.csv")).unwrap();
    let said = ok(
        path,
        "evaluate --truth t.csv --predictions <script>&.csv --predictions-b q.csv --html r.html --csv r.csv",
    );
    assert!(
        said.contains("50.00 %") && said.contains("2 without an answer") && said.contains("wrote r.html"),
        "{said}"
    );
    let page = fs::read_to_string(path.join("r.html")).unwrap();
    assert!(page.contains("&lt;script&gt;&amp;.csv") && !page.contains("<script"));
    assert!(!page.contains("http://") && !page.contains("https://") && !page.contains("src="));
    assert!(page.matches("<svg").count() >= 3 && page.len() < 400_000, "{}", page.len());
    let rows = fs::read_to_string(path.join("r.csv")).unwrap();
    assert!(
        rows.starts_with("section,group,metric,value,low,high,n\nscores,<script>&.csv,within_1_km,0.025,")
    );
    assert!(rows.lines().all(|line| line.split(',').count() == 7));
}

#[test]
fn densities_are_judged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("t.csv"), "lat,lon\n10,20\n-40,170\n80,0\n5,5\n").unwrap();
    ok(path, "encode t.csv -L 11 --out c.npy");
    let report = json(path, "evaluate --truth t.csv --codes c.npy");
    // Codes of the truths themselves: the highest mode is the truth, of level 0.
    assert_eq!(percent(&report)[0], "100.00");
    assert!(report["likelihood"]["nats"]["value"].as_f64().unwrap() < -1.0);
    assert_eq!(report["regions"]["curve"][0]["observed"], 1.0);
    let flat = vec![vec!["0"; 144].join(","); 4].join("\n");
    fs::write(path.join("flat.csv"), flat).unwrap();
    let report = json(path, "evaluate --truth t.csv --predictions t.csv --codes flat.csv");
    let likelihood = &report["likelihood"];
    let figures =
        [&likelihood["nats"]["value"], &likelihood["plonk"]].map(|v| format!("{:.3}", v.as_f64().unwrap()));
    assert_eq!(figures, ["2.531", "1.217"]);
    refused(path, "evaluate --truth t.csv --codes t.csv", "a row is not a coefficient vector");
}

/// 60 photos in three towns whose embedding says which, as .npy.
fn towns(folder: &Path) {
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (60, 3), }";
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    let padded = format!("{header:<117}\n");
    bytes.extend((padded.len() as u16).to_le_bytes());
    bytes.extend(padded.as_bytes());
    let mut truth = "row,lat,lon\n".to_owned();
    for k in 0..60_usize {
        let (lat, lon) = [(48.0, 2.0), (-33.0, 151.0), (40.0, -100.0)][k % 3];
        let jitter = (k as f64 * 0.7).sin();
        writeln!(truth, "{k},{},{}", lat + jitter, lon - jitter).unwrap();
        for column in 0..3 {
            let value = if column == k % 3 { 1.0 } else { 0.1 * jitter as f32 };
            bytes.extend(value.to_le_bytes());
        }
    }
    fs::write(folder.join("e.npy"), bytes).unwrap();
    fs::write(folder.join("l.csv"), truth).unwrap();
}

/// A model is judged as its own predictions are.
#[test]
fn models_are_judged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    towns(path);
    let train = "train --locations l.csv --embeddings e.npy --preset small --degree 7 --width 16 --batch 32 --steps 60";
    ok(path, &format!("{train} --device cpu --out run --json"));
    let options = "--model run --embeddings e.npy --device cpu --samples 4 --steps 8 --seed 5";
    ok(path, &format!("sample {options} --out p.csv"));
    let judged = json(path, &format!("evaluate {options} --truth l.csv"));
    // The truth counts rows from 0, the predictions from 1: matched by order all the same.
    let predicted = json(path, "evaluate --predictions p.csv --truth l.csv --seed 5");
    assert_eq!((&judged["name"], &predicted["name"]), (&"run".into(), &"p.csv".into()));
    assert_eq!(judged["scores"]["radii"], predicted["scores"]["radii"]);
    assert_eq!(judged["breakdowns"][0]["groups"].as_array().unwrap().len(), 3);
    refused(path, "evaluate --truth t.csv --model run --embeddings e.npy", "cannot read t.csv");
}

#[test]
fn wrong_files_are_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    toy(path);
    fs::write(path.join("short.csv"), "id,lat,lon\np0,0,0\n").unwrap();
    fs::write(path.join("bare.csv"), "lat,lon\n0,0\n").unwrap();
    let base = "evaluate --truth t.csv --predictions";
    refused(path, &format!("{base} short.csv"), "short.csv has no row for 'p1' and 38 more: add it");
    refused(path, &format!("{base} bare.csv"), "t.csv has 40 rows, bare.csv has 1");
    refused(path, &format!("{base} none.csv"), "cannot read none.csv");
    refused(path, &format!("{base} p.csv --id-column photo"), "t.csv has no column 'photo'");
    refused(path, &format!("{base} p.csv --replicates 2"), "replicates = 2 cannot be used");
    refused(path, &format!("{base} p.csv --html nowhere/x.html"), "create its folder first");
    assert_eq!(json(path, &format!("{base} short.csv --allow-absent"))["scores"]["missing"], 39);
    assert_eq!(locdiff(path, "evaluate --truth t.csv").status.code(), Some(2));
    assert_eq!(locdiff(path, &format!("{base} p.csv --preset best")).status.code(), Some(2));
}

#[test]
fn the_gallery_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    // 12 places at one test photo, one 10 km from the other.
    fs::write(path.join("g.csv"), format!("LAT,LON\n{}0,20.0899\n", "0,10\n".repeat(12))).unwrap();
    fs::write(path.join("t.csv"), "lat,lon\n0,10\n0,20\n").unwrap();
    let table = json(path, "reproduce gallery-bias --gallery g.csv --truth t.csv --grid fibonacci:50");
    assert_eq!(
        table["gallery"]["at_least"],
        serde_json::json!([[50.0, 50.0, 0.0, 0.0], [100.0, 50.0, 0.0, 0.0]])
    );
    assert_eq!(
        table["gallery"]["more_than"],
        serde_json::json!([[50.0, 50.0, 0.0, 0.0], [50.0, 50.0, 0.0, 0.0]])
    );
    refused(path, "reproduce gallery-bias --gallery nothing.csv --truth t.csv", "cannot read nothing.csv");
    assert!(
        ok(path, "reproduce gallery-bias")
            .contains("skipped gallery-bias: gallery/coordinates_100K.csv is absent")
    );

    let (gallery, truth) =
        (root().join("gallery/coordinates_100K.csv"), root().join("../shared/data/benchmarks/im2gps3k.csv"));
    if !(gallery.exists() && truth.exists()) {
        println!("skipped the real table: run scripts/fetch_gallery.py, with ../shared at hand");
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
