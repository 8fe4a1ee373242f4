//! Text in photos, read by the bundled reader.

use locdiff_model::answer::ReadText;
use locdiff_vision::Photo;

/// The lines of text in a photo; none in a program without the bundled reader.
#[cfg(feature = "bundled")]
pub(crate) fn read_text(photo: &Photo) -> Vec<ReadText> {
    use locdiff_vision::TextReader;
    use std::sync::OnceLock;
    static READER: OnceLock<Option<TextReader>> = OnceLock::new();
    let reader = READER.get_or_init(|| TextReader::new(locdiff_vision::reader_weights()).ok());
    let lines = reader.as_ref().map_or_else(Vec::new, |reader| reader.read(photo));
    lines.into_iter().map(|line| ReadText::new(line.text, line.confidence, line.corners)).collect()
}

#[cfg(not(feature = "bundled"))]
pub(crate) fn read_text(_: &Photo) -> Vec<ReadText> {
    Vec::new()
}

/// Lines without those that are to be ignored.
pub(crate) fn unignored(lines: &[ReadText], ignored: &[String]) -> Vec<ReadText> {
    lines.iter().filter(|line| !ignored.contains(&line.text)).cloned().collect()
}
