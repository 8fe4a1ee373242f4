//! `locdiff evaluate` as people use it.

use crate::common;

use common::{json, model_of_towns, ok, read, refused_with};
use std::{fmt::Write, fs, path::Path};

/// 40 photos along the equator, answers 0, 10, 20 … km to the east; rows shuffled, two without an answer.
pub(crate) fn toy(folder: &Path) {
    let mut truth = "id,lat,lon\n".to_owned();
    let mut rows = Vec::new();
    let mut other = "id,lat,lon\n".to_owned();
    for k in 0..40 {
        let lon = f64::from(k) * 3.0;
        writeln!(truth, "p{k},0,{lon}").unwrap();
        let east = lon + f64::from(k) * 10.0 / 111.19;
        rows.push(if k >= 38 { format!("p{k},,nan,205,1000") } else { format!("p{k},0,{east},205,1000") });
        writeln!(other, "p{k},0,{}", lon + 9.0).unwrap();
    }
    rows.reverse();
    fs::write(folder.join("t.csv"), truth).unwrap();
    fs::write(folder.join("p.csv"), format!("id,lat,lon,radius_50_km,radius_90_km\n{}\n", rows.join("\n"))).unwrap();
    fs::write(folder.join("q.csv"), other).unwrap();
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
