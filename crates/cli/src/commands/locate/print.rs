//! Answers for people and for programs.

use locdiff::Located;
use locdiff_model::answer::Answer;

/// How an answer is printed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Form {
    Json,
    /// A few lines.
    Long,
    /// One line, if there are many photos.
    Short,
}

/// What is printed for a photo.
pub(super) fn text(answer: &Answer, form: Form) -> String {
    match form {
        Form::Json => format!("{}\n", answer.to_json()),
        Form::Long => answer.to_text(),
        Form::Short => answer.to_line(),
    }
}

/// A line for programs, of a photo that could not be used too.
pub(super) fn line(located: &Located) -> String {
    format!("{}\n", located.to_json())
}
