//! Tells the program which commit it is built from, and makes tests of the transcripts.

use std::{env, fs, io, path::Path, process::Command};

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

/// Writes a test for each line of `tests/transcripts.txt`, where that is: packages have no tests.
fn transcripts() -> io::Result<()> {
    const LIST: &str = "tests/transcripts.txt";
    let Ok(list) = fs::read_to_string(LIST) else { return Ok(()) };
    println!("cargo::rerun-if-changed={LIST}");
    let (mut tests, mut condition) = (String::new(), "");
    for line in list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if line == "[unix and bundled]" {
            condition = "#[cfg(all(unix, feature = \"bundled\"))] ";
            continue;
        }
        let (name, prepare) = line.split_once(" after ").unwrap_or((line, "|_| ()"));
        tests += &format!("{condition}#[test] fn {name}() {{ play_after({prepare}, \"{name}\"); }}\n");
    }
    fs::write(Path::new(&env::var_os("OUT_DIR").expect("cargo sets it")).join("transcripts.rs"), tests)
}

fn main() -> io::Result<()> {
    transcripts()?;
    println!("cargo::rerun-if-env-changed=LOCDIFF_COMMIT");
    // The log of commits changes with every one of them, in a worktree too.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
    let named = env::var("LOCDIFF_COMMIT").ok().filter(|commit| !commit.is_empty());
    let commit = named.or_else(|| git(&["rev-parse", "--short=12", "HEAD"]));
    println!("cargo::rustc-env=LOCDIFF_BUILD_COMMIT={}", commit.as_deref().unwrap_or("unknown"));
    Ok(())
}
