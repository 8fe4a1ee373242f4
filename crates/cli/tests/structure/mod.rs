//! The house as ARCHITECTURE.md draws it, held by a test: who may use whom, no circles of files, no flags in libraries'
//! messages, a thin command.

mod book;
use crate::common;
mod sources;

use sources::{crates, files_below, lines_without_tests};
use std::{fmt::Write as _, fs};

/// The crates from the ground up: each may use those before it only. The laboratory is not among them: nothing uses it.
const ORDER: &str = "base sphere nn shdd map data diffusion phototags places bundled-encoder bundled-model eval \
    vision model gallery geoclip ingest report answer album train locdiff immich batch serve web cli";

/// Files in circles that are there still, by crate.
const IN_CIRCLES: [(&str, usize); 0] = [];

/// All lines of the command. This limit is met, not raised.
const MOST_LINES: usize = 5_000;

/// The lines of a command's file without its tests.
const MOST_LINES_OF_A_FILE: usize = 250;

/// Files of commands that are longer still.
const LONG_FILES: [(&str, usize); 0] = [];

/// Messages that name a flag of another program, not of ours.
const FOREIGN_FLAGS: [(&str, &str); 3] = [
    ("nn", "--gpu-architecture"), // NVIDIA's compiler
    ("nn", "--std=c++17"),
    ("geoclip", "--no-deps"), // pip
];

#[test]
fn no_crate_uses_one_above_it() {
    let place = |name: &str| {
        ORDER
            .split(' ')
            .position(|other| other == name)
            .unwrap_or_else(|| panic!("put '{name}' into ORDER, at its height"))
    };
    let mut wrong = Vec::new();
    for own in crates(&common::root()) {
        for other in own.needs.iter().filter(|other| place(other) >= place(&own.name)) {
            wrong.push(format!("{} uses {other}, which stands above it", own.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_circle_of_files() {
    let mut wrong = String::new();
    for own in crates(&common::root()) {
        let circles = own.circles();
        let most = IN_CIRCLES.iter().find(|(name, _)| *name == own.name).map_or(0, |(_, most)| *most);
        if circles.iter().map(Vec::len).sum::<usize>() > most {
            let _ = writeln!(wrong, "{}: {circles:?}", own.name);
        }
    }
    assert!(wrong.is_empty(), "files that need each other (move what both need into a third):\n{wrong}");
}

/// Whether a string literal names a flag: two dashes and a letter.
fn names_a_flag(text: &str) -> bool {
    text.match_indices("--").any(|(k, _)| text[k + 2..].starts_with(|c: char| c.is_ascii_lowercase()))
}

#[test]
fn libraries_name_no_flags() {
    let mut wrong = Vec::new();
    for own in crates(&common::root()).iter().filter(|own| own.name != "cli") {
        for file in &own.files {
            let foreign =
                |text: &str| FOREIGN_FLAGS.iter().any(|(name, flag)| own.name == *name && text.contains(flag));
            for text in file.strings.iter().filter(|text| names_a_flag(text) && !foreign(text)) {
                wrong.push(format!("{}/{}: {text}", own.name, file.path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "say the setting in words, the command adds the flag:\n{}", wrong.join("\n"));
}

#[test]
fn nothing_cites_a_document_that_is_not_here() {
    let root = common::root();
    let folders = ["crates", "bench", "docs", "lab", "scripts", "fuzz/fuzz_targets"];
    let files = folders.iter().flat_map(|folder| files_below(&root.join(folder), &["rs", "md", "py", "sh", "cu"]));
    let cited = concat!("METHOD", " §");
    let wrong: Vec<_> = files.filter(|file| fs::read_to_string(file).is_ok_and(|text| text.contains(cited))).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Workspaces of their own share what is compiled only where packages are optimised alike.
#[test]
fn four_workspaces_have_one_profile() {
    let root = common::root();
    let read = |folder: &str, file: &str| fs::read_to_string(root.join(folder).join(file)).unwrap();
    // The lines of packages that a workspace uses.
    let profile = |folder: &str, lock: &str| -> Vec<String> {
        let text = read(folder, "Cargo.toml");
        assert!(folder == "lab" || !text.contains("locdiff-lab"), "{folder} uses the laboratory");
        let lines = text.lines().skip_while(|line| *line != "[profile.dev]");
        let is_used = |line: &&str| {
            let package = line.split(['.', ' ']).next().unwrap_or_default();
            package != "locdiff-lab" && lock.contains(&format!("name = \"{package}\"\n"))
        };
        lines.take_while(|line| *line != "[profile.release]").filter(is_used).map(str::to_owned).collect()
    };
    for other in ["lab", "python", "fuzz"] {
        let lock = read(other, "Cargo.lock");
        let ours = profile(".", &lock);
        assert!(ours.len() > 20, "{other}: {ours:?}");
        assert_eq!(ours, profile(other, &lock), "{other}");
    }
}

#[test]
fn the_command_is_thin() {
    let source = common::root().join("crates/cli/src");
    // The frame of the program is no command.
    let frame = source.join("terminal");
    let files = files_below(&source, &["rs"]).into_iter().filter(|file| !file.starts_with(&frame));
    let total: usize = files.map(|file| fs::read_to_string(file).unwrap().lines().count()).sum();
    assert!(total <= MOST_LINES, "{total} lines, at most {MOST_LINES}: move what is no skin into a library");
    for file in files_below(&source.join("commands"), &["rs"]) {
        let (lines, name) = (lines_without_tests(&file), file.strip_prefix(&source).unwrap().display().to_string());
        let most = LONG_FILES.iter().find(|(long, _)| *long == name).map_or(MOST_LINES_OF_A_FILE, |(_, most)| *most);
        assert!(lines <= most, "{name} has {lines} lines, at most {most}");
    }
}

/// Where all tests of a crate are one program, a file that it does not name would never run.
#[test]
fn every_file_of_tests_is_named() {
    let mut programs = 0;
    let crates = fs::read_dir(common::root().join("crates")).unwrap().map(|folder| folder.unwrap().path());
    for folder in crates.chain([common::root().join("lab")]) {
        let tests = folder.join("tests");
        let Ok(all) = fs::read_to_string(tests.join("all.rs")) else { continue };
        programs += 1;
        for entry in fs::read_dir(&tests).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            let holds_tests = path.extension().is_some_and(|end| end == "rs") || path.join("mod.rs").exists();
            assert!(!holds_tests || name == "all" || all.contains(&format!("mod {name};\n")), "{}", path.display());
        }
    }
    assert!(programs >= 5);
}
