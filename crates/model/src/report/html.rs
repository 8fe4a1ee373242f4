//! The report as one page.

use crate::eval::{DistanceScores, Estimate, Group, Prdc, RADIUS_NAMES, RadiusShare, ReliabilityCurve};
use crate::report::plots::{self, ERROR_CLASSES, MOST_DOTS, error_class};
use crate::report::text::{km, km_interval, p_value, percent, percent_interval};
use crate::report::{Breakdown, PrdcReport, Report, Rival};
use locdiff_base::escape_markup;

type Cell = (String, String);

fn plain(text: impl Into<String>) -> Cell {
    (text.into(), String::new())
}

fn share(radius: &RadiusShare) -> Cell {
    (percent(radius.share.value), percent_interval(&radius.share))
}

fn distance(estimate: &Estimate) -> Cell {
    (km(estimate.value), km_interval(estimate))
}

impl Report {
    /// One page that needs no other file and no network.
    pub fn to_html(&self) -> String {
        let mut page = Page::new(&format!("{} against {}", self.name, self.truth));
        page.paragraph(&format!("{}; {}.", self.counts_in_words(), self.intervals_in_words()));
        page.paragraph(&format!("Preset {}: {}.", self.preset, self.rules_in_words()));
        tiles(&mut page, &self.scores);
        curves(&mut page, self);
        map(&mut page, self);
        scores_table(&mut page, self);
        self.rival.iter().chain(&self.constant).for_each(|rival| comparison(&mut page, self, rival));
        self.breakdowns.iter().for_each(|breakdown| groups(&mut page, breakdown));
        self.notes.iter().for_each(|note| page.paragraph(note));
        let version = env!("CARGO_PKG_VERSION");
        let made = format!("Made by locdiff evaluate {version}.");
        page.finish(&format!("{made} Coastlines: Natural Earth. The page needs no network."))
    }
}

fn tiles(page: &mut Page, scores: &DistanceScores) {
    let tile = |(name, RadiusShare { radius_km, share }): (&&str, &RadiusShare)| {
        (percent(share.value), format!("{name}, {radius_km} km"), percent_interval(share))
    };
    let mut tiles: Vec<(String, String, String)> = RADIUS_NAMES.iter().zip(&scores.radii).map(tile).collect();
    let Estimate { value, low, high } = scores.geoscore;
    tiles.push((format!("{value:.0}"), "GeoScore".to_owned(), format!("{low:.0} to {high:.0}")));
    let (median, interval) = distance(&scores.median_km());
    tiles.push((format!("{median} km"), "median error".to_owned(), interval));
    page.tiles(&tiles);
}

