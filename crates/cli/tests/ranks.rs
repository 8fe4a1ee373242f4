//! `locdiff train` as several processes, started as torchrun starts them.
#![cfg(unix)]

mod common;

use common::{stderr, write_toy};
use safetensors::SafeTensors;
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// The settings of all runs; what a test gives goes before them.
const SETTINGS: &str = "--embeddings photos.npy --locations photos.csv --preset small --network cs-unet --degree 5 --width 16 \
    --batch 24 --device cpu --steps 200 --checkpoint-every 50 --log-every 10 --validate-every 100 --validation-share 0.1 --threads 1";

/// One process that is alone.
fn command(folder: &Path, out: &str, more: &str) -> Command {
    let given: Vec<&str> = more.split_ascii_whitespace().collect();
    let settings: Vec<&str> = SETTINGS.split_ascii_whitespace().collect();
    let base = settings.chunks(2).filter(|pair| !given.contains(&pair[0])).flatten();
    let words: Vec<&str> =
        ["train", "--out", out].into_iter().chain(base.copied()).chain(given.clone()).collect();
    let mut command = common::command(folder, &words);
    for name in ["RANK", "WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "LOCDIFF_PORT"] {
        command.env_remove(name);
    }
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// As many processes as `more` has entries, each with its own arguments.
fn start(folder: &Path, out: &str, more: &[&str]) -> Vec<Child> {
    let port = free_port().to_string();
    let size = more.len().to_string();
    let start = |(rank, more): (usize, &&str)| {
        let rank = rank.to_string();
        command(folder, out, more)
            .envs([("RANK", rank.as_str()), ("LOCAL_RANK", &rank), ("WORLD_SIZE", &size)])
            .envs([("MASTER_ADDR", "127.0.0.1"), ("LOCDIFF_PORT", &port)])
            .spawn()
            .unwrap()
    };
    more.iter().enumerate().map(start).collect()
}

fn end(children: Vec<Child>) -> Vec<Output> {
    children.into_iter().map(|child| child.wait_with_output().unwrap()).collect()
}

/// Lets `size` processes finish.
fn finish(folder: &Path, out: &str, size: usize, more: &str) {
    for (rank, output) in end(start(folder, out, &vec![more; size])).iter().enumerate() {
        assert!(output.status.success(), "rank {rank}: {}", stderr(output));
        assert_eq!(output.stdout.is_empty(), rank > 0, "rank 0 alone speaks");
    }
}

/// All numbers of a run's model and of its last checkpoint.
fn numbers(folder: &Path, out: &str) -> Vec<f32> {
    let run = folder.join(out);
    let mut all = Vec::new();
    for file in [run.join("model.safetensors"), run.join("checkpoints/step-00000200.safetensors")] {
        let bytes = fs::read(file).unwrap();
        let file = SafeTensors::deserialize(&bytes).unwrap();
        let mut names: Vec<&str> = file.names().into_iter().filter(|name| !name.contains("step")).collect();
        names.sort_unstable();
        for name in names {
            let data = file.tensor(name).unwrap();
            all.extend(data.data().chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())));
        }
    }
    all
}

fn model(folder: &Path, out: &str) -> Vec<u8> {
    fs::read(folder.join(out).join("model.safetensors")).unwrap()
}

#[test]
fn ranks_and_passes_end_where_one_process_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    write_toy(path, 240);
    let alone = command(path, "alone", "").output().unwrap();
    assert!(alone.status.success(), "{}", stderr(&alone));
    let expected = numbers(path, "alone");
    for (out, size, more) in
        [("two", 2, ""), ("four", 4, ""), ("passes", 1, "--accumulate 4"), ("both", 2, "--accumulate 2")]
    {
        finish(path, out, size, more);
        let found = numbers(path, out);
        assert_eq!(found.len(), expected.len());
        let largest = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        println!("{out}: {largest:.1e}");
        assert!(largest <= 1e-5, "{out}: {largest}");
    }
    // Run to run the same bits.
    finish(path, "again", 4, "");
    assert_eq!(model(path, "four"), model(path, "again"));
}

/// Waits until a run has a checkpoint.
fn wait_for_checkpoint(folder: &Path, out: &str) {
    let path = folder.join(out).join("checkpoints");
    let start = Instant::now();
    let whole = |name: &Path| name.extension().is_some_and(|end| end == "safetensors");
    while !fs::read_dir(&path).into_iter().flatten().flatten().any(|file| whole(&file.path())) {
        assert!(start.elapsed() < Duration::from_mins(1), "no checkpoint");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_killed_rank_is_named_by_all_others_and_the_run_resumes_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    write_toy(path, 240);
    finish(path, "whole", 3, "");
    for (victim, out) in [(1, "part"), (0, "other")] {
        let mut children = start(path, out, &[""; 3]);
        wait_for_checkpoint(path, out);
        children[victim].kill().unwrap(); // SIGKILL
        let killed = Instant::now();
        for (rank, output) in end(children).iter().enumerate().filter(|(rank, _)| *rank != victim) {
            assert_eq!(output.status.code(), Some(1), "rank {rank} after {:?}", killed.elapsed());
            let said = stderr(output);
            assert!(said.contains(&format!("rank {victim}: ended before the others")), "rank {rank}: {said}");
        }
        assert!(killed.elapsed() < Duration::from_secs(10), "{:?}", killed.elapsed());
        finish(path, out, 3, "--resume");
        assert_eq!(model(path, "whole"), model(path, out));
    }
}

#[test]
fn ctrl_c_on_one_rank_stops_all_at_the_same_step() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    write_toy(path, 240);
    finish(path, "whole", 2, "");
    let children = start(path, "part", &["", ""]);
    wait_for_checkpoint(path, "part");
    let id = children[1].id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let codes: Vec<_> = end(children).iter().map(|output| output.status.code()).collect();
    // It may have been faster than the signal.
    assert!(codes == [Some(130); 2] || codes == [Some(0); 2], "{codes:?}");
    finish(path, "part", 2, "--resume");
    assert_eq!(model(path, "whole"), model(path, "part"));
}

#[test]
fn ranks_that_want_different_things_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    write_toy(path, 240);
    let all_say = |more: &[&str], words: &str| {
        for (rank, output) in end(start(path, "run", more)).iter().enumerate() {
            let said = stderr(output);
            assert!(output.status.code() == Some(1) && said.contains(words), "rank {rank}: {said}");
        }
    };
    all_say(&["", "", "--lr 0.5"], "rank 2: has train.lr = 0.5, rank 0 has 0.001");
    all_say(&["", "--seed 1"], "rank 1: has model.seed = 1, rank 0 has 0");
    all_say(&["", "--locations missing.csv"], "missing.csv");
    // Data of the same shape with one other number.
    let mut bytes = fs::read(path.join("photos.npy")).unwrap();
    let end = bytes.len() - 40;
    bytes[end] ^= 1;
    fs::write(path.join("other.npy"), bytes).unwrap();
    all_say(&["", "--embeddings other.npy"], "rank 1: has training data = ");
    // A batch that cannot be divided is said by all.
    all_say(&["--batch 15", "--batch 15"], "batch = 15");
    // A rank that never comes.
    let child = command(path, "run", "")
        .envs([
            ("RANK", "0"),
            ("WORLD_SIZE", "2"),
            ("MASTER_ADDR", "127.0.0.1"),
            ("LOCDIFF_MEETING_SECONDS", "1"),
        ])
        .env("LOCDIFF_PORT", free_port().to_string())
        .output()
        .unwrap();
    assert!(stderr(&child).contains("rank 1: did not come to 127.0.0.1"), "{}", stderr(&child));
}
