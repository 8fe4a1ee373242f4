//! `locdiff-lab plot` as people use it.

use crate::common::{self, command, ok, read, refused_with, root, write_npy};
use locdiff_shdd::{Codec, sphere::Degree, sphere::LatLon};
use std::{fs, path::Path, process::Command};

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
    assert_eq!(size(&path.join("d.png")), (2 * 720 + 8, 2 * 360 + 8));
    ok(path, "plot resolution -L 7,15 --out r.png");
    assert_eq!(size(&path.join("r.png")), (2 * 500 + 8, 500));
    ok(path, "plot resolution --out r.svg");
    let curve = read(path.join("r.svg"));
    assert!(curve.contains("L = 47: 19.6 km") && curve.contains("L = 23: 78.5 km"), "{curve}");
    ok(path, "plot coefficients -L 15 --out c.svg");
    let plot = read(path.join("c.svg"));
    // 256 dimensions make 256 points of one line.
    let line = plot.split("points='").nth(1).unwrap().split('\'').next().unwrap();
    assert_eq!(line.split_whitespace().count(), 256);

    ok(path, "plot noise -L 7 --variances 0.01,0.5 --out n.png");
    assert_eq!(size(&path.join("n.png")), (2 * 720 + 8, 360));
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
