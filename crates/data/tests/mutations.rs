//! The fuzz targets on a stable toolchain: 20,000 seeded mutations of sound inputs at each.

use locdiff_data::fuzzing::TARGETS;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const MUTATIONS: usize = 20_000;

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let npy = |descr: &str, shape: &str, data: usize| {
        let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
        [&b"\x93NUMPY\x01\x00"[..], &(text.len() as u16).to_le_bytes(), text.as_bytes(), &vec![63; data]]
            .concat()
    };
    let safetensors = |json: &str, data: usize| {
        [&(json.len() as u64).to_le_bytes()[..], json.as_bytes(), &vec![63; data]].concat()
    };
    let text = |texts: &[&str]| texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    match target {
        "points_csv" => {
            text(&["lat,lon\n1,2\n-3.5,1e2\n", "\u{feff}id,Longitude,LATITUDE\r\n\"a\nb\",7,\"8\"\r\n"])
        }
        "points_jsonl" => text(&["{\"lat\":1,\"lon\":-2.5}\n\n{\"lng\":1e1,\"x\":[{}],\"latitude\":90}"]),
        "matrix_csv" => text(&["1,2,3\n4,5,-6e-3\n", "a,b\n1,2\n"]),
        "matrix_jsonl" => text(&["[1,2,3]\n[4,5,-6e-3]\n"]),
        "npy" => vec![npy("<f4", "(3, 2)", 24), npy(">f8", "(2,)", 16), npy("<f2", "(2, 2)", 8)],
        "safetensors" => vec![
            safetensors(r#"{"a":{"dtype":"F32","shape":[3,2],"data_offsets":[0,24]}}"#, 24),
            safetensors(
                r#"{"__metadata__":{"k":"v"},"points":{"dtype":"BF16","shape":[1,2],"data_offsets":[0,4]},"b":{"dtype":"F64","shape":[1],"data_offsets":[4,12]}}"#,
                12,
            ),
        ],
        "format" => text(&["a/b.csv", "-", "x.ndjson", "safetensors"]),
        other => panic!("no seeds for {other}"),
    }
}

/// Cuts, doubles, flips, overwrites and inserts.
fn mutate(input: &mut Vec<u8>, rng: &mut ChaCha8Rng) {
    const TOKENS: [&[u8]; 16] = [
        b",",
        b"\n",
        b"\"",
        b"{",
        b"}",
        b"[",
        b"]",
        b"nan",
        b"-",
        b"1e999",
        b"\xff\xff\xff\xff",
        b"\0",
        b"(",
        b")",
        b"'",
        b"99999999999999999999",
    ];
    for _ in 0..rng.random_range(1..6) {
        let place = rng.random_range(0..=input.len());
        let end = rng.random_range(place..=input.len());
        match rng.random_range(0..6) {
            0 => input.truncate(place),
            1 => input.extend_from_within(place..end),
            2 if place < input.len() => input[place] ^= 1 << rng.random_range(0..8),
            3 if place < input.len() => input[place] = rng.random(),
            4 => drop(input.drain(place..end)),
            _ => drop(input.splice(place..place, TOKENS[rng.random_range(0..TOKENS.len())].iter().copied())),
        }
        input.truncate(4096);
    }
}

#[test]
fn mutated_inputs_are_read_or_refused() {
    for (index, (name, target)) in TARGETS.into_iter().enumerate() {
        let mut rng = ChaCha8Rng::seed_from_u64(index as u64);
        let seeds = seeds(name);
        for seed in &seeds {
            target(seed);
        }
        for count in 0..MUTATIONS {
            let mut input = seeds[count % seeds.len()].clone();
            mutate(&mut input, &mut rng);
            let result = std::panic::catch_unwind(|| target(&input));
            assert!(result.is_ok(), "{name}, mutation {count}: {:?}", String::from_utf8_lossy(&input));
        }
    }
}
