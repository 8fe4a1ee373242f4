//! Where a point is, as one says it.

use crate::places::{Countries, Country, NearestPlace, Places};
use locdiff_shdd::sphere::LatLon;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What is said about a point: [`fmt::Display`] gives the phrase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// The town that the phrase names: the city around the point, else the nearest town.
    pub town: NearestPlace,
    /// Whether the point lies in the town rather than some way off.
    pub in_town: bool,
    /// The country whose outline holds the point, in English; `None` at sea.
    pub country: Option<String>,
    /// Two letters of ISO 3166 for [`Description::country`]; empty for the few areas without a code.
    pub country_code: Option<String>,
}

/// Describes a point with the embedded towns and countries.
pub fn describe(place: LatLon) -> Description {
    let places = Places::bundled();
    let around = places.city_around(place);
    let in_town = around.is_some();
    let country = Countries::bundled().at(place);
    Description {
        town: around.unwrap_or_else(|| places.nearest(place)),
        in_town,
        country: country.map(|country| country.name().to_owned()),
        country_code: country.map(Country::code).map(str::to_owned),
    }
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Coarse shores put harbours and small islands into the sea.
        const SURELY_SEA_KM: f64 = 15.0;
        let NearestPlace { name, country, country_code, distance_km, bearing, .. } = &self.town;
        if self.in_town {
            return write!(f, "in {name}, {country}");
        }
        match (&self.country, &self.country_code) {
            (None, _) if *distance_km > SURELY_SEA_KM => write!(f, "in the sea, ")?,
            // The map counts overseas areas to their state, GeoNames does not.
            (Some(here), Some(code)) if code != country_code && !self.is_overseas() => write!(f, "in {here}, ")?,
            _ => {}
        }
        write!(f, "{distance_km:.0} km {bearing} of {name}, {country}")
    }
}

impl Description {
    /// Whether the town's country is shown on the map as a part of the point's country.
    fn is_overseas(&self) -> bool {
        let countries = Countries::bundled();
        countries.by_code(&self.town.country_code).is_some_and(|country| countries.polygons(country).is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_read_well_everywhere() {
        let says = |lat, lon| describe(LatLon::new(lat, lon).unwrap()).to_string();
        assert_eq!((says(48.86, 2.35), says(39.999, 116.275)), ("in Paris, France".into(), "in Beijing, China".into()));
        assert_eq!(says(47.2, 2.2), "7 km north of Mehun-sur-Yèvre, France");
        assert_eq!(says(61.0, -21.9), "in the sea, 329 km south of Selfoss, Iceland");
        assert!(says(-90.0, 0.0).starts_with("in Antarctica, "), "{}", says(-90.0, 0.0));
        assert!(says(90.0, 0.0).starts_with("in the sea, "), "{}", says(90.0, 0.0));
        assert!(says(3.5, -53.0).ends_with("French Guiana") && !says(3.5, -53.0).contains("in France"));
        let json = serde_json::to_string(&describe(LatLon::new(0.0, 0.0).unwrap())).unwrap();
        let back: Description = serde_json::from_str(&json).unwrap();
        assert_eq!((back.in_town, back.country), (false, None));
    }
}
