//! What an answer says first: the smallest named region that holds at least half of the probability.

use crate::answer::{Answer, RegionMasses, RegionShare};
use locdiff_map::places::{Description, NearestPlace, describe};

const HALF: f64 = 0.5;
/// With half of the probability within this distance, the headline is a town no farther away than that.
const TOWN_KM: f64 = 25.0;
/// A headline names no more countries than these.
const MOST_COUNTRIES: usize = 3;
/// Countries less probable than this are not named as likely.
const WORTH_NAMING: f64 = 0.005;

impl Answer {
    /// Adds the probabilities of countries, states and continents, and with them the headline. If that is more than one
    /// continent, the answer can't tell.
    #[must_use]
    pub fn with_regions(mut self, masses: &RegionMasses) -> Self {
        (self.countries, self.states, self.continents) = (masses.countries(), masses.states(), masses.continents());
        let near = (self.radius_50_km < TOWN_KM).then(|| describe(self.best));
        // If most of the probability is far from any shore, no region has half of it.
        let on_land: f64 = self.continents.iter().map(|one| one.probability).sum();
        let at_sea = || (on_land < HALF).then(|| describe(self.best).to_string());
        let town = near.as_ref().and_then(town).or_else(at_sea);
        let (headline, is_told) = headline(town, &self.countries, &self.states, &self.continents);
        Self { headline, can_tell: self.can_tell && is_told, ..self }
    }

    /// The three likeliest countries in words: "Germany 24 %, Poland 14 %, Czechia 11 %". Empty if none is known.
    pub fn likeliest_countries(&self) -> String {
        let named = self.countries.iter().filter(|one| one.probability >= WORTH_NAMING).take(MOST_COUNTRIES);
        named.map(|one| format!("{} {:.0} %", one.name, 100.0 * one.probability)).collect::<Vec<_>>().join(", ")
    }
}

/// "Lyon, France", or "near Lyon, France"; `None` if no town is near.
fn town(found: &Description) -> Option<String> {
    let NearestPlace { name, country, distance_km, .. } = &found.town;
    let near = if found.in_town { "" } else { "near " };
    (found.in_town || *distance_km < TOWN_KM).then(|| format!("{near}{name}, {country}"))
}

/// The headline, and whether it is on one continent.
fn headline(
    town: Option<String>,
    countries: &[RegionShare],
    states: &[RegionShare],
    continents: &[RegionShare],
) -> (String, bool) {
    // Half of what is near land: nobody says "the sea".
    let on_land: f64 = continents.iter().map(|one| one.probability).sum();
    let scaled = |one: &RegionShare| RegionShare { probability: one.probability / on_land, ..*one };
    let continents: Vec<RegionShare> = continents.iter().map(scaled).collect();
    let state = few(states, 1).zip(few(countries, 1)).filter(|(state, country)| state != country);
    let told = town.or_else(|| state.map(|(state, country)| format!("{state}, {country}")));
    let told = told.or_else(|| few(countries, MOST_COUNTRIES)).or_else(|| few(&continents, 1));
    let is_told = told.is_some();
    (told.or_else(|| few(&continents, 2)).unwrap_or_else(|| "anywhere".to_owned()), is_told)
}

/// The first names that hold half of the probability, at most so many: "Germany, Poland or Czechia".
fn few(named: &[RegionShare], most: usize) -> Option<String> {
    let held = |count: &usize| named[..*count].iter().map(|one| one.probability).sum::<f64>();
    let count = (1..=most.min(named.len())).find(|count| held(count) >= HALF)?;
    let names: Vec<&str> = named[..count].iter().map(|one| one.name).collect();
    let (last, before) = names.split_last()?;
    Some(if before.is_empty() { (*last).to_owned() } else { format!("{} or {last}", before.join(", ")) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_region_with_half_of_the_probability_is_named() {
        // Town, countries, states, continents, and the headline, with a question mark if the answer can't tell.
        for (town, countries, states, continents, expected) in [
            ("near Lyon, France", "France 0.9", "Rhône 0.8", "Europe 1", "near Lyon, France"),
            ("", "Germany 0.8", "Bavaria 0.5", "Europe 1", "Bavaria, Germany"),
            ("", "Singapore 0.8", "Singapore 0.8", "Asia 1", "Singapore"),
            ("", "Germany 0.51", "Bavaria 0.49", "Europe 1", "Germany"),
            ("", "Spain 0.3, Morocco 0.2", "", "Europe 0.7", "Spain or Morocco"),
            ("", "A 0.2, B 0.2, C 0.1", "", "Europe 0.7", "A, B or C"),
            ("", "A 0.2, B 0.1, C 0.1, D 0.1", "", "Asia 0.5", "Asia"),
            ("", "A 0.2", "", "Europe 0.4, Asia 0.4, Africa 0.1", "Europe or Asia?"),
            ("", "A 0.2", "", "Europe 0.4, Asia 0.3", "Europe"),
            ("", "A 0.1", "", "Europe 0.2, Asia 0.2, Africa 0.2, Oceania 0.2, Antarctica 0.2", "anywhere?"),
        ] {
            let region = |text: &'static str| {
                let (name, probability) = text.split_once(' ')?;
                Some(RegionShare { name, probability: probability.parse().ok()?, ..RegionShare::default() })
            };
            let [countries, states, continents] =
                [countries, states, continents].map(|all| all.split(", ").filter_map(region).collect::<Vec<_>>());
            let town = Some(town.to_owned()).filter(|town| !town.is_empty());
            let (found, is_told) = headline(town, &countries, &states, &continents);
            assert_eq!(format!("{found}{}", if is_told { "" } else { "?" }), expected);
        }
    }
}
