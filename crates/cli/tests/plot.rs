//! `locdiff plot` as people use it.

mod common;

use common::{ok, read, refused_with};
use std::fs;
use std::path::Path;

/// Width and height of a PNG.
fn size(path: &Path) -> (u32, u32) {
    let bytes = fs::read(path).unwrap();
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

#[test]
fn pictures_are_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("t.csv"), "lat,lon\n40,116\n-34,151\n64,-22\n").unwrap();
    ok(path, "encode t.csv -L 11 --out c.npy");
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

    refused_with(path, "plot density c.npy --rows 4 --out e.png", "there is no row 4: the file has 3");
    refused_with(path, "plot resolution --out r.jpg", "ends in .png (maps) or .svg (curve)");
}
