//! Tags that people can trust: seen first, only where there is none, noted, and taken back to the byte.
#![cfg(feature = "bundled")]

mod common;

use common::{csv, fixture, ok, read, run, skipped, stderr};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::{collections::BTreeMap, fs, process::Command};

const RATED: &str = "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"><rdf:Description rdf:about=\"\" xmlns:xmp=\"http://ns.adobe.com/xap/1.0/\" xmp:Rating=\"4\"/></rdf:RDF></x:xmpmeta>";

/// Photos without a tag, with one, and of a kind that cannot hold one; a sidecar with a rating.
fn photos(folder: &Path) {
    fs::create_dir_all(folder.join("in/sub")).unwrap();
    let tags = common::root().join("crates/phototags/tests/fixtures");
    for (from, to) in [
        (fixture("vision/china.jpg"), "in/a.jpg"),
        (tags.join("gps.jpg"), "in/gps.jpg"),
        (fixture("vision/rgb.bmp"), "in/rgb.bmp"),
        (fixture("vision/rgb.png"), "in/sub/a.png"),
        (tags.join("camera.jpg"), "in/sub/a.jpg"),
    ] {
        fs::copy(from, folder.join(to)).unwrap();
    }
    fs::write(folder.join("in/a.jpg.xmp"), RATED).unwrap();
}

/// All files below a folder with their bytes.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.insert(path.clone(), fs::read(path).unwrap());
        }
    }
    found
}

const LOCATE: &str = "locate in --device cpu --samples 2";

#[test]
fn tagged_photos_are_left_and_the_rest_goes_on() {
    let path = &*common::scratch();
    photos(path);
    let before = files(path);
    let output = run(path, &format!("{LOCATE} --write-exif tagged --yes --csv a.csv"));
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "the BMP cannot hold a tag: {said}");
    assert!(said.contains("note: no tag: in/gps.jpg says already"), "{said}");
    assert!(said.contains("1 photos have a GPS tag") && said.contains("in/rgb.bmp is not a JPEG"), "{said}");
    assert!(said.contains("error: 1 of 5 photos got no tag"), "{said}");
    assert_eq!(csv(path.join("a.csv")).len(), 6, "every photo has its row");
    let mut names: Vec<_> = files(&path.join("tagged")).into_keys().collect();
    for name in &mut names {
        *name = name.strip_prefix(path).unwrap().to_owned();
    }
    let expected = ["tagged/a-2.jpg", "tagged/a.jpg", "tagged/a.png", "tagged/locdiff-journal.jsonl"];
    assert_eq!(names, expected.map(PathBuf::from));
    let modified = |file: &str| fs::metadata(path.join(file)).unwrap().modified().unwrap();
    assert_eq!(modified("tagged/a.png"), modified("in/sub/a.png"));

    // All is taken back; what someone changed meanwhile stays.
    fs::write(path.join("tagged/a.png"), "edited").unwrap();
    let output = run(path, "undo tagged");
    let said = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("a.png: changed since, stays") && said.contains("a-2.jpg: removed"), "{said}");
    assert!(stderr(&output).contains("1 of 3 files changed since"), "{}", stderr(&output));
    let mut after = files(path);
    after.retain(|file, _| !file.starts_with(path.join("tagged")) && !file.ends_with("a.csv"));
    assert_eq!(after, before);
}

#[test]
fn sidecars_keep_their_rating_and_undo_restores_them() {
    let path = &*common::scratch();
    photos(path);
    let before = files(path);
    let said = ok(path, &format!("{LOCATE} --xmp --yes"));
    assert!(said.contains("wrote in/a.jpg.xmp") && said.contains("wrote in/rgb.bmp.xmp"), "{said}");
    let sidecar = read(path.join("in/a.jpg.xmp"));
    assert!(sidecar.contains("Rating=\"4\"") && sidecar.contains("exif:GPSLatitude"), "{sidecar}");
    assert!(!path.join("in/gps.jpg.xmp").exists());
    let said = stderr(&run(path, &format!("{LOCATE} --xmp --yes")));
    assert!(said.contains("5 photos have a GPS tag"), "{said}");
    let plan = ok(path, "undo locdiff-journal.jsonl --dry-run --json");
    assert_eq!(plan.lines().count(), 4);
    ok(path, "undo locdiff-journal.jsonl");
    assert_eq!(files(path), before);
}

