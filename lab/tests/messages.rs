//! The messages that bad input gets, word for word (`tests/snapshots`). After a change that is meant:
//! `INSTA_UPDATE=always cargo test --manifest-path lab/Cargo.toml --test all messages`, then read `git diff lab/tests/snapshots`.

use crate::common;
#[path = "../../crates/cli/tests/common/words.rs"]
#[expect(dead_code, reason = "helps are not compared here")]
mod words;

use std::fs;
use words::{failures, matches_snapshot};

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
            "reproduce drift --keep-dimensions 9",
            "reproduce gallery-bias --gallery absent.csv --truth places.csv",
            "recipe held-out places.csv --share 0.5 --out rows.txt",
            "reproduce timing --device gpu",
        ],
    );
    matches_snapshot("messages", &text);
}
