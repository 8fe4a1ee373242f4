//! A photo with its answer.

use crate::{LocateError, source::Origin};
use locdiff_model::TraceStep;
use locdiff_model::answer::Answer;
use serde_json::Value;

/// A photo and its answer, or why it has none. In albums, the answer is an [`AlbumAnswer`](crate::AlbumAnswer).
///
/// ```no_run
/// # fn show(photo: locdiff::Located) {
/// match photo.answer {
///     Ok(answer) => println!("{}: {}", photo.name, answer.place),
///     Err(error) => eprintln!("{}: {error}", photo.name),
/// }
/// # }
/// ```
#[non_exhaustive]
pub struct Located<A = Answer> {
    /// The photo's name.
    pub name: String,
    /// Where the photo came from.
    pub origin: Origin,
    /// The answer. An error of which [`LocateError::is_about_photo`] is false ended the run.
    pub answer: Result<A, LocateError>,
    /// A small JPEG of the photo, if the run makes them.
    pub thumbnail: Option<Vec<u8>>,
    /// The backward process, if the run records it.
    pub trace: Vec<TraceStep>,
    /// Whether the photo, or its name, states when it was taken.
    pub has_time: bool,
}

impl<A> Located<A> {
    pub(crate) fn new(origin: Origin, answer: Result<A, LocateError>, thumbnail: Option<Vec<u8>>) -> Self {
        Self { name: origin.called().to_owned(), origin, answer, thumbnail, trace: Vec::new(), has_time: false }
    }

    pub(crate) fn json(&self, answer: fn(&A) -> Value) -> Value {
        match &self.answer {
            Ok(found) => answer(found),
            Err(error) => self.origin.failure_json(error),
        }
    }
}

impl Located {
    /// The line that every interface writes about it: the answer, or the photo's name and the reason.
    pub fn to_json(&self) -> Value {
        self.json(Answer::to_json)
    }
}
