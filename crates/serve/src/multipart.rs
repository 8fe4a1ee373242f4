//! Bodies of `multipart/form-data`, whole in memory already.

use bytes::Bytes;

/// A part: its field, its file name and its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) field: String,
    pub(crate) file_name: Option<String>,
    pub(crate) contents: Bytes,
}

/// The most bytes of a part's head.
const LONGEST_HEAD: usize = 4096;

/// The boundary that a `Content-Type` names.
pub(crate) fn boundary(content_type: &str) -> Option<String> {
    let given = parameter(content_type, "boundary")?;
    (1..=70).contains(&given.len()).then_some(given)
}

/// The parts of a body, none of them copied; at most so many.
pub(crate) fn parts(body: &Bytes, boundary: &str, most: usize) -> Result<Vec<Part>, String> {
    let line = format!("--{boundary}").into_bytes();
    let mut at = if body.starts_with(&line) {
        line.len()
    } else {
        // Something may stand before the first boundary, which begins a line.
        let begin = [b"\r\n", &line[..]].concat();
        find(body, &begin).ok_or("its boundary is nowhere in the body")? + begin.len()
    };
    let end = [b"\r\n", &line[..]].concat();
    let mut found = Vec::new();
    loop {
        let rest = &body[at..];
        if rest.starts_with(b"--") {
            return Ok(found);
        }
        // Blanks may stand behind a boundary.
        let padding = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        if !rest[padding..].starts_with(b"\r\n") {
            return Err("a boundary is followed by neither a line's end nor two dashes".to_owned());
        }
        if found.len() == most {
            return Err(format!("it has more than {most} parts"));
        }
        at += padding;
        let head_end = find(&body[at..body.len().min(at + LONGEST_HEAD)], b"\r\n\r\n")
            .ok_or("a part's head is too long or has no end")?;
        let head = std::str::from_utf8(&body[at..at + head_end]).map_err(|_| "a part's head is no UTF-8")?;
        // The empty line may itself be the first of the boundary's line.
        let begin = at + head_end + 2;
        let stop = begin + find(&body[begin..], &end).ok_or("the last part has no end")?;
        let contents = body.slice((begin + 2).min(stop)..stop);
        found.push(part(head, contents)?);
        at = stop + end.len();
    }
}

fn part(head: &str, contents: Bytes) -> Result<Part, String> {
    let mut disposition = None;
    for line in head.split("\r\n").filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':').ok_or("a part's head has a line without a colon")?;
        if name.trim().eq_ignore_ascii_case("content-disposition") {
            disposition = Some(value.trim());
        } else if name.trim().eq_ignore_ascii_case("content-transfer-encoding")
            && !["binary", "8bit", "7bit"].contains(&value.trim().to_ascii_lowercase().as_str())
        {
            return Err(format!("a part is encoded as {}: send the bytes as they are", value.trim()));
        }
    }
    let disposition = disposition.ok_or("a part has no Content-Disposition")?;
    if !disposition.to_ascii_lowercase().starts_with("form-data") {
        return Err("a part is no form-data".to_owned());
    }
    let field = parameter(disposition, "name").ok_or("a part has no name")?;
    Ok(Part { field, file_name: parameter(disposition, "filename"), contents })
}

/// A parameter of a header's value, with or without quotes.
fn parameter(value: &str, wanted: &str) -> Option<String> {
    let mut rest = &value[value.find(';')? + 1..];
    loop {
        rest = rest.trim_start_matches([' ', '\t', ';']);
        let (name, behind) = rest.split_once('=')?;
        let (found, behind) = if let Some(quoted) = behind.strip_prefix('"') {
            unquote(quoted)?
        } else {
            let end = behind.find(';').unwrap_or(behind.len());
            (behind[..end].trim().to_owned(), &behind[end..])
        };
        if name.trim().eq_ignore_ascii_case(wanted) {
            return Some(found);
        }
        rest = behind;
    }
}

/// A quoted string without its quotes, and what stands behind it. Browsers write a quote in a name as `%22`.
fn unquote(text: &str) -> Option<(String, &str)> {
    let mut found = String::new();
    let mut characters = text.char_indices();
    while let Some((k, character)) = characters.next() {
        match character {
            '"' => return Some((found.replace("%22", "\""), &text[k + 1..])),
            '\\' if text[k + 1..].starts_with(['"', '\\']) => found.extend(characters.next().map(|(_, c)| c)),
            other => found.push(other),
        }
    }
    None
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    let first = *wanted.first()?;
    let mut at = 0;
    while let Some(k) = text[at..].iter().position(|byte| *byte == first) {
        if text[at + k..].starts_with(wanted) {
            return Some(at + k);
        }
        at += k + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Result<Vec<Part>, String> {
        parts(&Bytes::copy_from_slice(body.as_bytes()), "XX", 3)
    }

    #[test]
    fn parts_with_their_names_and_bytes() {
        let body = "preamble\r\n--XX  \r\nContent-Disposition: form-data; name=\"photo\"; filename=\"a \\\"b\\\";c.jpg\"\r\n\
                    Content-Type: image/jpeg\r\n\r\nab\r\n--X\r\n\r\n--XX\r\ncontent-disposition: form-data; name=other\r\n\r\n\r\n--XX--\r\nrest";
        let found = read(body).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!((&*found[0].field, found[0].file_name.as_deref()), ("photo", Some("a \"b\";c.jpg")));
        assert_eq!(&found[0].contents[..], b"ab\r\n--X\r\n");
        assert_eq!((&*found[1].field, &found[1].file_name), ("other", &None));
        assert!(found[1].contents.is_empty());
        assert_eq!(boundary("multipart/form-data; charset=x; boundary=\"a b\"").as_deref(), Some("a b"));
        assert_eq!(boundary("multipart/form-data"), None);
        assert_eq!(boundary(&format!("multipart/form-data; boundary={}", "x".repeat(71))), None);
    }

    #[test]
    fn broken_bodies_say_why() {
        let head = "--XX\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n";
        for (body, reason) in [
            (String::new(), "nowhere"),
            ("--XX".to_owned(), "neither"),
            ("--XXY".to_owned(), "neither"),
            ("--XX\r\n".to_owned(), "no end"),
            (format!("--XX\r\n{}", "a".repeat(9000)), "too long"),
            ("--XX\r\n\r\n\r\n--XX--".to_owned(), "no Content-Disposition"),
            ("--XX\r\nnonsense\r\n\r\nx\r\n--XX--".to_owned(), "colon"),
            ("--XX\r\nContent-Disposition: attachment; name=a\r\n\r\nx\r\n--XX--".to_owned(), "no form-data"),
            ("--XX\r\nContent-Disposition: form-data\r\n\r\nx\r\n--XX--".to_owned(), "no name"),
            ("--XX\r\nContent-Disposition: form-data; name=\"a\r\n\r\nx\r\n--XX--".to_owned(), "no name"),
            (format!("{head}x"), "last part"),
            (format!("{}--XX--", format!("{head}x\r\n").repeat(4)), "more than 3"),
            (head.replace("\r\n\r\n", "\r\nContent-Transfer-Encoding: base64\r\n\r\nx\r\n--XX--"), "base64"),
        ] {
            let message = read(&body).unwrap_err();
            assert!(message.contains(reason), "{body:?}: {message}");
        }
        assert!(read("--XX--").unwrap().is_empty());
    }
}
