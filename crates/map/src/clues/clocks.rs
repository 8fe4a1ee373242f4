//! Countries' clocks and the side they drive on.

use crate::{cells::Cells, clues::tables::rows, places::Countries, places::Country};
use locdiff_shdd::sphere::LatLon;
use std::sync::OnceLock;

/// How far clocks are ahead of the sun, in minutes: from the east of a zone to its west in summer.
const AHEAD: std::ops::RangeInclusive<f64> = -90.0..=165.0;
/// The same if nothing is known but the longitude.
const AHEAD_AT_SEA: [i16; 7] = [-60, -30, 0, 30, 60, 90, 120];

/// What is known of a country's roads and clocks.
#[derive(Debug, Clone, Default)]
pub(crate) struct CountryHabits {
    pub(crate) drives_left: Option<bool>,
    /// Offsets from UTC since 2000, in minutes.
    offsets: Vec<i16>,
}

/// The habits of each country, by its number.
pub(crate) fn habits() -> &'static [CountryHabits] {
    static HABITS: OnceLock<Vec<CountryHabits>> = OnceLock::new();
    HABITS.get_or_init(|| {
        let mut all = vec![CountryHabits::default(); Countries::bundled().all().len()];
        for row in rows("country") {
            let is_own = |country: &Country| country.code() == row.code;
            if let Some(number) = Countries::bundled().all().iter().position(is_own) {
                let offsets = row.countries.split(' ').filter_map(|minutes| minutes.parse().ok()).collect();
                all[number] = CountryHabits { drives_left: Some(row.names == "L"), offsets };
            }
        }
        all
    })
}

/// The number of the country that a place belongs to.
fn country_number(place: LatLon) -> Option<usize> {
    let cells = Cells::bundled();
    Some(usize::from(cells.country_numbers()[cells.at(place)?]))
}

/// The offsets from UTC that clocks at a place may have, in minutes: those of its country that fit the longitude.
pub(crate) fn offsets_at(place: LatLon) -> Vec<i16> {
    let solar = 4.0 * place.lon_deg();
    let own = country_number(place).and_then(|number| habits().get(number)).map_or(&[][..], |own| &own.offsets);
    let near: Vec<i16> = own.iter().copied().filter(|offset| AHEAD.contains(&(f64::from(*offset) - solar))).collect();
    let half_hour = 30 * (solar / 30.0).round() as i16;
    if near.is_empty() { AHEAD_AT_SEA.map(|ahead| half_hour + ahead).to_vec() } else { near }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_and_roads_of_known_places() {
        for (lat, lon, drives_left, offsets) in [
            (48.86, 2.35, Some(false), &[60, 120][..]),
            (28.6, 77.2, Some(true), &[330]),
            (27.7, 85.3, Some(true), &[345]),
            (4.9, -52.3, Some(false), &[-240, -180]), // French Guiana
            (40.7, -74.0, Some(false), &[-360, -300, -240]),
            (34.05, -118.24, Some(false), &[-540, -480, -420, -360]),
            (55.75, 37.6, Some(false), &[120, 180, 240, 300]),
            (-33.9, 151.2, Some(true), &[525, 540, 570, 585, 600, 630, 660]),
            (35.7, 139.7, Some(true), &[540]),
            (30.0, -40.0, None, &[-210, -180, -150, -120, -90, -60, -30]),
        ] {
            let place = LatLon::new(lat, lon).unwrap();
            let side = country_number(place).and_then(|number| habits()[number].drives_left);
            assert_eq!((side, &offsets_at(place)[..]), (drives_left, offsets), "{place}");
        }
        assert!(habits().iter().filter(|own| own.drives_left == Some(true)).count() > 60);
    }
}
