//! Everything that was found out, to be read by people and by programs.

use crate::eval::{Bootstrap, CountryScores, DistanceScores, Group, Likelihood, Paired, Prdc, Preset};
use crate::eval::{RecallArea, ReliabilityCurve, Rules, TruthInDensity};
use locdiff_io::data::PlaceTable;
use locdiff_shdd::sphere::LatLon;
use serde::Serialize;

/// PRDC of all photos, and as plonk averages it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct PrdcReport {
    /// Neighbours that make a ball.
    pub(crate) neighbours: usize,
    /// Of all photos; `None` where that was not asked for.
    pub(crate) whole: Option<Prdc>,
    pub(crate) chunks: usize,
    /// The mean over chunks; `None` where there are too few photos.
    pub(crate) chunked: Option<Prdc>,
}

/// Scores of the parts of one division of the photos.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Breakdown {
    pub(crate) by: String,
    pub(crate) groups: Vec<Group>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Rival {
    pub(crate) name: String,
    pub(crate) scores: DistanceScores,
    pub(crate) country_scores: CountryScores,
    /// The first system less this one.
    pub(crate) paired: Paired,
}

/// What was found out about one system.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Report {
    pub(crate) name: String,
    pub(crate) truth: String,
    pub(crate) preset: Preset,
    pub(crate) rules: Rules,
    pub(crate) bootstrap: Bootstrap,
    /// Rows whose truth is no place: left out.
    pub(crate) without_truth: usize,
    /// Rows without an answer that were left out rather than counted as misses.
    pub(crate) skipped: usize,
    pub(crate) scores: DistanceScores,
    pub(crate) country_scores: CountryScores,
    pub(crate) prdc: Option<PrdcReport>,
    pub(crate) likelihood: Option<Likelihood>,
    pub(crate) recall_area: Option<RecallArea>,
    pub(crate) regions: Option<ReliabilityCurve>,
    pub(crate) radii: Option<ReliabilityCurve>,
    pub(crate) breakdowns: Vec<Breakdown>,
    pub(crate) rival: Option<Rival>,
    /// Always the same place, the best of the validation photos', if those are known: what is not ahead of it is no answer.
    pub(crate) constant: Option<Rival>,
    pub(crate) notes: Vec<String>,
    /// Truths and errors for the map; not part of the JSON.
    #[serde(skip)]
    pub(crate) points: Vec<(LatLon, f64)>,
}

impl Report {
    /// A report of distances alone; the rest is added by setting fields.
    pub(crate) fn new(name: &str, truth: &str, preset: Preset, bootstrap: Bootstrap, scores: DistanceScores) -> Self {
        let (name, truth, rules) = (name.to_owned(), truth.to_owned(), preset.rules());
        Self { name, truth, preset, rules, bootstrap, scores, ..Self::default() }
    }

    /// One JSON object; what is not finite is `null`.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).expect("plain numbers and texts become JSON")
    }
}

/// What one system says about each photo. Every list has one entry per truth.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct System {
    /// Its name.
    pub name: String,
    /// Its places; `None` for a photo without an answer.
    pub answers: Vec<Option<LatLon>>,
    /// Radii reported with the answers: probability, and km per photo.
    pub radii: Vec<(f64, Vec<f64>)>,
    /// Log density at the truth in nats per steradian; NaN if not given.
    pub log_density: Option<Vec<f64>>,
    /// Probability of the smallest region that holds the truth; NaN if not given.
    pub region_level: Option<Vec<f64>>,
    /// Area of that region in km²; NaN if not given.
    pub region_area_km2: Option<Vec<f64>>,
    /// Probabilities of countries by their codes, the most probable first; empty if not given.
    pub countries: Vec<Vec<(String, f64)>>,
    /// Answers that belong to no truth.
    pub strange: usize,
}

const LOG_DENSITY: &str = "truth_log_density";
const REGION_LEVEL: &str = "truth_region_level";
const REGION_AREA: &str = "truth_region_area_km2";

impl System {
    /// A system that says places and no more.
    pub fn of_places(name: String, answers: Vec<Option<LatLon>>) -> Self {
        Self { name, answers, ..Self::default() }
    }

    /// Whether a column is judged too: `radius_50_km` and so on, `truth_log_density`, `truth_region_level`,
    /// `truth_region_area_km2`.
    pub fn judges_column(name: &str) -> bool {
        radius_probability(name).is_some() || [LOG_DENSITY, REGION_LEVEL, REGION_AREA].contains(&name)
    }

    /// The rows of a table in the order of the truths, as [`crate::report::match_rows`] found them.
    pub fn from_table(name: String, table: &PlaceTable, rows: &[Option<usize>], strange: usize) -> Self {
        let pick = |values: &[f64]| rows.iter().map(|row| row.map_or(f64::NAN, |row| values[row])).collect();
        let column = |name: &str| table.numbers.iter().find(|(found, _)| found == name).map(|(_, values)| pick(values));
        let radii = table.numbers.iter().filter_map(|(name, values)| Some((radius_probability(name)?, pick(values))));
        let answers = rows.iter().map(|row| row.and_then(|row| table.places[row])).collect();
        let (log_density, region_level) = (column(LOG_DENSITY), column(REGION_LEVEL));
        let (region_area_km2, radii) = (column(REGION_AREA), radii.collect());
        let said = |row: &Option<usize>| row.and_then(|row| table.countries.get(row).cloned()).unwrap_or_default();
        let countries = rows.iter().map(said).collect();
        Self { name, answers, radii, log_density, region_level, region_area_km2, countries, strange }
    }

    /// Puts what densities say about the truths next to the answers.
    #[must_use]
    pub fn with_densities(mut self, found: &[Option<TruthInDensity>]) -> Self {
        let list = |pick: fn(&TruthInDensity) -> f64| found.iter().map(|f| f.as_ref().map_or(f64::NAN, pick)).collect();
        self.log_density = Some(list(|found| found.log_density));
        self.region_level = Some(list(|found| found.region_level));
        self.region_area_km2 = Some(list(|found| found.region_area_km2));
        self
    }

    /// Keeps the photos for which `keep` holds.
    pub(crate) fn retain(&mut self, keep: &[bool]) {
        fn retain<T>(list: &mut Vec<T>, keep: &[bool]) {
            let mut flags = keep.iter();
            list.retain(|_| flags.next().is_none_or(|flag| *flag));
        }
        retain(&mut self.answers, keep);
        retain(&mut self.countries, keep);
        self.radii.iter_mut().for_each(|(_, radii)| retain(radii, keep));
        for list in [&mut self.log_density, &mut self.region_level, &mut self.region_area_km2].into_iter().flatten() {
            retain(list, keep);
        }
    }
}

/// The probability in a column's name: 0.5 in `radius_50_km`.
fn radius_probability(name: &str) -> Option<f64> {
    let percent: f64 = name.strip_prefix("radius_")?.strip_suffix("_km")?.parse().ok()?;
    (percent > 0.0 && percent < 100.0).then_some(percent / 100.0)
}
