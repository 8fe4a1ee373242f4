//! Every fuzz target on a stable toolchain: its seeds, then the same mutations of them on every machine.
//! `LOCDIFF_FUZZ_SECONDS=60` goes on with others for that long.

#[path = "../../../fuzz/src/lib.rs"]
#[allow(dead_code, unreachable_pub)] // the library of the fuzz targets, of which this is one user
mod targets;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::time::{Duration, Instant};

/// What structure there is in our formats.
const TOKENS: &[u8] = b", \n \" { } [ ] nan - 1e999 \xff\xff\xff\xff \0 ( ) ' : 99999999999999999999 1e12 null ; \t -1";

/// Mutations of each target's seeds.
const MUTATIONS: usize = 60;

/// Mutations where no file is written.
const MUTATIONS_IN_MEMORY: usize = 20_000;
const IN_MEMORY: [&str; 8] =
    ["points_csv", "points_jsonl", "matrix_csv", "matrix_jsonl", "npy", "safetensors", "format", "pth"];

/// Cuts, doubles, flips, overwrites and inserts.
fn mutate(input: &mut Vec<u8>, rng: &mut ChaCha8Rng) {
    let tokens: Vec<&[u8]> = TOKENS.split(|byte| *byte == b' ').collect();
    for _ in 0..rng.random_range(1..6) {
        let place = rng.random_range(0..=input.len());
        let end = rng.random_range(place..=input.len());
        match rng.random_range(0..6) {
            0 => input.truncate(place),
            1 => input.extend_from_within(place..end),
            2 if place < input.len() => input[place] ^= 1 << rng.random_range(0..8),
            3 if place < input.len() => input[place] = rng.random(),
            4 => drop(input.drain(place..end)),
            _ => drop(input.splice(place..place, tokens[rng.random_range(0..tokens.len())].iter().copied())),
        }
        input.truncate(1 << 16);
    }
}

#[test]
fn every_parser_reads_or_refuses() {
    let seconds: f64 = std::env::var("LOCDIFF_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(0.0);
    let chosen = std::env::var("LOCDIFF_FUZZ_TARGET").ok();
    for (number, (name, target)) in targets::TARGETS.into_iter().enumerate() {
        if chosen.as_ref().is_some_and(|chosen| chosen != name) {
            continue;
        }
        let seeds = targets::seeds(name);
        assert!(!seeds.is_empty(), "{name} has no seeds");
        for seed in &seeds {
            target(seed);
        }
        let mut rng = ChaCha8Rng::seed_from_u64(number as u64);
        let (start, mut count, mut slowest) = (Instant::now(), 0_usize, Duration::ZERO);
        let most = if IN_MEMORY.contains(&name) { MUTATIONS_IN_MEMORY } else { MUTATIONS };
        while count < most || start.elapsed() < Duration::from_secs_f64(seconds) {
            let mut input = seeds[count % seeds.len()].clone();
            mutate(&mut input, &mut rng);
            let begin = Instant::now();
            let result = std::panic::catch_unwind(|| target(&input));
            let took = begin.elapsed();
            slowest = slowest.max(took);
            let text = String::from_utf8_lossy(&input[..input.len().min(300)]);
            assert!(result.is_ok(), "{name}, mutation {count}: {text:?}");
            assert!(took < locdiff_testing::LIMIT, "{name}, mutation {count} takes {took:?}");
            count += 1;
        }
        println!("{name}: {count} inputs, the slowest took {slowest:?}");
    }
}
