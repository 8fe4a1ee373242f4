//! Which prediction belongs to which truth.

use anyhow::{Result, bail, ensure};
use locdiff_data::PlaceTable;
use std::collections::HashMap;
use std::path::Path;

/// How rows are matched.
#[derive(Debug, Clone, Copy)]
pub(super) struct Matching {
    /// Row k is row k, whatever the names say.
    pub(super) by_order: bool,
    /// Truths without a row are photos without an answer; rows without a truth are left out.
    pub(super) allow_absent: bool,
}

/// For every truth its row of the predictions, and how many rows of the predictions are for none.
pub(super) fn match_rows(
    (truth_file, truth): (&Path, &PlaceTable),
    (file, predictions): (&Path, &PlaceTable),
    matching: Matching,
) -> Result<(Vec<Option<usize>>, usize)> {
    let (truth_file, file) = (truth_file.display(), file.display());
    let (truth_rows, rows) = (truth.places.len(), predictions.places.len());
    let (Some((_, truth_ids)), Some((_, ids)), false) = (&truth.ids, &predictions.ids, matching.by_order)
    else {
        ensure!(
            truth_rows == rows,
            "{truth_file} has {truth_rows} rows, {file} has {rows}: by order row k of both is the same photo; \
             give both an id column, or name it with --id-column"
        );
        return Ok(((0..rows).map(Some).collect(), 0));
    };
    let known = index_of(&truth_file.to_string(), truth_ids)?;
    let found = index_of(&file.to_string(), ids)?;
    let absent: Vec<&str> =
        truth_ids.iter().map(String::as_str).filter(|id| !found.contains_key(id)).collect();
    let strange: Vec<&str> = ids.iter().map(String::as_str).filter(|id| !known.contains_key(id)).collect();
    if !matching.allow_absent {
        if let Some(id) = absent.first() {
            bail!(
                "{file} has no row for '{}'{}: add it, with empty lat and lon if there is no answer, or give \
                 --allow-absent; if the ids do not fit, --by-order",
                id.escape_debug(),
                and_more(absent.len())
            );
        }
        if let Some(id) = strange.first() {
            bail!(
                "{file} has '{}'{}, which {truth_file} has not: is it the right file? --allow-absent leaves them out",
                id.escape_debug(),
                and_more(strange.len())
            );
        }
    }
    ensure!(
        absent.len() < truth_rows,
        "{file} and {truth_file} have no id in common: name the column with --id-column"
    );
    Ok((truth_ids.iter().map(|id| found.get(id.as_str()).copied()).collect(), strange.len()))
}

fn and_more(count: usize) -> String {
    if count > 1 { format!(" and {} more", count - 1) } else { String::new() }
}

/// The row of every name.
fn index_of<'a>(file: &str, ids: &'a [String]) -> Result<HashMap<&'a str, usize>> {
    let mut rows = HashMap::with_capacity(ids.len());
    for (row, id) in ids.iter().enumerate() {
        if let Some(before) = rows.insert(id.as_str(), row) {
            let id = id.escape_debug();
            bail!(
                "{file}: '{id}' is in row {} and in row {}: every photo has one row; name another column with \
                 --id-column, or give --by-order",
                before + 1,
                row + 1
            );
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(ids: &[&str]) -> PlaceTable {
        PlaceTable {
            ids: Some(("id".into(), ids.iter().map(ToString::to_string).collect())),
            places: vec![None; ids.len()],
            numbers: Vec::new(),
        }
    }

    fn rows(
        truth: &[&str],
        ids: &[&str],
        by_order: bool,
        allow_absent: bool,
    ) -> Result<(Vec<Option<usize>>, usize)> {
        let (truth, ids) = (table(truth), table(ids));
        let matching = Matching { by_order, allow_absent };
        match_rows((Path::new("t.csv"), &truth), (Path::new("p.csv"), &ids), matching)
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
