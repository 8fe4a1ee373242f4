//! Answers as rows of a table: the columns that every table of answers has.

use crate::Answer;
use serde_json::Value;

/// The columns of a table of answers.
pub(crate) const ANSWER_COLUMNS: [&str; 11] = [
    "photo",
    "lat",
    "lon",
    "radius_50_km",
    "radius_90_km",
    "probability",
    "locatability",
    "can_tell",
    "place",
    "country",
    "error",
];

/// A photo's row: what was found, or why nothing was.
///
/// ```
/// # #[cfg(feature = "bundled")] {
/// use locdiff::{AnswerRow, Locator};
/// # std::env::set_current_dir("../../fixtures/vision").unwrap();
/// let path = "china.jpg";
/// let answer = Locator::bundled()?.locate(path)?;
/// let row = AnswerRow::from(&answer);
/// assert_eq!(row.fields()[1], format!("{:.6}", answer.best.lat_deg()));
/// assert_eq!(AnswerRow::from_json(&answer.to_json()), Some(row));
/// # }
/// # Ok::<(), locdiff::LocateError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AnswerRow {
    /// The photo's name.
    pub photo: String,
    /// What was found, or why nothing was, in one line.
    pub(crate) found: Result<FoundRow, String>,
}

/// What a row says of a photo that was answered.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FoundRow {
    pub(crate) lat: f64,
    pub(crate) lon: f64,
    pub(crate) radius_50_km: f64,
    pub(crate) radius_90_km: f64,
    pub(crate) probability: f64,
    pub(crate) locatability: f64,
    pub(crate) can_tell: bool,
    pub(crate) place: String,
    pub(crate) country: Option<String>,
}

impl From<&Answer> for AnswerRow {
    fn from(answer: &Answer) -> Self {
        let found = FoundRow {
            lat: answer.best.lat_deg(),
            lon: answer.best.lon_deg(),
            radius_50_km: answer.radius_50_km,
            radius_90_km: answer.radius_90_km,
            probability: answer.hypotheses.first().map_or(0.0, |first| first.probability),
            locatability: answer.locatability,
            can_tell: answer.can_tell,
            place: answer.place.clone(),
            country: answer.country.clone(),
        };
        Self { photo: answer.photo.clone().unwrap_or_default(), found: Ok(found) }
    }
}

impl AnswerRow {
    /// Whether the photo was answered.
    pub fn is_answered(&self) -> bool {
        self.found.is_ok()
    }

    /// The columns of a table of answers.
    pub const COLUMNS: [&'static str; 11] = ANSWER_COLUMNS;

    /// The row of a JSON object as [`Answer::to_json`] or [`failure_json`] makes it; `None` for any other.
    pub fn from_json(object: &Value) -> Option<Self> {
        let photo = object.get("photo")?.as_str().unwrap_or_default().to_owned();
        if let Some(error) = object.get("error") {
            return Some(Self { photo, found: Err(error.as_str()?.to_owned()) });
        }
        // What is no number is not told: of a model that gives no densities.
        let told = |value: &Value| if value.is_null() { Some(f64::NAN) } else { value.as_f64() };
        let number = |name: &str| told(object.get(name)?);
        let best = object.get("best")?;
        let found = FoundRow {
            lat: best.get("lat")?.as_f64()?,
            lon: best.get("lon")?.as_f64()?,
            radius_50_km: number("radius_50_km")?,
            radius_90_km: number("radius_90_km")?,
            probability: match object.get("hypotheses")?.as_array()?.first() {
                Some(first) => told(first.get("probability")?)?,
                None => 0.0,
            },
            locatability: number("locatability")?,
            can_tell: object.get("can_tell")?.as_bool()?,
            place: object.get("place")?.as_str()?.to_owned(),
            country: object.get("country")?.as_str().map(str::to_owned),
        };
        Some(Self { photo, found: Ok(found) })
    }

    /// The cells, as [`ANSWER_COLUMNS`] names them.
    pub fn fields(&self) -> [String; ANSWER_COLUMNS.len()] {
        let photo = self.photo.clone();
        match &self.found {
            Ok(found) => [
                photo,
                format!("{:.6}", found.lat),
                format!("{:.6}", found.lon),
                cell(found.radius_50_km, 1),
                cell(found.radius_90_km, 1),
                cell(found.probability, 4),
                cell(found.locatability, 4),
                found.can_tell.to_string(),
                found.place.clone(),
                found.country.clone().unwrap_or_default(),
                String::new(),
            ],
            Err(reason) => {
                let mut fields = [const { String::new() }; ANSWER_COLUMNS.len()];
                (fields[0], fields[ANSWER_COLUMNS.len() - 1]) = (photo, reason.clone());
                fields
            }
        }
    }
}

/// A number with so many digits; nothing where it is not told.
fn cell(value: f64, digits: usize) -> String {
    if value.is_nan() { String::new() } else { format!("{value:.digits$}") }
}

/// The JSON object of a photo that could not be used: what `locdiff locate --json` prints.
pub(crate) fn failure_json(photo: &str, reason: &str) -> Value {
    serde_json::json!({ "photo": photo, "error": reason })
}
