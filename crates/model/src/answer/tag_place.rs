//! An answer as what is written into a photo.

use crate::answer::Answer;
use locdiff_io::tags::{PlaceNames, TagPlace};

impl Answer {
    /// What a tag says of this answer, with the names of its town, if one is near, its state and country.
    pub fn tag_place(&self) -> TagPlace {
        const NEAR_KM: f64 = 25.0;
        let Self { best, radius_90_km, gps, can_tell, .. } = *self;
        let (photo, place) = (self.photo.clone().unwrap_or_default(), self.place.clone());
        // Departure boards and shop signs name other places: text alone makes no tag sure.
        let odd = (!self.text.is_empty()).then(|| "text in the photo was used".to_owned());
        let said = locdiff_map::places::describe(best);
        let is_near = said.in_town || said.town.distance_km <= NEAR_KM;
        let said_of = |name: String| Some(name).filter(|name| is_near && !name.is_empty());
        let (city, state) = (said_of(said.town.name), said_of(said.town.region));
        let country_code = said.country_code.filter(|code| !code.is_empty());
        let names = Some(PlaceNames { city, state, country: said.country, country_code });
        TagPlace { photo, best, radius_90_km, can_tell, odd, place, names, gps, by_hand: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::ReadText;
    use locdiff_io::tags::TagRule;
    use locdiff_shdd::sphere::LatLon;

    #[test]
    fn text_makes_no_tag_sure() {
        let mut answer = Answer::at(LatLon::new(46.4, 7.6).unwrap(), [3.0, 9.0], Vec::new(), 0.9);
        let doubt = |answer: &Answer| {
            let tag = answer.tag_place();
            TagRule::default().doubt(tag.can_tell, tag.radius_90_km, tag.odd.as_deref())
        };
        assert_eq!(doubt(&answer), None);
        answer.text = vec![ReadText::new("LEUKERBAD", 0.9, [[0.0; 2]; 4])];
        assert_eq!(doubt(&answer).as_deref(), Some("it may be wrong: text in the photo was used"));
    }
}
