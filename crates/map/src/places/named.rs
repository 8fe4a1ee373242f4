//! Regions by name: continents, countries, states and provinces.

use crate::places::{Countries, PlacesError, admin1, continents, folded::folded};
use locdiff_base::ensure;
use locdiff_shdd::sphere::{LatLon, Polygon};

/// Names of continents beside their own.
const ALSO: [(&str, &[&str]); 2] =
    [("americas", &["North America", "South America"]), ("australia and oceania", &["Oceania"])];

/// The name and the outline of what a text names: a continent, a country, a part of one, or "part, country". Fails with
/// [`PlacesError::UnknownCountry`] if nothing has the name, with [`PlacesError::Ambiguous`] if several do.
pub(crate) fn find(text: &str) -> Result<(String, Vec<Polygon>), PlacesError> {
    if let Some(found) = continent(text) {
        return Ok(found);
    }
    let countries = Countries::bundled();
    let country = countries.find(text).ok();
    if country.is_none()
        && let Some((part, of)) = text.rsplit_once(',')
        && let Ok(of) = countries.find(of)
    {
        return one_of(text, admin1::find(part, Some(of.code())));
    }
    let parts = if text.trim().len() == 2 { Vec::new() } else { admin1::find(text, None) };
    let Some(country) = country else {
        if parts.is_empty() {
            let mut near = countries.find(text).err().map(names_near).unwrap_or_default();
            near.extend(admin1::near(text));
            near.dedup();
            near.truncate(4);
            return Err(PlacesError::UnknownCountry { name: text.to_owned(), near });
        }
        return one_of(text, parts);
    };
    let polygons = countries.polygons(country);
    let own_area: f64 = polygons.iter().map(|polygon| polygon.area_sr().abs()).sum();
    // A country goes before its parts, and before places of its name that are not much larger, as Georgia (US) is.
    let rivals: Vec<_> =
        parts.into_iter().filter(|part| part.country != country.code() && part.area_sr() >= 2.0 * own_area).collect();
    let is_code = text.trim().len() == 3 && text.trim().eq_ignore_ascii_case(country.code3());
    if !rivals.is_empty() && !polygons.is_empty() && !is_code {
        let mut choices = vec![format!("{} for the country", country.code())];
        choices.extend(rivals.iter().map(told));
        return Err(PlacesError::Ambiguous { text: text.to_owned(), choices });
    }
    if polygons.is_empty() {
        // Shown as a part of another country, but perhaps with an outline of its own one level below.
        let parts = admin1::find(country.name(), None);
        if let Ok(found) = one_of(text, parts) {
            return Ok(found);
        }
        return Err(PlacesError::NoOutline { name: country.name().to_owned() });
    }
    Ok((country.name().to_owned(), polygons.to_vec()))
}

fn names_near(error: PlacesError) -> Vec<String> {
    if let PlacesError::UnknownCountry { near, .. } = error { near } else { Vec::new() }
}

fn one_of(text: &str, mut parts: Vec<admin1::NamedUnit>) -> Result<(String, Vec<Polygon>), PlacesError> {
    ensure!(!parts.is_empty(), PlacesError::UnknownCountry { name: text.to_owned(), near: admin1::near(text) });
    if parts.len() > 1 {
        let choices = parts.iter().map(told).collect();
        return Err(PlacesError::Ambiguous { text: text.to_owned(), choices });
    }
    let part = parts.remove(0);
    Ok((part.name, part.polygons))
}

/// "US-GA for Georgia in United States".
fn told(part: &admin1::NamedUnit) -> String {
    let country = Countries::bundled().by_code(&part.country).map_or(part.country.as_str(), |one| one.name());
    format!("{} for {} in {country}", part.handle, part.name)
}

/// The outlines of a continent: every part of a country that lies there.
fn continent(text: &str) -> Option<(String, Vec<Polygon>)> {
    let wanted = folded(text);
    let mut all = continents::CONTINENTS.iter().map(|(name, _)| name);
    let one = all.find(|name| folded(name) == wanted).map(std::slice::from_ref);
    let names = one.or_else(|| ALSO.iter().find(|(name, _)| *name == wanted).map(|(_, names)| *names))?;
    let countries = Countries::bundled();
    let lies_there = |polygon: &&Polygon| {
        let count = polygon.outer.len().max(1) as f64;
        let sum = polygon.outer.iter().fold([0.0, 0.0], |sum, [lon, lat]| [sum[0] + lon, sum[1] + lat]);
        let place = LatLon::new((sum[1] / count).clamp(-90.0, 90.0), sum[0] / count).ok();
        place.and_then(continents::continent).is_some_and(|name| names.contains(&name))
    };
    let polygons = countries.all().iter().flat_map(|country| {
        // A country with one part, or on one continent, needs no search for the towns nearby.
        let is_home = continents::continent_of_country(country.code()).is_some_and(|home| names.contains(&home));
        let outline = countries.polygons(country);
        let area = |polygon: &Polygon| polygon.area_sr().abs();
        let largest = outline.iter().map(area).fold(0.0, f64::max);
        outline.iter().filter(move |polygon| if area(polygon) == largest { is_home } else { lies_there(polygon) })
    });
    Some((names.join(" and "), polygons.cloned().collect()))
}
