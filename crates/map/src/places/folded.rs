//! Names compared as people write them.

/// Lower case, without the accents of European names and without dots; "the" and "st" as one writes them in full.
pub(crate) fn folded(name: &str) -> String {
    let plain: String = name
        .to_lowercase()
        .chars()
        .filter_map(|letter| match letter {
            'à'..='å' => Some('a'),
            'ç' => Some('c'),
            'è'..='ë' => Some('e'),
            'ì'..='ï' => Some('i'),
            'ò'..='ö' => Some('o'),
            'ù'..='ü' => Some('u'),
            'ñ' => Some('n'),
            '’' => Some('\''),
            '-' => Some(' '),
            '.' => None,
            other => Some(other),
        })
        .collect();
    let words = plain.split_whitespace().filter(|word| *word != "the");
    words.map(|word| if word == "st" { "saint" } else { word }).collect::<Vec<_>>().join(" ")
}
