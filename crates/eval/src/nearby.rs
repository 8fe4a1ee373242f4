//! The nearest of many places, and how many are near.

use crate::Rules;
use locdiff_sphere::{EARTH_RADIUS_KM, LatLon};

/// On the ellipsoid a degree of latitude is up to 0.7 % shorter than on the sphere, and a geodesic longer or shorter
/// than the great circle by as much: latitudes are searched that much farther.
const MARGIN: f64 = 1.012;

/// Places sorted by latitude: whatever is within a distance lies within a band. Exact, and fast wherever the band
/// holds few places: some microseconds a query on 100,000.
///
/// ```
/// use locdiff_eval::{Nearby, Rules};
/// use locdiff_sphere::LatLon;
/// let train = [LatLon::new(48.86, 2.35)?, LatLon::new(-12.05, -77.04)?, LatLon::new(0.0, 179.9)?];
/// let nearby = Nearby::new(&train, Rules::default());
/// let km = nearby.nearest_km(LatLon::new(0.0, -179.9)?).unwrap();
/// assert!((km - 22.24).abs() < 0.01);
/// assert_eq!(nearby.count_within(LatLon::new(48.9, 2.4)?, 25.0), 1);
/// # Ok::<(), locdiff_sphere::SphereError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Nearby {
    places: Vec<LatLon>,
    rules: Rules,
}

impl Nearby {
    /// Sorts the places.
    pub fn new(places: &[LatLon], rules: Rules) -> Self {
        let mut places = places.to_vec();
        places.sort_by(|a, b| a.lat_deg().total_cmp(&b.lat_deg()));
        Self { places, rules }
    }

    /// The distance to the nearest place; `None` when there are none.
    pub fn nearest_km(&self, to: LatLon) -> Option<f64> {
        let start = self.places.partition_point(|place| place.lat_deg() < to.lat_deg());
        let mut best = f64::INFINITY;
        let mut north = self.places[start..].iter().peekable();
        let mut south = self.places[..start].iter().rev().peekable();
        // Outwards on both sides until the latitude alone is too far.
        loop {
            let gap = |place: Option<&&LatLon>| {
                place.map_or(f64::INFINITY, |place| (place.lat_deg() - to.lat_deg()).abs())
            };
            let (up, down) = (gap(north.peek()), gap(south.peek()));
            if up.min(down) > band_deg(best) || up.min(down) == f64::INFINITY {
                return best.is_finite().then_some(best);
            }
            let next = if up <= down { north.next() } else { south.next() };
            if let Some(place) = next {
                best = best.min(self.rules.distance_km(to, *place));
            }
        }
    }

    /// How many places are within a distance.
    pub fn count_within(&self, of: LatLon, km: f64) -> usize {
        let band = band_deg(km);
        let from = self.places.partition_point(|place| place.lat_deg() < of.lat_deg() - band);
        let to = self.places.partition_point(|place| place.lat_deg() <= of.lat_deg() + band);
        let near = |place: &&LatLon| self.rules.is_within(self.rules.distance_km(of, **place), km);
        self.places[from..to].iter().filter(near).count()
    }
}

/// Difference in latitude beyond which nothing is within a distance.
fn band_deg(km: f64) -> f64 {
    (MARGIN * km / EARTH_RADIUS_KM).to_degrees()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Preset;
    use proptest::prelude::*;

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
