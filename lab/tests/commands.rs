//! Commands as people use them; the messages that bad input gets, word for word (`tests/snapshots`). After a change that is meant:
//! `INSTA_UPDATE=always cargo test --manifest-path lab/Cargo.toml --test all commands`, then read `git diff lab/tests/snapshots`.

use crate::common::{self, command, fixture, json, ok, read, refused_with, root, run, skipped, stderr, write_npy};
#[path = "../../crates/cli/tests/common/words.rs"]
#[expect(dead_code, reason = "helps are not compared here")]
mod words;

use locdiff_retrieval::geoclip::{Sources, import};
use locdiff_shdd::{Codec, sphere::Degree, sphere::LatLon};
use serde_json::Value;
use std::{fs, path::Path, process::Command};
use words::{failures, matches_snapshot};

#[test]
fn messages() {
    let path = &*common::scratch();
    fs::write(path.join("places.csv"), "lat,lon\n1,2\n3,4\n").unwrap();
    let text = failures(
        path,
        [
            "locate photo.jpg",
            "compare --methods magic",
            "plot resolution --out r.jpg",
            "reproduce drift -n 0",
            "reproduce drift --keep-dimensions 9",
            "reproduce gallery-bias --gallery absent.csv --truth places.csv",
            "recipe held-out places.csv --share 0.5 --out rows.txt",
            "reproduce timing --device gpu",
        ],
    );
    matches_snapshot("messages", &text);
}

#[test]
fn places_become_geoclips_vectors() {
    let path = &*common::scratch();
    import(&Sources::open(&[fixture("geoclip")]).unwrap(), &path.join("geoclip")).unwrap();
    let embed = "embed-location geoclip/gallery.csv --model geoclip --device cpu --out e.npy";
    let said = json(path, embed);
    assert!(said["rows"] == 20 && said["dimension"] == 10, "{said}");
    let rows = ok(path, "embed-location --at 48.8566,2.3522 --model geoclip --device cpu --normalise");
    let row: Vec<f64> = serde_json::from_str(rows.trim()).unwrap();
    assert!(row.len() == 10 && (row.iter().map(|v| v * v).sum::<f64>() - 1.0).abs() < 1e-5);
    refused_with(path, "embed-location --at 1,2 --model nowhere", "locdiff import geoclip");
    refused_with(path, embed, "e.npy exists: add --force");
}

