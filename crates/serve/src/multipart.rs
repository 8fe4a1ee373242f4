//! Bodies of `multipart/form-data`, whole in memory already.

use bytes::Bytes;
use futures_util::{FutureExt, future, stream};
use http::header::{CONTENT_DISPOSITION, HeaderMap};
use locdiff_base::ensure;
use multer::{Error, Multipart};
use std::convert::Infallible;

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
    multer::parse_boundary(content_type).ok().filter(|given| (1..=70).contains(&given.len()))
}

/// The parts of a body, at most so many. The body is copied once, and freed here.
pub(crate) fn parts(body: Bytes, boundary: &str, most: usize) -> Result<Vec<Part>, String> {
    // Text may precede the first boundary, which begins a line.
    let line = format!("--{boundary}");
    match memchr::memmem::find(&body, line.as_bytes()) {
        None => return Err("its boundary is nowhere in the body".to_owned()),
        Some(at) if at > 0 && !body[..at].ends_with(b"\r\n") => {
            return Err("its first boundary does not begin a line".to_owned());
        }
        Some(_) => {}
    }
    let mut form = Multipart::new(stream::once(future::ready(Ok::<_, Infallible>(body))), boundary);
    let all = async {
        let mut found = Vec::new();
        while let Some(mut field) = form.next_field().await.map_err(reason)? {
            ensure!(found.len() != most, format!("it has more than {most} parts"));
            check_head(field.headers())?;
            let unescaped = |name: &str| name.replace(r"\\", r"\").replace("%22", "\"");
            let name = field.name().map(unescaped).ok_or("a part has no name")?;
            let file_name = field.file_name().map(unescaped);
            // The whole body is there, so that a part is one chunk, which shares the body's memory.
            let contents = field.chunk().await.map_err(reason)?.unwrap_or_default();
            found.push(Part { field: name, file_name, contents });
        }
        Ok(found)
    };
    all.now_or_never().unwrap_or_else(|| Err(reason(Error::IncompleteStream)))
}

/// Refuses what `multer` lets pass: long heads, text that is not UTF-8, other dispositions and encodings.
fn check_head(head: &HeaderMap) -> Result<(), String> {
    if head.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum::<usize>() > LONGEST_HEAD {
        return Err("a part's head is too long".to_owned());
    }
    if head.values().any(|value| str::from_utf8(value.as_bytes()).is_err()) {
        return Err("a part's head is not UTF-8".to_owned());
    }
    let disposition = head.get(CONTENT_DISPOSITION).ok_or("a part has no Content-Disposition")?.as_bytes();
    if !disposition.get(..9).is_some_and(|kind| kind.eq_ignore_ascii_case(b"form-data")) {
        return Err("a part is not form-data".to_owned());
    }
    let encoding = head.get("content-transfer-encoding").map(|value| String::from_utf8_lossy(value.as_bytes()));
    match encoding {
        Some(other) if !["binary", "8bit", "7bit"].contains(&&*other.to_ascii_lowercase()) => {
            Err(format!("a part is encoded as {other}: send the bytes as they are"))
        }
        _ => Ok(()),
    }
}

fn reason(error: Error) -> String {
    match error {
        Error::IncompleteStream => {
            "it ends early, or a boundary is followed by neither a line's end nor two dashes".to_owned()
        }
        Error::IncompleteFieldData { .. } => "the last part has no end".to_owned(),
        Error::ReadHeaderFailed(cause) => format!("a part's head cannot be read ({cause})"),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Result<Vec<Part>, String> {
        parts(Bytes::copy_from_slice(body.as_bytes()), "XX", 3)
    }

    #[test]
    fn parts_with_their_names_and_bytes() {
        let body = "preamble\r\n--XX  \r\nContent-Disposition: form-data; name=\"photo\"; filename=\"a \\\"b\\\";c\\\\d%22.jpg\"\r\n\
                    Content-Type: image/jpeg\r\n\r\nab\r\n--X\r\n\r\n--XX\r\ncontent-disposition: form-data; name=other\r\n\r\n\r\n--XX--\r\nrest";
        let found = read(body).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!((&*found[0].field, found[0].file_name.as_deref()), ("photo", Some("a \"b\";c\\d\".jpg")));
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
            (format!("x{head}x\r\n--XX--"), "begin a line"),
            ("--XX".to_owned(), "ends early"),
            ("--XXY".to_owned(), "neither"),
            ("--XX\r\n".to_owned(), "ends early"),
            (format!("--XX\r\n{}", "a".repeat(9000)), "ends early"),
            (format!("--XX\r\nX: {}\r\n\r\nx\r\n--XX--", "a".repeat(9000)), "too long"),
            (format!("--XX\r\n{}\r\nx\r\n--XX--", "X: a\r\n".repeat(99)), "head cannot be read"),
            ("--XX\r\n\r\n\r\n--XX--".to_owned(), "no Content-Disposition"),
            ("--XX\r\nnonsense\r\n\r\nx\r\n--XX--".to_owned(), "head cannot be read"),
            ("--XX\r\nContent-Disposition: attachment; name=a\r\n\r\nx\r\n--XX--".to_owned(), "not form-data"),
            ("--XX\r\nContent-Disposition: form-data\r\n\r\nx\r\n--XX--".to_owned(), "no name"),
            ("--XX\r\nContent-Disposition: form-data; name=\"a\r\n\r\nx\r\n--XX--".to_owned(), "no name"),
            (format!("{head}x"), "last part"),
            (format!("{head}--XX--"), "last part"),
            (format!("{head}x\r\n--XX"), "ends early"),
            (format!("{}--XX--", format!("{head}x\r\n").repeat(4)), "more than 3"),
            (head.replace("\r\n\r\n", "\r\nContent-Transfer-Encoding: base64\r\n\r\nx\r\n--XX--"), "base64"),
        ] {
            let message = read(&body).unwrap_err();
            assert!(message.contains(reason), "{body:?}: {message}");
        }
        let head = b"--XX\r\nContent-Disposition: form-data; name=\"\xff\"\r\n\r\nx\r\n--XX--";
        assert!(parts(Bytes::from_static(head), "XX", 3).unwrap_err().contains("UTF-8"));
        assert!(read("--XX--").unwrap().is_empty());
    }
}
