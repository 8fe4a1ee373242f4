//! Helpers that the tests of several crates share: fixtures, folders, waiting, signals, HTTP, and the list of tests that did not run.
//!
//! It needs no other crate of ours, so that every crate can have it as a dev-dependency. It is never published.

pub mod http;

use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use std::{collections::BTreeMap, fmt::Display, fs, io::Write as _, path::Path, path::PathBuf, sync::mpsc};

/// Reports that a test, or a part of it, did not run. `scripts/check` ends with the list of these.
pub fn skipped(what: &str) {
    println!("skipped: {what}");
    if let Some(list) = std::env::var_os("LOCDIFF_SKIPPED") {
        let mut file = fs::OpenOptions::new().create(true).append(true).open(list).expect("the list of skips");
        // One write: lines of several processes stay whole.
        file.write_all(format!("{what}\n").as_bytes()).expect("the list of skips");
    }
}

/// Reports that the part of a test that needs a CUDA device did not run. Only a machine without such a device cannot run it.
pub fn skipped_cuda(error: &impl Display) {
    if Path::new("/dev/nvidia0").exists() {
        skipped(&format!("tests on CUDA: {error}"));
    } else {
        skipped("cannot run here: tests on CUDA: there is no NVIDIA device");
    }
}

/// The project's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A file or folder below `fixtures`.
pub fn fixture(name: &str) -> PathBuf {
    root().join("fixtures").join(name)
}

/// The contents of a file below `fixtures`.
#[track_caller]
pub fn fixture_bytes(name: &str) -> Vec<u8> {
    fs::read(fixture(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// An empty folder that is removed after the test.
#[derive(Debug)]
pub struct Scratch(tempfile::TempDir);

impl std::ops::Deref for Scratch {
    type Target = Path;

    fn deref(&self) -> &Path {
        self.0.path()
    }
}

impl Scratch {
    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

/// Makes an empty folder.
pub fn scratch() -> Scratch {
    Scratch(tempfile::tempdir().expect("an empty folder"))
}

/// Copies the files of a folder, but not its subfolders, into another one. Makes that one if it is missing.
#[track_caller]
pub fn copy_files(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for file in fs::read_dir(from).unwrap().map(Result::unwrap).filter(|file| file.path().is_file()) {
        fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

/// A temporary copy of the files of a folder.
#[track_caller]
pub fn copied(folder: &Path) -> Scratch {
    let copy = scratch();
    copy_files(folder, &copy);
    copy
}

/// All files below a folder with their contents.
#[track_caller]
pub fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            let contents = fs::read(&path).unwrap();
            found.insert(path, contents);
        }
    }
    found
}

/// Replaces text in a file of a folder. Fails if the file does not hold it.
#[track_caller]
pub fn replace(folder: &Path, file: &str, from: &str, to: &str) {
    let text = fs::read_to_string(folder.join(file)).unwrap();
    assert!(text.contains(from), "{file}: {from}");
    fs::write(folder.join(file), text.replace(from, to)).unwrap();
}

/// Far beyond what the slowest machine takes for anything that a test waits for.
pub const LIMIT: Duration = Duration::from_mins(5);

/// Waits until something holds. Fails only if it never does, that is after [`LIMIT`].
#[track_caller]
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < LIMIT, "after {LIMIT:?} it does not hold yet: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until a file exists.
#[track_caller]
pub fn wait_for_file(path: &Path) {
    wait_until(&format!("{} exists", path.display()), || path.exists());
}

/// Sends a signal, such as `TERM`, to a process.
#[track_caller]
pub fn signal(process: &Child, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &process.id().to_string()]).status().expect("kill runs");
    assert!(sent.success(), "signal {name} was not sent");
}

/// Runs a command that must end by itself. Fails if it has not after [`LIMIT`].
#[track_caller]
pub fn output_in_time(command: &mut Command) -> Output {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let (id, (send, receive)) = (child.id().to_string(), mpsc::channel());
    std::thread::spawn(move || send.send(child.wait_with_output()));
    let output = receive.recv_timeout(LIMIT).unwrap_or_else(|_| {
        let _ = Command::new("kill").args(["-KILL", &id]).status();
        panic!("after {LIMIT:?} it has not ended: {command:?}")
    });
    output.expect("the program's output")
}

/// Tries something whose order of events the system decides, until it comes out as wanted. Fails if it never does.
#[track_caller]
pub fn try_until(what: &str, mut attempt: impl FnMut() -> bool) {
    assert!((0..100).any(|_| attempt()), "in a hundred attempts never: {what}");
}

/// `‖got − expected‖ / ‖expected‖`.
#[track_caller]
pub fn relative_error(got: &[f32], expected: &[f32]) -> f64 {
    assert_eq!(got.len(), expected.len());
    let square = |value: f32| f64::from(value).powi(2);
    let error: f64 = got.iter().zip(expected).map(|(g, e)| square(g - e)).sum();
    let norm: f64 = expected.iter().copied().map(square).sum();
    (error / norm).sqrt()
}

/// Little-endian bytes as f32.
pub fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|&four| f32::from_le_bytes(four)).collect()
}
