//! States and provinces: the first level below a country.

use crate::{places::folded::folded, places::inflate::inflate, places::inflate::unpack_polygons};
use locdiff_shdd::sphere::{Polygon, Unpacker};
use std::sync::OnceLock;

/// A state, a province, a county.
#[derive(Debug)]
struct Unit {
    /// Two letters.
    country: String,
    /// ISO 3166-2, such as "US-GA"; empty for a few.
    code: String,
    name: String,
    other_names: Vec<String>,
    /// Larger parts of the country that it belongs to: Scotland, Lombardy.
    groups: Vec<String>,
    polygons: Vec<Polygon>,
}

/// A unit, or a group of units, that a name means.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NamedUnit {
    pub(crate) name: String,
    /// Two letters of its country.
    pub(crate) country: String,
    /// What says it without doubt.
    pub(crate) handle: String,
    pub(crate) polygons: Vec<Polygon>,
}

impl NamedUnit {
    pub(crate) fn area_sr(&self) -> f64 {
        self.polygons.iter().map(|polygon| polygon.area_sr().abs()).sum()
    }
}

struct Table {
    units: Vec<Unit>,
    /// Countries whose units are as small as municipalities, and what is drawn in their place: their regions.
    merged: Vec<String>,
    regions: Vec<Polygon>,
}

fn units() -> &'static [Unit] {
    &table().units
}

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let bytes = inflate(include_bytes!("../../assets/admin1.bin"));
        let mut unpacker = Unpacker::new(&bytes);
        let list = |text: String| text.split('|').filter(|one| !one.is_empty()).map(str::to_owned).collect();
        let count = unpacker.number();
        let mut unit = |_| {
            let [country, code, name, others, groups] = std::array::from_fn(|_| unpacker.string());
            let polygons = unpack_polygons(&mut unpacker);
            Unit { country, code, name, other_names: list(others), groups: list(groups), polygons }
        };
        let units = (0..count).map(&mut unit).collect();
        Table { units, merged: list(unpacker.string()), regions: unpack_polygons(&mut unpacker) }
    })
}

/// The outer rings of states and provinces that reach into a box, each with a number of its own; corners are longitude and latitude in degrees.
/// Countries of many small units, such as Slovenia, are drawn by their regions.
pub fn state_outlines(south_west: [f64; 2], north_east: [f64; 2]) -> Vec<(usize, &'static [[f64; 2]])> {
    type Boxed = ([f64; 2], [f64; 2], &'static [[f64; 2]]);
    static RINGS: OnceLock<Vec<Boxed>> = OnceLock::new();
    let rings = RINGS.get_or_init(|| {
        let boxed = |polygon: &'static Polygon| {
            let ring = &polygon.outer[..];
            let corner = |of: fn(f64, f64) -> f64, first| [0, 1].map(|k| ring.iter().map(|at| at[k]).fold(first, of));
            (corner(f64::min, f64::INFINITY), corner(f64::max, f64::NEG_INFINITY), ring)
        };
        let Table { units, merged, regions } = table();
        let is_drawn = |unit: &&Unit| !merged.contains(&unit.country);
        units.iter().filter(is_drawn).flat_map(|unit| &unit.polygons).chain(regions).map(boxed).collect()
    });
    let overlaps = |(least, most, _): &&Boxed| (0..2).all(|k| least[k] <= north_east[k] && most[k] >= south_west[k]);
    rings.iter().enumerate().filter(|(_, one)| overlaps(one)).map(|(k, (_, _, ring))| (k, *ring)).collect()
}

