//! An answer as what is written into a photo.

use crate::answer::Answer;
use locdiff_io::tags::{PlaceNames, TagPlace};

impl Answer {
    /// What a tag says of this answer, with the names of its town, if one is near, its state and country.
    pub fn tag_place(&self) -> TagPlace {
        const NEAR_KM: f64 = 25.0;
        let Self { best, radius_90_km, gps, can_tell, .. } = *self;
        let (photo, place) = (self.photo.clone().unwrap_or_default(), self.place.clone());
        let said = locdiff_map::places::describe(best);
        let is_near = said.in_town || said.town.distance_km <= NEAR_KM;
        let said_of = |name: String| Some(name).filter(|name| is_near && !name.is_empty());
        let (city, state) = (said_of(said.town.name), said_of(said.town.region));
        let country_code = said.country_code.filter(|code| !code.is_empty());
        let names = Some(PlaceNames { city, state, country: said.country, country_code });
        TagPlace { photo, best, radius_90_km, can_tell, odd: None, place, names, gps, by_hand: false }
    }
}