fn size(path: &Path) -> (u32, u32) {
    let bytes = fs::read(path).unwrap();
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

/// The codes of places, of degree 11, as c.npy.
fn write_codes(folder: &Path, places: &[(f64, f64)]) {
    let codec = Codec::new(Degree::new(11).unwrap());
    let code = |(lat, lon): &(f64, f64)| {
        let code = codec.encode(LatLon::new(*lat, *lon).unwrap());
        code.as_slice().iter().map(|value| *value as f32).collect()
    };
    write_npy(folder.join("c.npy"), &places.iter().map(code).collect::<Vec<_>>());
}

#[test]
fn pictures_are_drawn() {
    let path = &*common::scratch();
    fs::write(path.join("t.csv"), "lat,lon\n40,116\n-34,151\n64,-22\n").unwrap();
    write_codes(path, &[(40.0, 116.0), (-34.0, 151.0), (64.0, -22.0)]);
    ok(path, "plot density c.npy --rows 3,1,2 --truth t.csv --out d.png");
    // Each map has its title above it, the last ones a legend below.
    let (title, legend) = (47, 46);
    assert_eq!(size(&path.join("d.png")), (2 * 720 + 8, 2 * (title + 360) + 8 + legend));
    ok(path, "plot resolution -L 7,15 --out r.png");
    assert_eq!(size(&path.join("r.png")), (2 * 500 + 8, title + 500 + legend));
    ok(path, "plot resolution --out r.svg");
    let curve = read(path.join("r.svg"));
    assert!(curve.contains("L = 47: 19.6 km") && curve.contains("L = 23: 78.5 km"), "{curve}");
    ok(path, "plot coefficients -L 15 --out c.svg");
    let plot = read(path.join("c.svg"));
    // 256 dimensions make 256 points of one line.
    let line = plot.split("points='").nth(1).unwrap().split('\'').next().unwrap();
    assert_eq!(line.split_whitespace().count(), 256);

    ok(path, "plot noise -L 7 --variances 0.01,0.5 --out n.png");
    assert_eq!(size(&path.join("n.png")), (2 * 720 + 8, title + 360 + legend));
    let share = |radius: f64, value: f64| format!(r#"{{"radius_km": {radius}, "share": {{"value": {value}}}}}"#);
    let row = |name: &str, k: f64| {
        let shares = [share(1.0, 0.0), share(200.0, 0.05 * k), share(750.0, 0.2 * k)].join(",");
        format!(r#"{{"name": "{name}", "ours": {{"within": [{shares}]}}}}"#)
    };
    let rows = [row("A, gallery", 1.0), row("A, grid", 2.0), row("B, gallery", 1.5)].join(",");
    fs::write(path.join("t.json"), format!(r#"{{"title": "T", "rows": [{rows}]}}"#)).unwrap();
    let script = root().join("lab/scripts/accuracy_plot.py");
    let draw = |table: &str| Command::new(&script).args([table, "a.svg"]).current_dir(path).output().unwrap();
    assert!(draw("t.json").status.success());
    let plot = read(path.join("a.svg"));
    assert!(plot.contains("A, grid: 40.0 % within 750 km") && plot.contains("dashed"), "{plot}");
    fs::write(path.join("empty.json"), "{}").unwrap();
    assert!(common::stderr(&draw("empty.json")).contains("no table of accuracies"));

    refused_with(path, "plot density c.npy --rows 4 --out e.png", "there is no row 4: the file has 3");
    refused_with(path, "plot resolution --out r.jpg", "ends in .png (maps) or .svg (curve)");
}

#[test]
fn pipes_names_and_bad_codes() {
    let path = &*common::scratch();
    write_codes(path, &[(48.86, 2.35)]);
    let codes = fs::File::open(path.join("c.npy")).unwrap();
    let picture = command(path, "plot density - -o -").stdin(codes).output().unwrap().stdout;
    assert_eq!(&picture[1..4], b"PNG");
    ok(path, "plot density c.npy -o p.png");
    refused_with(path, "plot density c.npy -o p.png", "p.png exists: add --force");
    refused_with(path, "plot coefficients -L 3 -o c.png", "this picture is SVG: give a file that ends in .svg");
    refused_with(path, "plot density c.npy -o c.svg", "this picture is PNG");
    // Numbers that are too large are refused by row and value.
    for factor in ["1e30", "1e300"] {
        fs::write(path.join("grown.csv"), format!("1,0,0,0\n{factor},0,0,0\n")).unwrap();
        refused_with(path, "plot density grown.csv --rows 2 -o q.png", "grown.csv, row 2: coefficient 0 is");
    }
}

#[test]
fn drift_is_reproducible_and_at_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = "reproduce drift -L 23 -n 600 --seed 5 --json";
    let output = run(folder.path(), arguments);
    assert_eq!(stderr(&output), "", "nothing is said where standard error is no terminal");
    let first = String::from_utf8(output.stdout).unwrap();
    assert_eq!(first, ok(folder.path(), arguments), "the same seed gives the same bytes");
    let answer: Value = serde_json::from_str(&first).unwrap();
    let (mean, limit) = (answer["mean_km"].as_f64().unwrap(), answer["cramer_rao_km"].as_f64().unwrap());
    assert!((limit - 9.84).abs() < 0.01 && (mean / limit - 1.0).abs() < 0.1, "{answer}");
    assert!(ok(folder.path(), "reproduce drift -n 50").contains("the paper's"));
}

#[test]
fn codes_of_kept_dimensions_drift() {
    let path = &*common::scratch();
    fs::write(path.join("p.csv"), "lat,lon\n48.86,2.35\n40.71,-74.01\n-33.87,151.21\n35.68,139.69\n").unwrap();
    let mean = |count: &str| {
        let drift = format!("reproduce drift -L 15 --places p.csv --json --keep-dimensions {count}");
        let answer: Value = serde_json::from_str(&ok(path, &drift)).unwrap();
        assert_eq!((answer["n"].as_u64(), answer["dimension"].as_u64()), (Some(4), Some(256)));
        answer["without_noise"]["mean_km"].as_f64().unwrap()
    };
    assert!(mean("256") < 0.01 && mean("64") > 1.0);
    let text = ok(path, "reproduce drift -L 15 --places p.csv --keep-dimensions 128");
    assert!(text.contains("128 of 256") && text.contains("no noise"), "{text}");
    refused_with(path, "reproduce drift -L 15 --places p.csv --keep-dimensions 257", "257");
}

#[test]
fn the_gallery_table() {
    let path = &*common::scratch();
    // 12 places at one test photo, one 10 km from the other.
    fs::write(path.join("g.csv"), format!("LAT,LON\n{}0,20.0899\n", "0,10\n".repeat(12))).unwrap();
    fs::write(path.join("t.csv"), "lat,lon\n0,10\n0,20\n").unwrap();
    let table = json(path, "reproduce gallery-bias --gallery g.csv --truth t.csv --grid fibonacci:50");
    assert_eq!(table["gallery"]["at_least"], serde_json::json!([[50.0, 50.0, 0.0, 0.0], [100.0, 50.0, 0.0, 0.0]]));
    assert_eq!(table["gallery"]["more_than"], serde_json::json!([[50.0, 50.0, 0.0, 0.0], [50.0, 50.0, 0.0, 0.0]]));
    refused_with(path, "reproduce gallery-bias --gallery nothing.csv --truth t.csv", "cannot read nothing.csv");
    let absent = "skipped gallery-bias: gallery/coordinates_100K.csv is absent";
    assert!(ok(path, "reproduce gallery-bias").contains(absent));

    let (gallery, truth) =
        (root().join("gallery/coordinates_100K.csv"), root().join("../shared/data/benchmarks/im2gps3k.csv"));
    if !truth.exists() {
        skipped(
            "cannot run here: the published table of reproduce gallery-bias: its truths may not be committed, and ../shared is absent",
        );
        return;
    }
    if !gallery.exists() {
        skipped("the published table of reproduce gallery-bias: run scripts/fetch_gallery.py, with ../shared at hand");
        return;
    }
    let table = json(&root(), "reproduce gallery-bias --truth ../shared/data/benchmarks/im2gps3k.csv");
    let round = |row: &Value| -> Vec<String> {
        row.as_array().unwrap().iter().map(|v| format!("{:.1}", v.as_f64().unwrap())).collect()
    };
    let (at_least, more_than) = (&table["gallery"]["at_least"], &table["gallery"]["more_than"]);
    assert_eq!(round(&at_least[1]), ["95.2", "75.7", "51.9", "42.0"]);
    assert_eq!(round(&at_least[0])[0], "63.5");
    assert_eq!(round(&more_than[0])[1..], ["32.7", "14.9", "9.8"]);
}
