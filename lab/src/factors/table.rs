//! What map factors are worth, by set of photos, as a table and as JSON.

use crate::{Table, splits::wide_blocks};
use locdiff_model::{eval::Bootstrap, eval::Rules};
use locdiff_shdd::sphere::{LatLon, UnitVec};
use serde_json::{Value, json};

const RADII_KM: [f64; 4] = [25.0, 200.0, 750.0, 2500.0];

/// What a density says about a photo whose location is known.
#[derive(Debug, Clone, Copy)]
pub(super) struct Judged {
    pub(super) error_km: f64,
    pub(super) log_density: f64,
    /// The probability of everything denser than the truth.
    level: f64,
    /// The area of the region that holds half of the probability.
    area_km2: f64,
}

impl Judged {
    pub(super) fn new((place, truth): (LatLon, LatLon), [log_density, level, area_km2]: [f64; 3]) -> Self {
        Self { error_km: Rules::default().distance_km(place, truth), log_density, level, area_km2 }
    }

    /// Error, log density, level and area, for `factor_leads.py`.
    fn numbers(&self) -> [f64; 4] {
        let round = |value: f64, digits: f64| (value * digits).round() / digits;
        [round(self.error_km, 10.0), round(self.log_density, 1e4), round(self.level, 1e4), round(self.area_km2, 1.0)]
    }
}

/// A method with some factors: its photos by set and seed.
#[derive(Debug, Clone)]
pub(super) struct FactorRow {
    /// The method and its factors.
    pub(super) name: String,
    pub(super) chosen: String,
    pub(super) sets: Vec<Vec<Vec<Judged>>>,
}

impl FactorRow {
    /// A set's figures, as cells of a table and as JSON.
    fn figures(&self, set: usize, bootstrap: &Bootstrap) -> (Vec<String>, Value) {
        let seeds = &self.sets[set];
        let n = seeds[0].len() as f64;
        // The mean over seeds, photo by photo.
        let by_photo = |value: &dyn Fn(&Judged) -> f64| -> Vec<f64> {
            let mean = |k: usize| seeds.iter().map(|photos| value(&photos[k])).sum::<f64>() / seeds.len() as f64;
            (0..seeds[0].len()).map(mean).collect()
        };
        let share =
            |is_so: &dyn Fn(&Judged) -> bool| bootstrap.mean(&by_photo(&|photo| f64::from(u8::from(is_so(photo)))));
        let each = by_photo(&|photo| -photo.log_density);
        let nll = bootstrap.mean(&each);
        let error = (each.iter().map(|own| (own - nll.value).powi(2)).sum::<f64>() / (n * (n - 1.0))).sqrt();
        let by_seed: Vec<f64> =
            seeds.iter().map(|photos| -photos.iter().map(|photo| photo.log_density).sum::<f64>() / n).collect();
        let within = RADII_KM.map(|radius| share(&|photo| Rules::default().is_within(photo.error_km, radius)));
        let held = [0.5, 0.9].map(|p| share(&|photo| photo.level <= p).value);
        let mut areas: Vec<f64> = seeds.iter().flatten().map(|photo| photo.area_km2).collect();
        areas.sort_by(f64::total_cmp);
        let area = areas[areas.len() / 2];
        let said = format!("{:.3} [{:.2}, {:.2}]", nll.value, nll.low, nll.high);
        let mut cells = vec![self.name.clone(), said, format!("{error:.3}")];
        cells.extend(within.iter().map(|share| format!("{:.1}", 100.0 * share.value)));
        cells.extend([format!("{:.1} / {:.1}", 100.0 * held[0], 100.0 * held[1]), format!("{:.2}", area / 1e6)]);
        let figures = json!({
            "name": self.name, "n": seeds[0].len(), "nll": nll, "nll_standard_error": error, "nll_by_seed": by_seed, "within": within,
            "region_50": held[0], "region_90": held[1], "median_area_50_km2": area, "chosen": self.chosen,
            "photos": seeds.iter().map(|photos| photos.iter().map(Judged::numbers).collect()).collect::<Vec<Vec<_>>>(),
        });
        (cells, figures)
    }
}

/// Map factors of several methods on several sets of photos.
#[derive(Debug, Clone)]
pub struct FactorTable {
    /// The sets, with the true locations. The first one is chosen by.
    pub(super) sets: Vec<(String, Vec<UnitVec>)>,
    pub(super) rows: Vec<FactorRow>,
}

impl FactorTable {
    fn figures(&self, set: usize) -> impl Iterator<Item = (Vec<String>, Value)> {
        let bootstrap = wide_blocks(&self.sets[set].1);
        self.rows.iter().map(move |row| row.figures(set, &bootstrap))
    }

    pub fn render(&self, markdown: bool) -> String {
        let mark = if markdown { "### " } else { "" };
        let mut out = "−log density: mean in nats per steradian [95 % interval over blocks of 15°], then its standard error over photos. Places: % \
                within each radius. Regions: % of true locations inside those said to hold 50 and 90 %, and the median area of the former in \
                million km². \"plain\": without factors; \"land\": no photos in the open sea and Antarctica. With several seeds, figures are \
                means over heads, the first of all training photos, the others of bootstrap samples. All choices are made on the first set.\n"
            .to_owned();
        for (set, (name, places)) in self.sets.iter().enumerate() {
            let header =
                ["", "−log density", "±", "25 km", "200 km", "750 km", "2500 km", "in 50 / 90 %", "area of 50 %"];
            let mut table = Table::new(&header);
            self.figures(set).for_each(|(cells, _)| table.push(cells));
            out += &format!("\n{mark}{name}, {} photos\n{}", places.len(), table.render(markdown));
        }
        let mut table = Table::new(&["", "chosen on the first set"]);
        self.rows.iter().for_each(|row| table.push(vec![row.name.clone(), row.chosen.clone()]));
        out + &format!("\n{}", table.render(markdown))
    }

    pub fn to_json(&self) -> Value {
        let rows = |set: usize| self.figures(set).map(|(_, figures)| figures).collect::<Vec<_>>();
        let sets = self.sets.iter().enumerate().map(|(k, (name, _))| json!({"set": name, "rows": rows(k)}));
        json!({"radii_km": RADII_KM, "sets": sets.collect::<Vec<_>>()})
    }
}
