//! The bodies of the fuzz targets: any bytes may come, and nothing may panic, hang or take memory beyond the input's size;
//! what is read must be sound, and every refusal is one line. `fuzz/` runs them under libFuzzer, the command's test
//! `fuzz_smoke` on a stable toolchain.

use crate::{ask::Ask, multipart as form, problem::Problem};
use bytes::Bytes;

/// The most parts of a form.
const MOST_PARTS: usize = 32;

/// A form: its `Content-Type`, a line's end, its body. Panics if a part is not of the body, or a message has several lines.
pub fn multipart(bytes: &[u8]) {
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let content_type = String::from_utf8_lossy(&bytes[..end]);
    let body = Bytes::copy_from_slice(bytes.get(end + 1..).unwrap_or_default());
    let Some(boundary) = form::boundary(&content_type) else { return };
    let bytes = body.len();
    match form::parts(body, &boundary, MOST_PARTS) {
        Ok(parts) => {
            assert!(parts.len() <= MOST_PARTS);
            assert!(parts.iter().map(|part| part.contents.len()).sum::<usize>() <= bytes);
        }
        Err(reason) => check(&Problem::bad(reason)),
    }
}

/// A query, with the regions that it names. Panics if a message has several lines.
pub fn query(bytes: &[u8]) {
    match Ask::parse(&String::from_utf8_lossy(bytes)) {
        Ok(ask) => drop(ask.options.photos.resolved_without_files().map_err(|error| check(&Problem::from(&error)))),
        Err(problem) => check(&problem),
    }
}

fn check(problem: &Problem) {
    assert!(!problem.detail.is_empty() && !problem.detail.contains(['\n', '\r']), "{}", problem.detail);
}
