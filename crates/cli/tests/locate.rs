//! `locdiff locate` and `locdiff calibrate` as people use them.
#![cfg(unix)]

use crate::common;

use crate::embed::bmp;
use common::{command, csv, json_lines, model_of_towns, ok, read, run, stderr};
use serde_json::Value;
use std::{fs, io::BufRead, io::BufReader, process::Stdio};

#[test]
fn an_interrupt_leaves_complete_rows() {
    let path = &*common::scratch();
    model_of_towns(path);
    // Blocks of one photo, each with much to do.
    let locate = "locate --model run --embeddings photos.npy --device cpu --samples 1024 --json --csv a.csv";
    let mut child = command(path, locate).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut seen = vec![lines.next().unwrap().unwrap()];
    locdiff_testing::signal(&child, "INT");
    seen.extend(lines.map(Result::unwrap));
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(seen.len() < 120 && seen.iter().all(|line| serde_json::from_str::<Value>(line).is_ok()));
    let rows = csv(path.join("a.csv"));
    assert!(rows.len() == seen.len() + 1 && rows.iter().all(|row| row.len() >= 10), "{rows:?}");
    assert!(read(path.join("a.csv")).ends_with('\n'));
}

/// If no photo has a line to ignore, a note says so. A line that a photo has is left out.
#[cfg(feature = "bundled")]
#[test]
fn lines_to_ignore_are_those_that_are_read() {
    let path = &*common::scratch();
    fs::copy(common::root().join("fixtures/vision/thun.jpg"), path.join("thun.jpg")).unwrap();
    let ignoring = |line: &str| {
        let output =
            command(path, "locate thun.jpg --device cpu --json").args(["--ignore-text", line]).output().unwrap();
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        (found["text"].as_array().map_or(0, Vec::len), stderr(&output))
    };
    let (lines, said) = ignoring("GARE DE LYON");
    assert!(said.contains("note: --ignore-text \"GARE DE LYON\" changes nothing"), "{said}");
    let (fewer, said) = ignoring("GARE DE THUN LE PARADIS");
    assert!(fewer < lines && !said.contains("--ignore-text"), "{fewer} of {lines}: {said}");
}

/// A folder of many photos: a line each, how many of what, and where to go on.
#[cfg(feature = "bundled")]
#[test]
fn many_photos_have_a_line_each_and_a_summary() {
    let path = &*common::scratch();
    fs::create_dir(path.join("in")).unwrap();
    for k in 0..9 {
        bmp(&path.join(format!("in/IMG_20240506_0709{k:02}.bmp")), k);
    }
    fs::copy(common::root().join("crates/io/tests/tags/fixtures/gps.jpg"), path.join("in/gps.jpg")).unwrap();
    for (name, text) in [("bad.jpg", "no photo"), ("film.mp4", ""), ("notes.txt", "")] {
        fs::write(path.join("in").join(name), text).unwrap();
    }
    let locate = "locate in --device cpu --samples 2 --allow-bad";
    let output = run(path, locate);
    let (text, said) = (String::from_utf8(output.stdout.clone()).unwrap(), stderr(&output));
    assert!(output.status.success() && text.lines().count() == 10, "{text}{said}");
    for line in text.lines() {
        let is_said = [", 90 % within ", "   can't tell: ", "already tagged at "];
        assert!(line.starts_with("in/") && is_said.iter().any(|words| line.contains(words)), "{line}");
    }
    assert_eq!(text.matches("already tagged at ").count(), 1, "{text}");
    let summary = said.lines().find(|line| line.starts_with("note: 11 photos: ")).unwrap_or_else(|| panic!("{said}"));
    assert!(summary.ends_with(" can't tell, 1 already tagged, 1 unreadable"), "{summary}");
    let untold = text.lines().filter(|line| line.contains("   can't tell: ")).count();
    assert!(summary.contains(&format!(": {} answered, {untold} can't tell", 9 - untold)), "{summary}");
    assert!(said.contains("note: skipped: 1 video, 1 other file\n") && said.contains("`locdiff album`"), "{said}");
    // All about each, where that is asked for, and where they are few; programs get what they got.
    assert_eq!(ok(path, &format!("{locate} --details")).matches("best place   ").count(), 10);
    fs::remove_file(path.join("in/bad.jpg")).unwrap();
    let few = run(path, locate);
    assert_eq!(String::from_utf8(few.stdout.clone()).unwrap().matches("best place   ").count(), 10);
    assert!(!stderr(&few).contains("can't tell, "));
    assert_eq!(json_lines(path, locate).len(), 10);
}
