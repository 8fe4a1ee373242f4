//! `lab/recipe.sh` in small, with published data made on the spot: killed again and again, it ends with the same bytes.
#![cfg(unix)]

use crate::{common, datasets};

use common::{PROGRAM, ok, root, skipped, stderr};
use std::time::{Duration, Instant};
use std::{fs, os::unix::process::CommandExt, path::Path, process::Command, process::Stdio};

/// The script with small settings, in a process group of its own.
fn recipe(folder: &Path, out: &str) -> Command {
    let mut command = Command::new(root().join("lab/recipe.sh"));
    command.args(["data", out]).current_dir(folder).stdin(Stdio::null()).process_group(0);
    let small = "--degree 5 --steps 50 --batch 16 --width 16 --checkpoint-every 10";
    let programs = Path::new(PROGRAM).parent().unwrap();
    command.env("PROGRAMS", programs).env("ENCODER", "bundled").env("DEVICE", "cpu").env("TRAIN", small);
    command.env("HELD_OUT", "0.65").env("SHARD_PHOTOS", "40").env("BENCHMARKS", "im2gps3k yfcc26k osv5m");
    command
}

/// Runs the script and kills it and its commands as soon as a stage has begun, and a little later.
fn killed_in(folder: &Path, stage: &str, later: Duration) {
    let mut child = recipe(folder, "killed").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let (begun, done) = (folder.join(format!("killed/{stage}.partial")), folder.join(format!("killed/{stage}")));
    let begin = Instant::now();
    while !begun.exists() && !done.exists() {
        assert!(child.try_wait().unwrap().is_none(), "{stage} did not begin: the run ended");
        assert!(begin.elapsed() < Duration::from_mins(10), "{stage} did not begin");
        std::thread::sleep(Duration::from_millis(2));
    }
    std::thread::sleep(later);
    let group = format!("-{}", child.id());
    Command::new("kill").args(["-9", "--", &group]).stderr(Stdio::null()).status().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_killed_recipe_continues_to_the_same_bytes() {
    let locdiff = Path::new(PROGRAM).with_file_name("locdiff");
    if !locdiff.exists() {
        skipped("lab/recipe.sh: target/debug/locdiff is not built (cargo build --bin locdiff)");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    datasets::all(&folder.join("data"));
    let whole = recipe(folder, "whole").output().unwrap();
    assert!(whole.status.success(), "{}", stderr(&whole));
    let text = String::from_utf8(whole.stdout).unwrap();
    let missing = "6 photos, of which 1 are missing";
    for words in ["## Im2GPS3k", missing, "| 46.7 | 45.9 | 50.7 | 53.8 | 53.3 | 56.4 |", "Ours: not run."] {
        assert!(text.contains(words), "'{words}' is not in\n{text}");
    }
    let stages = ["embed-mp16", "train-mp16", "calibrate-mp16", "embed-im2gps3k", "evaluate-osv5m"];
    for (k, stage) in stages.into_iter().enumerate() {
        killed_in(folder, stage, Duration::from_millis(40 * k as u64));
    }
    let continued = recipe(folder, "killed").output().unwrap();
    let message = stderr(&continued);
    assert!(continued.status.success() && message.contains("embed-mp16: done before"), "{message}");
    let (embeddings, model) = ("embed-mp16/embeddings.safetensors", "train-osv5m/run/model.safetensors");
    for file in ["tables/tables.md", embeddings, model, "evaluate-im2gps3k/report.csv"] {
        let bytes = |run: &str| fs::read(folder.join(run).join(file)).unwrap();
        assert!(bytes("killed") == bytes("whole"), "{file} differs");
    }
    let other = recipe(folder, "whole").env("SEED", "1").output().unwrap();
    assert!(!other.status.success() && stderr(&other).contains("other settings"), "{}", stderr(&other));
}

#[test]
fn what_is_missing_is_named_and_commands_are_printed() {
    let folder = &*common::scratch();
    datasets::mp16(&folder.join("data"), 1);
    let script = root().join("lab/recipe.sh");
    let run = |arguments: &[&str]| {
        let run = Command::new(&script).args(arguments).current_dir(folder).env("PROGRAMS", "bin").output().unwrap();
        (run.status.code(), stderr(&run))
    };
    let (code, said) = run(&["--dry-run", "data", "out"]);
    assert_eq!(code, Some(0), "{said}");
    for words in [
        "missing: the encoder CLIP ViT-L/14, sought in data/clip-vit-large-patch14",
        "missing: the list gws15k.csv of gws15k, sought in data/gws15k",
        "bin/locdiff batch plan data/mp16/metadata/MP16_Pro_filtered.csv --images data/mp16",
        "bin/locdiff train --preset paper",
    ] {
        assert!(said.contains(words), "'{words}' is not in\n{said}");
    }
    assert!(!folder.join("out").exists());
    assert_eq!(run(&[]).0, Some(2));
    assert_eq!(run(&["data", "out"]).0, Some(1), "there is no encoder");
}

#[test]
fn truths_rows_and_tables_are_made() {
    let folder = &*common::scratch();
    datasets::benchmarks(&folder.join("data"), 6);
    for set in ["im2gps3k/im2gps3k_places365.csv", "yfcc26k/00000.tar", "gws15k/test-00000-of-00001.parquet"] {
        ok(folder, &format!("recipe truth data/{set} --out truth.csv --force"));
        assert_eq!(common::read(folder.join("truth.csv")).lines().count(), 7, "{set}");
    }
    let places: Vec<String> = (0..200).map(|k| format!("{},{}\n", k * 7 % 120 - 60, k * 11 % 360 - 180)).collect();
    fs::write(folder.join("places.csv"), format!("lat,lon\n{}", places.concat())).unwrap();
    ok(folder, "recipe held-out places.csv --share 0.5 --out rows.txt");
    assert!(common::read(folder.join("rows.txt")).lines().count() >= 50);
    let script = root().join("lab/scripts/paper_tables.py");
    let tables = Command::new(script).args([&*folder.to_string_lossy(), "--about", "mine"]).output().unwrap();
    let text = String::from_utf8_lossy(&tables.stdout);
    assert!(text.starts_with("# The paper's tables, and ours\nOurs: mine.\n") && text.contains("| Translocator |"));
}
