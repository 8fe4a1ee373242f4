//! What several tests need.
#![allow(dead_code, reason = "each test file uses some of it")]

use locdiff_vision::{Photo, PhotoLimits};
use std::path::{Path, PathBuf};
use std::{fs, io::Write as _, process::Command};

pub(crate) fn fixture(name: &str) -> Vec<u8> {
    fs::read(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)).unwrap()
}

/// Photos made for another crate.
pub(crate) fn bare(name: &str) -> Vec<u8> {
    fs::read(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/vision").join(name)).unwrap()
}

pub(crate) fn decoded(photo: &[u8]) -> Photo {
    Photo::decode(photo, "photo", &PhotoLimits::default()).unwrap()
}

/// Says that a test, or a part of it, did not run; `scripts/check` ends with the list of these.
pub(crate) fn skipped(what: &str) {
    println!("skipped: {what}");
    if let Some(list) = std::env::var_os("LOCDIFF_SKIPPED") {
        let mut file = fs::OpenOptions::new().create(true).append(true).open(list).expect("the list of skips");
        writeln!(file, "{what}").expect("the list of skips");
    }
}

/// What exiftool reads from a file; says so where it is not installed.
pub(crate) fn exiftool(file: &Path) -> Option<serde_json::Value> {
    let Ok(output) = Command::new("exiftool").args(["-j", "-n", "-a"]).arg(file).output() else {
        skipped("exiftool is not installed: what it reads was not compared");
        return None;
    };
    let mut read: serde_json::Value = serde_json::from_slice(&output.stdout).expect("exiftool's JSON");
    Some(read[0].take())
}
