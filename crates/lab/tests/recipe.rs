//! The recipe at small size, with published data made on the spot: killed and resumed at every stage it ends with the same bytes, and
//! what changes is made anew.
#![cfg(feature = "bundled")]

use crate::common;
#[path = "../../cli/tests/formats/datasets.rs"]
mod datasets;
#[path = "../../cli/tests/formats/parquet_writer.rs"]
mod parquet_writer;

use common::{command, json, ok, read, run, stderr};
use serde_json::Value;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use std::{fs, path::Path};

const SMALL: &str = "--data data --encoder bundled --device cpu --set degree=5 --set steps=50 --set batch=16 --set width=16 \
                     --set checkpoint-every=10 --held-out 0.65 --shard-photos 40";

fn recipe(out: &str) -> String {
    format!("recipe paper {SMALL} --out {out}")
}

/// What the stages of a dry run say of themselves: name and standing.
fn standings(folder: &Path, words: &str) -> Vec<(String, String)> {
    let said = json(folder, &format!("{words} --dry-run"));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let stages = said["stages"].as_array().unwrap();
    stages.iter().map(|stage| (text(&stage["stage"]), text(&stage["standing"]))).collect()
}

/// A run that is killed as soon as a file appears, and a little later.
fn killed_when(folder: &Path, words: &str, file: &Path, later: Duration) {
    let mut child: Child =
        command(folder, words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary runs");
    let begin = Instant::now();
    while !file.exists() {
        assert!(child.try_wait().unwrap().is_none(), "{} did not appear: the run ended", file.display());
        assert!(begin.elapsed() < Duration::from_mins(10), "{} did not appear", file.display());
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(later);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn killed_at_every_stage_it_ends_with_the_same_bytes_and_changes_are_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    datasets::all(&folder.join("data"));
    let begin = Instant::now();
    let whole = ok(folder, &recipe("whole"));
    println!("undisturbed: {:.1} s", begin.elapsed().as_secs_f64());
    for words in
        ["## Im2GPS3k", "6 photos, of which 1 are missing", "| 46.7 | 45.9 | 50.7 | 53.8 | 53.3 | 56.4 |", "## OSV-5M"]
    {
        assert!(whole.contains(words), "'{words}' is not in\n{whole}");
    }

    // Every stage is killed once, in its beginning or some way into it.
    let stages = standings(folder, &recipe("killed"));
    assert_eq!(stages.len(), 19, "{stages:?}");
    assert!(stages.iter().all(|(_, standing)| standing == "new"), "{stages:?}");
    let mut within = 0;
    for (k, (stage, _)) in stages.iter().enumerate() {
        let begun = folder.join("killed").join(format!("{stage}.begun"));
        killed_when(folder, &recipe("killed"), &begun, Duration::from_millis(k as u64 * 13 % 60));
        within += usize::from(!folder.join("killed").join(format!("{stage}.done")).exists());
    }
    println!("{within} of {} stages were killed before they were done", stages.len());
    assert!(within >= 12, "{within} of {} stages were killed before they were done", stages.len());
    assert_eq!(ok(folder, &recipe("killed")), whole);
    for file in [
        "tables/tables.json",
        "tables/tables.md",
        "embed-mp16/embeddings.safetensors",
        "embed-gws15k/embeddings.safetensors",
        "train-mp16/run/model.safetensors",
        "calibrate-osv5m/model/calibration.json",
        "evaluate-im2gps3k/report.csv",
    ] {
        let bytes = |run: &str| fs::read(folder.join(run).join(file)).unwrap();
        assert!(bytes("killed") == bytes("whole"), "{file} differs");
    }

    // Done is done, and a changed input makes the stages anew that see it.
    assert!(standings(folder, &recipe("whole")).iter().all(|(_, standing)| standing == "done"));
    let again = run(folder, &recipe("whole"));
    assert_eq!(stderr(&again).matches("done before").count(), 19, "{}", stderr(&again));
    let list = folder.join("data/im2gps3k/im2gps3k_places365.csv");
    fs::write(&list, read(&list) + "4009_a.jpg,1@N00,10,20\n").unwrap();
    let changed = ok(folder, &recipe("whole"));
    assert!(changed.contains("7 photos, of which 2 are missing"), "{changed}");
    let anew = run(folder, &recipe("killed"));
    let said = stderr(&anew);
    for stage in ["embed-im2gps3k", "evaluate-im2gps3k", "tables"] {
        assert!(said.contains(&format!("{stage}: anew")), "{said}");
    }
    assert_eq!(said.matches(": anew").count(), 3, "{said}");
    // Other settings of training: what is embedded stays.
    let other = standings(folder, &(recipe("whole") + " --set steps=60"));
    let standing = |stage: &str| &other.iter().find(|(name, _)| name == stage).unwrap().1;
    assert_eq!((standing("embed-mp16").as_str(), standing("train-mp16").as_str()), ("done", "changed"));
    assert_eq!(standing("evaluate-gws15k"), "changed");
    // An output that is lost is made again.
    fs::remove_file(folder.join("whole/evaluate-yfcc4k/report.csv")).unwrap();
    assert_eq!(ok(folder, &recipe("whole")), changed);
}

#[test]
fn what_is_missing_is_said_with_its_size_and_place() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let data = folder.join("data");
    fs::create_dir(&data).unwrap();
    let said = ok(folder, "recipe paper --data data --dry-run");
    for words in [
        "the encoder CLIP ViT-L/14, sought in data/clip-vit-large-patch14, about 1.7 GB: https://huggingface.co/openai",
        "the list MP16_Pro_filtered.csv of mp16, sought in data/mp16, about 370.0 GB: https://huggingface.co/datasets/Jia-py",
        "gws15k.csv of gws15k, sought in data/gws15k, about 2.0 GB: not public",
    ] {
        assert!(said.contains(words), "'{words}' is not in\n{said}");
    }
    assert_eq!(said.matches("missing: ").count(), 9, "{said}");
    let refused = run(folder, "recipe paper --data data --out paper");
    assert!(stderr(&refused).ends_with("the first is the encoder CLIP ViT-L/14\n"), "{}", stderr(&refused));
    assert!(!folder.join("paper").exists());
    datasets::mp16(&data, 1);
    fs::rename(data.join("mp16/mp-16-images.tar"), data.join("mp16/mp-16-images00")).unwrap();
    let said = ok(folder, "recipe paper --data data --encoder bundled --dry-run");
    assert!(said.contains("the pictures of mp16, whose parts are to be joined first"), "{said}");
    fs::create_dir(folder.join("full")).unwrap();
    fs::write(folder.join("full/diary.txt"), "mine").unwrap();
    fs::rename(data.join("mp16/mp-16-images00"), data.join("mp16/mp-16-images.tar")).unwrap();
    let words =
        "recipe paper --data data --encoder bundled --train-on mp16 --benchmarks im2gps --skip-missing --out full";
    let refused = stderr(&run(folder, words));
    assert!(refused.contains("full is not empty and no recipe's"), "{refused}");
    // A setting that training does not have is refused before anything is done.
    for (set, message) in [("stepps=5", "--stepps"), ("steps=many", "many")] {
        let output = run(folder, &format!("recipe paper --data data --set {set} --out other"));
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
    }
}
