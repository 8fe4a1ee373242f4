//! GeoCLIP, galleries and LocDiff-H as people use them.

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

fn error(folder: &Path, text: &str) -> String {
    let output = locdiff(folder, text);
    assert_eq!(output.status.code(), Some(1), "{text}");
    let text = String::from_utf8(output.stderr).unwrap();
    // A note may come first; the error itself is one line.
    let last = text.lines().last().unwrap_or_default().to_owned();
    assert!(last.starts_with("error: ") && text.matches("error: ").count() == 1, "{text}");
    last
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text.trim()).unwrap()
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/geoclip")
}

fn write_npy(path: &Path, rows: &[Vec<f32>]) {
    let shape = format!("({}, {})", rows.len(), rows[0].len());
    let header =
        format!("{:<117}\n", format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"));
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(rows.iter().flatten().flat_map(|value| value.to_le_bytes()));
    fs::write(path, bytes).unwrap();
}

#[test]
fn geoclip_is_imported_embeds_places_and_retrieves() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let said = ok(path, &format!("import geoclip {} --out geoclip", fixtures().display()));
    assert!(said.contains("a gallery of 20 places in geoclip"), "{said}");
    ok(path, "embed-location geoclip/gallery.csv --model geoclip --device cpu --out e.npy");
    let rows = ok(path, "embed-location --at 48.8566,2.3522 --model geoclip --device cpu --normalise");
    let row: Vec<f64> = serde_json::from_str(rows.trim()).unwrap();
    assert!(row.len() == 10 && (row.iter().map(|v| v * v).sum::<f64>() - 1.0).abs() < 1e-5);

    let features: Vec<Vec<f32>> =
        (0..6).map(|k| (0..24).map(|c| ((k * 24 + c) as f32 * 0.7).sin()).collect()).collect();
    write_npy(&path.join("f.npy"), &features);
    let search =
        "gallery search geoclip/gallery.csv --geoclip geoclip --embeddings f.npy --device cpu --top 3";
    ok(path, &format!("{search} --out hits.csv"));
    let hits = fs::read_to_string(path.join("hits.csv")).unwrap();
    assert!(
        hits.starts_with("row,rank,lat,lon,gallery_row,score\n1,1,") && hits.lines().count() == 19,
        "{hits}"
    );
    // The second time the vectors come from the folder beside the places, and say the same.
    assert!(path.join("geoclip/gallery.csv.gallery/gallery.json").exists());
    ok(path, &format!("{search} --out again.csv"));
    assert_eq!(hits, fs::read_to_string(path.join("again.csv")).unwrap());
    let built = json(&ok(
        path,
        "gallery build --locations geoclip/gallery.csv --geoclip geoclip --device cpu --json",
    ));
    assert!(built["places"] == 20 && built["kind"] == "geoclip" && built["dimension"] == 10);

    fs::write(path.join("evil.pth"), b"\x80\x02cos\nsystem\n").unwrap();
    for (text, part) in [
        ("import geoclip nowhere.whl --out g", "cannot read nowhere.whl"),
        ("import geoclip evil.pth --out g", "evil.pth: not a wheel"),
        ("embed-location --at 1,2 --model nowhere", "locdiff import geoclip"),
        ("gallery search f.npy --embeddings f.npy", "is no folder"),
        ("gallery search geoclip/gallery.csv.gallery --embeddings f.npy", "GeoCLIP"),
        ("gallery search geoclip/gallery.csv --geoclip geoclip --embeddings e.npy", "the retrieval takes 24"),
        ("gallery build --locations geoclip/gallery.csv --embeddings f.npy --out g", "has 6 rows"),
    ] {
        let message = error(path, text);
        assert!(message.contains(part), "{text}: {message}");
    }
    assert!(!path.join("g").exists());
}

