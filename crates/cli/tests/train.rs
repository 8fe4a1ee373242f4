//! `locdiff train` as people use it: kill it, interrupt it, resume it.
#![cfg(unix)]

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// 400 photos whose embedding is a function of the place.
fn toy(folder: &Path) {
    let (rows, columns) = (400, 8);
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    let padded = format!("{header:<117}\n");
    bytes.extend((padded.len() as u16).to_le_bytes());
    bytes.extend(padded.as_bytes());
    let mut text = "lat,lon\n".to_owned();
    for k in 0..rows {
        let lat = -60.0 + 120.0 * f64::from((k * 37) % rows) / f64::from(rows);
        let lon = -180.0 + 360.0 * f64::from((k * 151) % rows) / f64::from(rows);
        writeln!(text, "{lat},{lon}").unwrap();
        let (la, lo) = (lat.to_radians(), lon.to_radians());
        for c in 0..columns {
            let c = f64::from(c);
            bytes.extend((((la * (c + 1.0)).sin() + (lo + c).cos()) as f32).to_le_bytes());
        }
    }
    fs::write(folder.join("e.npy"), bytes).unwrap();
    fs::write(folder.join("l.csv"), text).unwrap();
}

fn command(folder: &Path, out: &str, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_locdiff"));
    let base = "train --embeddings e.npy --locations l.csv --preset small --degree 5 --width 16 --batch 32 --device cpu";
    command.args(base.split(' ')).args(["--steps", "400", "--checkpoint-every", "20", "--log-every", "10"]);
    command.args(["--validate-every", "100", "--validation-share", "0.1", "--out", out]).args(more);
    command.current_dir(folder).stdin(Stdio::null());
    command
}

fn finish(folder: &Path, out: &str, more: &[&str]) -> Output {
    let output = command(folder, out, more).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Waits until a run has a checkpoint.
fn wait_for_checkpoint(folder: &Path, out: &str) {
    let path = folder.join(out).join("checkpoints");
    let start = Instant::now();
    loop {
        let whole = fs::read_dir(&path).into_iter().flatten().flatten();
        if whole.filter(|f| f.path().extension().is_some_and(|e| e == "safetensors")).count() > 0 {
            return;
        }
        assert!(start.elapsed() < Duration::from_mins(1), "no checkpoint");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn weights(folder: &Path, out: &str) -> Vec<u8> {
    fs::read(folder.join(out).join("model.safetensors")).unwrap()
}

#[test]
fn killed_and_interrupted_runs_resume_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    toy(path);
    finish(path, "whole", &[]);

    // kill -9, twice, at whatever moment it is.
    for round in 0..2 {
        let more: &[&str] = if round == 0 { &[] } else { &["--resume"] };
        let mut child =
            command(path, "killed", more).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_for_checkpoint(path, "killed");
        std::thread::sleep(Duration::from_millis(30 * round));
        child.kill().unwrap(); // SIGKILL
        child.wait().unwrap();
    }
    finish(path, "killed", &["--resume"]);
    assert_eq!(weights(path, "whole"), weights(path, "killed"));

    // Ctrl-C and SIGTERM.
    for signal in ["-INT", "-TERM"] {
        let out = format!("stopped{signal}");
        let child = command(path, &out, &[]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        wait_for_checkpoint(path, &out);
        let id = child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
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

#[test]
fn bad_input_is_said_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    toy(path);
    let fails = |more: &[&str], code: i32, part: &str| {
        let output = command(path, "run", more).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{error}");
        assert!(error.contains(part), "{error}");
    };
    fails(&["--augmented", "crops"], 1, "no tensor 'crops'");
    fails(&["--prediction", "v"], 1, "noise and v go with the losses l1 and l2 only");
    fails(&["--dropout", "1.5"], 1, "dropout");
    fails(&["--lr=-1"], 1, "lr");
    fails(&["--loss", "guess"], 2, "possible values");
    let text = fs::read_to_string(path.join("l.csv")).unwrap();
    fs::write(path.join("l.csv"), text.trim_end().rsplit_once('\n').unwrap().0).unwrap();
    fails(&[], 1, "l.csv has 399");
}
