//! What several tests need.
#![allow(dead_code, reason = "each test file uses some of it")]

use locdiff_testing::fixture_bytes;
pub(crate) use locdiff_testing::skipped;
use locdiff_vision::{Photo, PhotoLimits};
use std::{fs, path::Path, path::PathBuf, process::Command};

/// A photo of this crate's own fixtures.
pub(crate) fn fixture_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tags/fixtures").join(name)
}

pub(crate) fn fixture(name: &str) -> Vec<u8> {
    fs::read(fixture_path(name)).unwrap()
}

/// Photos made for another crate.
pub(crate) fn bare(name: &str) -> Vec<u8> {
    fixture_bytes(&format!("vision/{name}"))
}

pub(crate) fn decoded(photo: &[u8]) -> Photo {
    Photo::decode(photo, "photo", &PhotoLimits::default()).unwrap()
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
