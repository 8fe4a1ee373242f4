//! Tags that people can trust: only where sure, seen first, only where there is none, noted, and taken back to the byte.
#![cfg(feature = "bundled")]

use crate::common;

use common::{csv, fixture, json, json_lines, misused, ok, read, run, skipped, stderr};
use locdiff_testing::files;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io::Write as _};

const RATED: &str = "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"><rdf:Description rdf:about=\"\" xmlns:xmp=\"http://ns.adobe.com/xap/1.0/\" xmp:Rating=\"4\"/></rdf:RDF></x:xmpmeta>";

/// Photos without a tag, with one, and of a kind that cannot hold one; a sidecar with a rating.
fn photos(folder: &Path) {
    fs::create_dir_all(folder.join("in/sub")).unwrap();
    let tags = common::root().join("crates/io/tests/tags/fixtures");
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

const LOCATE: &str = "locate in --device cpu --samples 2";
/// The places of these photos are guesses.
const GUESS: &str = "locate in --device cpu --samples 2 --tag-guesses";

/// What a user of a terminal sees who types an answer; nothing where there is no `script`.
fn on_a_terminal(folder: &Path, arguments: &str, answer: &str) -> Option<(i32, String)> {
    let line = format!("{} {arguments}", common::PROGRAM);
    let mut child = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    child.stdin.take().unwrap().write_all(answer.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    Some((output.status.code().unwrap(), String::from_utf8_lossy(&output.stdout).into_owned()))
}

#[test]
fn guesses_are_no_tags_unless_asked_for() {
    let path = &*common::scratch();
    photos(path);
    let before = files(path);
    for command in ["locate in --device cpu --samples 2", "album in --device cpu"] {
        let plan = ok(path, &format!("{command} --write-exif t --xmp --exiftool-csv e.csv --dry-run --sure-within 1m"));
        let line = plan.lines().find(|line| line.contains("in/rgb.bmp")).unwrap();
        assert!(line.starts_with("skip ") && line.contains(", 90 % within ") && line.contains("; no tag: "), "{line}");
        assert!(
            plan.ends_with("5 photos: 0 would be tagged, 4 unsure, 1 already tagged, 0 cannot hold a tag\n"),
            "{plan}"
        );
    }
    let output = run(path, &format!("{LOCATE} --write-exif t --xmp --yes"));
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("5 photos: 0 tagged, 4 unsure, 1 already tagged"), "{}", stderr(&output));
    assert!(stderr(&output).contains("--tag-guesses"), "{}", stderr(&output));
    assert_eq!(files(path), before, "nothing was sure");
    let lines = json_lines(path, &format!("{LOCATE} --xmp --dry-run"));
    assert!(lines[0]["skipped"] == "unsure" && lines[0]["radius_90_km"].as_f64() > Some(25.0), "{}", lines[0]);
    assert_eq!(lines[5]["summary"]["unsure"], 4, "{}", lines[5]);
    assert_eq!(run(path, &format!("{LOCATE} --xmp --yes --sure-within far")).status.code(), Some(2));
}

/// A photo that cannot hold a tag: the same in both commands.
#[test]
fn exit_codes_of_tagging_are_the_same_in_both_commands() {
    let path = &*common::scratch();
    photos(path);
    for command in ["locate", "album"] {
        let output = run(path, &format!("{command} in --device cpu --tag-guesses --write-exif {command} --yes"));
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert!(
            stderr(&output).ends_with("error: 1 of 5 photos cannot hold a tag; all else is written\n"),
            "{}",
            stderr(&output)
        );
    }
}

#[test]
fn the_plan_is_shown_before_the_question() {
    let path = &*common::scratch();
    photos(path);
    let before = files(path);
    let Some((code, said)) = on_a_terminal(path, &format!("{GUESS} --xmp"), "n\n") else {
        skipped("the question of --xmp: script is not installed (bsdutils)");
        return;
    };
    assert!(code == 1 && said.contains("create           in/rgb.bmp → in/rgb.bmp.xmp"), "{said}");
    assert!(said.contains("4 would be tagged, 0 unsure, 1 already tagged, 0 cannot hold a tag. Write that"), "{said}");
    assert!(said.contains("no tag is written, as you wished") && files(path) == before, "{said}");
    let (code, said) = on_a_terminal(path, &format!("{GUESS} --in-place --write-place-names"), "y\n").unwrap();
    assert!(code == 1 && said.contains("write into") && said.contains("stay as NAME_original"), "{said}");
    assert_eq!(fs::read(path.join("in/sub/a.png_original")).unwrap(), before[&path.join("in/sub/a.png")]);
    let plan = ok(path, "undo in --dry-run");
    assert!(plan.contains("a.jpg: would be restored") && !plan.contains(": restored"), "{plan}");
    ok(path, "undo in");
    assert_eq!(files(path), before);
}

#[test]
fn a_copy_is_an_album() {
    let path = &*common::scratch();
    photos(path);
    run(path, &format!("{GUESS} --write-exif tagged --copy-all --yes"));
    let copied: Vec<_> = files(&path.join("tagged")).into_keys().collect();
    let mut expected: Vec<_> = files(&path.join("in")).into_keys().collect();
    expected.push(path.join("in/locdiff-journal.jsonl"));
    expected.sort();
    let as_copy = |file: &PathBuf| path.join("tagged").join(file.strip_prefix(path.join("in")).unwrap());
    assert_eq!(copied, expected.iter().map(as_copy).collect::<Vec<_>>());
    ok(path, "undo tagged");
    assert!(files(&path.join("tagged")).is_empty() && !path.join("tagged/sub").exists());
}

/// `locdiff locate … | head`: files and tags are finished, and the exit code says that not all was read.
#[test]
fn closed_standard_output_stops_no_files() {
    let path = &*common::scratch();
    photos(path);
    let closed = |words: &str| {
        let mut child = common::command(path, words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        child.wait_with_output().unwrap()
    };
    for command in ["locate", "album"] {
        let words = format!(
            "{command} in --device cpu --tag-guesses --write-exif t-{command} --csv {command}.csv --allow-bad --yes"
        );
        let output = closed(&words);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert_eq!(csv(path.join(format!("{command}.csv"))).len(), 6);
        assert_eq!(files(&path.join(format!("t-{command}"))).len(), 4, "three copies and the journal");
    }
    // All photos can hold a sidecar: nothing else is wrong.
    let output = closed(&format!("{GUESS} --xmp --yes"));
    assert!(
        output.status.code() == Some(1) && stderr(&output).contains("standard output was closed"),
        "{}",
        stderr(&output)
    );
    assert!(path.join("in/rgb.bmp.xmp").exists());
    // Without files there is nothing left to do.
    assert!(closed(LOCATE).status.success());
}

#[test]
fn an_output_belongs_to_one_run_and_one_flag() {
    let path = &*common::scratch();
    photos(path);
    for twice in ["--csv o --geojson o", "--csv o --kml ./o", "--exiftool-csv in/../o --csv o"] {
        misused(path, &format!("{LOCATE} {twice}"), "is given for two outputs");
    }
    assert_eq!(run(path, "album in --device cpu --csv o --gpx o").status.code(), Some(2));
    let lock = locdiff_base::OutputLock::file(&path.join("o.csv")).unwrap();
    assert!(common::refused(path, &format!("{LOCATE} --csv o.csv")).contains("in use by another run"));
    drop(lock);
    let lock = locdiff_base::OutputLock::folder(&path.join("in")).unwrap();
    assert!(stderr(&run(path, &format!("{GUESS} --xmp --yes"))).contains("in use by another run"));
    drop(lock);
    ok(path, &format!("{LOCATE} --csv o.csv"));
    assert!(!path.join("o.csv.lock").exists());
}

#[test]
fn tagged_photos_are_left_and_the_rest_goes_on() {
    let path = &*common::scratch();
    photos(path);
    let before = files(path);
    let output = run(path, &format!("{GUESS} --write-exif tagged --yes --csv a.csv"));
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "the BMP cannot hold a tag: {said}");
    assert!(said.contains("note: no tag: in/gps.jpg: it says already"), "{said}");
    assert!(said.contains("5 photos: 3 tagged, 0 unsure, 1 already tagged, 1 cannot hold a tag"), "{said}");
    assert!(said.contains("in/rgb.bmp is not a JPEG"), "{said}");
    assert_eq!(csv(path.join("a.csv")).len(), 6, "every photo has its row");
    let mut names: Vec<_> = files(&path.join("tagged")).into_keys().collect();
    for name in &mut names {
        *name = name.strip_prefix(path).unwrap().to_owned();
    }
    let expected = ["tagged/a.jpg", "tagged/locdiff-journal.jsonl", "tagged/sub/a.jpg", "tagged/sub/a.png"];
    assert_eq!(names, expected.map(PathBuf::from));
    let modified = |file: &str| fs::metadata(path.join(file)).unwrap().modified().unwrap();
    assert_eq!(modified("tagged/sub/a.png"), modified("in/sub/a.png"));

    // All is taken back; what someone changed meanwhile stays.
    fs::write(path.join("tagged/sub/a.png"), "edited").unwrap();
    let output = run(path, "undo tagged");
    let said = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("a.png: changed since, stays") && said.contains("sub/a.jpg: removed"), "{said}");
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
    let said = ok(path, &format!("{GUESS} --xmp --yes"));
    assert!(said.contains("wrote in/a.jpg.xmp") && said.contains("wrote in/rgb.bmp.xmp"), "{said}");
    let sidecar = read(path.join("in/a.jpg.xmp"));
    assert!(sidecar.contains("Rating=\"4\"") && sidecar.contains("exif:GPSLatitude"), "{sidecar}");
    assert!(!path.join("in/gps.jpg.xmp").exists());
    let said = stderr(&run(path, &format!("{GUESS} --xmp --yes")));
    assert!(said.contains("5 already tagged"), "{said}");
    let plan = ok(path, "undo in/locdiff-journal.jsonl --dry-run --json");
    assert_eq!(plan.lines().count(), 4);
    ok(path, "undo in/locdiff-journal.jsonl");
    assert_eq!(files(path), before);
}

