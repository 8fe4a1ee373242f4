//! Helpers that the tests of several crates share: fixtures, folders, waiting, signals, HTTP, and the list of tests that did not run.
//!
//! It needs no other crate of ours, so that every crate can have it as a dev-dependency. It is never published.

mod folders;
pub mod http;
mod numbers;
mod waiting;

pub use folders::{Scratch, copied, copy_files, files, fixture, fixture_bytes, replace, root, scratch};
pub use numbers::{floats, relative_error};
pub use waiting::{LIMIT, output_in_time, signal, try_until, wait_for_file, wait_until};

use std::{fmt::Display, fs, io::Write as _, path::Path};

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