/// All that a name or an ISO 3166-2 code means, in one country or in all. Groups go before units of their name.
pub(crate) fn find(name: &str, country: Option<&str>) -> Vec<NamedUnit> {
    let wanted = folded(name);
    let here = |unit: &&Unit| country.is_none_or(|code| unit.country == code);
    if let Some(unit) = units().iter().find(|unit| !unit.code.is_empty() && unit.code.eq_ignore_ascii_case(name.trim()))
    {
        return vec![found(unit)];
    }
    let mut all: Vec<NamedUnit> = Vec::new();
    for unit in units().iter().filter(here) {
        if let Some(group) = unit.groups.iter().find(|group| folded(group) == wanted) {
            match all.iter_mut().find(|other| other.country == unit.country) {
                Some(other) => other.polygons.extend(unit.polygons.iter().cloned()),
                None => all.push(NamedUnit {
                    name: group.clone(),
                    country: unit.country.clone(),
                    handle: format!("{group}, {}", unit.country),
                    polygons: unit.polygons.clone(),
                }),
            }
        }
    }
    let of_groups: Vec<String> = all.iter().map(|group| group.country.clone()).collect();
    let named = |unit: &Unit| folded(&unit.name) == wanted;
    let also_named = |unit: &Unit| unit.other_names.iter().any(|other| folded(other) == wanted);
    // Other names only where none has it as its own: they are many and loose.
    let is_own = units().iter().filter(here).any(named);
    let units = units().iter().filter(here).filter(|unit| if is_own { named(unit) } else { also_named(unit) });
    all.extend(units.filter(|unit| !of_groups.contains(&unit.country)).map(found));
    all
}

/// The name and the code of a unit by its position. If there are not so many units, how far the position is past the last.
pub(crate) fn unit_name(position: usize) -> Result<(&'static str, &'static str), usize> {
    let unit = units().get(position).ok_or_else(|| position - units().len())?;
    Ok((&unit.name, &unit.code))
}

/// Up to three names that look like one.
pub(crate) fn near(name: &str) -> Vec<String> {
    const ALIKE: f64 = 0.92;
    const TOLD: usize = 3;
    let wanted = folded(name);
    let names = units().iter().flat_map(|unit| std::iter::once(&unit.name).chain(&unit.groups));
    let scored = names.map(|name| (strsim::jaro_winkler(&folded(name), &wanted), name.as_str()));
    let mut scored: Vec<(f64, &str)> = scored.filter(|(score, _)| *score >= ALIKE).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    scored.dedup_by(|a, b| a.1 == b.1);
    scored.into_iter().take(TOLD).map(|(_, name)| name.to_owned()).collect()
}

fn found(unit: &Unit) -> NamedUnit {
    let handle = if unit.code.is_empty() { format!("{}, {}", unit.name, unit.country) } else { unit.code.clone() };
    NamedUnit { name: unit.name.clone(), country: unit.country.clone(), handle, polygons: unit.polygons.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::places::Countries;

    #[test]
    fn outlines_have_about_their_area() {
        let names = ["Bavaria", "US-CA", "Scotland", "Tuscany", "Hokkaido"];
        for (name, area_km2) in names.into_iter().zip([70_550.0, 423_970.0, 78_800.0, 22_985.0, 78_420.0]) {
            let found = find(name, None);
            assert_eq!(found.len(), 1, "{name}: {:?}", found.iter().map(|one| &one.handle).collect::<Vec<_>>());
            let area: f64 = found[0].polygons.iter().map(|polygon| polygon.area_km2().abs()).sum();
            assert!((area / area_km2 - 1.0).abs() < 0.05, "{name}: {area}");
        }
        assert!((2..40).contains(&state_outlines([11.0, 43.0], [12.0, 44.0]).len()));
        // Slovenia has 193 municipalities in 12 regions, Latvia 119 in 5; a box holds neighbours, too.
        for (south_west, north_east, most) in [([14.0, 45.8], [15.8, 46.5], 22), ([24.0, 56.6], [26.0, 57.4], 12)] {
            let count = state_outlines(south_west, north_east).len();
            assert!((3..=most).contains(&count), "{count}");
        }
    }

    #[test]
    fn every_unit_has_a_country_and_an_outline() {
        let countries = Countries::bundled();
        for unit in units() {
            assert!(countries.by_code(&unit.country).is_some(), "{} {}", unit.country, unit.name);
            assert!(!unit.polygons.is_empty() && !unit.name.is_empty(), "{}", unit.code);
        }
        assert_eq!(units().len(), 4577);
    }
}
