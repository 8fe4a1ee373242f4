//! Which prediction belongs to which truth.

use locdiff_base::ensure;
use locdiff_io::data::{DataError, PlaceTable, PointColumns, TableReader, read_points};
use locdiff_shdd::sphere::LatLon;
use std::{collections::HashMap, collections::HashSet, path::Path, path::PathBuf};
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
#[derive(Debug, Clone, PartialEq, Error)]
#[allow(missing_docs, reason = "the messages name the fields")]
#[non_exhaustive]
pub enum RowError {
    #[error(
        "{truth_file} has {truths} rows, {file} has {rows}: matched by order, row k of both must be the same photo; give both an id \
         column, or name it"
    )]
    Lengths { truth_file: String, truths: usize, file: String, rows: usize },
    #[error(
        "{file} has no row for '{}'{}: add it (with empty lat and lon if there is no answer), allow absent photos, or match \
         rows by order", id.escape_debug(), and_more(*count)
    )]
    Absent { file: String, id: String, count: usize },
    #[error(
        "{file} has '{}'{}, but {truth_file} does not: check that it is the right file, or allow absent photos",
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
    #[error(
        "'{}' may be '{}' or '{}' of {file}: give photos their whole paths in both files", id.escape_debug(),
        first.escape_debug(), second.escape_debug()
    )]
    Ambiguous { file: String, id: String, first: String, second: String },
    #[error("{file} has no location for '{}'{}: add the photo by its name in {names}", id.escape_debug(), and_more(*count))]
    NoPlace { file: String, names: String, id: String, count: usize },
    #[error("{file}: row {row} comes after row {before}: sort the table by its column 'row'")]
    Order { file: String, row: f64, before: f64 },
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
    let found = match_names((truth.file, truth_ids), (predictions.file, ids))?;
    let matched: HashSet<usize> = found.iter().flatten().copied().collect();
    let absent: Vec<&String> =
        truth_ids.iter().zip(&found).filter(|(_, row)| row.is_none()).map(|(id, _)| id).collect();
    let strange: Vec<&String> = (0..).zip(ids).filter(|(row, _)| !matched.contains(row)).map(|(_, id)| id).collect();
    if !matching.allow_absent {
        if let Some(&id) = absent.first() {
            return Err(RowError::Absent { file, id: id.clone(), count: absent.len() });
        }
        if let Some(&id) = strange.first() {
            return Err(RowError::Strange { file, truth_file, id: id.clone(), count: strange.len() });
        }
    }
    ensure!(absent.len() != truth.rows, RowError::NothingCommon { file, truth_file });
    let strange = strange.len();
    Ok((found, strange))
}

/// The row of the second file for each name of the first: by the whole name, else by the end of the path, `photos/1.jpg` for
/// `../photos/1.jpg` or `1.jpg`. Fails on a name that a file has twice, or that two could be.
fn match_names(
    (truth_file, truth_ids): (&str, &[String]),
    (file, ids): (&str, &[String]),
) -> Result<Vec<Option<usize>>, RowError> {
    let known = index_of(truth_file, truth_ids)?;
    let whole = index_of(file, ids)?;
    let mut rest: HashMap<&str, Vec<usize>> = HashMap::new();
    for (row, id) in ids.iter().enumerate().filter(|(_, id)| !known.contains_key(id.as_str())) {
        rest.entry(parts(id).next().unwrap_or_default()).or_default().push(row);
    }
    let (mut found, mut taken) = (Vec::with_capacity(truth_ids.len()), HashMap::new());
    for id in truth_ids {
        let by_end = || rest.get(parts(id).next().unwrap_or_default()).into_iter().flatten().copied();
        let mut candidates = by_end().filter(|row| parts(id).zip(parts(&ids[*row])).all(|(a, b)| a == b));
        let row = whole.get(id.as_str()).copied().or_else(|| candidates.next());
        let other = candidates.next().filter(|_| !whole.contains_key(id.as_str()));
        if let (Some(row), Some(other)) = (row, other) {
            let (first, second) = (ids[row].clone(), ids[other].clone());
            return Err(RowError::Ambiguous { file: file.to_owned(), id: id.clone(), first, second });
        }
        if let Some((row, first)) = row.and_then(|row| Some((row, taken.insert(row, id)?))) {
            let (file, id, first, second) = (truth_file.to_owned(), ids[row].clone(), first.clone(), id.clone());
            return Err(RowError::Ambiguous { file, id, first, second });
        }
        found.push(row);
    }
    Ok(found)
}

