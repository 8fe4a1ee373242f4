//! Tags that people can trust: only where sure, seen first, only where there is none, noted, and taken back to the byte.
#![cfg(feature = "bundled")]

use crate::common;

use common::{fixture, json, ok, read, run, skipped, stderr};
use locdiff_testing::files;
use serde_json::Value;
use std::{fs, io::Write as _, path::Path, process::Command, process::Stdio};

const RATED: &str = "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"><rdf:Description rdf:about=\"\" xmlns:xmp=\"http://ns.adobe.com/xap/1.0/\" xmp:Rating=\"4\"/></rdf:RDF></x:xmpmeta>";

/// Photos without a tag, with one, and of a kind that cannot hold one; a sidecar with a rating.
pub(crate) fn photos(folder: &Path) {
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
pub(crate) fn on_a_terminal(folder: &Path, arguments: &str, answer: &str) -> Option<(i32, String)> {
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
fn the_plan_is_shown_before_the_question() {
    let path = &*common::scratch();
    photos(path);
    let before = files(path);
    let Some((code, said)) = on_a_terminal(path, &format!("{GUESS} --xmp"), "n\n") else {
        skipped("the question of --xmp: script is not installed (bsdutils)");
        return;
    };
    assert!(code == 1 && said.contains("create           in/rgb.bmp → in/rgb.bmp.xmp"), "{said}");
    assert!(said.contains("4 would be tagged, 0 unsure, 1 already tagged, 0 cannot hold a tag. Write these"), "{said}");
    assert!(said.contains("cancelled: no tag is written") && files(path) == before, "{said}");
    let (code, said) = on_a_terminal(path, &format!("{GUESS} --in-place --write-place-names"), "y\n").unwrap();
    assert!(code == 1 && said.contains("write into") && said.contains("stay as NAME_original"), "{said}");
    assert_eq!(fs::read(path.join("in/sub/a.png_original")).unwrap(), before[&path.join("in/sub/a.png")]);
    let plan = ok(path, "undo in --dry-run");
    assert!(plan.contains("a.jpg: would be restored") && !plan.contains(": restored"), "{plan}");
    ok(path, "undo in");
    assert_eq!(files(path), before);
}

#[test]
fn an_output_belongs_to_one_run() {
    let path = &*common::scratch();
    photos(path);
    let lock = locdiff_base::OutputLock::file(&path.join("o.csv")).unwrap();
    assert!(common::refused(path, &format!("{LOCATE} --csv o.csv")).contains("in use by another run"));
    drop(lock);
    fs::write(path.join("o.csv.lock"), "mine").unwrap();
    assert!(common::refused(path, &format!("{LOCATE} --csv o.csv")).contains("o.csv.lock is not a lock of LocDiff"));
    assert!(read(path.join("o.csv.lock")) == "mine" && !path.join("o.csv").exists());
    let lock = locdiff_base::OutputLock::file(&path.canonicalize().unwrap().join("maps")).unwrap();
    common::refused_with(path, &format!("{LOCATE} --png maps/"), "in use by another run");
    drop(lock);
    let _lock = locdiff_base::OutputLock::folder(&path.join("in")).unwrap();
    assert!(stderr(&run(path, &format!("{GUESS} --xmp --yes"))).contains("in use by another run"));
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
    // Names are written as exiftool will be given them, and what is written is valid EXIF.
    fs::copy(fixture("vision/china.jpg"), path.join("=b.jpg")).unwrap();
    ok(path, "locate =b.jpg --device cpu --samples 2 --tag-guesses --exiftool-csv q.csv --write-exif t --yes");
    assert!(read(path.join("q.csv")).lines().nth(1).unwrap().starts_with("=b.jpg,"), "{}", read(path.join("q.csv")));
    let valid = exiftool(&["-validate", "-warning", "-a", "-GPSAreaInformation", "t/=b.jpg"]).unwrap();
    let said = String::from_utf8_lossy(&valid.stdout).into_owned();
    assert!(!said.contains("GPSProcessingMethod") && said.contains("LocDiff estimate"), "{said}");
}

/// Tags, sidecars, journals and the review's cache of photos that their owner alone may read.
#[cfg(unix)]
#[test]
fn others_may_not_read_what_is_made_of_private_photos() {
    use std::os::unix::{fs::PermissionsExt, process::CommandExt};
    let path = &*common::scratch();
    photos(path);
    let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    set(path, 0o755);
    for photo in files(path).into_keys() {
        set(&photo, 0o600);
    }
    ok(path, &format!("{GUESS} --xmp --yes"));
    run(path, &format!("{GUESS} --in-place --write-exif t --copy-all --yes --replace-tags"));
    run(path, &format!("{GUESS} --write-exif t --copy-all --yes --replace-tags"));
    let mut review = common::command(path, "review in --device cpu").stderr(Stdio::null()).spawn().unwrap();
    let cache = path.join("in/.locdiff-review/photos.jsonl");
    locdiff_testing::wait_until("photos are read", || fs::metadata(&cache).is_ok_and(|file| file.len() > 0));
    locdiff_testing::signal(&review, "TERM");
    review.wait().unwrap();
    let made = files(path);
    assert!(made.contains_key(&cache) && made.contains_key(&path.join("t/sub/a.png")), "{:?}", made.keys());
    for file in made.keys() {
        let mode = fs::metadata(file).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{}", file.display());
    }
    assert_eq!(fs::metadata(path.join("in/.locdiff-review")).unwrap().permissions().mode() & 0o777, 0o700);
    // By the system's own word.
    let read_by_other = |file: &Path| Command::new("cat").arg(file).uid(65_534).gid(65_534).output();
    fs::write(path.join("open.txt"), "x").unwrap();
    if !read_by_other(&path.join("open.txt")).is_ok_and(|output| output.stdout == b"x") {
        skipped("cannot run here: what another user may read of private photos: this needs root");
        return;
    }
    for file in made.keys() {
        assert!(!read_by_other(file).unwrap().status.success(), "{}", file.display());
    }
}
