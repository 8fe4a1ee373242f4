//! What can be wrong with a clue.

use crate::places::PlacesError;
use thiserror::Error;

/// A clue that cannot be used. Each message is one line with a remedy.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the messages name the fields")]
#[non_exhaustive]
pub enum ClueError {
    #[error("\"{text}\" is not a clue: write KIND=VALUE, such as language=Polish, or KIND!=VALUE for the opposite")]
    NoClue { text: String },
    #[error("no clue is of the kind \"{kind}\"{}: the kinds are {kinds}", hint(near))]
    UnknownKind { kind: String, near: Vec<String>, kinds: String },
    #[error("the clue {kind}={value} cannot be used{}: {remedy}", hint(near))]
    Value { kind: &'static str, value: String, near: Vec<String>, remedy: String },
    #[error("the clue {kind}={value} cannot be used: it needs the photo's time, such as 2024-06-21T12:00Z")]
    NoTime { kind: &'static str, value: String },
    #[error("{count} clues are too many: give at most {most}")]
    TooMany { count: usize, most: usize },
    #[error(transparent)]
    Place(#[from] PlacesError),
}

fn hint(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!(" (did you mean {}?)", near.join(", ")) }
}

/// Up to three of these names that look like one.
pub(crate) fn alike<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let wanted = wanted.to_lowercase();
    let scored = names.into_iter().map(|name| (strsim::jaro_winkler(&name.to_lowercase(), &wanted), name));
    let mut scored: Vec<(f64, &str)> = scored.filter(|(score, _)| *score >= 0.8).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.into_iter().take(3).map(|(_, name)| name.to_owned()).collect()
}
