//! The report as rows: section, group, metric, value, low, high, n; and tables.

use crate::eval::{CountryScores, DistanceScores, Estimate, ReliabilityCurve};
use crate::report::{Report, text::short};
use std::fmt::Write;

impl Report {
    /// One line per number: section, group, metric, value, low, high, n.
    pub fn to_csv(&self) -> String {
        let mut rows = Rows { text: "section,group,metric,value,low,high,n\n".to_owned() };
        rows.scores("scores", &self.name, &self.scores);
        rows.countries(&self.name, &self.country_scores);
        for point in &self.scores.curve {
            rows.estimate("curve", &self.name, &within(point.radius_km), &point.share, self.scores.n);
        }
        if let Some(prdc) = &self.prdc {
            let n = self.scores.n - self.scores.missing;
            for (group, found) in [("all", prdc.whole), ("chunked", prdc.chunked)] {
                let Some(found) = found else { continue };
                rows.value("prdc", group, "precision", found.precision, n);
                rows.value("prdc", group, "recall", found.recall, n);
                rows.value("prdc", group, "density", found.density, n);
                rows.value("prdc", group, "coverage", found.coverage, n);
            }
        }
        if let Some(likelihood) = &self.likelihood {
            rows.estimate("likelihood", &self.name, "nll_nats_per_sr", &likelihood.nats, likelihood.n);
            rows.value("likelihood", &self.name, "nll_plonk", likelihood.plonk, likelihood.n);
        }
        if let Some(found) = &self.recall_area {
            for at in &found.at {
                let metric = format!("area_km2_at_{}", at.recall);
                rows.estimate("recall_area", &self.name, &metric, &at.area_km2, found.n);
            }
            for point in &found.curve {
                let metric = format!("recall_in_{}_km2", short(point.area_km2));
                rows.value("recall_area", &self.name, &metric, point.recall, found.n);
            }
        }
        for (group, calibration) in [("regions", &self.regions), ("radii", &self.radii)] {
            calibration.iter().for_each(|calibration| rows.calibration(group, calibration));
        }
        for lag in self.correlogram.iter().flat_map(|found| &found.lags) {
            let group = format!("{} to {} km", lag.from_km, lag.to_km);
            rows.value("correlogram", &group, "moran_i", lag.moran_i, lag.pairs as usize);
            rows.value("correlogram", &group, "z", lag.z, lag.pairs as usize);
        }
        for breakdown in &self.breakdowns {
            for group in &breakdown.groups {
                rows.scores(&format!("by {}", breakdown.by), &group.name, &group.scores);
            }
        }
        for rival in self.rival.iter().chain(&self.constant) {
            rows.scores("scores", &rival.name, &rival.scores);
            rows.countries(&rival.name, &rival.country_scores);
            let group = format!("less {}", rival.name);
            let paired = &rival.paired;
            for radius in &paired.radii {
                let metric = within(radius.radius_km);
                rows.estimate("paired", &group, &metric, &radius.difference, paired.n);
                rows.value("paired", &group, &format!("{metric}_p"), radius.p_value, paired.n);
            }
            rows.estimate("paired", &group, "geoscore", &paired.geoscore, paired.n);
            rows.estimate("paired", &group, "median_km", &paired.median_km, paired.n);
            rows.value("paired", &group, "nearer_p", paired.nearer_p_value, paired.n);
        }
        rows.text
    }
}

struct Rows {
    text: String,
}

impl Rows {
    fn row(&mut self, section: &str, group: &str, metric: &str, numbers: [f64; 3], n: usize) {
        let number = |value: f64| if value.is_finite() { value.to_string() } else { String::new() };
        let [value, low, high] = numbers.map(number);
        let (section, group, metric) = (field(section), field(group), field(metric));
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "{section},{group},{metric},{value},{low},{high},{n}");
    }

    fn estimate(&mut self, section: &str, group: &str, metric: &str, estimate: &Estimate, n: usize) {
        self.row(section, group, metric, [estimate.value, estimate.low, estimate.high], n);
    }

    fn value(&mut self, section: &str, group: &str, metric: &str, value: f64, n: usize) {
        self.row(section, group, metric, [value, f64::NAN, f64::NAN], n);
    }

    fn scores(&mut self, section: &str, group: &str, scores: &DistanceScores) {
        for radius in &scores.radii {
            self.estimate(section, group, &within(radius.radius_km), &radius.share, scores.n);
        }
        self.estimate(section, group, "geoscore", &scores.geoscore, scores.n);
        self.estimate(section, group, "mean_km", &scores.mean_km, scores.n - scores.missing);
        for quantile in &scores.quantiles {
            let metric = format!("quantile_{}_km", quantile.p);
            self.estimate(section, group, &metric, &quantile.km, scores.n);
        }
        self.value(section, group, "missing", scores.missing as f64, scores.n);
    }

    fn countries(&mut self, group: &str, scores: &CountryScores) {
        let CountryScores { country, state, continent, probabilities } = scores;
        for (metric, found) in [("country", country), ("state", state), ("continent", continent)] {
            self.estimate("countries", group, metric, &found.share, found.n);
        }
        let Some(said) = probabilities else { return };
        let n = said.most_probable.n;
        self.estimate("countries", group, "most_probable", &said.most_probable.share, n);
        self.estimate("countries", group, "log_loss_nats", &said.log_loss_nats, n);
        self.calibration("countries", &said.reliability);
    }

    fn calibration(&mut self, group: &str, calibration: &ReliabilityCurve) {
        for point in &calibration.curve {
            let metric = format!("observed_at_{}", point.promised);
            self.value("calibration", group, &metric, point.observed, point.n);
        }
        let n = calibration.curve.first().map_or(0, |point| point.n);
        self.value("calibration", group, "mean_absolute_error", calibration.mean_absolute_error, n);
    }
}