#[test]
fn a_tag_is_replaced_only_when_asked_by_name() {
    let path = &*common::scratch();
    photos(path);
    let locate = "locate in/gps.jpg in/a.jpg --device cpu --samples 2 --write-exif tagged --yes";
    ok(path, &format!("{locate} --force"));
    ok(path, &format!("{locate} --force"));
    assert!(path.join("tagged/a.jpg").exists() && !path.join("tagged/gps.jpg").exists());
    let said = stderr(&run(path, &format!("{locate} --replace-tags")));
    assert!(said.contains("tagged/a.jpg exists"), "--replace-tags replaces no files: {said}");
    ok(path, &format!("{locate} --replace-tags --force"));
    assert_ne!(fs::read(path.join("tagged/gps.jpg")).unwrap(), fs::read(path.join("in/gps.jpg")).unwrap());
    assert!(common::refused(path, "locate in --replace-tags").contains("give one of them"));
}

#[test]
fn a_dry_run_says_all_and_writes_nothing() {
    let path = &*common::scratch();
    photos(path);
    let before = files(path);
    let dry = format!("{LOCATE} --write-exif tagged --xmp --exiftool-csv e.csv --csv a.csv --map m.html --dry-run");
    let output = run(path, &dry);
    let plan = String::from_utf8(output.stdout).unwrap();
    for part in [
        "create           in/a.jpg → tagged/a.jpg: ",
        "add to           in/a.jpg → in/a.jpg.xmp",
        "skip             in/gps.jpg says already",
        "row for exiftool in/rgb.bmp → e.csv",
    ] {
        assert!(plan.contains(part), "{part}: {plan}");
    }
    let lines = run(path, &format!("{dry} --json")).stdout;
    for line in String::from_utf8(lines).unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert!(line["photo"].is_string() && line["action"].is_string() && line["lat"].is_number(), "{line}");
    }
    assert_eq!(files(path), before);
    assert!(common::refused(path, "locate in --dry-run").contains("give one of them"));
}

#[test]
fn exiftool_takes_the_table() {
    let path = &*common::scratch();
    photos(path);
    ok(path, &format!("{LOCATE} --exiftool-csv e.csv"));
    let rows = read(path.join("e.csv"));
    assert!(rows.starts_with("SourceFile,GPSLatitude,GPSLatitudeRef,") && rows.lines().count() == 5, "{rows}");
    assert!(!rows.contains("gps.jpg"), "a photo with a tag keeps it");
    let exiftool = |arguments: &[&str]| Command::new("exiftool").args(arguments).current_dir(path).output();
    let Ok(output) = exiftool(&["-overwrite_original", "-csv=e.csv", "-r", "in"]) else {
        skipped("exiftool imports --exiftool-csv: exiftool is not installed (libimage-exiftool-perl)");
        return;
    };
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(said.contains("3 image files updated"), "{said}");
    let output = exiftool(&["-n", "-json", "-GPSLatitude", "-GPSLongitude", "-GPSHPositioningError", "in/a.jpg"]);
    let back: Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
    let lines = ok(path, "locate in/a.jpg --device cpu --samples 2 --json");
    let answer: Value = serde_json::from_str(lines.trim()).unwrap();
    for (name, axis) in [("GPSLatitude", "lat"), ("GPSLongitude", "lon")] {
        let (back, said) = (back[0][name].as_f64().unwrap(), answer["best"][axis].as_f64().unwrap());
        assert!((back - said).abs() < 1e-4, "{name}: {back}, {said}");
    }
    assert!(back[0]["GPSHPositioningError"].as_f64().unwrap() > 1000.0);
}
