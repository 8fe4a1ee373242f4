//! Everything that was found out, to be read by people and by programs.

mod csv;
mod html;
mod page;
mod plots;
mod text;

use crate::{
    Bootstrap, Correlogram, Estimate, Group, Likelihood, Paired, Prdc, Preset, ReliabilityCurve, Rules,
    Scores,
};
use locdiff_sphere::LatLon;
use serde::Serialize;

/// PRDC of all photos, and as plonk averages it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PrdcReport {
    /// Neighbours that make a ball.
    pub neighbours: usize,
    /// Of all photos; `None` where that was not asked for.
    pub whole: Option<Prdc>,
    /// Chunks of the mean.
    pub chunks: usize,
    /// The mean over chunks; `None` where there are too few photos.
    pub chunked: Option<Prdc>,
}

/// Scores of the parts of one division of the photos.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Breakdown {
    /// What the photos were divided by.
    pub by: String,
    /// The parts.
    pub groups: Vec<Group>,
}

/// Another system on the same photos.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rival {
    /// Its name.
    pub name: String,
    /// Its scores.
    pub scores: Scores,
    /// The first system less this one.
    pub paired: Paired,
}

/// What was found out about one system; [`Report::to_text`], [`Report::to_json`], [`Report::to_csv`] and
/// [`Report::to_html`] tell it.
///
/// ```
/// use locdiff_eval::{Bootstrap, Preset, Report, Scores};
/// let bootstrap = Bootstrap::default();
/// let scores = Scores::new(&[0.4, 12.0, 3000.0], Preset::Plonk.rules(), &bootstrap);
/// let report = Report::new("predictions.csv", "truth.csv", Preset::Plonk, bootstrap, scores);
/// assert!(report.to_text().contains("33.33 %"));
/// assert!(report.to_html().starts_with("<!doctype html>"));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// What was judged.
    pub name: String,
    /// What it was judged by.
    pub truth: String,
    /// The rules' name.
    pub preset: Preset,
    /// The rules.
    pub rules: Rules,
    /// How intervals were made.
    pub bootstrap: Bootstrap,
    /// Rows whose truth is no place: left out.
    pub without_truth: usize,
    /// Rows without an answer that were left out rather than counted as misses.
    pub skipped: usize,
    /// What distances say.
    pub scores: Scores,
    /// Whether answers are spread as truths are.
    pub prdc: Option<PrdcReport>,
    /// How probable the truths were held to be.
    pub likelihood: Option<Likelihood>,
    /// Whether credible regions hold what they promise.
    pub regions: Option<ReliabilityCurve>,
    /// Whether the radii told with the answers do.
    pub radii: Option<ReliabilityCurve>,
    /// Scores of parts.
    pub breakdowns: Vec<Breakdown>,
    /// Whether neighbours err alike.
    pub correlogram: Option<Correlogram>,
    /// Another system.
    pub rival: Option<Rival>,
    /// Remarks.
    pub notes: Vec<String>,
    /// Truths and errors for the map; not part of the JSON.
    #[serde(skip)]
    pub points: Vec<(LatLon, f64)>,
}

impl Report {
    /// A report of distances alone; the rest is added by setting fields.
    pub fn new(name: &str, truth: &str, preset: Preset, bootstrap: Bootstrap, scores: Scores) -> Self {
        Self {
            name: name.to_owned(),
            truth: truth.to_owned(),
            preset,
            rules: preset.rules(),
            bootstrap,
            without_truth: 0,
            skipped: 0,
            scores,
            prdc: None,
            likelihood: None,
            regions: None,
            radii: None,
            breakdowns: Vec::new(),
            correlogram: None,
            rival: None,
            notes: Vec::new(),
            points: Vec::new(),
        }
    }

    /// One JSON object; what is not finite is `null`.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).expect("plain numbers and texts become JSON")
    }

    /// A table for the terminal.
    pub fn to_text(&self) -> String {
        text::text(self)
    }

    /// One line a number: section, group, metric, value, low, high, n.
    pub fn to_csv(&self) -> String {
        csv::csv(self)
    }

    /// One page that needs no other file and no network.
    pub fn to_html(&self) -> String {
        html::html(self)
    }

    /// "haversine on a sphere of 6371 km, within means d < r".
    fn rules_in_words(&self) -> String {
        let distance = match self.rules.distance {
            crate::DistanceRule::Haversine => "haversine on a sphere of 6371 km",
            crate::DistanceRule::Wgs84 => "geodesic on WGS-84",
        };
        let within = if self.rules.edge_counts { "d ≤ r" } else { "d < r" };
        let rounded = if self.rules.rounds_score { ", GeoScore rounded per photo" } else { "" };
        format!("{distance}, within means {within}{rounded}")
    }

    /// "n = 2997, 3 without an answer (misses), …".
    fn counts_in_words(&self) -> String {
        let mut parts = vec![format!("n = {}", self.scores.n)];
        parts.push(format!("{} without an answer{}", self.scores.missing + self.skipped, {
            match (self.scores.missing, self.skipped) {
                (0, 0) => "",
                (_, 0) => " (counted as misses)",
                _ => " (left out)",
            }
        }));
        if self.without_truth > 0 {
            parts.push(format!("{} without a truth (left out)", self.without_truth));
        }
        parts.join(", ")
    }

    /// "95 % bootstrap intervals, 1000 draws, seed 0".
    fn intervals_in_words(&self) -> String {
        let Bootstrap { replicates, confidence, seed } = self.bootstrap;
        format!("{} % bootstrap intervals, {replicates} draws, seed {seed}", short(100.0 * confidence))
    }
}

/// "49.15 %".
fn percent(share: f64) -> String {
    if share.is_finite() { format!("{:.2} %", 100.0 * share) } else { "–".to_owned() }
}

/// "47.3 to 51.0".
fn percent_interval(estimate: &Estimate) -> String {
    format!("{:.1} to {:.1}", 100.0 * estimate.low, 100.0 * estimate.high)
}

/// Whole km from 100 on, a digit below; "none" for no answer.
fn km(value: f64) -> String {
    match value {
        _ if value.is_nan() => "–".to_owned(),
        _ if value.is_infinite() => "none".to_owned(),
        _ if value.abs() >= 100.0 => format!("{value:.0}"),
        _ => format!("{value:.1}"),
    }
}

fn km_interval(estimate: &Estimate) -> String {
    format!("{} to {}", km(estimate.low), km(estimate.high))
}

/// A probability of chance: "0.031", "< 0.001".
fn p_value(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }
}

/// A number without needless zeros.
fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
