//! The nearest of many places, and how many are near.

use crate::eval::Rules;
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon, LatitudeIndex};

/// On the ellipsoid a degree of latitude is up to 0.7 % shorter than on the sphere, and a geodesic longer or shorter
/// than the great circle by as much: latitudes are searched that much farther.
const MARGIN: f64 = 1.012;

/// Distances to many places by an evaluation's rules; exact.
///
/// ```
/// use locdiff_model::eval::{Nearby, Rules};
/// use locdiff_shdd::sphere::LatLon;
/// let train = [LatLon::new(48.86, 2.35)?, LatLon::new(-12.05, -77.04)?, LatLon::new(0.0, 179.9)?];
/// let nearby = Nearby::new(&train, Rules::default());
/// let km = nearby.nearest_km(LatLon::new(0.0, -179.9)?).unwrap();
/// assert!((km - 22.24).abs() < 0.01);
/// assert_eq!(nearby.count_within(LatLon::new(48.9, 2.4)?, 25.0), 1);
/// # Ok::<(), locdiff_shdd::sphere::SphereError>(())
/// ```
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
