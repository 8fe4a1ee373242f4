//! `locdiff evaluate` as people use it.

use crate::common;

use common::{fixture, json, model_of_towns, ok, read, refused_with, run};
use locdiff_shdd::sphere::EARTH_RADIUS_KM;
use serde_json::Value;
use std::{fmt::Write, fs, path::Path};

fn percent(report: &Value) -> Vec<String> {
    let radii = report["scores"]["radii"].as_array().unwrap();
    radii.iter().map(|r| format!("{:.2}", 100.0 * r["share"]["value"].as_f64().unwrap())).collect()
}

/// A published table: predictions for Im2GPS3k by the authors of the "base M, f*" model, as their errors (lab/scripts/golden_errors.py),
/// laid along the equator.
#[test]
fn the_golden_table() {
    let folder = tempfile::tempdir().unwrap();
    let (mut truth, mut answers) = ("id,lat,lon\n".to_owned(), "id,lat,lon\n".to_owned());
    for line in read(fixture("eval/golden_errors.csv")).lines().skip(1) {
        let (id, metres) = line.split_once(',').unwrap();
        let degrees = (metres.parse::<f64>().unwrap() / 1000.0 / EARTH_RADIUS_KM).to_degrees();
        writeln!(truth, "{id},0,0").unwrap();
        writeln!(answers, "{id},0,{degrees}").unwrap();
    }
    fs::write(folder.path().join("truth.csv"), truth).unwrap();
    fs::write(folder.path().join("answers.csv"), answers).unwrap();
    let report = json(folder.path(), "evaluate --truth truth.csv --predictions answers.csv");
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
    fs::write(folder.join("p.csv"), format!("id,lat,lon,radius_50_km,radius_90_km\n{}\n", rows.join("\n"))).unwrap();
    fs::write(folder.join("q.csv"), other).unwrap();
}

#[test]
fn answers_are_matched_and_counted() {
    let path = &*common::scratch();
    toy(path);
    let report = json(path, "evaluate --truth t.csv --predictions p.csv --train q.csv");
    // 0; 0, 10, 20; 0 … 190; 0 … 370 km: 1, 3, 20, 38 of 40.
    assert_eq!(percent(&report), ["2.50", "7.50", "50.00", "95.00", "95.00"]);
    assert_eq!(report["scores"]["missing"], 2);
    // 205 km hold 0 … 200 km: 21 of 40.
    let radii = &report["radii"]["curve"];
    assert_eq!((radii[0]["observed"].as_f64(), radii[1]["observed"].as_f64()), (Some(0.525), Some(0.95)));
    let by: Vec<&str> = report["breakdowns"].as_array().unwrap().iter().map(|b| b["by"].as_str().unwrap()).collect();
    assert_eq!(by, ["continent", "country", "distance to the nearest training photo"]);
    let skipped = json(path, "evaluate --truth t.csv --predictions p.csv --missing skip --by none");
    assert_eq!((&skipped["scores"]["n"], &skipped["skipped"]), (&38.into(), &2.into()));

    let paired = json(path, "evaluate --truth t.csv --predictions p.csv --predictions-b q.csv --seed 3");
    let radii = paired["rival"]["paired"]["radii"].as_array().unwrap();
    assert_eq!((&radii[3]["only_first"], &radii[3]["only_second"]), (&38.into(), &0.into()));
    assert!(radii[3]["p_value"].as_f64().unwrap() < 1e-9);
    assert_eq!(paired["bootstrap"]["seed"], 3);
    assert_eq!(paired, json(path, "evaluate --truth t.csv --predictions p.csv --predictions-b q.csv --seed 3"));
}

#[test]
fn reports_are_written() {
    let path = &*common::scratch();
    toy(path);
    fs::rename(path.join("p.csv"), path.join("<script>&.csv")).unwrap();
    let said =
        ok(path, "evaluate --truth t.csv --predictions <script>&.csv --predictions-b q.csv --html r.html --csv r.csv");
    assert!(
        said.contains("50.00 %") && said.contains("2 without an answer") && said.contains("wrote r.html"),
        "{said}"
    );
    let page = read(path.join("r.html"));
    assert!(page.contains("&lt;script&gt;&amp;.csv") && !page.contains("<script"));
    assert!(!page.contains("http://") && !page.contains("https://") && !page.contains("src="));
    assert!(page.matches("<svg").count() >= 3 && page.len() < 400_000, "{}", page.len());
    let rows = read(path.join("r.csv"));
    assert!(rows.starts_with("section,group,metric,value,low,high,n\nscores,<script>&.csv,within_1_km,0.025,"));
    assert!(rows.lines().all(|line| line.split(',').count() == 7));
}

#[test]
fn densities_are_judged() {
    let path = &*common::scratch();
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
    let figures = [&likelihood["nats"]["value"], &likelihood["plonk"]].map(|v| format!("{:.3}", v.as_f64().unwrap()));
    assert_eq!(figures, ["2.531", "1.217"]);
    refused_with(path, "evaluate --truth t.csv --codes t.csv", "a row is not a coefficient vector");
}

/// A model is judged as its own predictions are.
#[test]
fn models_are_judged() {
    let path = &*common::scratch();
    model_of_towns(path);
    let options = "--model run --embeddings photos.npy --device cpu --samples 4 --steps 8 --seed 5";
    ok(path, &format!("sample {options} --out p.csv"));
    let judged = json(path, &format!("evaluate {options} --truth photos.csv"));
    // The truth counts rows from 0, the predictions from 1: matched by order all the same.
    let predicted = json(path, "evaluate --predictions p.csv --truth photos.csv --seed 5");
    assert_eq!((&judged["name"], &predicted["name"]), (&"run".into(), &"p.csv".into()));
    assert_eq!(judged["scores"]["radii"], predicted["scores"]["radii"]);
    assert_eq!(judged["breakdowns"][0]["groups"].as_array().unwrap().len(), 4);
    refused_with(path, "evaluate --truth t.csv --model run --embeddings photos.npy", "cannot read t.csv");
}

#[test]
fn wrong_files_are_refused_in_one_line() {
    let path = &*common::scratch();
    toy(path);
    fs::write(path.join("short.csv"), "id,lat,lon\np0,0,0\n").unwrap();
    fs::write(path.join("bare.csv"), "lat,lon\n0,0\n").unwrap();
    let base = "evaluate --truth t.csv --predictions";
    refused_with(path, &format!("{base} short.csv"), "short.csv has no row for 'p1' and 38 more: add it");
    refused_with(path, &format!("{base} bare.csv"), "t.csv has 40 rows, bare.csv has 1");
    refused_with(path, &format!("{base} none.csv"), "cannot read none.csv");
    refused_with(path, &format!("{base} p.csv --id-column photo"), "t.csv has no column 'photo'");
    refused_with(path, &format!("{base} p.csv --replicates 2"), "replicates = 2 cannot be used");
    refused_with(path, &format!("{base} p.csv --html nowhere/x.html"), "create its folder first");
    assert_eq!(json(path, &format!("{base} short.csv --allow-absent"))["scores"]["missing"], 39);
    assert_eq!(run(path, "evaluate --truth t.csv").status.code(), Some(2));
    assert_eq!(run(path, &format!("{base} p.csv --preset best")).status.code(), Some(2));
}
