//! Clues of the map: coast, climate, hemisphere, a place that is near, the clock's time zone.

use crate::{cells::Cells, cells::MapAttribute, clues::asked::AskedClue, clues::asked::ClueFit};
use crate::{clues::ClueError, clues::clocks, places::find_place, places::search_places};
use locdiff_base::offset_seconds;
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon};

/// The share of a cell, 25 km wide, within 10 km of the coast, by the class of its centre. The classes that follow have none.
const NEAR_COAST: [f64; 5] = [0.1, 0.7, 0.8, 0.5, 0.06];
/// How well a climate fits that has the same first letter: borders of climates are not sharp.
const SAME_GROUP: f64 = 0.2;
/// Pairs of a climate that the map does not have and the one that it is merged with.
const MERGED: &str = "As Aw Cfc Cfb Csc Csb Cwc Cwb Dfd Dfc Dsa Dsb Dsc Dsb Dsd Dsb Dwc Dwb Dwd Dwb EF ET";

/// How well a place fits by its class of a map attribute; outside the map it does not.
fn by_class(attribute: MapAttribute, fits: Vec<f64>) -> ClueFit {
    ClueFit::Function(Box::new(move |place| {
        let cells = Cells::bundled();
        cells.at(place).map_or(0.0, |cell| fits[usize::from(cells.classes(attribute)[cell])])
    }))
}

/// Reads "yes" (within 10 km of the sea) or "no".
pub(crate) fn coast(asked: &AskedClue<'_>) -> Result<ClueFit, ClueError> {
    let is_no = asked.one_of(&["yes", "no"])? == 1;
    let near = |class: usize| NEAR_COAST.get(class).copied().unwrap_or(0.0);
    let fit = |class: usize| if is_no { 1.0 - near(class) } else { near(class) };
    Ok(by_class(MapAttribute::Coast, (0..MapAttribute::Coast.count()).map(fit).collect()))
}

/// Reads a climate of Köppen and Geiger, such as "BSk", or the first letters of several, such as "B".
pub(crate) fn climate(asked: &AskedClue<'_>) -> Result<ClueFit, ClueError> {
    let merged: Vec<&str> = MERGED.split(' ').collect();
    let pair = merged.as_chunks::<2>().0.iter().find(|[name, _]| name.eq_ignore_ascii_case(asked.value));
    let wanted = pair.map_or(asked.value, |[_, into]| *into);
    let names: Vec<&str> =
        (0..MapAttribute::Climate.count()).map(|k| MapAttribute::Climate.class_name(k as u8)).collect();
    let begins = |name: &str, with: Option<&str>| {
        with.is_some_and(|with| {
            !with.is_empty() && name.get(..with.len()).is_some_and(|part| part.eq_ignore_ascii_case(with))
        })
    };
    let fit = |name: &&str| {
        let has_group = begins(name, wanted.get(..1));
        if begins(name, Some(wanted)) { 1.0 } else { f64::from(u8::from(has_group)) * SAME_GROUP }
    };
    let fits: Vec<f64> = names.iter().map(fit).collect();
    if !fits.contains(&1.0) {
        asked.one_of(&names)?;
    }
    Ok(by_class(MapAttribute::Climate, fits))
}

/// Reads "north", "south", "east" or "west".
pub(crate) fn hemisphere(asked: &AskedClue<'_>) -> Result<ClueFit, ClueError> {
    let half = asked.one_of(&["north", "south", "east", "west"])?;
    let is_there =
        move |place: LatLon| [place.lat_deg(), -place.lat_deg(), place.lon_deg(), -place.lon_deg()][half] >= 0.0;
    Ok(ClueFit::Function(Box::new(move |place| f64::from(u8::from(is_there(place))))))
}

/// Reads "+05:30": how likely a clock shows it there.
pub(crate) fn timezone(asked: &AskedClue<'_>) -> Result<ClueFit, ClueError> {
    let text = asked.value.trim_start_matches("UTC").trim_start_matches("GMT").replace('−', "-");
    let seconds = if matches!(&text[..], "" | "Z") { Some(0.0) } else { offset_seconds(&text) };
    let minutes = seconds.ok_or_else(|| asked.refuse("give an offset from UTC, such as +05:30"))? / 60.0;
    let is_own = move |offset: &&i16| f64::from(**offset) == minutes;
    Ok(ClueFit::Function(Box::new(move |place| {
        let offsets = clocks::offsets_at(place);
        offsets.iter().filter(is_own).count() as f64 / offsets.len() as f64
    })))
}

/// Reads "Lyon" 100km. At this distance the fit is a half.
pub(crate) fn near(asked: &AskedClue<'_>) -> Result<ClueFit, ClueError> {
    let give = "give a place and a distance, such as Lyon 100km";
    let value = asked.value.trim_end();
    let digits = value.trim_end_matches(|letter: char| letter.is_ascii_alphabetic()).trim_end();
    let km_per_unit = match value[digits.len()..].trim() {
        "km" => 1.0,
        "m" => 1e-3,
        "mi" | "miles" => 1.609_344,
        _ => return Err(asked.refuse(give)),
    };
    let name = digits.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let km = digits[name.len()..].parse::<f64>().ok().map(|number| number * km_per_unit);
    let km = km.filter(|km| (1.0..=10_000.0).contains(km)).ok_or_else(|| asked.refuse(give))?;
    let name = name.trim().trim_matches(['"', ',', '\'']);
    let Some(found) = find_place(name)? else {
        let near = search_places(name, 3).into_iter().map(|place| format!("{}, {}", place.name, place.of)).collect();
        let remedy = "no town is called so; give one of its names or coordinates".to_owned();
        return Err(ClueError::Value { kind: asked.kind, value: asked.value.to_owned(), near, remedy });
    };
    let (centre, km) = (found.at.to_unit(), km.hypot(found.radius_km));
    let fit = move |place: LatLon| {
        let share = centre.angle_rad(place.to_unit()) * EARTH_RADIUS_KM / km;
        0.5_f64.powf(share.powi(4))
    };
    Ok(ClueFit::Function(Box::new(fit)))
}

/// Reads "left" or "right".
pub(crate) fn drives(asked: &AskedClue<'_>) -> Result<ClueFit, ClueError> {
    let is_right = asked.one_of(&["left", "right"])? == 1;
    let fit = |left: bool| f64::from(u8::from(left != is_right));
    let fits = clocks::habits().iter().map(|own| own.drives_left.map_or(0.5, fit)).chain([0.5]);
    Ok(ClueFit::Countries(fits.collect()))
}