/// Photos of four towns, each town with streets 10 km apart that only the embedding's last numbers tell.
fn towns(path: &Path, name: &str, first: usize) {
    let towns = [(48.0, 2.0), (-33.0, 151.0), (40.0, -100.0), (-10.0, -50.0)];
    let (mut rows, mut places) = (Vec::new(), "lat,lon\n".to_owned());
    for k in first..first + 120 {
        let (town, street) = (k % 4, (k / 4) % 15);
        let angle = street as f32 * std::f32::consts::TAU / 15.0;
        let noise = (k as f32 * 12.9898).sin() * 0.01;
        let mut row = vec![noise; 6];
        row[town] = 1.0;
        (row[4], row[5]) = (0.5 * angle.cos() + noise, 0.5 * angle.sin());
        rows.push(row);
        let (lat, lon) = towns[town];
        writeln!(places, "{},{}", lat + 0.1 * street as f64, lon + 0.002 * (k as f64).sin()).unwrap();
    }
    write_npy(&path.join(format!("{name}.npy")), &rows);
    fs::write(path.join(format!("{name}.csv")), places).unwrap();
}

#[test]
fn the_hybrid_finds_the_street_where_the_model_knows_the_town() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    towns(path, "train", 0);
    towns(path, "test", 1000);
    ok(
        path,
        "train --embeddings train.npy --locations train.csv --preset small --degree 7 --width 32 --batch 64 --steps 200 --device cpu --out run",
    );
    let built =
        ok(path, "gallery build --embeddings train.npy --locations train.csv --device cpu --out gallery");
    assert!(built.contains("a gallery of 120 places with 6 numbers each"), "{built}");
    let plain_retrieval =
        json(&ok(path, "gallery search gallery --embeddings test.npy --truth test.csv --device cpu --json"));
    assert!(plain_retrieval["accuracy"]["within"][1].as_f64().unwrap() > 0.9);

    let sample = "sample --model run --embeddings test.npy --device cpu --samples 8 --steps 10 --truth test.csv --json";
    let plain = json(&ok(path, sample));
    let near =
        |value: &serde_json::Value, radius: usize| value["accuracy"]["within"][radius].as_f64().unwrap();
    for rule in ["--hybrid-rule paper", "--hybrid-rule fused --hybrid-radius-km 1500 --hybrid-confidence 0"] {
        let radius = if rule.contains("paper") { " --hybrid-radius-km 1500" } else { "" };
        let found = json(&ok(path, &format!("{sample} --hybrid gallery {rule}{radius}")));
        // A code of degree 7 knows no street; the gallery does.
        assert!(near(&plain, 0) < 0.1 && near(&found, 0) > 0.5, "{rule}: {plain} {found}");
        assert!(found["from_gallery"].as_u64().unwrap() > 60);
    }
    // `locate` says the same place, with probabilities about it.
    let rule =
        "--device cpu --samples 8 --steps 10 --hybrid gallery --hybrid-rule paper --hybrid-radius-km 1500";
    ok(path, &format!("sample --model run --embeddings test.npy --out h.csv {rule}"));
    let located = ok(path, &format!("locate --model run --embeddings test.npy --json {rule}"));
    let places = fs::read_to_string(path.join("h.csv")).unwrap();
    assert_eq!(located.lines().count(), 120);
    for (line, row) in located.lines().zip(places.lines().skip(1)) {
        let (answer, row) = (json(line), row.split(',').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(answer["best"]["lat"].as_f64().unwrap().to_string(), row[1]);
        assert_eq!(answer["best"]["lon"].as_f64().unwrap().to_string(), row[2]);
        assert!(answer["radius_50_km"].as_f64().unwrap() > 0.0);
    }
    let message =
        error(path, &format!("locate --model run --embeddings test.npy --within -10,-10,10,10 {rule}"));
    assert!(message.contains("--hybrid does not go with --within"), "{message}");
    // No gallery point near: the model's own answers, to the byte.
    fs::write(path.join("far.csv"), "lat,lon\n-89,0\n").unwrap();
    write_npy(&path.join("one.npy"), &[vec![1.0; 6]]);
    ok(path, "gallery build --embeddings one.npy --locations far.csv --out far");
    let base = "sample --model run --embeddings test.npy --device cpu --samples 8 --steps 10";
    ok(path, &format!("{base} --out plain.csv"));
    let said = ok(path, &format!("{base} --out fallback.csv --hybrid far"));
    assert!(said.contains("0 of them places of the gallery"), "{said}");
    assert_eq!(fs::read(path.join("plain.csv")).unwrap(), fs::read(path.join("fallback.csv")).unwrap());

    write_npy(&path.join("five.npy"), &vec![vec![1.0; 5]; 120]);
    for (more, part) in [
        ("--hybrid nowhere", "is no folder"),
        ("--hybrid run", "locdiff gallery build"),
        ("--hybrid gallery --hybrid-embeddings one.npy", "has 1 rows"),
        ("--hybrid gallery --hybrid-embeddings five.npy", "the retrieval takes 6"),
        ("--hybrid gallery --hybrid-confidence 2", "confidence = 2"),
    ] {
        let message = error(path, &format!("{base} {more}"));
        assert!(message.contains(part), "{more}: {message}");
    }
}

