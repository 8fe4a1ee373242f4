//! Answers as rows of a table: the columns that every table of answers has.

use crate::Answer;
use serde_json::Value;

pub(crate) const ANSWER_COLUMNS: &str =
    "photo lat lon radius_50_km radius_90_km probability locatability can_tell place country error";

/// The columns of a photo's own GPS tag, the last of a table.
pub(crate) const TAG_COLUMNS: &str = "gps_lat gps_lon";

/// A photo's row: its name, and what was found, from `lat` to `country`, or why nothing was, in one line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AnswerRow {
    pub(crate) photo: String,
    pub(crate) found: Result<[String; 9], String>,
    /// The photo's GPS tag, empty if it has none.
    pub(crate) tag: [String; 2],
}

impl From<&Answer> for AnswerRow {
    fn from(answer: &Answer) -> Self {
        let Answer { best, radius_50_km, radius_90_km, locatability, can_tell, place, .. } = answer;
        let probability = answer.hypotheses.first().map_or(0.0, |first| first.probability);
        let numbers = [*radius_50_km, *radius_90_km, probability, *locatability];
        let found = cells([best.lat_deg(), best.lon_deg()], numbers, *can_tell, place, answer.country.as_deref());
        let tag = answer.gps.map_or_else(Default::default, |gps| degrees([gps.lat_deg(), gps.lon_deg()]));
        Self { photo: answer.photo.clone().unwrap_or_default(), found: Ok(found), tag }
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
        let at = [best.get("lat")?.as_f64()?, best.get("lon")?.as_f64()?];
        let numbers = [number("radius_50_km")?, number("radius_90_km")?, probability, number("locatability")?];
        let (can_tell, place) = (object.get("can_tell")?.as_bool()?, object.get("place")?.as_str()?);
        let found = Ok(cells(at, numbers, can_tell, place, object.get("country")?.as_str()));
        let gps = object.get("gps").and_then(|gps| Some([gps.get("lat")?.as_f64()?, gps.get("lon")?.as_f64()?]));
        Some(Self { photo, found, tag: gps.map(degrees).unwrap_or_default() })
    }

    /// The fields of [`ANSWER_COLUMNS`], then others, then those of [`TAG_COLUMNS`].
    pub(crate) fn fields(&self, others: impl IntoIterator<Item = String>) -> Vec<String> {
        let (found, error) = match &self.found {
            Ok(found) => (found.clone(), String::new()),
            Err(reason) => (Default::default(), reason.clone()),
        };
        let own = std::iter::once(self.photo.clone()).chain(found).chain([error]);
        own.chain(others).chain(self.tag.clone()).collect()
    }
}

fn cells(at: [f64; 2], numbers: [f64; 4], can_tell: bool, place: &str, country: Option<&str>) -> [String; 9] {
    let [lat, lon] = degrees(at);
    let [half, most, probability, locatability] = numbers;
    let [half, most] = [half, most].map(|km| cell(km, 1));
    let [probability, locatability] = [probability, locatability].map(|share| cell(share, 4));
    let country = country.unwrap_or_default().to_owned();
    [lat, lon, half, most, probability, locatability, can_tell.to_string(), place.to_owned(), country]
}

fn degrees(at: [f64; 2]) -> [String; 2] {
    at.map(|degrees| format!("{degrees:.6}"))
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
        let answer = answer.about("a.jpg", Some(crate::LatLon::new(1.25, -2.5).unwrap()));
        let row = AnswerRow::from(&answer);
        let fields = row.fields(["other".to_owned()]);
        assert_eq!(fields[11..], ["other", "1.250000", "-2.500000"]);
        assert_eq!(fields[1], format!("{:.6}", answer.best.lat_deg()));
        assert_eq!(AnswerRow::from_json(&answer.to_json()), Some(row));
    }
}
