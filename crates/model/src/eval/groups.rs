//! The same numbers for parts of the photos; the nearest of many places, and how many are near.

use crate::eval::{Bootstrap, DistanceScores, Result, Rules, error::expect_len};
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon, LatitudeIndex};
use serde::Serialize;
use std::collections::BTreeMap;

/// Edges in km of the bins of distance to the nearest training photo.
pub(crate) const NOVELTY_EDGES_KM: [f64; 5] = [1.0, 10.0, 50.0, 200.0, 1000.0];

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) scores: DistanceScores,
}

impl Group {
    fn new(name: String, photos: &[usize], errors_km: &[f64], rules: Rules, bootstrap: &Bootstrap) -> Self {
        let part: Vec<f64> = photos.iter().map(|&photo| errors_km[photo]).collect();
        let mut scores = DistanceScores::new(&part, rules, &bootstrap.select(photos));
        scores.curve.clear(); // no one plots hundreds of them
        Self { name, scores }
    }
}

/// The scores of each group, the largest first (ties by name). Fails if there is not one label per photo.
pub(crate) fn by_label(labels: &[&str], errors_km: &[f64], rules: Rules, draws: &Bootstrap) -> Result<Vec<Group>> {
    expect_len("labels", labels.len(), errors_km.len())?;
    let mut parts: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (photo, label) in labels.iter().enumerate() {
        parts.entry(label).or_default().push(photo);
    }
    let group = |(name, part): (&str, Vec<usize>)| Group::new(name.to_owned(), &part, errors_km, rules, draws);
    let mut groups: Vec<Group> = parts.into_iter().map(group).collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.scores.n));
    Ok(groups)
}

/// The scores by the distance from each truth to the nearest training photo. Fails if there is not one distance per
/// photo.
pub(crate) fn by_novelty(nearest_km: &[f64], errors_km: &[f64], rules: Rules, draws: &Bootstrap) -> Result<Vec<Group>> {
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
        (!part.is_empty()).then(|| Group::new(name, &part, errors_km, rules, draws))
    });
    Ok(groups.collect())
}

/// Latitudes are searched so much farther: on the ellipsoid degrees are up to 0.7 % shorter, geodesics longer or
/// shorter.
const MARGIN: f64 = 1.012;

/// Distances to many places by an evaluation's rules; exact.
#[derive(Debug, Clone)]
pub struct Nearby {
    places: Vec<LatLon>,
    latitudes: LatitudeIndex,
    rules: Rules,
}

impl Nearby {
    /// Sorts the places.
    pub fn new(places: &[LatLon], rules: Rules) -> Self {
        let mut places = places.to_vec();
        let latitudes = LatitudeIndex::sort(&mut places, |place| *place);
        Self { places, latitudes, rules }
    }

    /// The distance to the nearest place; `None` when there are none.
    pub fn nearest_km(&self, to: LatLon) -> Option<f64> {
        let mut best = f64::INFINITY;
        self.latitudes.outwards(to.lat_deg(), f64::INFINITY, |row| {
            best = best.min(self.rules.distance_km(to, self.places[row]));
            band_deg(best)
        });
        best.is_finite().then_some(best)
    }

    /// How many places are within a distance.
    pub fn count_within(&self, of: LatLon, km: f64) -> usize {
        let band = self.latitudes.band(of.lat_deg(), band_deg(km));
        let near = |place: &&LatLon| self.rules.is_within(self.rules.distance_km(of, **place), km);
        self.places[band].iter().filter(near).count()
    }
}

/// Difference in latitude beyond which nothing is within a distance.
fn band_deg(km: f64) -> f64 {
    (MARGIN * km / EARTH_RADIUS_KM).to_degrees()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::Preset;
    use proptest::prelude::*;

    #[test]
    fn groups_share_out_all_photos() {
        let bootstrap = Bootstrap { replicates: 40, ..Bootstrap::default() };
        let nearest = [0.2, 0.9, 1.0, 49.9, 200.0, 5000.0];
        let errors = [0.5, 30.0, 10.0, 100.0, 3000.0, f64::INFINITY];
        let groups = by_novelty(&nearest, &errors, Rules::default(), &bootstrap).unwrap();
        let names: Vec<(&str, usize)> = groups.iter().map(|g| (g.name.as_str(), g.scores.n)).collect();
        assert_eq!(names[..3], [("under 1 km", 2), ("1 to 10 km", 1), ("10 to 50 km", 1)]);
        assert_eq!(names[3..], [("200 to 1000 km", 1), ("1000 km and more", 1)]);
        assert_eq!(groups[0].scores.radii[0].share.value, 0.5);
        assert_eq!(groups[4].scores.missing, 1);
        assert!(by_novelty(&nearest[1..], &errors, Rules::default(), &bootstrap).is_err());
        assert!(by_label(&["a"], &errors, Rules::default(), &bootstrap).is_err());
        let groups = by_label(&["Asia", "Europe", "Asia"], &errors[..3], Rules::default(), &bootstrap).unwrap();
        assert_eq!((groups[0].name.as_str(), groups[0].scores.n), ("Asia", 2));
    }

    fn place() -> impl Strategy<Value = LatLon> {
        (-90.0..=90.0f64, -180.0..180.0f64).prop_map(|(lat, lon)| LatLon::new(lat, lon).unwrap())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn as_brute_force(places in prop::collection::vec(place(), 1..60), of in place(), km in 1.0..9000.0f64) {
            for preset in [Preset::Plonk, Preset::Geoclip] {
                let rules = preset.rules();
                let nearby = Nearby::new(&places, rules);
                let all: Vec<f64> = places.iter().map(|p| rules.distance_km(of, *p)).collect();
                let nearest = all.iter().copied().fold(f64::INFINITY, f64::min);
                prop_assert_eq!(nearby.nearest_km(of), Some(nearest));
                prop_assert_eq!(nearby.count_within(of, km), all.iter().filter(|d| rules.is_within(**d, km)).count());
            }
        }
    }

    #[test]
    fn none_is_nearest_among_none() {
        assert_eq!(Nearby::new(&[], Rules::default()).nearest_km(LatLon::new(0.0, 0.0).unwrap()), None);
    }
}
