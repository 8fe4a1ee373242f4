//! The parts of a page put together.

use crate::Detail;
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use serde_json::Value;
use std::io::{self, Write};

/// Writes a page with this title and data; `more` writes what only some pages have.
pub(super) fn write<W: Write>(
    out: &mut W,
    title: &str,
    data: &Value,
    more: impl FnOnce(&mut W) -> io::Result<()>,
) -> io::Result<()> {
    let mut page = include_str!("page.html");
    let mut more = Some(more);
    while let Some((before, name, after)) = next_field(page) {
        out.write_all(before.as_bytes())?;
        match name {
            "title" => out.write_all(locdiff_base::escape_markup(title).as_bytes())?,
            "style" => out.write_all(include_bytes!("style.css"))?,
            "script" => out.write_all(include_bytes!("map.js"))?,
            "coast_coarse" => out.write_all(BASE64.encode(Detail::Coarse.bytes()).as_bytes())?,
            "coast_fine" => out.write_all(BASE64.encode(Detail::Fine.bytes()).as_bytes())?,
            // Inside a script element only "<" could end it or open a comment.
            "data" => out.write_all(data.to_string().replace('<', "\\u003c").as_bytes())?,
            "crowd" => more.take().map_or(Ok(()), |more| more(out))?,
            other => unreachable!("page.html has no field {other}"),
        }
        page = after;
    }
    out.write_all(page.as_bytes())
}

/// The text before the next `{{field}}`, its name, and the text after it.
fn next_field(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once("{{")?;
    let (name, after) = rest.split_once("}}")?;
    Some((before, name, after))
}
