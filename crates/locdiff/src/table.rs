//! Answers as rows of a table: the columns that every table of answers has.

use crate::Answer;
use serde_json::Value;

pub(crate) const ANSWER_COLUMNS: &str = "photo lat lon radius_50_km radius_90_km probability locatability can_tell \
                                         place country headline country_probability countries error";

/// The columns of a photo's own GPS tag, the last of a table.
pub(crate) const TAG_COLUMNS: &str = "gps_lat gps_lon";

/// A photo's row: its name, and the answer from `lat` to `countries`, or the reason for having none.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AnswerRow {
    pub(crate) photo: String,
    pub(crate) found: Result<Vec<String>, String>,
    /// The photo's GPS tag, empty if it has none.
    pub(crate) tag: [String; 2],
}

impl From<&Answer> for AnswerRow {
    fn from(answer: &Answer) -> Self {
        let photo = answer.photo.as_deref().unwrap_or_default();
        Self::from_json(&answer.to_json()).unwrap_or_else(|| Self::failed(photo, "no answer"))
    }
}

impl AnswerRow {
    /// The row of a photo that could not be used.
    pub(crate) fn failed(photo: &str, reason: &str) -> Self {
        Self { photo: photo.to_owned(), found: Err(reason.to_owned()), tag: Default::default() }
    }

    /// The row of a JSON object as [`Answer::to_json`] or [`failure_json`] makes it; `None` for any other.
    pub(crate) fn from_json(object: &Value) -> Option<Self> {
        let photo = object.get("photo")?.as_str().unwrap_or_default().to_owned();
        if let Some(error) = object.get("error") {
            return Some(Self::failed(&photo, error.as_str()?));
        }
        // What is null is not known: of a model that gives no densities.
        let known = |value: &Value| if value.is_null() { Some(f64::NAN) } else { value.as_f64() };
        let number = |name: &str| known(object.get(name)?);
        let probability = match object.get("hypotheses")?.as_array()?.first() {
            Some(first) => known(first.get("probability")?)?,
            None => 0.0,
        };
        let best = object.get("best")?;
        let [lat, lon] = degrees([best.get("lat")?.as_f64()?, best.get("lon")?.as_f64()?]);
        let [half, most] = [number("radius_50_km")?, number("radius_90_km")?].map(|km| cell(km, 1));
        let [probability, locatability] = [probability, number("locatability")?].map(|share| cell(share, 4));
        let can_tell = object.get("can_tell")?.as_bool()?.to_string();
        let text = |object: &Value, name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let [place, country, headline] = ["place", "country", "headline"].map(|name| text(object, name));
        let mut of_country = String::new();
        let countries = object.get("countries").and_then(Value::as_array).into_iter().flatten().map(|one| {
            let share = cell(one.get("probability").and_then(Value::as_f64).unwrap_or_default(), 4);
            let (code, name) = (text(one, "code"), text(one, "name"));
            if name == country {
                of_country.clone_from(&share);
            }
            format!("{}:{share}", if code.is_empty() { name } else { code })
        });
        let countries = countries.collect::<Vec<_>>().join("|");
        let (place, listed) = ([place, country, headline], [of_country, countries]);
        let found = [lat, lon, half, most, probability, locatability, can_tell].into_iter().chain(place).chain(listed);
        let found = Ok(found.collect());
        let gps = object.get("gps").and_then(|gps| Some([gps.get("lat")?.as_f64()?, gps.get("lon")?.as_f64()?]));
        Some(Self { photo, found, tag: gps.map(degrees).unwrap_or_default() })
    }

    /// Returns the fields of [`ANSWER_COLUMNS`], then others, then the fields of [`TAG_COLUMNS`].
    pub(crate) fn fields(&self, others: impl IntoIterator<Item = String>) -> Vec<String> {
        let (found, error) = match &self.found {
            Ok(found) => (found.clone(), String::new()),
            Err(reason) => (vec![String::new(); 12], reason.clone()),
        };
        let own = std::iter::once(self.photo.clone()).chain(found).chain([error]);
        own.chain(others).chain(self.tag.clone()).collect()
    }
}

fn degrees(at: [f64; 2]) -> [String; 2] {
    at.map(|degrees| format!("{degrees:.6}"))
}

/// Formats a number with this many digits; empty if it is not finite.
fn cell(value: f64, digits: usize) -> String {
    if value.is_nan() { String::new() } else { format!("{value:.digits$}") }
}

/// The JSON object of a photo that could not be used: what `locdiff locate --json` prints.
pub(crate) fn failure_json(photo: &str, reason: &str) -> Value {
    serde_json::json!({ "photo": photo, "error": reason })
}

#[cfg(all(test, feature = "bundled"))]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_what_an_answer_says() {
        let answer = crate::Locator::bundled().unwrap().locate(locdiff_testing::fixture("vision/china.jpg")).unwrap();
        let answer = answer.about("a.jpg", Some(crate::LatLon::new(1.25, -2.5).unwrap()));
        let row = AnswerRow::from(&answer);
        let fields = row.fields(["other".to_owned()]);
        assert_eq!(fields[14..], ["other", "1.250000", "-2.500000"]);
        let (first, code) = (&answer.countries[0], answer.countries[0].code.unwrap());
        assert!(fields[12].starts_with(&format!("{code}:{:.4}|", first.probability)), "{fields:?}");
        assert_eq!(fields[1], format!("{:.6}", answer.best.lat_deg()));
    }
}
