//! What README, model card and pages say is what docs/results.md says, to the digit: figures stand between marks that name them,
//! `<!--=METHOD.within-->8.1 / 37.2 / 59.0<!--/=-->`.

use std::{collections::BTreeMap, fs, path::Path};

fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    let rows = text.lines().filter(|line| line.starts_with("| "));
    rows.map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
}

/// What a cell begins with: the number before its interval.
fn number(cell: &str) -> &str {
    cell.split_whitespace().next().unwrap_or_default()
}

/// Every figure that may be quoted, by its name.
fn figures(results: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let section = |title: &str| {
        let from = results.find(title).unwrap_or_else(|| panic!("{title}"));
        let rest = &results[from + title.len()..];
        &rest[..rest.find("\n## ").unwrap_or(rest.len())]
    };
    // The tables of some photos come after the first.
    for row in rows(section("## All methods, mean of").split("\n### ").next().unwrap_or_default()) {
        // "what it is (name)", in the table of means; those of differences have other first cells.
        let Some((_, name)) = row[0].rsplit_once(" (").filter(|_| row.len() == 8) else { continue };
        let name = name.trim_end_matches(')');
        let within: Vec<&str> = row[1..4].iter().map(|cell| number(cell)).collect();
        found.insert(format!("{name}.within"), within.join(" / "));
        found.insert(format!("{name}.nll"), number(row[4]).replace('-', "−"));
        found.insert(format!("{name}.areas"), row[5].to_owned());
    }
    for row in rows(section("## The bundled model's probabilities")).filter(|row| row.len() == 9) {
        let fit = if row[0].contains("shipped") { "shipped" } else { row[0] };
        let name = format!("{fit}.{}", number(row[1]));
        found.insert(format!("{name}.nll"), row[3].replace('-', "−"));
        found.insert(format!("{name}.within"), row[4].to_owned());
        found.insert(format!("{name}.regions"), row[5].to_owned());
        found.insert(format!("{name}.radii"), row[6].to_owned());
        let count = |cell: &str| cell.trim_end_matches(')').rsplit(' ').next()?.parse::<f64>().ok();
        let silent = count(row[2]).zip(count(row[8])).map(|(all, silent)| format!("{:.1}", 100.0 * silent / all));
        found.extend(silent.map(|share| (format!("{name}.silent"), share)));
    }
    found
}

#[test]
fn pages_quote_the_results_to_the_digit() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |name: &str| fs::read_to_string(root.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let known = figures(&read("docs/results.md"));
    assert!(known.len() > 40, "{known:?}");
    for (page, least) in [("README.md", 3), ("MODEL_CARD.md", 3), ("docs/answers.md", 6)] {
        let text = read(page);
        let marks: Vec<&str> = text.split("<!--=").skip(1).collect();
        assert!(marks.len() >= least, "{page} quotes {} figures", marks.len());
        for mark in marks {
            let (name, rest) = mark.split_once("-->").unwrap_or_else(|| panic!("{page}: {mark}"));
            let (said, _) = rest.split_once("<!--/=-->").unwrap_or_else(|| panic!("{page}: {name} has no end"));
            let is = known.get(name).unwrap_or_else(|| panic!("{page}: no figure is called {name}"));
            assert_eq!(said, is, "{page}: {name}");
        }
    }
}

/// What says which network is which.
const WHICH: &str = "The default model, LocDiff-Bayes (`bayes`), is a density given the image, and its denoiser follows by Bayes' rule; \
                     the paper's network is the CS-UNet (`cs-unet`).";

#[test]
fn one_sentence_says_which_network_is_which() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let pages = ["README.md", "MODEL_CARD.md", "CITATION.cff", "docs/method.md", "docs/results.md", "lab/README.md"];
    let bundled =
        ["README.md", "streetview-l31/README.md", "src/lib.rs"].map(|name| format!("crates/bundled-model/{name}"));
    let sources = ["crates/locdiff/src/lib.rs", "crates/model/src/network.rs"];
    for page in pages.into_iter().chain(bundled.iter().map(String::as_str)).chain(sources) {
        let text = fs::read_to_string(root.join(page)).unwrap_or_else(|error| panic!("{page}: {error}"));
        let words: Vec<&str> = text.split_whitespace().filter(|word| !word.starts_with("//")).collect();
        assert!(words.join(" ").contains(WHICH), "{page}");
    }
}
