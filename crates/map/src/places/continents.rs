//! Continents, by the code of the nearest town's country.

use crate::places::Places;
use locdiff_shdd::sphere::LatLon;

/// Continents with the ISO 3166 codes that GeoNames counts to them (Russia to Europe, Turkey to Asia).
pub(crate) const CONTINENTS: [(&str, &str); 7] = [
    (
        "Africa",
        "AO BF BI BJ BW CD CF CG CI CM CV DJ DZ EG EH ER ET GA GH GM GN GQ GW KE KM LR LS LY MA MG ML MR MU MW MZ NA NE \
         NG RE RW SC SD SH SL SN SO SS ST SZ TD TG TN TZ UG YT ZA ZM ZW",
    ),
    ("Antarctica", "AQ BV GS HM TF"),
    (
        "Asia",
        "AE AF AM AZ BD BH BN BT CC CN GE HK ID IL IN IO IQ IR JO JP KG KH KP KR KW KZ LA LB LK MM MN MO MV MY NP OM PH \
         PK PS QA SA SG SY TH TJ TM TR TW UZ VN YE",
    ),
    (
        "Europe",
        "AD AL AT AX BA BE BG BY CH CS CY CZ DE DK EE ES FI FO FR GB GG GI GR HR HU IE IM IS IT JE LI LT LU LV MC MD ME \
         MK MT NL NO PL PT RO RS RU SE SI SJ SK SM UA VA XK",
    ),
    (
        "North America",
        "AG AI AN AW BB BL BM BQ BS BZ CA CR CU CW DM DO GD GL GP GT HN HT JM KN KY LC MF MQ MS MX NI PA PM PR SV SX TC \
         TT US VC VG VI",
    ),
    ("Oceania", "AS AU CK CX FJ FM GU KI MH MP NC NF NR NU NZ PF PG PN PW SB TK TL TO TV UM VU WF WS"),
    ("South America", "AR BO BR CL CO EC FK GF GY PE PY SR UY VE"),
];

/// The continent of a country by the two letters of its code.
pub fn continent_of_country(code: &str) -> Option<&'static str> {
    let has_code = |codes: &str| codes.split_ascii_whitespace().any(|one| one == code);
    CONTINENTS.iter().find(|(_, codes)| has_code(codes)).map(|(name, _)| *name)
}

/// The continent of a place: that of its nearest town, and Antarctica south of 60° S, where there are none.
pub fn continent(place: LatLon) -> Option<&'static str> {
    const ANTARCTIC_LAT_DEG: f64 = -60.0;
    if place.lat_deg() < ANTARCTIC_LAT_DEG {
        return Some("Antarctica");
    }
    continent_of_country(&Places::bundled().nearest(place).country_code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::places::Countries;

    #[test]
    fn well_known_towns_are_on_their_continents() {
        let old = [(48.9, 2.4, "Europe"), (30.0, 31.2, "Africa"), (35.7, 139.7, "Asia"), (-21.1, 55.5, "Africa")];
        let new = [(40.7, -74.0, "North America"), (-12.0, -77.0, "South America"), (-33.9, 151.2, "Oceania")];
        // Cayenne is in France, but not in Europe.
        let odd = [(4.93, -52.33, "South America"), (-75.0, 0.0, "Antarctica")];
        for (lat, lon, name) in old.into_iter().chain(new).chain(odd) {
            assert_eq!(continent(LatLon::new(lat, lon).unwrap()), Some(name), "{lat} {lon}");
        }
    }

    /// Every code that the outlines know has a continent, and only one.
    #[test]
    fn no_country_is_forgotten() {
        for country in Countries::bundled().all().iter().filter(|country| !country.code().is_empty()) {
            let found = CONTINENTS.iter().filter(|(_, codes)| codes.split(' ').any(|c| c == country.code()));
            assert_eq!(found.count(), 1, "{} {}", country.code(), country.name());
        }
    }
}
