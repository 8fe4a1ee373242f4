//! Jobs by the library: parts whole or not there, bad photos as lines, settings of earlier releases.
#![cfg(feature = "bundled")]

use locdiff::{DeviceSpec, FlatOptions, Progress, batch::Job, batch::Task, batch::Worker};
use locdiff_io::data::Dtype;
use locdiff_testing::fixture;
use locdiff_vision::sources::Photos;
use serde_json::Value;
use std::{fs, path::Path, sync::atomic::AtomicBool, sync::atomic::AtomicUsize, sync::atomic::Ordering};

/// A job of three photos in shards of two, the second of which is no picture.
fn job(folder: &Path) -> Job {
    fs::copy(fixture("vision/grey.jpg"), folder.join("a.jpg")).unwrap();
    fs::write(folder.join("b.jpg"), "no picture").unwrap();
    fs::copy(fixture("vision/rgb.png"), folder.join("c.png")).unwrap();
    let photos = Photos::gather(&["a.jpg", "b.jpg", "c.png"].map(|name| folder.join(name)), None).unwrap();
    Job::plan(&photos, &folder.join("job"), Task::Locate, FlatOptions::default(), 2).unwrap()
}

#[test]
fn parts_are_whole_or_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let job = job(folder.path());
    assert_eq!((job.photos(), job.shards()), (3, 2));
    let worker = Worker::open(&job, DeviceSpec::Cpu).unwrap();
    let seen = AtomicUsize::new(0);
    let count = |progress: Progress| {
        seen.fetch_add(usize::from(progress == Progress::Read), Ordering::Relaxed);
    };
    // A run that is stopped leaves nothing behind.
    let stopped = worker.run(&job, 0..2, &AtomicBool::new(true), count).unwrap();
    assert!(stopped.is_stopped && stopped.made == 0 && !folder.path().join("job/parts/00000").exists());
    let done = worker.run(&job, 0..2, &AtomicBool::new(false), count).unwrap();
    assert_eq!((done.made, done.photos, seen.load(Ordering::Relaxed)), (2, 3, 3));
    // A part that is cut off is made again, to the byte; a whole one is not.
    let part = folder.path().join("job/parts/00000");
    let whole = fs::read(&part).unwrap();
    fs::write(&part, &whole[..whole.len() / 2]).unwrap();
    let again = worker.run(&job, 0..2, &AtomicBool::new(false), count).unwrap();
    assert_eq!((again.made, again.skipped), (1, 1));
    assert_eq!(fs::read(&part).unwrap(), whole);
    let merged = job.merge(&folder.path().join("answers.jsonl"), Dtype::F32).unwrap();
    assert_eq!((merged.answered, merged.failed), (2, 1));
    let text = fs::read_to_string(folder.path().join("answers.jsonl")).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines[0]["best"]["lat"].is_number() && lines[2]["can_tell"].is_boolean());
    assert!(lines[1]["error"].as_str().unwrap().contains("b.jpg is not a JPEG"), "{}", lines[1]);
}
