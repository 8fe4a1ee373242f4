//! The command as people use it: round trips, files, and what bad input gets.

use crate::common;

use common::{Arguments, command, run};
use std::path::Path;
use std::process::{Command, Stdio};

/// What a run that ends well says; nothing is said on stderr when it is not a terminal.
#[track_caller]
fn ok(folder: &Path, arguments: &(impl Arguments + ?Sized)) -> String {
    let output = run(folder, arguments);
    let error = common::stderr(&output);
    assert!(output.status.success() && error.is_empty(), "{:?}: {error}", arguments.words());
    String::from_utf8(output.stdout).expect("text")
}

/// The files in a folder.
fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
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

#[test]
fn a_pipe_carries_codes_from_encode_to_decode() {
    let folder = tempfile::tempdir().unwrap();
    let codes = ok(folder.path(), &["encode", "--at", "48.86,2.35", "--at=-12.05,-77.04", "-L", "15"]);
    let mut child = command(folder.path(), "decode - --from jsonl --out -")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), codes.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("row,lat,lon,peak,spread_km\n1,48.86") && text.contains("\n2,-12.0"), "{text}");
}

#[test]
fn every_decoder_answers() {
    let path = &*common::scratch();
    std::fs::write(path.join("gallery.csv"), "lat,lon\n48.9,2.3\n0,0\n-12,-77\n").unwrap();
    ok(path, &["encode", "--at", "48.86,2.35", "-L", "15", "--out", "code.npy"]);
    for decoder in [
        &["--decoder", "exact"][..],
        &["--decoder", "exact", "--window-km", "200"],
        &["--decoder", "kl"],
        &["--decoder", "anchors"],
        &["--decoder", "anchors", "--anchors", "healpix:5", "--window-km", "300"],
        &["--decoder", "anchors", "--anchors", "random:20000", "--anchor-seed", "3"],
        &["--decoder", "anchors", "--anchors", "gallery.csv"],
    ] {
        let arguments = [&["decode", "code.npy", "--json"], decoder].concat();
        let answer: serde_json::Value = serde_json::from_str(&ok(path, &arguments)).unwrap();
        let (lat, lon) = (answer["lat"].as_f64().unwrap(), answer["lon"].as_f64().unwrap());
        assert!((lat - 48.86).abs() < 3.0 && (lon - 2.35).abs() < 4.0, "{decoder:?}: {answer}");
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

#[test]
fn bad_input_gets_one_clear_line_and_leaves_nothing_behind() {
    let path = &*common::scratch();
    let write = |name: &str, bytes: &[u8]| std::fs::write(path.join(name), bytes).unwrap();
    write("places.csv", PLACES.as_bytes());
    write("empty.csv", b"");
    write("header.csv", b"lat,lon\n");
    write("nan.csv", b"lat,lon\n1,2\nNaN,3\n");
    write("inf.csv", b"lat,lon\n1,inf\n");
    write("range.csv", b"lat,lon\n1,2\n3,4\n91,0\n");
    write("word.csv", b"lat,lon\nhere,there\n");
    write("columns.csv", b"name,x,y\na,1,2\n");
    write("short.csv", b"0.1,0.2,0.3\n");
    write("ragged.csv", b"0.1,0.2,0.3,0.4\n0.1,0.2\n");
    write("nan-code.csv", b"0.1,0.2,0.3,0.4\n0.1,NaN,0.3,0.4\n");
    write("truncated.npy", b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f8', 'fortr");
    write("places.xlsx", b"PK");
    ok(path, &["encode", "places.csv", "-L", "3", "--out", "codes.npy"]);
    let before = files(path);
    // Arguments, exit code, and words that the one line must hold: the file, the row or value, the remedy.
    let cases: &[(&[&str], i32, &[&str])] = &[
        (&["encode", "absent.csv", "--out", "o.npy"], 1, &["absent.csv"]),
        (&["encode", "empty.csv", "--out", "o.npy"], 1, &["empty.csv", "empty"]),
        (&["encode", "header.csv", "--out", "o.npy"], 1, &["header.csv"]),
        (&["encode", "nan.csv", "--out", "o.npy"], 1, &["nan.csv", "row 2", "NaN"]),
        (&["encode", "inf.csv", "--out", "o.npy"], 1, &["inf.csv", "row 1", "longitude"]),
        (&["encode", "range.csv", "--out", "o.npy"], 1, &["range.csv", "row 3", "91", "-90 to 90"]),
        (&["encode", "word.csv", "--out", "o.npy"], 1, &["word.csv", "row 1", "here"]),
        (&["encode", "columns.csv", "--out", "o.npy"], 1, &["columns.csv", "lat", "name"]),
        (&["encode", "places.csv", "--lat-column", "nord", "--out", "o.npy"], 1, &["nord"]),
        (&["encode", "places.xlsx", "--out", "o.npy"], 1, &["places.xlsx", ".csv"]),
        (&["encode", "places.csv", "--out", "o.xyz"], 1, &["o.xyz", ".npy"]),
        (&["encode", "places.csv", "--out", "no/such/folder/o.npy"], 1, &["no/such/folder"]),
        (&["encode", "places.csv", "-L", "0"], 2, &["degree 0", "1 to 511"]),
        (&["encode", "places.csv", "-L", "512"], 2, &["degree 512", "1 to 511"]),
        (&["encode", "places.csv", "-L", "many"], 2, &["many"]),
        (&["encode", "--at", "95,0"], 2, &["95", "-90 to 90"]),
        (&["encode", "--at", "nowhere"], 2, &["LAT,LON"]),
        (&["encode"], 2, &["POINTS"]),
        (&["decode", "short.csv"], 1, &["short.csv", "3 coefficients"]),
        (&["decode", "ragged.csv", "--out", "o.csv"], 1, &["ragged.csv", "row 2"]),
        (&["decode", "nan-code.csv", "--out", "o.csv"], 1, &["nan-code.csv", "row 2"]),
        (&["decode", "truncated.npy"], 1, &["truncated.npy"]),
        (&["decode", "codes.npy", "--decoder", "guess"], 2, &["guess", "exact"]),
        (&["decode", "codes.npy", "--decoder", "anchors", "--anchors", "fibonacci:0"], 1, &["at least one point"]),
        (&["decode", "codes.npy", "--window-km=-1"], 2, &["positive"]),
        (&["density", "codes.npy", "--row", "99"], 1, &["row 99", "6"]),
        (&["density", "codes.npy", "--raster", "r.asc", "--raster-cell", "0.001"], 1, &["0.05"]),
        (&["density", "codes.npy", "--png", "no/such/map.png"], 1, &["no/such"]),
        (&["density"], 2, &["--at"]),
        (&["frobnicate"], 2, &["frobnicate"]),
        (&["compare", "--methods", "all"], 2, &["this command is in the program locdiff-lab"]),
        (&["reproduce", "drift"], 2, &["this command is in the program locdiff-lab"]),
        (&["recipe", "paper", "--help"], 2, &["this command is in the program locdiff-lab"]),
        (&["plot"], 2, &["this command is in the program locdiff-lab"]),
        (&["embed-location", "--at", "1,2"], 2, &["locdiff-lab embed-location"]),
    ];
    for (arguments, code, words) in cases {
        let output = run(path, *arguments);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(*code), "{arguments:?}: {error}");
        assert!(error.starts_with("error: "), "{arguments:?}: {error}");
        if *code == 1 {
            assert_eq!(error.lines().count(), 1, "one line: {error}");
        }
        for word in *words {
            assert!(error.contains(word), "{arguments:?}: '{word}' is not in: {error}");
        }
        assert!(!error.contains("panicked"), "{error}");
    }
    assert_eq!(files(path), before, "no partial output is left");
}

#[test]
fn an_existing_file_survives_a_failed_run() {
    let path = &*common::scratch();
    std::fs::write(path.join("bad.csv"), "lat,lon\n1,2\n99,3\n").unwrap();
    std::fs::write(path.join("out.csv"), "precious").unwrap();
    let output = run(path, "encode bad.csv -L 3 --out out.csv");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(std::fs::read_to_string(path.join("out.csv")).unwrap(), "precious");
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
