//! Names compared as people write them.

use std::{collections::HashMap, sync::OnceLock};

/// Lower case, without accents, apostrophes, dots and dashes; without "the", and "st" in full. `scripts/places_table.py` folds the
/// bundled names by the same table.
pub(crate) fn folded(name: &str) -> String {
    static TABLE: OnceLock<HashMap<char, &str>> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        let lines = include_str!("../../assets/fold.txt").lines().filter_map(|line| line.split_once(' '));
        let plain = |plain| match plain {
            "-" => "",
            "_" => " ",
            other => other,
        };
        lines.flat_map(|(to, letters)| letters.chars().map(move |letter| (letter, plain(to)))).collect()
    });
    let mut text = String::with_capacity(name.len());
    for letter in name.chars().flat_map(char::to_lowercase) {
        let plain = if letter.is_ascii_alphanumeric() { None } else { table.get(&letter) };
        match plain {
            Some(plain) => text.push_str(plain),
            None => text.push(letter),
        }
    }
    let words = text.split_whitespace().filter(|word| *word != "the");
    words.map(|word| if word == "st" { "saint" } else { word }).collect::<Vec<_>>().join(" ")
}
