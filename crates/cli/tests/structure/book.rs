//! The documents: links lead somewhere, every page is in the book, and the first pages stay short.

use super::sources::paths_below;
use crate::common::root;
use std::{fs, path::Path};

/// Words of documents that people read first. These limits are met, not raised.
const MOST_WORDS: [(&str, usize); 2] = [("README.md", 900), ("ARCHITECTURE.md", 1_200)];

/// What GitHub makes of a heading: small letters, spaces as dashes, no other signs.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    text.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Lines outside blocks of code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut code = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        !code && !fence
    })
}

/// Targets of `[text](target)` on a line, those in code left out.
fn targets(line: &str) -> Vec<&str> {
    let spoken: Vec<&str> = line.split('`').step_by(2).collect();
    spoken.iter().flat_map(|part| part.split("](").skip(1).filter_map(|rest| rest.split(')').next())).collect()
}

fn pages() -> Vec<String> {
    let root = root();
    let mut pages: Vec<String> = ["", "docs/", "bench/", "lab/", "python/", "crates/serve/page/"]
        .iter()
        .flat_map(|folder| {
            fs::read_dir(root.join(folder)).unwrap().map(move |entry| (folder, entry.unwrap().file_name()))
        })
        .map(|(folder, name)| format!("{folder}{}", name.to_string_lossy()))
        .filter(|name| Path::new(name).extension().is_some_and(|end| end == "md"))
        .collect();
    pages.sort();
    pages
}

#[test]
fn links_lead_somewhere() {
    let (root, mut wrong, mut seen) = (root(), Vec::new(), 0);
    for page in pages() {
        let text = fs::read_to_string(root.join(&page)).unwrap();
        for target in
            prose(&text).flat_map(targets).filter(|target| !target.contains("://") && !target.starts_with("mailto:"))
        {
            seen += 1;
            let (file, part) = target.split_once('#').map_or((target, None), |(file, part)| (file, Some(part)));
            let path = if file.is_empty() { root.join(&page) } else { root.join(&page).parent().unwrap().join(file) };
            let Ok(there) = fs::metadata(&path) else {
                wrong.push(format!("{page}: {target} is not there"));
                continue;
            };
            if let Some(part) = part.filter(|_| there.is_file()) {
                let other = fs::read_to_string(&path).unwrap();
                if !prose(&other).any(|line| line.starts_with('#') && anchor(line) == part) {
                    wrong.push(format!("{page}: {target} has no such heading"));
                }
            }
        }
    }
    assert!(seen > 50, "only {seen} links were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Endings of names that are files.
const FILE_ENDINGS: [&str; 14] =
    ["rs", "md", "py", "sh", "toml", "json", "mjs", "js", "css", "html", "csv", "yml", "txt", "lock"];

/// Whether words in backticks are a path: a slash or a file's ending, and nothing that no path here has.
fn is_path(words: &str) -> bool {
    let is_plain = words.chars().all(|c| c.is_ascii_alphanumeric() || "_./-".contains(c));
    let has_ending = words.rsplit_once('.').is_some_and(|(_, ending)| FILE_ENDINGS.contains(&ending));
    let is_elsewhere = words.starts_with(['/', '-']) || words.starts_with("target/");
    is_plain && !is_elsewhere && (words.contains('/') || has_ending)
}

/// Paths count from the root, or from a folder that the page names.
#[test]
fn paths_in_the_architecture_exist() {
    for (words, expected) in
        [("a/b", true), ("x.rs", true), ("a::b/c", false), ("cargo test x/y", false), ("v0.3", false)]
    {
        assert_eq!(is_path(words), expected, "{words}");
    }
    let (all, mut wrong) = (paths_below(&root()), Vec::new());
    for page in ["ARCHITECTURE.md", "CONTRIBUTING.md"] {
        let text = fs::read_to_string(root().join(page)).unwrap();
        let paths = prose(&text).flat_map(|line| line.split('`').skip(1).step_by(2)).filter(|words| is_path(words));
        let missing = paths.filter(|path| !all.iter().any(|known| known.ends_with(path)));
        wrong.extend(missing.map(|path| format!("{page}: {path}")));
    }
    assert!(wrong.is_empty(), "not there:\n{}", wrong.join("\n"));
}

#[test]
fn every_page_is_in_the_book() {
    let book = fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let missing: Vec<String> = pages()
        .into_iter()
        .filter_map(|page| page.strip_prefix("docs/").map(str::to_owned))
        .filter(|page| page != "SUMMARY.md" && !book.contains(&format!("]({page})")))
        .collect();
    assert!(missing.is_empty(), "not in docs/SUMMARY.md: {missing:?}");
}

#[test]
fn first_pages_are_short() {
    for (page, most) in MOST_WORDS {
        let words = fs::read_to_string(root().join(page)).unwrap().split_whitespace().count();
        assert!(words <= most, "{page} has {words} words; at most {most}");
    }
}

/// Blocks of shell code: one command a line, continued lines joined, without comments.
fn shell_lines(text: &str) -> Vec<String> {
    let joined = text.replace("\\\n", " ");
    let mut shell = false;
    let mut lines = Vec::new();
    for line in joined.lines() {
        match line.trim_start().strip_prefix("```") {
            Some(kind) => shell = !shell && ["sh", "bash", "console"].contains(&kind),
            None if shell => lines.push(line.split(" #").next().unwrap().replace(" …", "")),
            None => {}
        }
    }
    lines
}

/// With `--help` at its end a command is parsed to there, and does nothing.
#[test]
fn commands_in_the_documents_are_understood() {
    let folder = tempfile::tempdir().unwrap();
    let mut seen = 0;
    for page in pages() {
        let text = fs::read_to_string(root().join(&page)).unwrap();
        for line in shell_lines(&text) {
            for part in line.split("&&").flat_map(|part| part.split(['|', ';', '>'])) {
                let Some(words) = part.trim().strip_prefix("locdiff ") else { continue };
                let script = format!("exec \"$0\" {words} --help");
                let asked = std::process::Command::new("sh")
                    .args(["-c", &script, env!("CARGO_BIN_EXE_locdiff")])
                    .current_dir(folder.path())
                    .output()
                    .unwrap();
                assert!(asked.status.success(), "{page}: {part}\n{}", String::from_utf8_lossy(&asked.stderr));
                seen += 1;
            }
        }
    }
    assert!(seen > 40, "only {seen} commands were found");
}