#[test]
fn a_tag_is_replaced_only_when_asked_by_name() {
    let path = &*common::scratch();
    photos(path);
    let locate = "locate in/gps.jpg in/a.jpg --device cpu --samples 2 --tag-guesses --write-exif tagged --yes";
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
    let dry = format!("{GUESS} --write-exif tagged --xmp --exiftool-csv e.csv --csv a.csv --map m.html --dry-run");
    let output = run(path, &dry);
    let plan = String::from_utf8(output.stdout).unwrap();
    for part in [
        "create           in/a.jpg → tagged/a.jpg: ",
        "add to           in/a.jpg → in/a.jpg.xmp",
        "skip             in/gps.jpg: ",
        "; no tag: it says already where it was taken",
        "row for exiftool in/rgb.bmp → e.csv",
    ] {
        assert!(plan.contains(part), "{part}: {plan}");
    }
    let lines = run(path, &format!("{dry} --json")).stdout;
    let lines = String::from_utf8(lines).unwrap();
    assert!(lines.ends_with("\"tagged\":4,\"unsure\":0}}\n"), "{lines}");
    for line in lines.lines().filter(|line| !line.contains("summary")) {
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
    ok(path, &format!("{GUESS} --exiftool-csv e.csv"));
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
    let answer = json(path, "locate in/a.jpg --device cpu --samples 2");
    for (name, axis) in [("GPSLatitude", "lat"), ("GPSLongitude", "lon")] {
        let (back, said) = (back[0][name].as_f64().unwrap(), answer["best"][axis].as_f64().unwrap());
        assert!((back - said).abs() < 1e-4, "{name}: {back}, {said}");
    }
    assert!(back[0]["GPSHPositioningError"].as_f64().unwrap() > 1000.0);
}
