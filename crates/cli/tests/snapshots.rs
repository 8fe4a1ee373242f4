//! Every `--help` and the messages that bad input gets, word for word (`tests/snapshots`). After a change that is meant:
//!
//! ```text
//! INSTA_UPDATE=always cargo test -p locdiff-cli --test snapshots
//! ```
//!
//! then read `git diff crates/cli/tests/snapshots` and delete the files that the first test calls stale.
#![cfg(feature = "bundled")]

use crate::{common, words};

use common::{model_of_towns, ok};
use std::fs;
use words::{failures, helps_are_as_they_were, matches_snapshot};

#[test]
fn every_help_is_as_it_was_and_no_snapshot_is_stale() {
    helps_are_as_they_were(20);
}

#[test]
fn messages_about_files() {
    let path = &*common::scratch();
    fs::create_dir(path.join("folder")).unwrap();
    let text = failures(path, include_str!("messages/files.txt").lines());
    matches_snapshot("messages-files", &text);
}

#[test]
fn messages_about_flags() {
    let path = &*common::scratch();
    fs::write(path.join("places.csv"), "lat,lon\n1,2\n3,4\n").unwrap();
    fs::copy(common::fixture("vision/rgb.png"), path.join("photo.png")).unwrap();
    ok(path, "encode places.csv -L 3 --out codes.npy");
    let text = failures(path, include_str!("messages/flags.txt").lines());
    matches_snapshot("messages-flags", &text);
}

#[test]
fn messages_about_models_and_settings() {
    let path = &*common::scratch();
    model_of_towns(path);
    let text = failures(path, include_str!("messages/models.txt").lines());
    matches_snapshot("messages-models", &text);
}
