//! One system's answers, one per truth.

use crate::eval::TruthInDensity;
use locdiff_io::data::PlaceTable;
use locdiff_shdd::sphere::LatLon;

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

    /// Whether a column of a table is judged beside the places: `radius_50_km` and the like, `truth_log_density`,
    /// `truth_region_level` and `truth_region_area_km2`.
    pub fn judges_column(name: &str) -> bool {
        radius_probability(name).is_some() || [LOG_DENSITY, REGION_LEVEL, REGION_AREA].contains(&name)
    }

    /// The rows of a table in the order of the truths, as [`crate::report::match_rows`] found them.
    pub fn from_table(name: String, table: &PlaceTable, rows: &[Option<usize>], strange: usize) -> Self {
        let pick = |values: &[f64]| rows.iter().map(|row| row.map_or(f64::NAN, |row| values[row])).collect();
        let column = |name: &str| table.numbers.iter().find(|(found, _)| found == name).map(|(_, values)| pick(values));
        let radii = table.numbers.iter().filter_map(|(name, values)| Some((radius_probability(name)?, pick(values))));
        Self {
            name,
            answers: rows.iter().map(|row| row.and_then(|row| table.places[row])).collect(),
            radii: radii.collect(),
            log_density: column(LOG_DENSITY),
            region_level: column(REGION_LEVEL),
            region_area_km2: column(REGION_AREA),
            strange,
        }
    }

    /// Puts what densities say about the truths beside the answers.
    #[must_use]
    pub fn with_densities(mut self, found: &[Option<TruthInDensity>]) -> Self {
        let list =
            |value: fn(&TruthInDensity) -> f64| found.iter().map(|f| f.as_ref().map_or(f64::NAN, value)).collect();
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
