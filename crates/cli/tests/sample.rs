//! `locdiff sample` as people use it.

use std::fmt::Write;
use std::fs;
use std::path::Path;
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

/// 120 photos on four continents whose embedding says which.
fn toy(folder: &Path) {
    let towns = [(48.0, 2.0), (-33.0, 151.0), (40.0, -100.0), (-10.0, -50.0)];
    let (mut embeddings, mut places) = (String::new(), "row,lat,lon\n".to_owned());
    for k in 0..120_usize {
        let (lat, lon) = towns[k % 4];
        let jitter = (k as f64 * 0.7).sin();
        let row: Vec<f64> = (0..5).map(|c| if c == k % 4 { 1.0 } else { 0.1 * jitter }).collect();
        writeln!(embeddings, "{row:?}").unwrap();
        writeln!(places, "{k},{},{}", lat + jitter, lon - jitter).unwrap();
    }
    fs::write(folder.join("e.jsonl"), embeddings).unwrap();
    fs::write(folder.join("l.csv"), places).unwrap();
}

#[test]
fn a_trained_model_finds_the_towns() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    toy(path);
    // Text embeddings are refused with a remedy.
    let train = "train --locations l.csv --preset small --degree 7 --width 32 --batch 64 --steps 200 --device cpu --out run";
    let output = locdiff(path, &format!("{train} --embeddings e.jsonl"));
    assert!(String::from_utf8_lossy(&output.stderr).contains("save the embeddings as .safetensors or .npy"));
    write_npy(path);
    let summary = ok(path, &format!("{train} --embeddings e.npy --json"));
    let summary: serde_json::Value = serde_json::from_str(summary.trim()).unwrap();
    assert_eq!((summary["step"].as_u64(), summary["interrupted"].as_bool()), (Some(200), Some(false)));

    let base = "sample --model run --embeddings e.npy --device cpu --samples 4 --steps 10 --truth l.csv";
    for pool in ["pool", "mean", "single"] {
        let text = ok(path, &format!("{base} --pool {pool} --json"));
        let value: serde_json::Value = serde_json::from_str(text.trim()).unwrap();
        let near = value["accuracy"]["within"][4].as_f64().unwrap();
        assert!(near > 0.8 && value["accuracy"]["n"] == 120, "{pool}: {text}");
    }
    let said = ok(path, &format!("{base} --out p.csv --codes c.safetensors --per-sample s.csv"));
    assert!(said.contains("120 places in p.csv") && said.contains("(n = 120)"), "{said}");
    let places = fs::read_to_string(path.join("p.csv")).unwrap();
    assert!(places.starts_with("row,lat,lon\n1,") && places.lines().count() == 121);
    let samples = fs::read_to_string(path.join("s.csv")).unwrap();
    assert!(samples.starts_with("row,sample,lat,lon\n1,1,") && samples.lines().count() == 481);
    // The codes are coefficient vectors that `decode` reads.
    assert!(ok(path, "decode c.safetensors").lines().count() == 121);
    // The same seed, the same bytes.
    ok(path, &format!("{base} --out again.csv"));
    assert_eq!(places, fs::read_to_string(path.join("again.csv")).unwrap());

    for (more, part) in [
        ("--samples 0", "samples"),
        ("--steps 201", "sampler steps"),
        ("--model nowhere", "a model is a folder with config.json"),
    ] {
        let base = "sample --embeddings e.npy --device cpu";
        let model = if more.contains("--model") { "" } else { " --model run" };
        let output = locdiff(path, &format!("{base}{model} {more}"));
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(1) && error.contains(part), "{more}: {error}");
    }
}

/// The embeddings of `e.jsonl` as `e.npy`.
fn write_npy(folder: &Path) {
    let text = fs::read_to_string(folder.join("e.jsonl")).unwrap();
    let header = format!("{:<117}\n", "{'descr': '<f4', 'fortran_order': False, 'shape': (120, 5), }");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    for line in text.lines() {
        let row: Vec<f32> = serde_json::from_str(line).unwrap();
        bytes.extend(row.iter().flat_map(|value| value.to_le_bytes()));
    }
    fs::write(folder.join("e.npy"), bytes).unwrap();
}
