//! The report as rows: section, group, metric, value, low, high, n.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_and_harmless() {
        assert_eq!(field("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(field("=cmd()"), "'=cmd()");
        assert_eq!(field("within_1_km"), "within_1_km");
    }
}
