//! Every `--help` of a program and its messages, word for word (`tests/snapshots` of its package).
#![allow(unreachable_pub)] // a module of test files

use crate::common::{PROGRAM, ok, run, stderr};
use std::{collections::BTreeSet, fmt::Write as _, fs, path::Path, path::PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots")
}

pub fn matches_snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_snapshot_path(folder());
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// The subcommands that a help text lists, in groups or not.
fn subcommands(help: &str) -> Vec<&str> {
    let is_end = |line: &&str| ["Arguments:", "Options:", "Everywhere:", "Examples:"].contains(line);
    let list = help.lines().skip_while(|line| !line.starts_with("Usage:")).take_while(|line| !is_end(line));
    // A name stands two blanks in; its explanation may go on below, further in.
    let names = list.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").collect()
}

/// Every command with its help, from the program itself downwards.
fn helps(path: &str, found: &mut Vec<(String, String)>) {
    let help = ok(Path::new("."), &format!("{path} --help"));
    for name in subcommands(&help) {
        helps(format!("{path} {name}").trim(), found);
    }
    found.push((format!("help {path}").trim().replace(' ', "-"), help));
}

/// Fails unless every help is as it was, and there are as many commands as that at least.
pub fn helps_are_as_they_were(least: usize) {
    let mut found = Vec::new();
    helps("", &mut found);
    assert!(found.len() >= least, "{found:?}");
    for (name, help) in &found {
        matches_snapshot(name, help);
    }
    let kept: BTreeSet<String> = fs::read_dir(folder())
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .filter_map(|file| file.strip_suffix(".snap").map(str::to_owned))
        .filter(|name| name.starts_with("help"))
        .collect();
    let said: BTreeSet<String> = found.into_iter().map(|(name, _)| name).collect();
    assert_eq!(kept, said, "delete the snapshots of commands that are gone");
}

/// Runs that must fail, each with its exit code and what it says. `write NAME TEXT` makes a file for those that follow.
pub fn failures<'a>(folder: &Path, commands: impl IntoIterator<Item = &'a str>) -> String {
    let program = Path::new(PROGRAM).file_stem().unwrap().to_string_lossy();
    let mut text = String::new();
    for command in commands {
        if let Some(rest) = command.strip_prefix("write ") {
            let (name, contents) = rest.split_once(' ').unwrap_or((rest, ""));
            fs::write(folder.join(name), contents.replace("\\n", "\n")).unwrap();
            continue;
        }
        let output = run(folder, command);
        assert!(!output.status.success(), "{command} does not fail");
        let message = stderr(&output);
        assert!(!message.contains("panicked"), "{command}: {message}");
        let code = output.status.code().expect("it ends by itself");
        writeln!(
            text,
            "$ {program} {}\n{message}exit code {code}\n",
            command.split_whitespace().collect::<Vec<_>>().join(" ")
        )
        .unwrap();
    }
    text
}
