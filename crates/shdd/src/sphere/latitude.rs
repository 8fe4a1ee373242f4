//! Rows sorted by latitude: whatever is near a place lies in a band around its parallel.

use crate::sphere::LatLon;
use std::ops::Range;

/// The latitudes of rows that are sorted by them. Exact, and fast wherever a band holds few rows.
///
/// ```
/// use locdiff_shdd::sphere::{LatLon, LatitudeIndex};
/// let mut towns = [LatLon::new(48.9, 2.4)?, LatLon::new(-12.0, -77.0)?, LatLon::new(51.5, -0.1)?];
/// let index = LatitudeIndex::sort(&mut towns, |town| *town);
/// assert_eq!(index.band(50.0, 2.0), 1..3);
///
/// let place = LatLon::new(50.0, 1.0)?.to_unit();
/// let mut nearest = (f64::INFINITY, 0);
/// index.outwards(50.0, f64::INFINITY, |row| {
///     let angle_deg = towns[row].to_unit().angle_rad(place).to_degrees();
///     nearest = if angle_deg < nearest.0 { (angle_deg, row) } else { nearest };
///     nearest.0
/// });
/// assert_eq!(towns[nearest.1].lat_deg(), 48.9);
/// # Ok::<(), locdiff_shdd::sphere::SphereError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LatitudeIndex {
    lats_deg: Vec<f64>,
}

impl LatitudeIndex {
    /// Sorts rows by the latitudes of their locations, and keeps the latitudes.
    pub fn sort<T>(rows: &mut [T], place: impl Fn(&T) -> LatLon) -> Self {
        rows.sort_unstable_by(|a, b| place(a).lat_deg().total_cmp(&place(b).lat_deg()));
        Self { lats_deg: rows.iter().map(|row| place(row).lat_deg()).collect() }
    }

    /// Returns the rows whose latitudes differ from `lat_deg` by at most `reach_deg`.
    pub fn band(&self, lat_deg: f64, reach_deg: f64) -> Range<usize> {
        let from = self.lats_deg.partition_point(|other| *other < lat_deg - reach_deg);
        let to = self.lats_deg.partition_point(|other| *other <= lat_deg + reach_deg);
        from..to
    }

    /// Visits rows outwards from a parallel, the nearest latitude first, until the next is farther than the reach, which
    /// every visit returns: a place is never nearer than its parallel.
    pub fn outwards(&self, lat_deg: f64, mut reach_deg: f64, mut visit: impl FnMut(usize) -> f64) {
        let after = self.lats_deg.partition_point(|other| *other < lat_deg);
        let (mut north, mut south) = (after..self.lats_deg.len(), 0..after);
        loop {
            let up = self.lats_deg.get(north.start).map_or(f64::INFINITY, |other| other - lat_deg);
            let down = if south.is_empty() { f64::INFINITY } else { lat_deg - self.lats_deg[south.end - 1] };
            let next = if up <= down { north.next() } else { south.next_back() };
            match next {
                Some(row) if up.min(down) <= reach_deg => reach_deg = visit(row),
                _ => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bands_and_visits_hold_what_is_near(lats in prop::collection::vec(-90.0..=90.0f64, 0..40), lat in -90.0..=90.0f64, reach in 0.0..60.0f64) {
            let mut places: Vec<LatLon> = lats.iter().map(|lat| LatLon::new(*lat, 0.0).unwrap()).collect();
            let index = LatitudeIndex::sort(&mut places, |place| *place);
            let near: Vec<usize> = (0..places.len()).filter(|row| (places[*row].lat_deg() - lat).abs() <= reach).collect();
            prop_assert_eq!(index.band(lat, reach).collect::<Vec<_>>(), near.clone());
            let mut visited = Vec::new();
            index.outwards(lat, reach, |row| { visited.push(row); reach });
            let gaps: Vec<f64> = visited.iter().map(|row| (places[*row].lat_deg() - lat).abs()).collect();
            prop_assert!(gaps.is_sorted());
            visited.sort_unstable();
            prop_assert_eq!(visited, near);
        }
    }
}
