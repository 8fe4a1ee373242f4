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

/// Our lines and another reader's: of two in one place the surer one. A line known only by its script gives way to letters of a script other than Latin.
pub(crate) fn joined(mut own: Vec<ReadText>, others: Vec<ReadText>) -> Vec<ReadText> {
    let holds = |line: &ReadText, other: &ReadText| {
        (0..2).all(|axis| {
            let places = line.corners.map(|corner| corner[axis]);
            let middle = other.corners.iter().map(|corner| corner[axis]).sum::<f32>() / 4.0;
            places.iter().any(|place| *place <= middle) && places.iter().any(|place| *place >= middle)
        })
    };
    let is_same = |a: &ReadText, b: &ReadText| holds(a, b) || holds(b, a);
    for other in others {
        let is_of_script =
            other.text.contains(|letter| matches!(letter, '\u{370}'..'\u{1e00}' | '\u{ac00}'..'\u{d7b0}'));
        let gives_way = |line: &ReadText| {
            if line.text.ends_with(" letters)") { is_of_script } else { line.confidence < other.confidence }
        };
        own.retain(|line| !(gives_way(line) && is_same(line, &other)));
        if !own.iter().any(|line| is_same(line, &other)) {
            own.push(other);
        }
    }
    own
}

/// Lines without those that are to be ignored.
pub(crate) fn unignored(lines: &[ReadText], ignored: &[String]) -> Vec<ReadText> {
    lines.iter().filter(|line| !ignored.contains(&line.text)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_reader_adds_what_is_not_read() {
        let line = |text: &str, x: f32| ReadText::new(text, 0.9, [[x, 0.0], [x + 8.0, 0.0], [x + 8.0, 2.0], [x, 2.0]]);
        let own = vec![line("Street", 0.0), line("(Cyrillic letters)", 10.0), line("(Thai letters)", 20.0)];
        let mut unsure = line("8ar", 31.0);
        unsure.confidence = 0.5;
        let own = [own, vec![unsure]].concat();
        let others = vec![line("Streets", 1.0), line("Почта", 11.0), line("Unwhu", 21.0), line("Bar", 30.0)];
        let texts: Vec<String> = joined(own, others).into_iter().map(|line| line.text).collect();
        assert_eq!(texts, ["Street", "(Thai letters)", "Почта", "Bar"]);
    }
}