/// Pictures of the vision fixtures, with made-up places.
fn photo_list(path: &Path) -> usize {
    let photos = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/vision").canonicalize().unwrap();
    let mut list = "path,lat,lon\n".to_owned();
    let mut count = 0;
    for name in [
        "china.jpg",
        "grey.jpg",
        "lossy.webp",
        "rgb.bmp",
        "palette.png",
        "lzw.tiff",
        "progressive.jpg",
        "lossless.webp",
    ] {
        writeln!(list, "{},{},{}", photos.join(name).display(), 5.0 * count as f64, 10.0 * count as f64)
            .unwrap();
        count += 1;
    }
    fs::write(path.join("photos.csv"), list).unwrap();
    count
}

/// The path of a user with CLIP: encoder folder, embeddings, a model of them, GeoCLIP's retrieval, the hybrid.
#[test]
fn clip_conditions_the_model_and_geoclip_picks_the_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let photos = photo_list(path);
    let clip = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/clip/whole");
    let encoder = format!("--encoder {} --device cpu", clip.display());
    ok(path, &format!("embed photos.csv -o e.safetensors {encoder}"));
    ok(path, &format!("import geoclip {} --out geoclip", fixtures().display()));
    ok(
        path,
        "train --embeddings e.safetensors --locations e.csv --preset small --degree 5 --width 16 --batch 8 --steps 10 --device cpu --out run",
    );
    let sample = "sample --model run --embeddings e.safetensors --device cpu --samples 4 --steps 5 --json";
    let hybrid =
        "--hybrid geoclip/gallery.csv --geoclip geoclip --hybrid-radius-km 20020 --hybrid-rule paper";
    let answer = json(&ok(path, &format!("{sample} --out h.csv {hybrid}")));
    assert!(answer["rows"] == photos && answer["from_gallery"] == photos, "{answer}");
    // With caps around the whole Earth the hybrid is plain retrieval.
    ok(
        path,
        "gallery search geoclip/gallery.csv --geoclip geoclip --embeddings e.safetensors --device cpu --top 1 --out r.csv",
    );
    let places = |file: &str, lat: usize| -> Vec<(String, String)> {
        let text = fs::read_to_string(path.join(file)).unwrap();
        let cells = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
        text.lines().skip(1).map(cells).map(|c| (c[lat].clone(), c[lat + 1].clone())).collect()
    };
    assert_eq!(places("h.csv", 1), places("r.csv", 2));

    // One's own photos as the gallery, from the photos themselves.
    let built = json(&ok(path, &format!("gallery build photos.csv --out own {encoder} --json")));
    assert!(built["places"] == photos && built["dimension"] == 24 && built["kind"] == "photos", "{built}");
    // Every photo finds itself, or the same picture in another format.
    ok(path, "gallery search own --embeddings e.safetensors --device cpu --top 1 --out s.csv");
    let scores = fs::read_to_string(path.join("s.csv")).unwrap();
    let score = |line: &str| line.rsplit(',').next().unwrap().parse::<f64>().unwrap();
    assert!(
        scores.lines().count() == photos + 1 && scores.lines().skip(1).all(|line| score(line) > 0.999),
        "{scores}"
    );
    assert!(path.join("own/photos.csv").exists());
    let answer = json(&ok(path, &format!("{sample} --hybrid own")));
    assert_eq!(answer["rows"], photos);
    fs::write(path.join("none.txt"), "x").unwrap();
    for (text, part) in [
        ("gallery build none.txt --out x", "none of the 1 photos could be used"),
        ("gallery build --locations e.csv --out x", "give --embeddings or --geoclip"),
    ] {
        let message = error(path, text);
        assert!(message.contains(part), "{text}: {message}");
    }
}