/// The parts of a path from its end, without those that lead up or nowhere.
fn parts(id: &str) -> impl Iterator<Item = &str> {
    id.rsplit(['/', '\\']).filter(|part| !matches!(*part, "" | "." | ".."))
}

/// The places of a file's rows of embeddings, and the rows of the file of locations that they stand in. Rows are found by name if the
/// file of locations and the table of the embeddings (`NAME.csv`, as `embed` writes it) both name the photos. Otherwise row k is row k.
/// Fails on names that contradict each other, photos without a place and files that cannot be read.
pub fn places_of_rows<E: From<RowError> + From<DataError>>(
    embeddings: &Path,
    rows: usize,
    locations: &Path,
) -> Result<(Vec<LatLon>, Option<Vec<usize>>), E> {
    let columns = PointColumns::default();
    let file = locations.display().to_string();
    let table = PlaceTable::read(locations, None, &columns, None, |name| name == "row")?;
    let beside = names_beside(embeddings, locations)?.filter(|(_, names)| names.len() == rows);
    let (Some((beside, names)), Some((_, ids))) = (beside, &table.ids) else {
        let numbers = table.numbers.first().map_or(&[][..], |(_, numbers)| numbers.as_slice());
        if let Some(pair) = numbers.windows(2).find(|pair| pair[0] > pair[1]) {
            return Err(RowError::Order { file, row: pair[1], before: pair[0] }.into());
        }
        let places = table.places.into_iter().collect::<Option<Vec<_>>>();
        return Ok((places.map_or_else(|| read_points(locations, None, &columns), Ok)?, None));
    };
    let beside = beside.display().to_string();
    let found = match_names((&beside, &names), (&file, ids))?;
    let place = |row: &Option<usize>| row.and_then(|row| Some((table.places[row]?, row)));
    let pairs: Vec<Option<(LatLon, usize)>> = found.iter().map(place).collect();
    if let Some(first) = pairs.iter().position(Option::is_none) {
        let count = pairs.iter().filter(|pair| pair.is_none()).count();
        return Err(RowError::NoPlace { file, names: beside, id: names[first].clone(), count }.into());
    }
    let (places, rows) = pairs.into_iter().flatten().unzip();
    Ok((places, Some(rows)))
}

/// The table that `embed` writes next to a file of embeddings, and the names of its rows. `None` if it is `other` or names no photos.
/// Fails if it cannot be read.
pub fn names_beside(embeddings: &Path, other: &Path) -> Result<Option<(PathBuf, Vec<String>)>, DataError> {
    let path = embeddings.with_extension("csv");
    let true_path = |path: &Path| std::fs::canonicalize(path).ok();
    if true_path(&path).is_none_or(|own| Some(own) == true_path(other)) {
        return Ok(None);
    }
    let mut table = TableReader::open(&path)?;
    let Some(at) = table.find(&["path"]) else { return Ok(None) };
    let mut names = Vec::new();
    while let Some((_, mut fields)) = table.next_row()? {
        names.push(fields.swap_remove(at));
    }
    Ok(Some((path, names)))
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
        let found = rows(&["../p/1.jpg", "2.jpg", "q/3.jpg"], &["p/2.jpg", "p/1.jpg", "q/3.jpg"], false, false);
        assert_eq!(found.unwrap(), (vec![Some(1), Some(0), Some(2)], 0));
    }

    #[test]
    fn mismatches_are_told() {
        for (truth, ids, by_order, allow, part) in [
            (&["a", "b"][..], &["a"][..], true, false, "t.csv has 2 rows, p.csv has 1"),
            (&["a", "b", "c"], &["a"], false, false, "p.csv has no row for 'b' and 1 more"),
            (&["a"], &["a", "x"], false, false, "p.csv has 'x', but t.csv does not"),
            (&["a"], &["a", "a"], false, false, "p.csv: 'a' is in row 1 and in row 2"),
            (&["a"], &["x"], false, true, "no id in common"),
            (&["p/1.jpg"], &["q/1.jpg"], false, false, "p.csv has no row for 'p/1.jpg'"),
            (&["1.jpg"], &["p/1.jpg", "q/1.jpg"], false, false, "'1.jpg' may be 'p/1.jpg' or 'q/1.jpg' of p.csv"),
            (&["p/1.jpg", "q/1.jpg"], &["1.jpg"], false, true, "'1.jpg' may be 'p/1.jpg' or 'q/1.jpg' of t.csv"),
        ] {
            let message = rows(truth, ids, by_order, allow).unwrap_err().to_string();
            assert!(message.contains(part), "{message}");
        }
    }
}
