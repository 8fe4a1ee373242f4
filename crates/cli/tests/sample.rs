//! `locdiff sample` as people use it.

use crate::common;

use common::{TRAIN, json, ok, photos_of_towns, read, refused_with};
use std::fs;

#[test]
fn a_trained_model_finds_the_towns() {
    let path = &*common::scratch();
    photos_of_towns(path);
    // Text embeddings are refused with a remedy.
    fs::write(path.join("e.jsonl"), "[1.0, 0.0]\n".repeat(120)).unwrap();
    let train = format!("{TRAIN} --locations photos.csv");
    refused_with(path, &format!("{train} --embeddings e.jsonl"), "save the embeddings as .safetensors or .npy");
    let summary = json(path, &format!("{train} --embeddings photos.npy"));
    assert_eq!((summary["step"].as_u64(), summary["interrupted"].as_bool()), (Some(200), Some(false)));

    let base = "sample --model run --embeddings photos.npy --device cpu --samples 4 --steps 10 --truth photos.csv";
    for pool in ["pool", "mean", "single"] {
        let value = json(path, &format!("{base} --pool {pool}"));
        let near = value["accuracy"]["within"][4].as_f64().unwrap();
        assert!(near > 0.8 && value["accuracy"]["n"] == 120, "{pool}: {value}");
    }
    let said = ok(path, &format!("{base} --out p.csv --codes c.safetensors --per-sample s.csv"));
    assert!(said.contains("120 places in p.csv") && said.contains("(n = 120)"), "{said}");
    let places = read(path.join("p.csv"));
    assert!(places.starts_with("row,lat,lon\n1,") && places.lines().count() == 121);
    let samples = read(path.join("s.csv"));
    assert!(samples.starts_with("row,sample,lat,lon\n1,1,") && samples.lines().count() == 481);
    // The codes are coefficient vectors that `decode` reads.
    assert!(ok(path, "decode c.safetensors").lines().count() == 121);
    // The same seed, the same bytes.
    ok(path, &format!("{base} --out again.csv"));
    assert_eq!(places, read(path.join("again.csv")));

    for (more, part) in [
        ("--samples 0", "samples"),
        ("--steps 201", "sampler steps"),
        ("--model nowhere", "a model is a folder with config.json"),
    ] {
        let base = "sample --embeddings photos.npy --device cpu";
        let model = if more.contains("--model") { "" } else { " --model run" };
        refused_with(path, &format!("{base}{model} {more}"), part);
    }
}
