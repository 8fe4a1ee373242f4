//! Fixtures and temporary folders.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

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
