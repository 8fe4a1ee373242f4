//! Everything that was found out, to be read by people and by programs.

use crate::eval::{
    Bootstrap, Correlogram, DistanceScores, Group, Likelihood, Paired, Prdc, Preset, RecallArea, ReliabilityCurve,
    Rules,
};
use locdiff_shdd::sphere::LatLon;
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
    pub scores: DistanceScores,
    /// The first system less this one.
    pub paired: Paired,
}

/// What was found out about one system; [`Report::to_text`], [`Report::to_json`], [`Report::to_csv`] and
/// [`Report::to_html`] tell it.
///
/// ```
/// use locdiff_model::eval::{Bootstrap, Preset, DistanceScores};
/// use locdiff_model::report::Report;
/// let bootstrap = Bootstrap::default();
/// let scores = DistanceScores::new(&[0.4, 12.0, 3000.0], Preset::Plonk.rules(), &bootstrap);
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
    pub scores: DistanceScores,
    /// Whether answers are spread as truths are.
    pub prdc: Option<PrdcReport>,
    /// How probable the truths were held to be.
    pub likelihood: Option<Likelihood>,
    /// How much of the Earth the densities need to hold the truths.
    pub recall_area: Option<RecallArea>,
    /// Whether credible regions hold what they promise.
    pub regions: Option<ReliabilityCurve>,
    /// Whether the radii reported with the answers do.
    pub radii: Option<ReliabilityCurve>,
    /// Scores of parts.
    pub breakdowns: Vec<Breakdown>,
    /// Whether neighbours err alike.
    pub correlogram: Option<Correlogram>,
    /// Another system.
    pub rival: Option<Rival>,
    /// Always the same place, the best of the training photos', where those are known: what is not ahead of it is no answer.
    pub constant: Option<Rival>,
    /// Remarks.
    pub notes: Vec<String>,
    /// Truths and errors for the map; not part of the JSON.
    #[serde(skip)]
    pub points: Vec<(LatLon, f64)>,
}

impl Report {
    /// A report of distances alone; the rest is added by setting fields.
    pub fn new(name: &str, truth: &str, preset: Preset, bootstrap: Bootstrap, scores: DistanceScores) -> Self {
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
            recall_area: None,
            regions: None,
            radii: None,
            breakdowns: Vec::new(),
            correlogram: None,
            rival: None,
            constant: None,
            notes: Vec::new(),
            points: Vec::new(),
        }
    }

    /// One JSON object; what is not finite is `null`.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).expect("plain numbers and texts become JSON")
    }
}
