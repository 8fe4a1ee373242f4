//! `locdiff train` as people use it: kill it, interrupt it, resume it.
#![cfg(unix)]

use crate::common;

use common::{read, stderr, write_toy};
use locdiff_testing::wait_until;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

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
fn a_model_of_kept_dimensions_trains_resumes_and_answers() {
    let path = &*common::scratch();
    write_toy(path, 400);
    let keep = ["--keep-dimensions", "20"];
    finish(path, "whole", &keep);
    let config: serde_json::Value = serde_json::from_str(&read(path.join("whole/config.json"))).unwrap();
    let kept = config["kept"].as_array().unwrap();
    assert!(kept.len() == 20 && kept.iter().all(|index| index.as_u64().unwrap() < 36), "{config}");
    // Interrupted and resumed it ends with the same weights.
    let mut child = command(path, "part", &keep).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for_checkpoint(path, "part");
    child.kill().unwrap();
    child.wait().unwrap();
    finish(path, "part", &["--keep-dimensions", "20", "--resume"]);
    assert_eq!(weights(path, "whole"), weights(path, "part"));
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

/// The paper's own chain: its preset, loss and sampler, 16 samples over views of a photo, the mean of their places (Algorithm 2).
#[test]
fn the_papers_arm_runs_from_photos_to_places_without_a_density() {
    let path = &*common::scratch();
    let towns = common::TOWNS;
    let photo = |k: usize| ((0..512).map(|c| ((k % 4 * 7 + c) as f32).sin()).collect(), towns[k % 4]);
    common::write_photos(path, "photos", (0..24).map(photo));
    let small =
        "--degree 5 --width 8 --hidden 16 --batch 16 --steps 12 --validate-every 6 --validation-share 0.3 --device cpu";
    let train = "train --preset paper --embeddings photos.npy --locations photos.csv --out run";
    common::ok(path, &format!("{train} {small}"));
    let config: serde_json::Value = serde_json::from_str(&read(path.join("run/config.json"))).unwrap();
    assert_eq!((&config["loss"], &config["network"]), (&"kl-paper".into(), &"cs-unet".into()), "{config}");

    // Samples are the only way to a place: nothing else is said of it, and no density is claimed.
    let algorithm = "--pool mean --samples 16 --sampler ddpm --steps 200 --device cpu";
    let locate = format!("locate --model run --embeddings photos.npy {algorithm}");
    let answers = common::json_lines(path, &format!("{locate} --csv a.csv --truth photos.csv"));
    assert_eq!(answers.len(), 25);
    assert!(answers[24]["summary"]["accuracy"]["n"] == 24 && answers[24]["summary"]["regions"].is_null());
    let [answer, table] = [&answers[0], &serde_json::json!(common::csv(path.join("a.csv"))[1])];
    for name in ["radius_50_km", "radius_90_km", "locatability"] {
        assert!(answer[name].is_null(), "{answer}");
    }
    assert!(answer["hypotheses"][0]["probability"].is_null() && answer["can_tell"] == false, "{answer}");
    assert!(answer["area_50_km2"].is_null() && table[3] == "" && table[5] == "" && table[6] == "", "{table}");
    let said = common::ok(path, &locate);
    assert!(said.contains("by samples alone") && !said.contains("90 %"), "{said}");
    // `sample` draws the same places.
    common::ok(path, &format!("sample --model run --embeddings photos.npy {algorithm} --out s.csv"));
    let sampled = common::csv(path.join("s.csv"));
    for (row, answer) in sampled[1..].iter().zip(&answers) {
        for (cell, name) in [(1, "lat"), (2, "lon")] {
            let (a, b) = (row[cell].parse::<f64>().unwrap(), answer["best"][name].as_f64().unwrap());
            assert!((a - b).abs() < 1e-5, "{row:?} {answer}");
        }
    }

    // A photo with 16 views, and the same from embeddings of its views.
    let china = common::fixture("vision/china.jpg");
    let china = china.to_str().unwrap();
    let views = common::json_lines(path, &format!("locate {china} --model run --views 16 {algorithm}"));
    assert!(views[0]["best"]["lat"].is_number() && views[0]["radius_90_km"].is_null(), "{}", views[0]);
    common::ok(path, &format!("embed {china} --augment 15 --out views.safetensors"));
    let sample = format!("sample --model run --embeddings views.safetensors --tensor embeddings {algorithm}");
    assert_eq!(common::json(path, &format!("{sample} --views 16"))["rows"], 1);
    assert!(!common::run(path, &format!("{sample} --views 17")).status.success());

    // What needs a density says so.
    common::refused_with(path, "locate --model run --embeddings photos.npy --device cpu", "--pool");
    let map = format!("{locate} --geotiff out");
    assert!(!common::run(path, &map).status.success());
}
