//! The harness of all tests of the command: run the binary, read what it said, make small inputs and models.
#![allow(dead_code, unreachable_pub)] // a module of every test file, each of which uses a part of it

#[allow(unused_imports)] // likewise
pub use locdiff_testing::{copy_files, fixture, root, scratch, skipped};
use serde_json::Value;
use std::{fmt::Write as _, fs, path::Path, process::Command, process::Output, process::Stdio};

/// The program of the package that a test belongs to.
pub const PROGRAM: &str = match (option_env!("CARGO_BIN_EXE_locdiff"), option_env!("CARGO_BIN_EXE_locdiff-lab")) {
    (Some(program), _) | (None, Some(program)) => program,
    (None, None) => panic!("a test of a package with a program"),
};

/// The program with the words of a line, of which those in '…' may hold blanks, in a folder, with nothing to read and 100 columns to
/// write.
pub fn command(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(PROGRAM);
    for (k, part) in line.split('\'').enumerate() {
        if k % 2 == 1 {
            command.arg(part)
        } else {
            command.args(part.split_whitespace())
        };
    }
    command.current_dir(folder).stdin(Stdio::null()).env("COLUMNS", "100");
    command
}

pub fn run(folder: &Path, line: &str) -> Output {
    command(folder, line).output().expect("the binary runs")
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text")
}

/// What a run that ends well says.
#[track_caller]
pub fn ok(folder: &Path, line: &str) -> String {
    let output = run(folder, line);
    assert!(output.status.success(), "{line}: {}", stderr(&output));
    String::from_utf8(output.stdout).expect("text")
}

/// The one JSON value that a run with `--json` says.
#[track_caller]
pub fn json(folder: &Path, line: &str) -> Value {
    serde_json::from_str(ok(folder, &format!("{line} --json")).trim()).expect("JSON")
}

/// The JSON lines that a run with `--json` says.
#[track_caller]
pub fn json_lines(folder: &Path, line: &str) -> Vec<Value> {
    lines_of(ok(folder, &format!("{line} --json")))
}

/// The JSON values of a text, one a line.
#[track_caller]
pub fn lines_of(text: impl AsRef<[u8]>) -> Vec<Value> {
    let text = str::from_utf8(text.as_ref()).expect("text");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[track_caller]
pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// The one line with which a run fails; notes may stand before it.
#[track_caller]
pub fn refused(folder: &Path, line: &str) -> String {
    let output = run(folder, line);
    let said = stderr(&output);
    let lines: Vec<&str> = said.lines().filter(|line| !line.starts_with("note: ")).collect();
    let code = output.status.code();
    assert!(code == Some(1) && lines.len() == 1 && lines[0].starts_with("error: "), "{line}: {code:?}: {said}");
    lines[0].to_owned()
}

/// Fails unless a run is refused in one line that holds some words.
#[track_caller]
pub fn refused_with(folder: &Path, line: &str, words: &str) {
    let message = refused(folder, line);
    assert!(message.contains(words), "{line}: '{words}' is not in: {message}");
}

pub fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).expect("a text file")
}

/// The cells of a CSV file without quotes, its header first.
pub fn csv(path: impl AsRef<Path>) -> Vec<Vec<String>> {
    read(path).lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

/// Rows of f32 as a .npy file.
pub fn write_npy(path: impl AsRef<Path>, rows: &[Vec<f32>]) {
    let shape = format!("({}, {})", rows.len(), rows[0].len());
    let header = format!("{:<117}\n", format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"));
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(rows.iter().flatten().flat_map(|value| value.to_le_bytes()));
    fs::write(path, bytes).unwrap();
}

/// Embeddings and places as NAME.npy and NAME.csv, one photo per row.
pub fn write_photos(folder: &Path, name: &str, photos: impl IntoIterator<Item = (Vec<f32>, (f64, f64))>) {
    let (mut rows, mut places) = (Vec::new(), "row,lat,lon\n".to_owned());
    for (embedding, (lat, lon)) in photos {
        writeln!(places, "{},{lat},{lon}", rows.len()).unwrap();
        rows.push(embedding);
    }
    write_npy(folder.join(format!("{name}.npy")), &rows);
    fs::write(folder.join(format!("{name}.csv")), places).unwrap();
}

/// So many photos, whose embedding is a function of the place, as photos.npy and photos.csv.
pub fn write_toy(folder: &Path, rows: u32) {
    let photo = |k: u32| {
        let lat = -60.0 + 120.0 * f64::from((k * 37) % rows) / f64::from(rows);
        let lon = -180.0 + 360.0 * f64::from((k * 151) % rows) / f64::from(rows);
        let (la, lo) = (lat.to_radians(), lon.to_radians());
        let number = |c: u32| (la * (f64::from(c) + 1.0)).sin() + (lo + f64::from(c)).cos();
        ((0..8).map(|c| number(c) as f32).collect(), (lat, lon))
    };
    write_photos(folder, "photos", (0..rows).map(photo));
}

/// Four towns on four continents.
pub const TOWNS: [(f64, f64); 4] = [(48.0, 2.0), (-33.0, 151.0), (40.0, -100.0), (-10.0, -50.0)];

/// 120 photos of the four towns, `photos.npy` and `photos.csv`; five numbers tell the town.
pub fn photos_of_towns(folder: &Path) {
    let photo = |k: usize| {
        let jitter = (k as f64 * 0.7).sin();
        let embedding = (0..5).map(|c| if c == k % 4 { 1.0 } else { 0.1 * jitter as f32 }).collect();
        let (lat, lon) = TOWNS[k % 4];
        (embedding, (lat + jitter, lon - jitter))
    };
    write_photos(folder, "photos", (0..120).map(photo));
}

/// How the small models of the tests are trained.
pub const TRAIN: &str = "train --preset small --degree 7 --width 32 --batch 64 --steps 200 --device cpu --out run";

/// [`photos_of_towns`] and a model of them in the folder `run`.
#[track_caller]
pub fn model_of_towns(folder: &Path) {
    photos_of_towns(folder);
    ok(folder, &format!("{TRAIN} --embeddings photos.npy --locations photos.csv"));
}

/// Every key of an answer is in the tables of docs/cli.md.
#[track_caller]
pub fn is_documented(answer: &Value) {
    let page = read(root().join("docs/cli.md"));
    let keys: Vec<&str> =
        page.lines().filter(|line| line.starts_with("| `")).flat_map(|line| line.split('`')).collect();
    for key in answer.as_object().unwrap().keys() {
        assert!(keys.contains(&key.as_str()), "docs/cli.md does not know '{key}'");
    }
}
