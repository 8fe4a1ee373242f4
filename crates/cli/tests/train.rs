//! `locdiff train` as people use it: kill it, interrupt it, resume it.
#![cfg(unix)]

use crate::common;

use common::{read, stderr, write_toy};
use locdiff_testing::wait_until;
use std::{fs, path::Path, path::PathBuf, process::Command, process::Output, process::Stdio};

fn command(folder: &Path, out: &str, more: &[&str]) -> Command {
    let base = format!(
        "train --embeddings photos.npy --locations photos.csv --preset small --degree 5 --width 16 --batch 32 --device cpu \
         --steps 400 --checkpoint-every 20 --log-every 10 --validate-every 100 --validation-share 0.1 --out {out}"
    );
    let mut command = common::command(folder, &base);
    command.args(more);
    command
}

fn finish(folder: &Path, out: &str, more: &[&str]) -> Output {
    let output = command(folder, out, more).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    output
}

/// Waits until a run has a checkpoint.
fn wait_for_checkpoint(folder: &Path, out: &str) {
    wait_until("there is a checkpoint", || !checkpoints(folder, out).is_empty());
}

/// The names of a run's checkpoints.
fn checkpoints(folder: &Path, out: &str) -> Vec<PathBuf> {
    let all = fs::read_dir(folder.join(out).join("checkpoints")).into_iter().flatten().flatten();
    all.map(|file| file.path()).filter(|path| path.extension().is_some_and(|end| end == "safetensors")).collect()
}

fn weights(folder: &Path, out: &str) -> Vec<u8> {
    fs::read(folder.join(out).join("model.safetensors")).unwrap()
}

#[test]
fn a_model_of_kept_dimensions_trains_and_answers() {
    let path = &*common::scratch();
    write_toy(path, 400);
    let keep = ["--keep-dimensions", "20"];
    finish(path, "whole", &keep);
    let config: serde_json::Value = serde_json::from_str(&read(path.join("whole/config.json"))).unwrap();
    let kept = config["kept"].as_array().unwrap();
    assert!(kept.len() == 20 && kept.iter().all(|index| index.as_u64().unwrap() < 36), "{config}");
    // It answers with whole codes, zero where nothing was kept.
    let sample = "sample --model whole/best --embeddings photos.npy --device cpu --samples 2 --steps 5";
    let said = common::json(path, &format!("{sample} --truth photos.csv --codes codes.csv"));
    assert!(said["accuracy"]["within"][4].as_f64().unwrap() > 0.15, "{said}");
    let codes = common::csv(path.join("codes.csv"));
    let zeros = codes[1].iter().filter(|value| value.parse::<f64>().is_ok_and(|value| value == 0.0)).count();
    assert!(codes[1].len() >= 36 && zeros == 16, "{:?}", codes[1]);
    let located =
        common::json_lines(path, "locate --model whole/best --embeddings photos.npy --device cpu --samples 2");
    assert_eq!(located.len(), 400);
}

#[test]
fn killed_and_interrupted_runs_resume_bit_for_bit() {
    let path = &*common::scratch();
    write_toy(path, 400);
    finish(path, "whole", &[]);

    // kill -9, twice, each once there is another checkpoint than before.
    for more in [&[][..], &["--resume"]] {
        let before = checkpoints(path, "killed");
        let mut child = command(path, "killed", more).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_until("there is another checkpoint", || {
            checkpoints(path, "killed") != before || child.try_wait().unwrap().is_some()
        });
        child.kill().unwrap(); // SIGKILL
        child.wait().unwrap();
    }
    finish(path, "killed", &["--resume"]);
    assert_eq!(weights(path, "whole"), weights(path, "killed"));

    // Ctrl-C and SIGTERM.
    for signal in ["INT", "TERM"] {
        let out = format!("stopped-{signal}");
        let child = command(path, &out, &[]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        wait_for_checkpoint(path, &out);
        locdiff_testing::signal(&child, signal);
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.code() == Some(130) {
            assert!(said.contains("continue with --resume"), "{said}");
            assert!(!path.join(&out).join("model.safetensors").exists());
        } else {
            assert!(output.status.success(), "it was faster than the signal: {said}");
        }
        finish(path, &out, &["--resume"]);
        assert_eq!(weights(path, "whole"), weights(path, &out));
    }
}
