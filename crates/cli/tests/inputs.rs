//! What people point the command at: folders with everything in them, devices, pipes, broken and double photos.
#![cfg(all(unix, feature = "bundled"))]

use crate::common;

use common::{command, csv, fixture, json, lines_of, misused, ok, read, refused_with, run, stderr};
use serde_json::Value;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};
use std::{fs, io::Write, path::Path};

/// A folder with two good photos, a broken one, and everything that is no regular file.
fn mixed(folder: &Path) {
    let photos = folder.join("photos");
    fs::create_dir_all(photos.join("inner")).unwrap();
    fs::copy(fixture("vision/rgb.jpg"), photos.join("a.jpg")).unwrap();
    fs::copy(fixture("vision/rgb.png"), photos.join("inner/b.png")).unwrap();
    fs::write(photos.join("broken.jpg"), "no photo").unwrap();
    fs::write(photos.join("notes.txt"), "text").unwrap();
    symlink("nowhere.jpg", photos.join("dangling.jpg")).unwrap();
    symlink("loop.jpg", photos.join("loop.jpg")).unwrap();
    symlink("..", photos.join("inner/up")).unwrap();
    symlink("a.jpg", photos.join("same.jpg")).unwrap();
    symlink("/dev/zero", photos.join("zero.jpg")).unwrap();
    assert!(Command::new("mkfifo").arg(photos.join("pipe.jpg")).status().unwrap().success());
    std::os::unix::net::UnixListener::bind(photos.join("socket.jpg")).unwrap();
    fs::create_dir(photos.join("secret")).unwrap();
    fs::set_permissions(photos.join("secret"), fs::Permissions::from_mode(0o0)).unwrap();
}

/// Runs, and fails if it does not end: a pipe must not be waited for.
fn in_time(folder: &Path, arguments: &str) -> std::process::Output {
    locdiff_testing::output_in_time(&mut command(folder, arguments))
}

const PASSED_OVER: [(&str, &str); 7] = [
    ("dangling.jpg", "a link to nowhere.jpg, which does not exist"),
    ("loop.jpg", "leads nowhere"),
    ("inner/up", "searched already"),
    ("same.jpg", "comes twice"),
    ("zero.jpg", "a device"),
    ("pipe.jpg", "a named pipe"),
    ("socket.jpg", "a socket"),
];

#[test]
fn a_folder_with_everything_in_it_is_answered() {
    let path = &*common::scratch();
    mixed(path);
    for arguments in [
        "locate photos --device cpu --json --csv a.csv",
        "embed photos -o e.npy",
        "gallery build photos -o g --device cpu",
    ] {
        let output = in_time(path, arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments}: {}", stderr(&output));
        for (name, words) in PASSED_OVER {
            let said = stderr(&output);
            let line = said.lines().find(|line| line.contains(&format!("photos/{name}: ")));
            let line = line.unwrap_or_else(|| panic!("{arguments}: nothing of {name}: {said}"));
            assert!(line.starts_with("warning: ") && line.contains(words), "{line}");
        }
        // Root may read everything.
        let may_read = fs::read_dir(path.join("photos/secret")).is_ok();
        assert!(may_read || stderr(&output).contains("photos/secret: the folder cannot be read"));
    }
    // The photo that is broken has its rows; the good ones have their answers.
    let rows = csv(path.join("a.csv"));
    let names: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(names, ["photo", "photos/a.jpg", "photos/broken.jpg", "photos/inner/b.png"]);
    let error = rows[0].iter().position(|name| name == "error").unwrap();
    assert!(rows[2][1].is_empty() && read(path.join("a.csv")).contains("not a JPEG"));
    assert!(!rows[1][1].is_empty() && rows[1].last().unwrap().is_empty() && rows[1].len() > error);
    let output = in_time(path, "locate photos --device cpu --json --allow-bad");
    assert_eq!(output.status.code(), Some(0));
    let lines = lines_of(output.stdout);
    assert_eq!(lines.len(), 3);
    assert!(lines[1]["photo"] == "photos/broken.jpg" && lines[1]["error"].is_string() && lines[0]["best"].is_object());
    assert_eq!(csv(path.join("e.csv")).len(), 3);
}

