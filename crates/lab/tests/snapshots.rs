//! Every `--help` and the messages that bad input gets, word for word (`tests/snapshots`). After a change that is meant:
//!
//! ```text
//! INSTA_UPDATE=always cargo test -p locdiff-lab --test snapshots
//! ```
//!
//! then read `git diff crates/lab/tests/snapshots` and delete the files that the first test calls stale.
#![cfg(feature = "bundled")]

use crate::common;
#[path = "../../cli/tests/common/words.rs"]
mod words;

use std::fs;
use words::{failures, helps_are_as_they_were, matches_snapshot};

#[test]
fn every_help_is_as_it_was_and_no_snapshot_is_stale() {
    helps_are_as_they_were(20);
}

#[test]
fn messages() {
    let path = &*common::scratch();
    fs::write(path.join("places.csv"), "lat,lon\n1,2\n3,4\n").unwrap();
    let text = failures(
        path,
        [
            "locate photo.jpg",
            "compare --methods magic",
            "plot resolution --out r.jpg",
            "reproduce drift -n 0",
            "reproduce gallery-bias --gallery absent.csv --truth places.csv",
            "recipe paper --data data --set stepps=5",
            "recipe paper --data data --device gpu",
        ],
    );
    matches_snapshot("messages", &text);
}