fn within(radius_km: f64) -> String {
    format!("within_{}_km", short(radius_km))
}

/// A text field, in quotes where it needs them. A leading sign that a spreadsheet would take for a formula is marked as text.
fn field(text: &str) -> String {
    let safe = if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text.to_owned() };
    if safe.contains([',', '"', '\n', '\r']) { format!("\"{}\"", safe.replace('"', "\"\"")) } else { safe }
}

/// A table whose first column is text and whose others are numbers.
#[derive(Debug, Clone)]
pub struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub fn new(header: &[&str]) -> Self {
        Self { header: header.iter().map(|&name| name.to_owned()).collect(), rows: Vec::new() }
    }

    /// Adds a row of as many cells as the header has.
    pub fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    /// As Markdown or as text.
    pub fn render(&self, markdown: bool) -> String {
        if markdown { self.markdown() } else { self.text() }
    }

    /// Columns side by side, numbers to the right.
    pub fn text(&self) -> String {
        let all = || std::iter::once(&self.header).chain(&self.rows);
        let width = |c: usize| all().map(|row| row[c].chars().count()).max().unwrap_or(0);
        let line = |row: &Vec<String>| {
            let cells = row.iter().enumerate().map(|(c, cell)| match (c, width(c)) {
                (0, width) => format!("{cell:<width$}"),
                (_, width) => format!("{cell:>width$}"),
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
        };
        all().map(line).collect()
    }

    /// A Markdown table.
    pub fn markdown(&self) -> String {
        let line = |row: &[String]| {
            let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rule = format!("|{}\n", "---|".repeat(self.header.len()));
        let rows = self.rows.iter().map(|row| line(row));
        line(&self.header) + &rule + &rows.collect::<String>()
    }
}

/// A share as a percentage with its interval: "33.4 [30.1, 36.8]".
pub fn percent_interval(share: Estimate) -> String {
    format!("{:.1} [{:.1}, {:.1}]", 100.0 * share.value, 100.0 * share.low, 100.0 * share.high)
}

/// A number short enough for a table: 1234567 as "1.23 M".
pub fn short_count(number: usize) -> String {
    match number {
        0..1000 => number.to_string(),
        1000..1_000_000 => format!("{:.0} k", number as f64 / 1e3),
        _ => format!("{:.2} M", number as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_and_harmless() {
        assert_eq!(field("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(field("=cmd()"), "'=cmd()");
        assert_eq!(field("within_1_km"), "within_1_km");
    }

    #[test]
    fn tables_are_aligned_and_valid_markdown() {
        let mut table = Table::new(&["method", "750 km"]);
        table.push(vec!["knn".to_owned(), "34.8".to_owned()]);
        assert_eq!(table.text(), "method  750 km\nknn       34.8\n");
        assert_eq!(table.markdown(), "| method | 750 km |\n|---|---|\n| knn | 34.8 |\n");
        table.push(vec!["knn".into(), percent_interval(Estimate { value: 0.334, low: 0.3, high: 0.37 })]);
        table.push(vec!["a|b".into(), "–".into()]);
        let text = table.text();
        let lengths: Vec<usize> = text.lines().map(|line| line.chars().count()).collect();
        assert!(text.contains("33.4 [30.0, 37.0]") && lengths.iter().all(|n| *n == lengths[0]), "{text}");
        let markdown = table.markdown();
        assert_eq!(markdown.lines().nth(1), Some("|---|---|"));
        assert!(markdown.contains("a\\|b"));
        assert_eq!([short_count(7), short_count(4500), short_count(1_234_567)], ["7", "4 k", "1.23 M"]);
    }
}
