//! The photos of one trip, as one object.

use crate::problem::Problem;
use locdiff::{AlbumAnswer, AlbumFiles, AlbumRun, Located};
use serde_json::{Value, json};

/// The answer to a form of photos: an object with a photo's answer for each, in the order they were sent. Where none can be used, the
/// first one's problem.
pub(crate) fn object(run: &AlbumRun) -> Result<Value, Problem> {
    let first_failure = run.photos.iter().find_map(|photo| photo.answer.as_ref().err());
    if let (0, Some(error)) = (run.answers().count(), first_failure) {
        return Err(Problem::from(error));
    }
    let answers: Vec<AlbumAnswer> = run.answers().cloned().collect();
    let track: Value = serde_json::from_str(&AlbumFiles::new("album", &answers).geojson()).unwrap_or_default();
    let photos: Vec<Value> = run.photos.iter().map(photo).collect();
    Ok(json!({ "photos": photos, "clocks": run.clocks, "track": track }))
}

/// A photo's line of `locdiff album --json`, with its time in UTC where that is known.
fn photo(located: &Located<AlbumAnswer>) -> Value {
    let mut object = located.to_json();
    if let Ok(answer) = &located.answer {
        object["time"]["utc"] = json!(answer.time.utc());
    }
    object
}
