//! Answers for people and for programs.

use super::Located;
use locdiff::{Hypothesis, Spot};
use locdiff_places::describe;
use locdiff_sphere::{LatLon, haversine_km};
use serde_json::{Value, json};
use std::fmt::Write;

/// Hypotheses less probable than this are left out of the text.
const WORTH_A_LINE: f64 = 0.02;

/// What is printed for a photo.
pub(crate) fn text(located: &Located<'_>, as_json: bool) -> String {
    if as_json { format!("{}\n", object(located)) } else { human(located) }
}

/// A spot as a checked place.
pub(crate) fn place(spot: Spot) -> LatLon {
    LatLon::new(spot.lat, spot.lon).expect("an answer's places were checked")
}

/// The answer as one JSON object.
pub(crate) fn object(located: &Located<'_>) -> Value {
    let mut value = serde_json::to_value(located.answer).expect("an answer is plain data");
    let said = describe(place(located.answer.best));
    value["photo"] = json!(located.name);
    value["place"] = json!(said.to_string());
    value["country"] = json!(said.country);
    value["country_code"] = json!(said.country_code);
    value["gps"] = json!(located.gps.map(Spot::from));
    let places = located.answer.hypotheses.iter().map(|h| describe(place(h.place)).to_string());
    for (k, words) in places.enumerate() {
        value["hypotheses"][k]["place"] = json!(words);
    }
    value
}

/// A few lines that say it.
fn human(located: &Located<'_>) -> String {
    let (answer, best) = (located.answer, place(located.answer.best));
    let mut text = format!("{}\n", located.name);
    let mut line = |label: &str, words: String| {
        let _ = writeln!(text, "  {label:<13}{words}");
    };
    if !answer.can_tell {
        line("I can't tell", "where this was taken; what follows is a guess".to_owned());
    }
    line("best place", format!("{}   {}", best, describe(best)));
    let (half, most) = (kilometres(answer.radius_50_km), kilometres(answer.radius_90_km));
    line("radius", format!("50 % within {half} km, 90 % within {most} km"));
    let score = answer.locatability;
    line("locatability", format!("{score:.2}: the chance that the place is right to within 750 km"));
    let listed = answer.hypotheses.iter().enumerate();
    for (k, Hypothesis { place: spot, probability }) in
        listed.filter(|(k, h)| *k == 0 || h.probability >= WORTH_A_LINE)
    {
        let label = if k == 0 { "around it" } else { "or" };
        let words = if k == 0 { String::new() } else { format!("   {}", describe(place(*spot))) };
        line(label, format!("{:>3.0} %{words}", 100.0 * probability));
    }
    if let Some(gps) = located.gps {
        let off = kilometres(haversine_km(best, gps));
        line("GPS tag", format!("{gps}, {off} km away; not used for the answer"));
    }
    text.push('\n');
    text
}

/// "12", "340" or "4,100": no more digits than mean something.
pub(crate) fn kilometres(km: f64) -> String {
    let rounded = if km >= 1000.0 {
        (km / 100.0).round() * 100.0
    } else if km >= 100.0 {
        (km / 10.0).round() * 10.0
    } else {
        km.round()
    };
    let whole = rounded as u64;
    if whole >= 1000 { format!("{},{:03}", whole / 1000, whole % 1000) } else { whole.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_have_few_digits() {
        for (km, text) in [(0.3, "0"), (12.4, "12"), (347.0, "350"), (999.0, "1,000"), (12_345.0, "12,300")] {
            assert_eq!(kilometres(km), text);
        }
    }
}