#[test]
fn devices_pipes_and_missing_files_fail_alone() {
    let path = &*common::scratch();
    fs::copy(fixture("vision/rgb.jpg"), path.join("a.jpg")).unwrap();
    assert!(Command::new("mkfifo").arg(path.join("pipe.jpg")).status().unwrap().success());
    for (what, words) in [
        ("/dev/zero", "a device, not a regular file"),
        ("pipe.jpg", "a named pipe, not a regular file"),
        ("missing.jpg", "No such file"),
        ("a.jpg", "comes twice: it is taken once"),
    ] {
        let output = in_time(path, &format!("locate a.jpg {what} --device cpu --json"));
        assert!(stderr(&output).contains(words), "{what}: {}", stderr(&output));
        let answered = String::from_utf8(output.stdout).unwrap();
        assert!(answered.lines().next().unwrap().contains("\"best\""), "{answered}");
        assert_eq!(output.status.code(), Some(i32::from(what != "a.jpg")));
    }
    let output = in_time(path, "embed @/dev/zero -o e.npy");
    assert!(stderr(&output).contains("a device, not a regular file"), "{}", stderr(&output));
    refused_with(path, "embed missing.jpg -o e.npy", "no photo of 1 could be used");
}

#[test]
fn a_photo_comes_through_standard_input() {
    let path = &*common::scratch();
    let photo = fs::read(fixture("vision/rgb.jpg")).unwrap();
    let through = |arguments: &str, bytes: &[u8]| {
        let mut child = command(path, arguments);
        let child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = child.spawn().unwrap();
        child.stdin.take().unwrap().write_all(bytes).unwrap();
        child.wait_with_output().unwrap()
    };
    fs::write(path.join("a.jpg"), &photo).unwrap();
    let output = through("locate - --device cpu --json", &photo);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["photo"], "standard input");
    assert_eq!(answer["best"], json(path, "locate a.jpg --device cpu")["best"]);
    let output = through("locate - --device cpu", b"no photo");
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("standard input is not a JPEG"), "{}", stderr(&output));
    let output = through("locate - --device cpu", b"");
    assert!(stderr(&output).contains("standard input is empty"), "{}", stderr(&output));
    assert!(through("embed - -o e.npy", &photo).status.success());
}

#[test]
fn large_photos_and_odd_tables_name_flags_that_there_are() {
    let path = &*common::scratch();
    fs::copy(fixture("vision/china.jpg"), path.join("a.jpg")).unwrap();
    // A picture of 30,000 × 30,000 pixels by its header.
    let mut png = fs::read(fixture("vision/rgb.png")).unwrap();
    png[16..24].copy_from_slice(&[30_000_u32.to_be_bytes(), 30_000_u32.to_be_bytes()].concat());
    let sum = crc32fast::hash(&png[12..29]);
    png[29..33].copy_from_slice(&sum.to_be_bytes());
    fs::write(path.join("large.png"), png).unwrap();
    let output = run(path, "locate large.png --device cpu");
    assert!(stderr(&output).contains("(--max-megapixels)"), "{}", stderr(&output));
    let output = run(path, "locate large.png --device cpu --max-megapixels 1000");
    assert!(!stderr(&output).contains("above the limit of"), "{}", stderr(&output));
    fs::write(path.join("t.csv"), "wo,x\na.jpg,1\n").unwrap();
    for locate in ["locate t.csv --device cpu", "embed t.csv -o e.npy", "gallery build t.csv -o g"] {
        refused_with(path, locate, "--path-column");
    }
    ok(path, "locate t.csv --path-column wo --device cpu");
}

/// Embeddings have no views: rows of different photos were pooled as one.
#[test]
fn embeddings_have_no_views() {
    let folder = tempfile::tempdir().unwrap();
    common::photos_of_towns(folder.path());
    for words in ["cannot be used with", "--views <K>"] {
        misused(folder.path(), "locate --embeddings photos.npy --views 4", words);
    }
}