fn curves(page: &mut Page, report: &Report) {
    let caption = "Share of photos within a distance of the truth; the band is the interval.";
    let mut figures = vec![(plots::accuracy_curve(report), caption.to_owned())];
    if report.regions.is_some() || report.radii.is_some() {
        let caption_of = |(name, found): (&str, &Option<ReliabilityCurve>)| {
            let ReliabilityCurve { mean_absolute_error, largest_error, .. } = found.as_ref()?;
            let [mean, largest] = [mean_absolute_error, largest_error].map(|error| 100.0 * error);
            Some(format!("{name}: mean absolute error {mean:.1} points, largest {largest:.1}."))
        };
        let parts = [("Credible regions (first colour)", &report.regions), ("Radii (second colour)", &report.radii)];
        let caption = parts.into_iter().filter_map(caption_of).collect::<Vec<_>>().join(" ");
        let plot = plots::reliability(report.regions.as_ref(), report.radii.as_ref());
        let caption = format!("Reliability: on the diagonal every promise is kept; the grey band is chance. {caption}");
        figures.push((plot, caption));
    }
    if let Some(found) = &report.recall_area {
        let caption = "Recall against area: the share of photos whose densest region of an area holds the truth.";
        figures.push((plots::recall_area(found), caption.to_owned()));
    }
    if let Some(plot) = plots::correlogram(report) {
        let caption = "Whether neighbours err alike (Moran’s I; 0 is chance). If it is high, photos are not \
                       independent: intervals are over blocks of 15°.";
        figures.push((plot, caption.to_owned()));
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

fn scores_table(page: &mut Page, report: &Report) {
    let scores = &report.scores;
    let mut rows = vec![vec![plain("mean error, km"), distance(&scores.mean_km)]];
    for quantile in &scores.quantiles {
        let name = format!("{:.0} % of errors under, km", 100.0 * quantile.p);
        rows.push(vec![plain(name), distance(&quantile.km)]);
    }
    if let Some(likelihood) = &report.likelihood {
        let Estimate { value, low, high } = likelihood.nats;
        let nats = (format!("{value:.3}"), format!("{low:.3} to {high:.3}; uniform 2.531"));
        rows.push(vec![plain("negative log-likelihood, nats per steradian"), nats]);
        let figure = (format!("{:.3}", likelihood.plonk), "uniform 1.217".to_owned());
        rows.push(vec![plain("plonk’s likelihood figure"), figure]);
    }
    for at in report.recall_area.iter().flat_map(|found| &found.at) {
        let name = format!("area that holds the truth of {:.0} % of the photos, km²", 100.0 * at.recall);
        let Estimate { value, low, high } = at.area_km2;
        rows.push(vec![plain(name), (format!("{value:.2e}"), format!("{low:.2e} to {high:.2e}"))]);
    }
    page.heading("Numbers");
    page.table(&["measure", "value"], &rows);
    if let Some(prdc) = &report.prdc {
        spread_table(page, prdc);
    }
}

fn spread_table(page: &mut Page, prdc: &PrdcReport) {
    let parts = [("all photos".to_owned(), prdc.whole), (format!("mean of {} chunks", prdc.chunks), prdc.chunked)];
    let row = |(what, found): (String, Option<Prdc>)| {
        let p = found?;
        let numbers = [p.precision, p.recall, p.density, p.coverage].map(|value| plain(format!("{value:.3}")));
        Some([vec![plain(what)], numbers.to_vec()].concat())
    };
    let rows: Vec<Vec<Cell>> = parts.into_iter().filter_map(row).collect();
    page.heading("Whether answers are spread as truths are");
    page.table(&["", "precision", "recall", "density", "coverage"], &rows);
    page.paragraph(&format!("Balls reach to the {} nearest neighbours (PRDC, Naeem et al. 2020).", prdc.neighbours));
}

fn comparison(page: &mut Page, report: &Report, rival: &Rival) {
    let paired = &rival.paired;
    page.heading(&format!("{} less {}", report.name, rival.name));
    let (first, second, p) = (paired.nearer_first, paired.nearer_second, p_value(paired.nearer_p_value));
    let nearer = format!("Nearer to the truth: first {first}, second {second}; sign test p {p}.");
    page.paragraph(&format!("Both on the same {} photos. {nearer}", paired.n));
    let points = |share: f64| format!("{:+.2}", 100.0 * share);
    let both = report.scores.radii.iter().zip(&rival.scores.radii);
    let rows = paired.radii.iter().zip(both).map(|(radius, (first, second))| {
        let d = &radius.difference;
        vec![
            plain(format!("within {} km", radius.radius_km)),
            share(first),
            share(second),
            (points(d.value), format!("{} to {}", points(d.low), points(d.high))),
            plain(format!("{} : {}", radius.only_first, radius.only_second)),
            plain(p_value(radius.p_value)),
        ]
    });
    let header = ["radius", "first", "second", "difference, points", "only one is right", "p (McNemar)"];
    page.table(&header, &rows.collect::<Vec<_>>());
}

fn groups(page: &mut Page, breakdown: &Breakdown) {
    page.heading(&format!("By {}", breakdown.by));
    let row = |Group { name, scores }: &Group| {
        let shares = scores.radii.iter().map(share);
        let named = [plain(name.clone()), plain(scores.n.to_string())];
        named.into_iter().chain(shares).chain([distance(&scores.median_km())]).collect()
    };
    let rows: Vec<Vec<Cell>> = breakdown.groups.iter().map(row).collect();
    page.table(&["", "n", "1 km", "25 km", "200 km", "750 km", "2500 km", "median, km"], &rows);
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

    fn paragraph(&mut self, text: &str) {
        self.put(&format!("<p>{}</p>\n", escape_markup(text)));
    }

    /// Large numbers: value, name, interval.
    fn tiles(&mut self, tiles: &[(String, String, String)]) {
        self.put("<div class=tiles>");
        for (value, name, interval) in tiles {
            let (value, name, interval) = (escape_markup(value), escape_markup(name), escape_markup(interval));
            self.put(&format!("<div class=tile><span>{name}</span><b>{value}</b><span>{interval}</span></div>"));
        }
        self.put("</div>\n");
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

    /// A table; a cell is a text and a smaller one below it.
    fn table(&mut self, header: &[&str], rows: &[Vec<(String, String)>]) {
        self.put("<div class=scroll><table><thead><tr>");
        header.iter().for_each(|cell| self.put(&format!("<th>{}</th>", escape_markup(cell))));
        self.put("</tr></thead><tbody>");
        for row in rows {
            self.put("<tr>");
            for (text, small) in row {
                let (text, small) = (escape_markup(text), escape_markup(small));
                let small = if small.is_empty() { String::new() } else { format!("<small>{small}</small>") };
                self.put(&format!("<td>{text}{small}</td>"));
            }
            self.put("</tr>");
        }
        self.put("</tbody></table></div>\n");
    }

    fn finish(mut self, footer: &str) -> String {
        self.put(&format!("<footer><p>{}</p></footer></main></body></html>\n", escape_markup(footer)));
        self.html
    }
}
