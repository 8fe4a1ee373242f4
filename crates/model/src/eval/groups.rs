//! The same numbers for parts of the photos.

use crate::eval::{Bootstrap, DistanceScores, Result, Rules, error::expect_len};
use serde::Serialize;
use std::collections::BTreeMap;

/// Edges in km of the bins of distance to the nearest training photo.
pub const NOVELTY_EDGES_KM: [f64; 5] = [1.0, 10.0, 50.0, 200.0, 1000.0];

/// A part of the photos and its scores.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// What its photos share.
    pub name: String,
    /// Its scores.
    pub scores: DistanceScores,
}

impl Group {
    fn new(name: String, photos: &[usize], errors_km: &[f64], rules: Rules, bootstrap: &Bootstrap) -> Self {
        let part: Vec<f64> = photos.iter().map(|&photo| errors_km[photo]).collect();
        let mut scores = DistanceScores::new(&part, rules, &bootstrap.select(photos));
        scores.curve.clear(); // no one plots hundreds of them
        Self { name, scores }
    }
}

/// The scores of each group of photos, the largest group first (ties by name).
///
/// ```
/// use locdiff_model::eval::{Bootstrap, Rules, by_label};
/// let groups = by_label(&["Asia", "Europe", "Asia"], &[10.0, 20.0, 900.0], Rules::default(), &Bootstrap::default())?;
/// assert_eq!((groups[0].name.as_str(), groups[0].scores.n), ("Asia", 2));
/// # Ok::<(), locdiff_model::eval::EvalError>(())
/// ```
///
/// Fails if there is not one label per photo.
pub fn by_label<S: AsRef<str>>(
    labels: &[S],
    errors_km: &[f64],
    rules: Rules,
    bootstrap: &Bootstrap,
) -> Result<Vec<Group>> {
    expect_len("labels", labels.len(), errors_km.len())?;
    let mut parts: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (photo, label) in labels.iter().enumerate() {
        parts.entry(label.as_ref()).or_default().push(photo);
    }
    let group = |(name, part): (&str, Vec<usize>)| Group::new(name.to_owned(), &part, errors_km, rules, bootstrap);
    let mut groups: Vec<Group> = parts.into_iter().map(group).collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.scores.n));
    Ok(groups)
}

/// The scores by the distance from each truth to the nearest training photo, from near to far: whether a system knows
/// places or finds them. Fails if there is not one distance per photo.
pub fn by_novelty(nearest_km: &[f64], errors_km: &[f64], rules: Rules, bootstrap: &Bootstrap) -> Result<Vec<Group>> {
    expect_len("distances to training photos", nearest_km.len(), errors_km.len())?;
    let bin = |km: f64| NOVELTY_EDGES_KM.partition_point(|edge| *edge <= km);
    let groups = (0..=NOVELTY_EDGES_KM.len()).filter_map(|index| {
        let part: Vec<usize> = (0..nearest_km.len()).filter(|&photo| bin(nearest_km[photo]) == index).collect();
        let name = match (index.checked_sub(1).map(|i| NOVELTY_EDGES_KM[i]), NOVELTY_EDGES_KM.get(index)) {
            (None, Some(to)) => format!("under {to} km"),
            (Some(from), Some(to)) => format!("{from} to {to} km"),
            (Some(from), None) => format!("{from} km and more"),
            (None, None) => return None,
        };
        (!part.is_empty()).then(|| Group::new(name, &part, errors_km, rules, bootstrap))
    });
    Ok(groups.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_share_out_all_photos() {
        let bootstrap = Bootstrap { replicates: 40, ..Bootstrap::default() };
        let nearest = [0.2, 0.9, 1.0, 49.9, 200.0, 5000.0];
        let errors = [0.5, 30.0, 10.0, 100.0, 3000.0, f64::INFINITY];
        let groups = by_novelty(&nearest, &errors, Rules::default(), &bootstrap).unwrap();
        let names: Vec<(&str, usize)> = groups.iter().map(|g| (g.name.as_str(), g.scores.n)).collect();
        let expected =
            [("under 1 km", 2), ("1 to 10 km", 1), ("10 to 50 km", 1), ("200 to 1000 km", 1), ("1000 km and more", 1)];
        assert_eq!(names, expected);
        assert_eq!(groups[0].scores.radii[0].share.value, 0.5);
        assert_eq!(groups[4].scores.missing, 1);
        assert!(by_novelty(&nearest[1..], &errors, Rules::default(), &bootstrap).is_err());
        assert!(by_label(&["a"], &errors, Rules::default(), &bootstrap).is_err());
    }
}
