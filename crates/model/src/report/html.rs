//! The report as one page: its plots, its map and its text.

use crate::report::{Report, plots, plots::ERROR_CLASSES, plots::MOST_DOTS, plots::error_class};
use locdiff_base::escape_markup;

impl Report {
    /// One page that needs no other file and no network.
    pub fn to_html(&self) -> String {
        let mut page = Page::new(&format!("{} against {}", self.name, self.truth));
        page.put(&format!("<div class=scroll><pre>{}</pre></div>\n", escape_markup(&self.to_text())));
        curves(&mut page, self);
        map(&mut page, self);
        let version = env!("CARGO_PKG_VERSION");
        let made = format!("Made by locdiff evaluate {version}.");
        page.finish(&format!("{made} Coastlines: Natural Earth. The page needs no network."))
    }
}

fn curves(page: &mut Page, report: &Report) {
    let caption = "Share of photos within a distance of the truth; the band is the interval.";
    let mut figures = vec![(plots::accuracy_curve(report), caption.to_owned())];
    if report.regions.is_some() || report.radii.is_some() {
        let plot = plots::reliability(report.regions.as_ref(), report.radii.as_ref());
        let caption = "Reliability of credible regions (first colour) and radii (second colour): on the diagonal every \
                       promise is kept; the grey band is chance.";
        figures.push((plot, caption.to_owned()));
    }
    if let Some(found) = &report.recall_area {
        let caption = "Recall against area: the share of photos whose densest region of an area holds the truth.";
        figures.push((plots::recall_area(found), caption.to_owned()));
    }
    page.heading("Curves");
    if let Some(rival) = &report.rival {
        page.key(&[("first", report.name.clone()), ("second", rival.name.clone())]);
    }
    page.figures(&figures);
}

fn map(page: &mut Page, report: &Report) {
    if report.points.is_empty() {
        return;
    }
    page.heading("Where errors are");
    let mut counts = [0usize; ERROR_CLASSES.len()];
    for (_, km) in &report.points {
        counts[error_class(*km)] += 1;
    }
    let entries = ERROR_CLASSES.iter().zip(counts);
    let entries = entries.map(|((_, class, text), count)| (*class, format!("{text} ({count})")));
    page.key(&entries.collect::<Vec<_>>());
    let shown = report.points.len().div_ceil(report.points.len().div_ceil(MOST_DOTS));
    let all = report.points.len();
    let caption = format!("Each dot is a photo at its true place, coloured by its error; {shown} of {all} shown.");
    page.figures(&[(plots::error_map(report), caption)]);
}

/// A page being written. Whatever is given as text is escaped.
struct Page {
    html: String,
}

impl Page {
    fn new(title: &str) -> Self {
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

    fn heading(&mut self, text: &str) {
        self.put(&format!("<h2>{}</h2>\n", escape_markup(text)));
    }

    /// Pictures beside each other where there is room: SVG (as it is) and its caption.
    fn figures(&mut self, figures: &[(String, String)]) {
        self.put("<div class=pair>");
        for (picture, caption) in figures {
            self.put(&format!("<figure>{picture}<figcaption>{}</figcaption></figure>", escape_markup(caption)));
        }
        self.put("</div>\n");
    }

    /// Colours with their meaning: class and text.
    fn key(&mut self, entries: &[(&str, String)]) {
        self.put("<p>");
        for (class, text) in entries {
            self.put(&format!("<span class=key><i class='{class}'></i>{}</span>", escape_markup(text)));
        }
        self.put("</p>\n");
    }

    fn finish(mut self, footer: &str) -> String {
        self.put(&format!("<footer><p>{}</p></footer></main></body></html>\n", escape_markup(footer)));
        self.html
    }
}
