//! `-`: standard input and output, in a process of its own.

use locdiff_io::data::{Dtype, Format, MatrixReader, MatrixWriter, PointColumns, PointReader, PointWriter};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const CHILD: &str = "LOCDIFF_DATA_STREAM_CHILD";

/// Not a test by itself: the other tests run it in a child process.
#[test]
fn child() {
    let stream = Path::new("-");
    match std::env::var(CHILD).as_deref() {
        Ok("points") => {
            let reader = PointReader::open(stream, Some(Format::Csv), &PointColumns::default()).unwrap();
            let mut writer = PointWriter::create(stream, Some(Format::Jsonl), &["row", "lat", "lon"]).unwrap();
            for item in reader {
                let (row, place) = item.unwrap();
                writer.write(place, &[row as f64]).unwrap();
            }
            writer.finish().unwrap();
        }
        Ok("matrix") => {
            let reader = MatrixReader::open(stream, Some(Format::Jsonl), None).unwrap();
            let mut writer = MatrixWriter::create(stream, Some(Format::Csv), 2, Dtype::F64, "").unwrap();
            for row in reader {
                writer.write_row(&row.unwrap()).unwrap();
            }
            writer.finish().unwrap();
        }
        Ok("broken pipe") => {
            let mut writer = MatrixWriter::create(stream, Some(Format::Csv), 1, Dtype::F64, "").unwrap();
            let error = (0..1 << 22).find_map(|_| writer.write_row(&[0.5]).err()).expect("nobody reads");
            assert!(error.is_broken_pipe(), "{error}");
            eprintln!("the pipe broke");
        }
        _ => {}
    }
}

fn spawn(kind: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["data::streams::child", "--exact", "--nocapture"]).env(CHILD, kind);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn run(kind: &str, input: &str) -> String {
    let mut child = spawn(kind);
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn points_flow_through() {
    let text = run("points", "lat,lon\n1,2\n-3.5,4\n");
    assert!(text.contains("{\"row\":1,\"lat\":1,\"lon\":2}\n{\"row\":2,\"lat\":-3.5,\"lon\":4}\n"), "{text}");
}

#[test]
fn matrices_flow_through() {
    let text = run("matrix", "[1,2]\n[3,4.5]\n");
    assert!(text.contains("1,2\n3,4.5\n"), "{text}");
}

#[test]
fn a_reader_that_goes_away_is_told_apart() {
    let mut child = spawn("broken pipe");
    // The harness of the child prints first, and gives up if it cannot: leave only once the rows come.
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("0.5") {
        line.clear();
        assert!(stdout.read_line(&mut line).unwrap() > 0, "the child never started");
    }
    drop(stdout);
    let output = child.wait_with_output().unwrap();
    // The test harness itself then fails to print its summary; what counts is what the child saw.
    assert!(String::from_utf8_lossy(&output.stderr).contains("the pipe broke"));
}
