//! The one search for places: towns by any of their names in any script, and coordinates.

use crate::places::{Countries, NearestPlace, Places, PlacesError, coordinates, describe};
use crate::{places::folded::folded, places::inflate::inflate};
use locdiff_shdd::sphere::LatLon;
use std::{cmp::Reverse, sync::OnceLock};

/// A place that a text means: a town, or a point.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundPlace {
    /// The town's own name, or the coordinates.
    pub name: String,
    /// Its state and country; where a point lies.
    pub of: String,
    /// Where it is.
    pub at: LatLon,
    /// About how far it reaches: at least 2 for a town, 0.1 for a point.
    pub radius_km: f64,
    /// Inhabitants, to the thousand; 0 for a point.
    pub population: u32,
    /// Whether the text is its own name, however it is spelt, or its coordinates.
    pub is_own_name: bool,
}

/// The places that a text may mean, the likeliest first: coordinates, or towns. A town may be followed by a state or country behind a
/// comma. Towns of just that name go before those whose names only begin so. Within each the largest goes first; a town's own name
/// counts for more than another name of it.
pub fn search_places(text: &str, most: usize) -> Vec<FoundPlace> {
    let towns = || ranked(text, false).into_iter().map(|(fit, town)| found(town, fit.is_own)).take(most).collect();
    point(text).map_or_else(towns, |point| vec![point])
}

/// The place that a text means; `None` if it is neither coordinates nor a town's name.
/// Fails with [`PlacesError::Ambiguous`] if several towns may be meant: the first is not much larger than the second.
pub fn find_place(text: &str) -> Result<Option<FoundPlace>, PlacesError> {
    /// A town so many times as large as the next is the one that is meant.
    const LARGER: u64 = 3;
    if let Some(point) = point(text) {
        return Ok(Some(point));
    }
    let towns = ranked(text, true);
    if let [first, second, ..] = &towns[..]
        && LARGER * second.0.weight.0 > first.0.weight.0
    {
        let told =
            |(_, town): &(Fit, NearestPlace)| format!("\"{}, {}, {}\"", town.name, town.region, town.country_code);
        let choices = towns.iter().take(4).map(told).collect();
        return Err(PlacesError::Ambiguous { text: text.to_owned(), choices });
    }
    Ok(towns.into_iter().next().map(|(fit, town)| found(town, fit.is_own)))
}

fn point(text: &str) -> Option<FoundPlace> {
    let at = coordinates::parse(text)?;
    let name = format!("{:.5}, {:.5}", at.lat_deg(), at.lon_deg());
    Some(FoundPlace { name, of: describe(at).to_string(), at, radius_km: 0.1, population: 0, is_own_name: true })
}

fn found(town: NearestPlace, is_own_name: bool) -> FoundPlace {
    /// Inhabitants of a square kilometre.
    const CROWD: f64 = 4000.0;
    let at = LatLon::new(town.lat_deg, town.lon_deg).expect("towns are places");
    let radius_km = (f64::from(town.population) / (CROWD * std::f64::consts::PI)).sqrt().clamp(2.0, 30.0);
    let of: Vec<String> = [town.region, town.country].into_iter().filter(|name| !name.is_empty()).collect();
    FoundPlace { name: town.name, of: of.join(", "), at, radius_km, population: town.population, is_own_name }
}

/// How a name of a town fits a text; the best is the least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Fit {
    /// Whether the name goes on after the text.
    is_beginning: bool,
    /// Inhabitants in thousands, more for a town's own name.
    weight: Reverse<u64>,
    is_own: bool,
}

/// Towns that fit a text, the best first. With `is_whole` names and what stands behind commas must be whole.
fn ranked(text: &str, is_whole: bool) -> Vec<(Fit, NearestPlace)> {
    let (spelt, of) = text.split_once(',').unwrap_or((text, ""));
    let (places, countries) = (Places::bundled(), Countries::bundled());
    let fits = |name: &str, part: &str| if is_whole { name == part } else { name.starts_with(part) };
    let of: Vec<(String, Option<&str>)> = of
        .split(',')
        .map(|part| (folded(part), countries.find(part).ok().map(crate::places::Country::code)))
        .filter(|(part, _)| !part.is_empty())
        .collect();
    let is_there = |town: &NearestPlace| {
        let names = [&town.region, &town.country, &town.country_code].map(|name| folded(name));
        of.iter().all(|(part, code)| *code == Some(&town.country_code) || names.iter().any(|name| fits(name, part)))
    };
    let mut fitting = Names::bundled().fitting(spelt);
    fitting.retain(|(_, fit)| !(is_whole && fit.is_beginning));
    fitting.sort_by_key(|(_, fit)| *fit);
    let towns = fitting.into_iter().map(|(town, fit)| (fit, places.town(town)));
    // Nobody looks at more of them.
    towns.filter(|(_, town)| is_there(town)).take(100).collect()
}

