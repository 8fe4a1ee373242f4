//! What countries speak, write, pay with and dial: `assets/clues.txt`, by `lab/scripts/clue_tables.py`.

use crate::places::Countries;
use std::{collections::HashMap, sync::OnceLock};

/// A line of the table: a code, other names with commas between them, and countries.
pub(crate) struct Row {
    pub(crate) code: &'static str,
    pub(crate) names: &'static str,
    pub(crate) countries: &'static str,
}

/// The lines of a kind.
pub(crate) fn rows(kind: &str) -> impl Iterator<Item = Row> {
    let fields = |line: &'static str| line.splitn(4, '|').collect::<Vec<_>>();
    let all = include_str!("../../assets/clues.txt").lines().map(fields);
    let row = move |fields: Vec<&'static str>| match fields[..] {
        [own, code, names, countries] if own == kind => Some(Row { code, names, countries }),
        _ => None,
    };
    all.filter_map(row)
}

impl Row {
    /// Whether a text is its code or one of its names.
    pub(crate) fn is_called(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        !text.is_empty()
            && (self.code.to_lowercase() == text || self.names.split(',').any(|name| name.to_lowercase() == text))
    }

    /// The numbers of its countries, each with its share ("PL=929" is 0.929) or 1.
    pub(crate) fn shares(&self) -> impl Iterator<Item = (usize, f64)> {
        static NUMBERS: OnceLock<HashMap<&str, usize>> = OnceLock::new();
        let codes = || Countries::bundled().all().iter().enumerate().map(|(number, country)| (country.code(), number));
        let numbers = NUMBERS.get_or_init(|| codes().collect());
        self.countries.split(' ').filter_map(|one| {
            let (code, thousandths) = one.split_once('=').unwrap_or((one, "1000"));
            Some((*numbers.get(code)?, thousandths.parse::<f64>().ok()? / 1000.0))
        })
    }
}
