//! What people point the command at: folders with everything in them, devices, pipes, broken and double photos.
#![cfg(all(unix, feature = "bundled"))]

use crate::common;

use common::{command, csv, fixture, lines_of, read, stderr};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::{fs, path::Path, process::Command};

/// A folder with two good photos, a broken one, and everything that is no regular file.
fn mixed(folder: &Path) {
    let photos = folder.join("photos");
    fs::create_dir_all(photos.join("inner")).unwrap();
    fs::copy(fixture("vision/rgb.jpg"), photos.join("a.jpg")).unwrap();
    fs::copy(fixture("vision/rgb.png"), photos.join("inner/b.png")).unwrap();
    fs::write(photos.join("broken.jpg"), "no photo").unwrap();
    fs::write(photos.join("notes.txt"), "text").unwrap();
    symlink("nowhere.jpg", photos.join("dangling.jpg")).unwrap();
    symlink("loop.jpg", photos.join("loop.jpg")).unwrap();
    symlink("..", photos.join("inner/up")).unwrap();
    symlink("a.jpg", photos.join("same.jpg")).unwrap();
    symlink("/dev/zero", photos.join("zero.jpg")).unwrap();
    make_pipe(&photos);
    std::os::unix::net::UnixListener::bind(photos.join("socket.jpg")).unwrap();
    fs::create_dir(photos.join("secret")).unwrap();
    fs::set_permissions(photos.join("secret"), fs::Permissions::from_mode(0o0)).unwrap();
}

pub(crate) fn make_pipe(folder: &Path) {
    assert!(Command::new("mkfifo").arg(folder.join("pipe.jpg")).status().unwrap().success());
}

/// Runs, and fails if it does not end: a pipe must not be waited for.
fn in_time(folder: &Path, arguments: &str) -> std::process::Output {
    locdiff_testing::output_in_time(&mut command(folder, arguments))
}

const PASSED_OVER: [(&str, &str); 7] = [
    ("dangling.jpg", "a link to nowhere.jpg, which does not exist"),
    ("loop.jpg", "leads nowhere"),
    ("inner/up", "searched already"),
    ("same.jpg", "comes twice"),
    ("zero.jpg", "a device"),
    ("pipe.jpg", "a named pipe"),
    ("socket.jpg", "a socket"),
];

#[test]
fn a_folder_with_everything_in_it_is_answered() {
    let path = &*common::scratch();
    mixed(path);
    for arguments in [
        "locate photos --device cpu --json --csv a.csv",
        "embed photos -o e.npy",
        "gallery build photos -o g --device cpu",
    ] {
        let output = in_time(path, arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments}: {}", stderr(&output));
        for (name, words) in PASSED_OVER {
            let said = stderr(&output);
            let line = said.lines().find(|line| line.contains(&format!("photos/{name}: ")));
            let line = line.unwrap_or_else(|| panic!("{arguments}: nothing of {name}: {said}"));
            assert!(line.starts_with("warning: ") && line.contains(words), "{line}");
        }
        // Root may read everything.
        let may_read = fs::read_dir(path.join("photos/secret")).is_ok();
        assert!(may_read || stderr(&output).contains("photos/secret: the folder cannot be read"));
    }
    // The photo that is broken has its rows; the good ones have their answers.
    let rows = csv(path.join("a.csv"));
    let names: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(names, ["photo", "photos/a.jpg", "photos/broken.jpg", "photos/inner/b.png"]);
    let error = rows[0].iter().position(|name| name == "error").unwrap();
    assert!(rows[2][1].is_empty() && read(path.join("a.csv")).contains("not a JPEG"));
    assert!(!rows[1][1].is_empty() && rows[1].last().unwrap().is_empty() && rows[1].len() > error);
    let output = in_time(path, "locate photos --device cpu --json --allow-bad");
    assert_eq!(output.status.code(), Some(0));
    let lines = lines_of(output.stdout);
    assert_eq!(lines.len(), 3);
    assert!(lines[1]["photo"] == "photos/broken.jpg" && lines[1]["error"].is_string() && lines[0]["best"].is_object());
    assert_eq!(csv(path.join("e.csv")).len(), 3);
}