/// All names as they are compared, in one text: a line for each town, its own name first, "|" before each other.
struct Names {
    text: String,
    /// Where each line begins, and whose it is.
    lines: Vec<(u32, u32)>,
}

impl Names {
    /// The embedded names, unpacked when a place is first searched.
    fn bundled() -> &'static Self {
        static BUNDLED: OnceLock<Names> = OnceLock::new();
        BUNDLED.get_or_init(|| {
            let others = inflate(include_bytes!("../../assets/names.bin"));
            let others = std::str::from_utf8(&others).expect("names are UTF-8");
            let places = Places::bundled();
            let (mut text, mut lines) = (String::with_capacity(2 * others.len()), Vec::new());
            let towns = places.in_order_of_file();
            let (latin, foreign) = (others.lines(), others.lines().skip(towns.len()));
            for ((latin, foreign), town) in latin.zip(foreign).zip(towns) {
                lines.push((text.len() as u32, town));
                text.push('\n');
                text.push_str(&folded(places.name_of(town)));
                for other in [latin, foreign].into_iter().filter(|other| !other.is_empty()) {
                    text.push('|');
                    text.push_str(other);
                }
            }
            text.push('\n');
            Self { text, lines }
        })
    }

    /// The towns that have a name which begins as a text, each with its best fit.
    fn fitting(&self, spelt: &str) -> Vec<(u32, Fit)> {
        let wanted = folded(spelt);
        let mut all: Vec<(u32, Fit)> = Vec::new();
        if wanted.is_empty() {
            return all;
        }
        let (places, bytes) = (Places::bundled(), self.text.as_bytes());
        for (at, _) in self.text.match_indices(&wanted).filter(|(at, _)| b"\n|".contains(&bytes[at - 1])) {
            let (_, town) = self.lines[self.lines.partition_point(|(start, _)| (*start as usize) < at) - 1];
            let is_own = bytes[at - 1] == b'\n';
            let is_beginning = !b"\n|".contains(&bytes[at + wanted.len()]);
            let is_spelt_so = is_own && places.name_of(town).to_lowercase() == spelt.trim().to_lowercase();
            let factor = [1, 4, 6][usize::from(is_own) + usize::from(is_spelt_so)];
            let weight = Reverse(factor * u64::from(places.thousands(town).max(1)));
            let fit = Fit { is_beginning, weight, is_own };
            match all.last_mut() {
                Some((last, best)) if *last == town => *best = fit.min(*best),
                _ => all.push((town, fit)),
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_by_any_name() {
        for (text, name, of) in [
            ("Wroclaw", "Wrocław", "Poland"),
            ("Breslau", "Wrocław", "Poland"),
            ("München", "Munich", "Germany"),
            ("MUNCHEN", "Munich", "Germany"),
            ("Cologne", "Köln", "Germany"),
            ("Москва", "Moscow", "Russia"),
            ("京都", "Kyoto", "Japan"),
            ("القاهرة", "Cairo", "Egypt"),
            ("서울", "Seoul", "South Korea"),
            ("Malmo", "Malmö", "Sweden"),
            ("Seville", "Sevilla", "Spain"),
            ("St. Petersburg, Russia", "Saint Petersburg", "Russia"),
            ("kyoto", "Kyoto", "Japan"),
            ("Paris", "Paris", "France"),
            ("Paris, Texas", "Paris", "United States"),
            ("Birmingham, USA", "Birmingham", "United States"),
        ] {
            let listed = &search_places(text, 3)[0];
            assert!(listed.name == name && listed.of.ends_with(of), "{text}: {listed:?}");
            assert_eq!(find_place(text).unwrap().as_ref(), Some(listed), "{text}");
        }
        for (text, name) in [("kyot", "Kyoto"), ("paris, united", "Paris"), ("Моск", "Moscow"), ("münch", "Munich")]
        {
            assert_eq!(search_places(text, 3)[0].name, name, "{text}");
            assert_eq!(find_place(text).unwrap(), None, "{text}");
        }
        assert!(
            find_place("Springfield").is_err() && search_places(" ", 3).is_empty() && search_places("'", 3).is_empty()
        );
        let point = find_place("48°51'24\"N 2°21'03\"E").unwrap().unwrap();
        assert!(point.name == "48.85667, 2.35083" && point.of == "in Paris, France", "{point:?}");
    }

    /// The names are folded by a script: here they would be folded alike.
    #[test]
    fn all_names_are_folded() {
        let names = Names::bundled();
        assert_eq!(names.lines.len(), 69_472);
        let mut count = 0;
        for name in names.text.split(['\n', '|']).filter(|name| !name.is_empty()) {
            assert_eq!(folded(name), name);
            count += 1;
        }
        assert!(count > 250_000, "{count}");
    }
}
