//! Answers as rows of a table: the columns that every table of answers has.

use crate::Answer;
use serde_json::Value;

pub(crate) const ANSWER_COLUMNS: &str =
    "photo lat lon radius_50_km radius_90_km probability locatability can_tell place country error";

/// A photo's row: its name, and what was found, from `lat` to `country`, or why nothing was, in one line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AnswerRow {
    pub(crate) photo: String,
    pub(crate) found: Result<[String; 9], String>,
}

impl From<&Answer> for AnswerRow {
    fn from(answer: &Answer) -> Self {
        let Answer { best, radius_50_km, radius_90_km, locatability, can_tell, place, .. } = answer;
        let probability = answer.hypotheses.first().map_or(0.0, |first| first.probability);
        let numbers = [*radius_50_km, *radius_90_km, probability, *locatability];
        let found = cells([best.lat_deg(), best.lon_deg()], numbers, *can_tell, place, answer.country.as_deref());
        Self { photo: answer.photo.clone().unwrap_or_default(), found: Ok(found) }
    }
}

impl AnswerRow {
    /// The row of a JSON object as [`Answer::to_json`] or [`failure_json`] makes it; `None` for any other.
    pub(crate) fn from_json(object: &Value) -> Option<Self> {
        let photo = object.get("photo")?.as_str().unwrap_or_default().to_owned();
        if let Some(error) = object.get("error") {
            return Some(Self { photo, found: Err(error.as_str()?.to_owned()) });
        }
        // What is null is not known: of a model that gives no densities.
        let known = |value: &Value| if value.is_null() { Some(f64::NAN) } else { value.as_f64() };
        let number = |name: &str| known(object.get(name)?);
        let probability = match object.get("hypotheses")?.as_array()?.first() {
            Some(first) => known(first.get("probability")?)?,
            None => 0.0,
        };
        let best = object.get("best")?;
        let at = [best.get("lat")?.as_f64()?, best.get("lon")?.as_f64()?];
        let numbers = [number("radius_50_km")?, number("radius_90_km")?, probability, number("locatability")?];
        let (can_tell, place) = (object.get("can_tell")?.as_bool()?, object.get("place")?.as_str()?);
        Some(Self { photo, found: Ok(cells(at, numbers, can_tell, place, object.get("country")?.as_str())) })
    }

    pub(crate) fn fields(&self) -> Vec<String> {
        let (found, error) = match &self.found {
            Ok(found) => (found.clone(), String::new()),
            Err(reason) => (Default::default(), reason.clone()),
        };
        std::iter::once(self.photo.clone()).chain(found).chain([error]).collect()
    }
}

fn cells(at: [f64; 2], numbers: [f64; 4], can_tell: bool, place: &str, country: Option<&str>) -> [String; 9] {
    let [lat, lon] = at.map(|degrees| format!("{degrees:.6}"));
    let [half, most, probability, locatability] = numbers;
    let [half, most] = [half, most].map(|km| cell(km, 1));
    let [probability, locatability] = [probability, locatability].map(|share| cell(share, 4));
    let country = country.unwrap_or_default().to_owned();
    [lat, lon, half, most, probability, locatability, can_tell.to_string(), place.to_owned(), country]
}

/// A number with so many digits; nothing where it is not told.
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
    fn a_row_is_the_same_by_way_of_json() {
        let answer = crate::Locator::bundled().unwrap().locate(locdiff_testing::fixture("vision/china.jpg")).unwrap();
        let row = AnswerRow::from(&answer);
        assert_eq!(row.fields()[1], format!("{:.6}", answer.best.lat_deg()));
        assert_eq!(AnswerRow::from_json(&answer.to_json()), Some(row));
    }
}
