//! The architecture of ARCHITECTURE.md, held by tests: layers of crates, no import cycles, no flags in libraries' messages, a thin command.

mod api;
mod book;
mod sources;

use crate::common;
use sources::{crates, files_below, lines_without_tests, paths_below};
use std::{collections::BTreeMap, collections::BTreeSet, fmt::Write as _, fs, path::Path};

/// The crates from the ground up: each may use those before it only.
const ORDER: &str =
    "testing base shdd nn map io bundled-encoder bundled-model vision model retrieval album locdiff serve cli";

/// All lines of the command. This limit is met, not raised.
const MOST_LINES: usize = 5_000;

/// The lines of a command's file without its tests.
const MOST_LINES_OF_A_FILE: usize = 250;

/// Messages that name a flag of another program, not of ours.
const FOREIGN_FLAGS: [(&str, &str); 3] = [
    ("nn", "--gpu-architecture"), // NVIDIA's compiler
    ("nn", "--std=c++17"),
    ("retrieval", "--no-deps"), // pip
];

/// Documents that commands write.
const WRITTEN: [&str; 3] = ["compare.md", "tables.md", "OLD.md"];

/// Names that are an idiom, or one item for each of two builds.
const DOUBLE_NAMES: &str = "Result libheif_version";

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
        if !circles.is_empty() {
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

/// The documents that a text names: `NAME.md`, or a name in capitals before a section sign.
fn cited_documents(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_./-".contains(c);
    let files = text.split(|c: char| !is_part(c)).map(|word| word.trim_end_matches('.'));
    let files = files.map(|word| word.rsplit("../").next().unwrap_or(word).trim_start_matches(['.', '/']));
    let files = files.filter(|word| Path::new(word).extension().is_some_and(|end| end == "md"));
    let sections = text
        .match_indices('§')
        .filter_map(|(at, _)| text[..at].strip_suffix(' ')?.rsplit(|c: char| !is_part(c)).next());
    let is_name = |word: &&str| word.len() > 3 && word.chars().all(|c| c.is_ascii_uppercase());
    files.map(str::to_owned).chain(sections.filter(is_name).map(|name| format!("{name}.md"))).collect()
}

#[test]
fn nothing_cites_a_document_that_is_not_here() {
    let found = cited_documents("METHOD §3, ../a/b.md.");
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["METHOD.md", "a/b.md"]);
    let (root, all) = (common::root(), paths_below(&common::root()));
    let folders = ["crates", "bench", "docs", "lab", "scripts", "fuzz/fuzz_targets"];
    let endings = ["rs", "md", "py", "sh", "cu", "mjs", "toml"];
    let (mut wrong, mut seen) = (Vec::new(), 0);
    let own = Path::new("crates/cli/tests/structure/mod.rs");
    for file in folders.iter().flat_map(|folder| files_below(&root.join(folder), &endings)) {
        let Ok(text) = fs::read_to_string(&file) else { continue };
        for cited in cited_documents(&text) {
            seen += 1;
            let is_here = all.iter().any(|path| path.ends_with(&cited));
            let is_written = WRITTEN.iter().any(|name| Path::new(&cited).ends_with(name));
            if !is_here && !is_written && !file.ends_with(own) {
                wrong.push(format!("{}: {cited}", file.display()));
            }
        }
    }
    assert!(seen > 50, "only {seen} documents are cited");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn public_names_exist_once() {
    let mut places: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for own in crates(&common::root()).iter().filter(|own| own.name != "testing") {
        for file in &own.files {
            for name in &file.public {
                places.entry(name.clone()).or_default().insert(format!("{}/{}", own.name, file.path.display()));
            }
        }
    }
    assert!(places.len() > 500, "only {} names were found", places.len());
    places.retain(|_, files| files.len() > 1);
    let allowed: Vec<&str> = DOUBLE_NAMES.split_whitespace().collect();
    let new: Vec<_> = places.iter().filter(|(name, _)| !allowed.contains(&name.as_str())).collect();
    assert!(new.is_empty(), "public names that exist twice:\n{new:#?}");
    let gone: Vec<_> = allowed.iter().filter(|name| !places.contains_key(**name)).collect();
    assert!(gone.is_empty(), "these exist once, take them off the list: {gone:?}");
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
        let lines = lines_without_tests(&file);
        assert!(lines <= MOST_LINES_OF_A_FILE, "{} has {lines} lines, at most {MOST_LINES_OF_A_FILE}", file.display());
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
