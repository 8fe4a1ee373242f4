//! The report as one page.

use crate::eval::{DistanceScores, Estimate, RADIUS_NAMES, ReliabilityCurve};
use crate::report::plots::{self, ERROR_CLASSES, MOST_DOTS, error_class};
use crate::report::words::{km, km_interval, p_value, percent, percent_interval};
use crate::report::{Breakdown, PrdcReport, Report, Rival, page::Page};

type Cell = (String, String);

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
        for rival in self.rival.iter().chain(&self.constant) {
            comparison(&mut page, self, rival);
        }
        for breakdown in &self.breakdowns {
            groups(&mut page, breakdown);
        }
        for note in &self.notes {
            page.paragraph(note);
        }
        let version = env!("CARGO_PKG_VERSION");
        page.finish(&format!(
            "Made by locdiff evaluate {version}. Coastlines: Natural Earth. The page needs no network."
        ))
    }
}

fn tiles(page: &mut Page, scores: &DistanceScores) {
    let mut tiles: Vec<(String, String, String)> = RADIUS_NAMES
        .iter()
        .zip(&scores.radii)
        .map(|(name, radius)| {
            let value = percent(radius.share.value);
            (value, format!("{name}, {} km", radius.radius_km), percent_interval(&radius.share))
        })
        .collect();
    let score = &scores.geoscore;
    let interval = format!("{:.0} to {:.0}", score.low, score.high);
    tiles.push((format!("{:.0}", score.value), "GeoScore".to_owned(), interval));
    let median = scores.median_km();
    tiles.push((format!("{} km", km(median.value)), "median error".to_owned(), km_interval(&median)));
    page.tiles(&tiles);
}

fn curves(page: &mut Page, report: &Report) {
    let mut figures = vec![(
        plots::accuracy_curve(report),
        "Share of photos within a distance of the truth; the band is the interval.".to_owned(),
    )];
    if report.regions.is_some() || report.radii.is_some() {
        let caption_of = |name: &str, found: &Option<ReliabilityCurve>| {
            found.as_ref().map(|found| {
                let [mean, largest] = [found.mean_absolute_error, found.largest_error].map(|error| 100.0 * error);
                format!("{name}: mean absolute error {mean:.1} points, largest {largest:.1}.")
            })
        };
        let parts = [
            caption_of("Credible regions (first colour)", &report.regions),
            caption_of("Radii (second colour)", &report.radii),
        ];
        let caption = parts.into_iter().flatten().collect::<Vec<_>>().join(" ");
        let plot = plots::reliability(report.regions.as_ref(), report.radii.as_ref());
        let caption = format!("Reliability: on the diagonal every promise is kept; the grey band is chance. {caption}");
        figures.push((plot, caption));
    }
    if let Some(found) = &report.recall_area {
        let caption = "Recall against area: the share of photos whose densest region of an area holds the truth.";
        figures.push((plots::recall_area(found), caption.to_owned()));
    }
    if let Some(plot) = plots::correlogram(report) {
        figures.push((
            plot,
            "Whether neighbours err alike (Moran’s I; 0 is chance). Where it is high, photos are not independent: intervals are over blocks of 5°.".to_owned(),
        ));
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
    let entries: Vec<(&str, String)> = ERROR_CLASSES
        .iter()
        .zip(counts)
        .map(|((_, class, text), count)| (*class, format!("{text} ({count})")))
        .collect();
    page.key(&entries);
    let shown = report.points.len().div_ceil(report.points.len().div_ceil(MOST_DOTS));
    let caption = format!(
        "Each dot is a photo at its true place, coloured by its error; {shown} of {} shown.",
        report.points.len()
    );
    page.figures(&[(plots::error_map(report), caption)]);
}

fn scores_table(page: &mut Page, report: &Report) {
    let scores = &report.scores;
    let plain = |text: String| (text, String::new());
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    rows.push(vec![plain("mean error, km".into()), (km(scores.mean_km.value), km_interval(&scores.mean_km))]);
    for quantile in &scores.quantiles {
        let name = format!("{:.0} % of errors under, km", 100.0 * quantile.p);
        rows.push(vec![plain(name), (km(quantile.km.value), km_interval(&quantile.km))]);
    }
    if let Some(likelihood) = &report.likelihood {
        let n = &likelihood.nats;
        let interval = format!("{:.3} to {:.3}; uniform 2.531", n.low, n.high);
        rows.push(vec![
            plain("negative log-likelihood, nats per steradian".into()),
            (format!("{:.3}", n.value), interval),
        ]);
        let uniform = "uniform 1.217".to_owned();
        rows.push(vec![plain("plonk’s likelihood figure".into()), (format!("{:.3}", likelihood.plonk), uniform)]);
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
    let rows: Vec<Vec<Cell>> = parts
        .into_iter()
        .filter_map(|(what, found)| {
            let p = found?;
            let numbers = [p.precision, p.recall, p.density, p.coverage];
            let numbers = numbers.map(|value| (format!("{value:.3}"), String::new()));
            Some([vec![(what, String::new())], numbers.to_vec()].concat())
        })
        .collect();
    page.heading("Whether answers are spread as truths are");
    page.table(&["", "precision", "recall", "density", "coverage"], &rows);
    page.paragraph(&format!("Balls reach to the {} nearest neighbours (PRDC, Naeem et al. 2020).", prdc.neighbours));
}

fn comparison(page: &mut Page, report: &Report, rival: &Rival) {
    let paired = &rival.paired;
    page.heading(&format!("{} less {}", report.name, rival.name));
    let (n, first, second, p) = (paired.n, paired.nearer_first, paired.nearer_second, p_value(paired.nearer_p_value));
    page.paragraph(&format!(
        "Both on the same {n} photos. Nearer to the truth: first {first}, second {second}; sign test p {p}."
    ));
    let points = |share: f64| format!("{:+.2}", 100.0 * share);
    let rows: Vec<Vec<Cell>> = paired
        .radii
        .iter()
        .zip(report.scores.radii.iter().zip(&rival.scores.radii))
        .map(|(radius, (first, second))| {
            let d = &radius.difference;
            vec![
                (format!("within {} km", radius.radius_km), String::new()),
                (percent(first.share.value), percent_interval(&first.share)),
                (percent(second.share.value), percent_interval(&second.share)),
                (points(d.value), format!("{} to {}", points(d.low), points(d.high))),
                (format!("{} : {}", radius.only_first, radius.only_second), String::new()),
                (p_value(radius.p_value), String::new()),
            ]
        })
        .collect();
    let header = ["radius", "first", "second", "difference, points", "only one is right", "p (McNemar)"];
    page.table(&header, &rows);
}

fn groups(page: &mut Page, breakdown: &Breakdown) {
    page.heading(&format!("By {}", breakdown.by));
    let rows: Vec<Vec<Cell>> = breakdown
        .groups
        .iter()
        .map(|group| {
            let mut row = vec![(group.name.clone(), String::new()), (group.scores.n.to_string(), String::new())];
            let shares = &group.scores.radii;
            row.extend(shares.iter().map(|r| (percent(r.share.value), percent_interval(&r.share))));
            let median = group.scores.median_km();
            row.push((km(median.value), km_interval(&median)));
            row
        })
        .collect();
    page.table(&["", "n", "1 km", "25 km", "200 km", "750 km", "2500 km", "median, km"], &rows);
}
