//! Pieces of HTML.

use locdiff_base::escape_markup;

/// A page being written. Whatever is given as text is escaped.
pub(crate) struct Page {
    html: String,
}

impl Page {
    pub(crate) fn new(title: &str) -> Self {
        let style = include_str!("page.css");
        let title = escape_markup(title);
        let head = format!(
            "<!doctype html>\n<html lang=en><head><meta charset=utf-8>\
             <meta name=viewport content='width=device-width, initial-scale=1'>\
             <title>{title}</title><style>{style}</style></head><body><main><h1>{title}</h1>\n"
        );
        Self { html: head }
    }

    fn put(&mut self, html: &str) {
        self.html.push_str(html);
    }

    pub(crate) fn heading(&mut self, text: &str) {
        self.put(&format!("<h2>{}</h2>\n", escape_markup(text)));
    }

    pub(crate) fn paragraph(&mut self, text: &str) {
        self.put(&format!("<p>{}</p>\n", escape_markup(text)));
    }

    /// Large numbers: value, name, interval.
    pub(crate) fn tiles(&mut self, tiles: &[(String, String, String)]) {
        self.put("<div class=tiles>");
        for (value, name, interval) in tiles {
            let (value, name, interval) = (escape_markup(value), escape_markup(name), escape_markup(interval));
            self.put(&format!("<div class=tile><span>{name}</span><b>{value}</b><span>{interval}</span></div>"));
        }
        self.put("</div>\n");
    }

    /// Pictures beside each other where there is room: SVG (as it is) and its caption.
    pub(crate) fn figures(&mut self, figures: &[(String, String)]) {
        self.put("<div class=pair>");
        for (picture, caption) in figures {
            self.put(&format!("<figure>{picture}<figcaption>{}</figcaption></figure>", escape_markup(caption)));
        }
        self.put("</div>\n");
    }

    /// Colours with their meaning: class and text.
    pub(crate) fn key(&mut self, entries: &[(&str, String)]) {
        self.put("<p>");
        for (class, text) in entries {
            self.put(&format!("<span class=key><i class='{class}'></i>{}</span>", escape_markup(text)));
        }
        self.put("</p>\n");
    }

    /// A table; a cell is a text and a smaller one below it.
    pub(crate) fn table(&mut self, header: &[&str], rows: &[Vec<(String, String)>]) {
        self.put("<div class=scroll><table><thead><tr>");
        for cell in header {
            self.put(&format!("<th>{}</th>", escape_markup(cell)));
        }
        self.put("</tr></thead><tbody>");
        for row in rows {
            self.put("<tr>");
            for (text, small) in row {
                let small =
                    if small.is_empty() { String::new() } else { format!("<small>{}</small>", escape_markup(small)) };
                self.put(&format!("<td>{}{small}</td>", escape_markup(text)));
            }
            self.put("</tr>");
        }
        self.put("</tbody></table></div>\n");
    }

    pub(crate) fn finish(mut self, footer: &str) -> String {
        self.put(&format!("<footer><p>{}</p></footer></main></body></html>\n", escape_markup(footer)));
        self.html
    }
}
