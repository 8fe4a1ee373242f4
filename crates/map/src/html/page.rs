//! The parts of a page put together.

use crate::{Detail, label::MapLabel, label::json as labels_json};
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use serde_json::Value;
use std::io::{self, Read, Write};

/// What all pages have: a title, names on the map, and the line in the corner that names the sources.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct MapPage {
    title: String,
    credit: String,
    labels: Vec<MapLabel>,
}

impl MapPage {
    /// A page with this title.
    pub fn new(title: &str) -> Self {
        Self { title: title.to_owned(), credit: "Map: Natural Earth".to_owned(), labels: Vec::new() }
    }

    /// Names on the map; where two would overlap, the earlier is shown.
    pub fn labels(mut self, labels: impl IntoIterator<Item = MapLabel>) -> Self {
        self.labels.extend(labels);
        self
    }

    /// The line in the corner that names the sources; Natural Earth unless set.
    pub fn credit(mut self, credit: &str) -> Self {
        credit.clone_into(&mut self.credit);
        self
    }

    /// Writes the page with `data` of its kind.
    pub(super) fn write(&self, out: &mut impl Write, mut data: Value, mut more: Option<More<'_>>) -> io::Result<()> {
        data["credit"] = self.credit.as_str().into();
        data["labels"] = labels_json(&self.labels).into();
        let mut page = include_str!("page.html");
        while let Some((before, name, after)) = next_field(page) {
            out.write_all(before.as_bytes())?;
            match name {
                "title" => out.write_all(locdiff_base::escape_markup(&self.title).as_bytes())?,
                "style" => out.write_all(include_bytes!("style.css"))?,
                "script" => out.write_all(include_bytes!("map.js"))?,
                "coast_coarse" => out.write_all(BASE64.encode(Detail::Coarse.bytes()).as_bytes())?,
                "coast_fine" => out.write_all(BASE64.encode(Detail::Fine.bytes()).as_bytes())?,
                // Inside a script element only "<" could end it or open a comment.
                "data" => out.write_all(data.to_string().replace('<', "\\u003c").as_bytes())?,
                "crowd" => more.take().map_or(Ok(()), |more| more.write(out))?,
                other => unreachable!("page.html has no field {other}"),
            }
            page = after;
        }
        out.write_all(page.as_bytes())
    }
}

impl From<&str> for MapPage {
    fn from(title: &str) -> Self {
        Self::new(title)
    }
}

/// What only some kinds of pages have: their script, and small pictures in base64.
pub(super) struct More<'a> {
    pub(super) script: &'a str,
    pub(super) pictures: &'a mut dyn Read,
}

impl More<'_> {
    fn write(self, out: &mut impl Write) -> io::Result<()> {
        write!(out, "<style>\n{}</style>\n", include_str!("crowd.css"))?;
        out.write_all(b"<script type=\"text/plain\" id=\"pictures\">")?;
        io::copy(self.pictures, out)?;
        write!(out, "</script>\n<script>\n{}</script>\n", self.script)
    }
}
/// The text before the next `{{field}}`, its name, and the text after it.
fn next_field(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once("{{")?;
    let (name, after) = rest.split_once("}}")?;
    Some((before, name, after))
}

/// Names cannot leave their place in a page, and a page loads nothing.
#[cfg(test)]
pub(super) fn check_names(page: impl Fn(&str) -> String) {
    let (bad, plain) = (page("</script><script>alert('x')</script><!-- \u{2028} \"&{{data}}.jpg"), page("x"));
    for part in ["<script", "</script", "<!--"] {
        assert_eq!(bad.matches(part).count(), plain.matches(part).count(), "{part}");
    }
    for part in ["http://", "https://", "src=\"", "href=", "@import", "url(", "innerHTML", "{{"] {
        assert!(!plain.contains(part), "{part}");
    }
    assert!(plain.contains("default-src 'none'"));
}
