//! Clues of what is written or said: languages, scripts, currencies, numbers, domains.

use crate::{clues::ClueError, clues::error::alike, clues::tables::rows, places::Countries};
use crate::{clues::asked::AskedClue, clues::asked::ClueFit, evidence::Evidence, evidence::evidence_of_text};

/// Reads names or codes from the table of its kind, with commas between them: one of these.
pub(crate) fn named(asked: &AskedClue<'_>) -> Result<ClueFit, ClueError> {
    let mut fits = vec![0.0; Countries::bundled().all().len() + 1];
    for part in asked.value.split(',') {
        let part = part.trim().trim_start_matches('.');
        let mut found = rows(asked.kind).filter(|row| row.is_called(part)).peekable();
        if found.peek().is_none() {
            let all: Vec<_> = rows(asked.kind).collect();
            let names = all.iter().flat_map(|row| row.names.split(',').chain([row.code])).filter(|name| name.len() > 1);
            let mut near = alike(part, names);
            near.dedup();
            let remedy = format!("no {} is called \"{part}\"; give its English name or its code", asked.kind);
            return Err(ClueError::Value { kind: asked.kind, value: asked.value.to_owned(), near, remedy });
        }
        found.for_each(|row| row.shares().for_each(|(number, share)| fits[number] += share));
    }
    Ok(ClueFit::Countries(fits))
}

/// Reads "+46 31 123": the countries of the longest calling code that it begins with.
pub(crate) fn phone(asked: &AskedClue<'_>) -> Result<ClueFit, ClueError> {
    let digits: String = asked.value.chars().filter(char::is_ascii_digit).collect();
    let digits = digits.strip_prefix("00").unwrap_or(&digits);
    let found = rows("phone").filter(|row| digits.starts_with(row.code)).max_by_key(|row| row.code.len());
    let row = found.filter(|_| digits.len() <= 15).ok_or_else(|| asked.refuse("give a calling code, such as +46"))?;
    if row.code == "1" && digits.len() >= 4 {
        // North America's area codes are known as those of numbers in a photo.
        let mut found = evidence_of_text(&[(&format!("+1 {}-555-0100", &digits[1..4]), 1.0)]);
        found.retain(|line| line.evidence.kind == "phone" && !line.evidence.kernels.is_empty());
        if !found.is_empty() {
            return Ok(ClueFit::Whole(found.into_iter().map(|line| line.evidence).collect()));
        }
    }
    let mut fits = vec![0.0; Countries::bundled().all().len() + 1];
    row.shares().for_each(|(number, share)| fits[number] = share);
    Ok(ClueFit::Countries(fits))
}

/// Reads a text that somebody saw, as text in a photo is read.
pub(crate) fn text(asked: &AskedClue<'_>) -> Result<ClueFit, ClueError> {
    let found: Vec<Evidence> = evidence_of_text(&[(asked.value, 1.0)]).into_iter().map(|line| line.evidence).collect();
    let remedy = "it has no name, language, number or address that is known; leave it out";
    if found.is_empty() { Err(asked.refuse(remedy)) } else { Ok(ClueFit::Whole(found)) }
}
