//! Towns, and the one nearest to a point.

use crate::places::{Compass, Countries, Country, inflate::inflate};
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon, LatitudeIndex, UnitVec, Unpacker};
use serde::{Deserialize, Serialize};
use std::{ops::Range, sync::OnceLock};

/// A town, and where a point lies from its centre. Some regions are empty; the population is to the thousand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it all")]
pub struct NearestPlace {
    pub name: String,
    pub region: String,
    pub country: String,
    pub country_code: String,
    pub population: u32,
    pub lat_deg: f64,
    pub lon_deg: f64,
    pub distance_km: f64,
    pub bearing: Compass,
}

#[derive(Debug)]
struct Town {
    place: LatLon,
    population_thousands: u32,
    province: u32,
    /// Where its name stands among the names.
    name: Range<u32>,
    /// Its number in the file.
    row: u32,
}

#[derive(Debug)]
struct Province {
    country_code: String,
    name: String,
}

/// The towns of 5,000 inhabitants and more.
#[derive(Debug)]
pub struct Places {
    /// By latitude.
    towns: Vec<Town>,
    latitudes: LatitudeIndex,
    /// The towns' points, apart from their names so that a search runs through little memory.
    points: Vec<UnitVec>,
    /// All names in one text: tens of thousands of small ones would be slow to make.
    names: String,
    provinces: Vec<Province>,
}

