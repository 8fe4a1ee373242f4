//! What one command writes, another one reads.
#![cfg(unix)]

use crate::common;

use common::{fixture, model_of_towns, ok, read, run};
use serde_json::Value;
use std::fs;

/// `evaluate` reads what `locate` and `sample` write, bad photos too.
#[test]
fn answers_are_judged_as_they_are_written() {
    let path = &*common::scratch();
    model_of_towns(path);
    let of_embeddings = "--model run --embeddings photos.npy --device cpu --samples 2";
    ok(path, &format!("locate {of_embeddings} --csv l.csv"));
    fs::write(path.join("l.jsonl"), ok(path, &format!("locate {of_embeddings} --json"))).unwrap();
    fs::write(path.join("t.jsonl"), ok(path, &format!("locate {of_embeddings} --json --truth photos.csv"))).unwrap();
    ok(path, &format!("sample {of_embeddings} -o s.csv"));
    ok(path, &format!("sample {of_embeddings} -o s.npy"));
    // Truths that have names too.
    fs::write(path.join("named.csv"), read(path.join("photos.csv")).replace("row,", "id,")).unwrap();
    let judge = |truth: &str, file: &str| {
        common::json(
            path,
            &format!("evaluate --truth {truth} --predictions {file} --prdc none --by none --replicates 40"),
        )
    };
    let first = judge("photos.csv", "l.csv");
    for file in ["l.jsonl", "t.jsonl", "s.csv", "s.npy"] {
        for truth in ["photos.csv", "named.csv"] {
            assert_eq!(judge(truth, file)["scores"]["n"], 120, "{truth} {file}");
        }
    }
    let near = |report: &Value| report["scores"]["median_km"]["value"].as_f64();
    assert_eq!(near(&first).map(f64::round), near(&judge("photos.csv", "l.jsonl")).map(f64::round));

    if cfg!(feature = "bundled") {
        fs::copy(fixture("vision/rgb.jpg"), path.join("a.jpg")).unwrap();
        fs::write(path.join("b.jpg"), "no photo").unwrap();
        fs::write(path.join("ab.csv"), "photo,lat,lon\na.jpg,1,2\nb.jpg,3,4\n").unwrap();
        let output = run(path, "locate a.jpg b.jpg --device cpu --csv ab-l.csv --json");
        fs::write(path.join("ab-l.jsonl"), &output.stdout).unwrap();
        for file in ["ab-l.csv", "ab-l.jsonl"] {
            let judged = judge("ab.csv", file);
            assert!(judged["scores"]["n"] == 2 && judged["scores"]["missing"] == 1, "{judged}");
        }
    }
}
