//! The command as people use it: round trips, files, and what bad input gets.

use crate::common;

use common::{Arguments, run};
use std::path::Path;
use std::process::Command;

/// What a run that ends well says; nothing is said on stderr when it is not a terminal.
#[track_caller]
fn ok(folder: &Path, arguments: &(impl Arguments + ?Sized)) -> String {
    let output = run(folder, arguments);
    let error = common::stderr(&output);
    assert!(output.status.success() && error.is_empty(), "{:?}: {error}", arguments.words());
    String::from_utf8(output.stdout).expect("text")
}

const PLACES: &str = "lat,lon\n39.999,116.275\n-90,0\n90,12\n0,180\n-33.9,-179.9999\n64.15,-21.94\n";

#[test]
fn encode_and_decode_round_trip_in_every_format() {
    let path = &*common::scratch();
    std::fs::write(path.join("places.csv"), PLACES).unwrap();
    for format in ["csv", "jsonl", "npy", "safetensors"] {
        for dtype in ["f64", "f32"] {
            let codes = format!("codes-{dtype}.{format}");
            let said = ok(path, &["encode", "places.csv", "-L", "23", "--dtype", dtype, "--out", &codes]);
            assert!(said.starts_with("6 codes of degree 23"), "{said}");
            let out = format!("back-{dtype}.{format}");
            ok(path, &["decode", &codes, "--out", &out]);
            // Whatever the format, the places can be encoded again, and give the same table.
            ok(path, &["encode", &out, "-L", "23", "--out", "again.npy", "--force"]);
            let rows = common::json_lines(path, "decode again.npy");
            assert_eq!(rows.len(), 6);
            for (row, line) in rows.iter().zip(PLACES.lines().skip(1)) {
                let (lat, lon) = line.split_once(',').unwrap();
                let number = |key: &str| row[key].as_f64().unwrap();
                assert!((number("lat") - lat.parse::<f64>().unwrap()).abs() < 1e-5, "{format} {dtype}: {row}");
                if number("lat").abs() < 89.0 {
                    let turn = (number("lon") - lon.parse::<f64>().unwrap()).rem_euclid(360.0);
                    assert!(turn.min(360.0 - turn) < 1e-5, "{format} {dtype}: {row} {lon}");
                }
            }
        }
    }
}

/// Where a GPU is found it names the same places; what it cannot do is refused before one is looked for.
#[test]
fn a_gpu_decodes_as_the_cpu_does() {
    let path = &*common::scratch();
    std::fs::write(path.join("places.csv"), PLACES).unwrap();
    ok(path, &["encode", "places.csv", "-L", "15", "--out", "codes.npy"]);
    for decoder in ["kl", "exact --window-km 200"] {
        let output = run(path, &*format!("decode codes.npy --device cuda --decoder {decoder}"));
        assert_eq!(output.status.code(), Some(1));
        let error = common::stderr(&output);
        assert!(error.contains("device") && error.contains("without a window"), "{error}");
    }
    for decoder in ["exact", "anchors"] {
        let decode =
            |device: &str| run(path, &*format!("decode codes.npy --decoder {decoder} --device {device} --json"));
        let (there, here) = (decode("cuda"), decode("cpu"));
        if !there.status.success() {
            let error = common::stderr(&there);
            assert!(error.contains("no CUDA device can be used"), "{error}");
            return locdiff_testing::skipped_cuda(&error);
        }
        let (there, here) = (common::lines_of(there.stdout), common::lines_of(here.stdout));
        assert!(there.len() == 6 && here.len() == 6);
        for (there, here) in there.iter().zip(&here) {
            for key in ["row", "lat", "peak", "spread_km"] {
                let (a, b) = (there[key].as_f64().unwrap(), here[key].as_f64().unwrap());
                assert!((a - b).abs() <= 1e-4 * b.abs().max(1.0), "{decoder} {key}: {there} {here}");
            }
        }
    }
}

#[test]
fn density_writes_a_map_regions_and_a_raster() {
    let path = &*common::scratch();
    let arguments = "density --at=-17.8,179.9 -L 31 --png map.png --geojson regions.geojson --raster raster.asc \
        --raster-cell 2 --json";
    let answer: serde_json::Value = serde_json::from_str(&ok(path, arguments)).unwrap();
    assert!((answer["modes"][0]["lat"].as_f64().unwrap() + 17.8).abs() < 1e-6);
    assert!((answer["modes"][0]["probability"].as_f64().unwrap() - 1.0).abs() < 1e-6);
    let radius = |i: usize| answer["regions"][i]["radius_km"].as_f64().unwrap();
    assert!(radius(0) > 40.0 && radius(1) > radius(0) && radius(1) < 120.0, "{answer}");
    let png = std::fs::read(path.join("map.png")).unwrap();
    assert!(png.starts_with(b"\x89PNG") && png.len() > 2000);
    let geojson: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(path.join("regions.geojson")).unwrap()).unwrap();
    // Astride the antimeridian a region has two parts (RFC 7946).
    assert_eq!(geojson["features"][1]["geometry"]["type"], "MultiPolygon");
    assert_eq!(geojson["features"][2]["geometry"]["type"], "Point");
    let raster = std::fs::read_to_string(path.join("raster.asc")).unwrap();
    let numbers = raster.lines().skip(6).flat_map(str::split_whitespace).map(|v| v.parse::<f64>().unwrap());
    let total: f64 = numbers.sum();
    assert!((total - 1.0).abs() < 1e-6, "{total}");
    assert!(ok(path, &["density", "--at", "1,2", "-L", "9", "--raster", "r.npy"]).contains("wrote r.npy"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_and_a_closed_pipe_is_not() {
    let encode = |tail: &str| {
        let command = format!("set -o pipefail; '{}' encode --at 1,2 -L 3 {tail}", env!("CARGO_BIN_EXE_locdiff"));
        Command::new("bash").args(["-c", &command]).output().unwrap()
    };
    let full = encode("> /dev/full");
    assert_eq!(full.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&full.stderr).starts_with("error: "));
    assert!(encode("| true").status.code().is_some_and(|code| code == 0));
}
