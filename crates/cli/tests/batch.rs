//! Jobs: what shards make does not depend on them, parts are whole or not there, and what is damaged is said.

use crate::common;

use common::{fixture, json, ok, read, refused_with, run, stderr};
use locdiff_base::OutputLock;
use std::{fs, path::Path};

/// The photos that all jobs here are of: files of every kind, some of which cannot be read.
pub(crate) fn photos(folder: &Path) {
    let inner = folder.join("photos");
    fs::create_dir(&inner).unwrap();
    let names = "china.jpg rgb.png rgb.bmp cmyk.jpg grey.jpg turned_3.jpg turned_6.jpg lossy.webp palette.png \
        progressive.jpg rgba.webp animated.gif";
    for name in names.split(' ') {
        fs::copy(fixture("vision").join(name), inner.join(name)).unwrap();
    }
    fs::write(inner.join("broken.jpg"), "no picture").unwrap();
    fs::write(inner.join("a, \"b\".jpg"), &fs::read(inner.join("rgb.png")).unwrap()[..100]).unwrap();
}

/// Tar shards are read where they lie, and a job can be run from any folder.
#[test]
fn a_job_is_run_from_anywhere() {
    let folder = tempfile::tempdir().unwrap();
    let (folder, elsewhere) = (folder.path(), tempfile::tempdir().unwrap());
    photos(folder);
    let mut tar = tar::Builder::new(fs::File::create(folder.join("shard.tar")).unwrap());
    for name in ["china.jpg", "broken.jpg", "grey.jpg"] {
        tar.append_path_with_name(folder.join("photos").join(name), name).unwrap();
    }
    tar.finish().unwrap();
    let plain = run(folder, "locate shard.tar photos/broken.jpg --csv plain.csv --allow-bad --device cpu");
    assert!(plain.status.success(), "{}", stderr(&plain));
    ok(folder, "batch plan shard.tar photos/broken.jpg --shard-photos 3 --out job");
    let job = folder.join("job").display().to_string();
    ok(elsewhere.path(), &format!("batch run {job} --device cpu"));
    ok(folder, "batch merge job --out merged.csv");
    assert_eq!(read(folder.join("merged.csv")), read(folder.join("plain.csv")));
    // The same photos under another root.
    fs::rename(folder.join("photos"), elsewhere.path().join("photos")).unwrap();
    fs::rename(folder.join("shard.tar"), elsewhere.path().join("shard.tar")).unwrap();
    fs::remove_file(folder.join("job/parts/00000")).unwrap();
    let root = elsewhere.path().display().to_string();
    assert_eq!(json(folder, &format!("batch run job --root {root} --device cpu"))["made"], 1);
    ok(folder, "batch merge job --out merged.csv --force");
    assert_eq!(read(folder.join("merged.csv")), read(folder.join("plain.csv")));
}

/// A shard that another run holds is left to it, or an error where it alone was asked for.
#[test]
fn two_runs_do_not_make_one_part() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    photos(folder);
    fs::create_dir(folder.join("job")).unwrap();
    let lock = OutputLock::folder(&folder.join("job")).unwrap();
    refused_with(folder, "batch plan photos/china.jpg --out job", "in use by another run");
    drop(lock);
    ok(folder, "batch plan photos/china.jpg photos/grey.jpg --shard-photos 1 --out job");
    let lock = OutputLock::file(&folder.join("job/parts/00000")).unwrap();
    refused_with(folder, "batch run job --shard 0 --device cpu", "in use by another run");
    let said = json(folder, "batch run job --device cpu");
    assert_eq!((&said["made"], &said["busy"]), (&1.into(), &1.into()));
    drop(lock);
    assert_eq!(json(folder, "batch run job --device cpu")["made"], 1);
    assert_eq!(fs::read_dir(folder.join("job/parts")).unwrap().count(), 2, "no locks are left");
}
