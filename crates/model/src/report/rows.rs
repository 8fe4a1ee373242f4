//! Which prediction belongs to which truth.

use locdiff_io::data::PlaceTable;
use std::collections::HashMap;
use thiserror::Error;

/// How rows are matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Matching {
    /// Row k is row k, whatever the names say.
    pub by_order: bool,
    /// Truths without a row are photos without an answer; rows without a truth are left out.
    pub allow_absent: bool,
}

/// A file's rows and, where it names its photos, their names.
#[derive(Debug, Clone, Copy)]
pub struct FileRows<'a> {
    /// The file, for messages.
    pub file: &'a str,
    /// How many rows it has.
    pub rows: usize,
    /// The photos' names.
    pub ids: Option<&'a [String]>,
}

impl<'a> FileRows<'a> {
    /// Those of a table.
    pub fn of(file: &'a str, table: &'a PlaceTable) -> Self {
        Self { file, rows: table.places.len(), ids: table.ids.as_ref().map(|(_, ids)| ids.as_slice()) }
    }
}

/// Files whose rows do not belong together.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "the messages name the fields")]
#[non_exhaustive]
pub enum RowError {
    #[error(
        "{truth_file} has {truths} rows, {file} has {rows}: by order row k of both is the same photo; give both an id \
         column, or name it"
    )]
    Lengths { truth_file: String, truths: usize, file: String, rows: usize },
    #[error(
        "{file} has no row for '{}'{}: add it, with empty lat and lon if there is no answer, or allow photos to be \
         absent; if the ids do not fit, match by order", id.escape_debug(), and_more(*count)
    )]
    Absent { file: String, id: String, count: usize },
    #[error(
        "{file} has '{}'{}, which {truth_file} has not: is it the right file? Photos may be allowed to be absent",
        id.escape_debug(), and_more(*count)
    )]
    Strange { file: String, truth_file: String, id: String, count: usize },
    #[error("{file} and {truth_file} have no id in common: name the id column")]
    NothingCommon { file: String, truth_file: String },
    #[error(
        "{file}: '{}' is in row {first} and in row {second}: every photo has one row; name another id column, or match \
         by order", id.escape_debug()
    )]
    Twice { file: String, id: String, first: usize, second: usize },
}

fn and_more(count: usize) -> String {
    if count > 1 { format!(" and {} more", count - 1) } else { String::new() }
}

/// For every truth its row of the predictions, and how many rows of the predictions are for none.
type Matched = (Vec<Option<usize>>, usize);

/// Matches truths and predictions. Fails on files whose rows do not belong together.
pub fn match_rows(truth: FileRows<'_>, predictions: FileRows<'_>, matching: Matching) -> Result<Matched, RowError> {
    let (truth_file, file) = (truth.file.to_owned(), predictions.file.to_owned());
    let (Some(truth_ids), Some(ids), false) = (truth.ids, predictions.ids, matching.by_order) else {
        if truth.rows != predictions.rows {
            return Err(RowError::Lengths { truth_file, truths: truth.rows, file, rows: predictions.rows });
        }
        return Ok(((0..predictions.rows).map(Some).collect(), 0));
    };
    let known = index_of(truth.file, truth_ids)?;
    let found = index_of(predictions.file, ids)?;
    let absent: Vec<&String> = truth_ids.iter().filter(|id| !found.contains_key(id.as_str())).collect();
    let strange: Vec<&String> = ids.iter().filter(|id| !known.contains_key(id.as_str())).collect();
    if !matching.allow_absent {
        if let Some(&id) = absent.first() {
            return Err(RowError::Absent { file, id: id.clone(), count: absent.len() });
        }
        if let Some(&id) = strange.first() {
            return Err(RowError::Strange { file, truth_file, id: id.clone(), count: strange.len() });
        }
    }
    if absent.len() == truth.rows {
        return Err(RowError::NothingCommon { file, truth_file });
    }
    Ok((truth_ids.iter().map(|id| found.get(id.as_str()).copied()).collect(), strange.len()))
}

/// Truths in the order of another file's `count` rows, of which [`match_rows`] found one for each truth.
pub fn in_row_order<T: Copy>(truths: &[Option<T>], rows: &[Option<usize>], count: usize) -> Vec<Option<T>> {
    let mut ordered = vec![None; rows.iter().flatten().max().map_or(0, |last| last + 1).max(count)];
    for (row, truth) in rows.iter().zip(truths) {
        if let Some(row) = row {
            ordered[*row] = *truth;
        }
    }
    ordered
}

fn index_of<'a>(file: &str, ids: &'a [String]) -> Result<HashMap<&'a str, usize>, RowError> {
    let mut rows = HashMap::with_capacity(ids.len());
    for (row, id) in ids.iter().enumerate() {
        if let Some(before) = rows.insert(id.as_str(), row) {
            let (first, second) = (before + 1, row + 1);
            return Err(RowError::Twice { file: file.to_owned(), id: id.clone(), first, second });
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(truth: &[&str], ids: &[&str], by_order: bool, allow_absent: bool) -> Result<Matched, RowError> {
        let names = |ids: &[&str]| ids.iter().map(ToString::to_string).collect::<Vec<_>>();
        let (truth, ids) = (names(truth), names(ids));
        let truth = FileRows { file: "t.csv", rows: truth.len(), ids: Some(&truth) };
        let ids = FileRows { file: "p.csv", rows: ids.len(), ids: Some(&ids) };
        match_rows(truth, ids, Matching { by_order, allow_absent })
    }

    #[test]
    fn names_or_order_decide() {
        assert_eq!(rows(&["a", "b"], &["b", "a"], false, false).unwrap(), (vec![Some(1), Some(0)], 0));
        assert_eq!(rows(&["a", "b"], &["b", "a"], true, false).unwrap(), (vec![Some(0), Some(1)], 0));
        assert_eq!(rows(&["a", "b"], &["b", "x"], false, true).unwrap(), (vec![None, Some(0)], 1));
    }

    #[test]
    fn mismatches_are_told() {
        for (truth, ids, by_order, allow, part) in [
            (&["a", "b"][..], &["a"][..], true, false, "t.csv has 2 rows, p.csv has 1"),
            (&["a", "b", "c"], &["a"], false, false, "p.csv has no row for 'b' and 1 more"),
            (&["a"], &["a", "x"], false, false, "p.csv has 'x', which t.csv has not"),
            (&["a"], &["a", "a"], false, false, "p.csv: 'a' is in row 1 and in row 2"),
            (&["a"], &["x"], false, true, "no id in common"),
        ] {
            let message = rows(truth, ids, by_order, allow).unwrap_err().to_string();
            assert!(message.contains(part), "{message}");
        }
    }
}