impl Places {
    /// The embedded towns (© GeoNames, CC BY 4.0), unpacked on first use.
    pub fn bundled() -> &'static Self {
        static BUNDLED: OnceLock<Places> = OnceLock::new();
        BUNDLED.get_or_init(|| Self::unpack(include_bytes!("../../assets/towns.bin")))
    }

    fn unpack(deflated: &[u8]) -> Self {
        const UNITS_PER_DEGREE: f64 = 1000.0;
        let bytes = inflate(deflated);
        let mut unpacker = Unpacker::new(&bytes);
        let mut province_of_town = Vec::new();
        let provinces = (0..unpacker.number())
            .map(|index| {
                let province = Province { country_code: unpacker.text(2), name: unpacker.string() };
                province_of_town.extend(std::iter::repeat_n(index as u32, unpacker.number()));
                province
            })
            .collect();
        let count = province_of_town.len();
        let [lats, lons]: [Vec<i32>; 2] = std::array::from_fn(|_| {
            let sums = std::iter::repeat_n((), count).scan(0, |sum, ()| {
                *sum += unpacker.delta();
                Some(*sum)
            });
            sums.collect()
        });
        let populations: Vec<usize> = (0..count).map(|_| unpacker.number()).collect();
        let mut names = String::new();
        let mut towns: Vec<Town> = (0..count)
            .map(|index| {
                let degrees = |units: i32| f64::from(units) / UNITS_PER_DEGREE;
                let place = LatLon::new(degrees(lats[index]), degrees(lons[index])).expect("towns are places");
                let start = names.len() as u32;
                unpacker.push_string(&mut names);
                let (population_thousands, province) = (populations[index] as u32, province_of_town[index]);
                Town { place, population_thousands, province, name: start..names.len() as u32, row: index as u32 }
            })
            .collect();
        debug_assert!(unpacker.is_at_end(), "the whole table is read");
        let latitudes = LatitudeIndex::sort(&mut towns, |town| town.place);
        let points = towns.iter().map(|town| town.place.to_unit()).collect();
        Self { towns, latitudes, points, names, provinces }
    }

    /// Every town's name, place and inhabitants.
    pub(crate) fn towns_with_population(&self) -> impl Iterator<Item = (&str, LatLon, u32)> {
        self.towns.iter().map(|town| (self.name(town), town.place, 1000 * town.population_thousands))
    }

    /// The numbers of the towns in the order of the embedded file.
    pub(crate) fn in_order_of_file(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.towns.len() as u32).collect();
        order.sort_unstable_by_key(|&town| self.towns[town as usize].row);
        order
    }

    pub(crate) fn name_of(&self, town: u32) -> &str {
        self.name(&self.towns[town as usize])
    }

    /// Its inhabitants in thousands.
    pub(crate) fn thousands(&self, town: u32) -> u32 {
        self.towns[town as usize].population_thousands
    }

    /// A town by its number.
    pub(crate) fn town(&self, town: u32) -> NearestPlace {
        let town = &self.towns[town as usize];
        self.seen_from(town, town.place)
    }

    /// The nearest town.
    pub fn nearest(&self, place: LatLon) -> NearestPlace {
        /// A few hundred towns all over the Earth give a first bound.
        const SAMPLED: usize = 97;
        let point = place.to_unit();
        let (mut best, mut best_cos, mut reach_deg) = (0, -2.0, f64::INFINITY);
        let mut consider = |index: usize| {
            let cos = self.points[index].dot(point);
            if cos > best_cos {
                (best, best_cos) = (index, cos);
                reach_deg = cos.clamp(-1.0, 1.0).acos().to_degrees() + 1e-6;
            }
            reach_deg
        };
        for index in (0..self.towns.len()).step_by(SAMPLED) {
            consider(index);
        }
        self.latitudes.outwards(place.lat_deg(), f64::INFINITY, consider);
        self.seen_from(&self.towns[best], place)
    }

    /// The largest town whose built-up area a point probably lies in, taking towns as discs of 4,000 inhabitants a
    /// square kilometre and at least 3 km of radius. In Beijing's outskirts this is Beijing, not the nearest suburb.
    pub(crate) fn city_around(&self, place: LatLon) -> Option<NearestPlace> {
        const WIDEST_KM: f64 = 45.0;
        let reach_rad = WIDEST_KM / EARTH_RADIUS_KM;
        let (point, nearest) = (place.to_unit(), (reach_rad + 1e-6).cos());
        let is_around = |index: &usize| {
            let radius_km = (f64::from(self.thousands(*index as u32)) / (4.0 * std::f64::consts::PI)).sqrt();
            let town = self.points[*index];
            town.dot(point) >= nearest && town.angle_rad(point) * EARTH_RADIUS_KM <= radius_km.clamp(3.0, WIDEST_KM)
        };
        let near = self.latitudes.band(place.lat_deg(), reach_rad.to_degrees()).filter(is_around);
        near.map(|index| &self.towns[index])
            .max_by_key(|town| town.population_thousands)
            .map(|town| self.seen_from(town, place))
    }

    fn name(&self, town: &Town) -> &str {
        &self.names[town.name.start as usize..town.name.end as usize]
    }

    fn seen_from(&self, town: &Town, place: LatLon) -> NearestPlace {
        let province = &self.provinces[town.province as usize];
        let country = Countries::bundled().by_code(&province.country_code).map_or("", Country::name);
        NearestPlace {
            name: self.name(town).to_owned(),
            region: province.name.clone(),
            country: country.to_owned(),
            country_code: province.country_code.clone(),
            population: 1000 * town.population_thousands,
            lat_deg: town.place.lat_deg(),
            lon_deg: town.place.lon_deg(),
            distance_km: town.place.to_unit().angle_rad(place.to_unit()) * EARTH_RADIUS_KM,
            bearing: Compass::from_to(town.place, place),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn place(lat: f64, lon: f64) -> LatLon {
        LatLon::new(lat, lon).unwrap()
    }

    fn is_nearest(lat: f64, lon: f64) -> bool {
        let (places, point) = (Places::bundled(), place(lat, lon).to_unit());
        let least = places.points.iter().map(|town| town.angle_rad(point)).fold(f64::INFINITY, f64::min);
        (places.nearest(place(lat, lon)).distance_km - least * EARTH_RADIUS_KM).abs() < 1e-6
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn nearest_is_what_brute_force_finds(lat in -90.0..=90.0f64, lon in -180.0..=180.0f64) {
            prop_assert!(is_nearest(lat, lon));
        }
    }

    #[test]
    fn poles_and_the_antimeridian_have_a_nearest_town() {
        for (lat, lon) in [(90.0, 0.0), (-90.0, 45.0), (-16.8, 180.0), (-16.8, -180.0), (65.0, -179.99)] {
            assert!(is_nearest(lat, lon), "{lat} {lon}");
        }
        let nearest = |lat, lon| Places::bundled().nearest(place(lat, lon));
        assert_eq!(nearest(-16.8, 180.0).country_code, "FJ");
        let (iceland, pole) = (nearest(63.0, -22.0), nearest(-90.0, 0.0));
        assert_eq!((iceland.name.as_str(), iceland.country_code.as_str()), ("Reykjanesbær", "IS"));
        assert_eq!((iceland.bearing, pole.bearing), (Compass::South, Compass::South));
    }

    #[test]
    fn every_town_has_a_name_and_a_country() {
        let places = Places::bundled();
        assert_eq!(places.towns.len(), 69_472);
        assert!(places.towns.iter().all(|town| !places.name(town).trim().is_empty()));
        for province in &places.provinces {
            assert!(Countries::bundled().by_code(&province.country_code).is_some(), "{}", province.country_code);
        }
    }

    #[test]
    fn large_cities_hold_their_suburbs() {
        let around = |lat, lon| Places::bundled().city_around(place(lat, lon)).map(|town| town.name);
        assert_eq!(around(39.999, 116.275).as_deref(), Some("Beijing"));
        assert_eq!(around(48.89, 2.34).as_deref(), Some("Paris"));
        assert_eq!(around(30.0, -40.0), None);
    }
}
