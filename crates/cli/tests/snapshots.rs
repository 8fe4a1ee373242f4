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
    for (name, text) in [
        ("places.csv", "lat,lon\n1,2\n3,4\n"),
        ("empty.csv", ""),
        ("nan.csv", "lat,lon\n1,2\nNaN,3\n"),
        ("range.csv", "lat,lon\n1,2\n3,4\n91,0\n"),
        ("columns.csv", "name,x,y\na,1,2\n"),
        ("short.csv", "0.1,0.2,0.3\n"),
        ("ragged.csv", "0.1,0.2,0.3,0.4\n0.1,0.2\n"),
        ("truncated.npy", "NUMPY"),
        ("photo.jpg", "no photo"),
        ("ids.csv", "id,lat,lon\na,0,0\n"),
        ("more.csv", "id,lat,lon\na,0,0\nb,0,0\n"),
    ] {
        fs::write(path.join(name), text).unwrap();
    }
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
    let train =
        "train --embeddings photos.npy --locations photos.csv --preset small --degree 5 --width 16 --device cpu";
    let sample = "sample --embeddings photos.npy --device cpu";
    let commands = [
        format!("{train} --out run"),
        format!("{train} --out again --dropout 1.5"),
        format!("{train} --out again --lr=-1"),
        format!("{train} --out again --prediction v"),
        format!("{train} --out again --augmented crops"),
        format!("{train} --out again --validation-share 1"),
        format!("{sample} --model nowhere"),
        format!("{sample} --model run --samples 0"),
        format!("{sample} --model run --steps 201"),
        format!("{sample} --model run --hybrid run"),
        "calibrate --model run --embeddings photos.npy --truth absent.csv --device cpu".to_owned(),
        "locate --model run --embeddings photos.npy --device cpu --prior photos.csv".to_owned(),
        "evaluate --truth photos.csv --model run --device cpu".to_owned(),
    ];
    let text = failures(path, commands.iter().map(String::as_str));
    matches_snapshot("messages-models", &text);
}
