//! Every method on the same embeddings, in one table.

use crate::{Method, Table, Trial, table::percent_interval, table::short_count};
use locdiff_model::eval::{Bootstrap, Estimate};
use locdiff_shdd::sphere::UnitVec;
use serde_json::{Value, json};

/// Radii of the tables.
pub(crate) const TABLE_RADII_KM: [f64; 5] = [1.0, 25.0, 200.0, 750.0, 2500.0];

/// What methods were found to do on the same test photos.
#[derive(Debug, Clone)]
pub struct Comparison {
    pub title: String,
    pub trials: Vec<Trial>,
    pub photos: usize,
    /// The true places of the test photos.
    pub truths: Vec<UnitVec>,
    /// Test photos that show nothing.
    pub blank: Vec<usize>,
    pub bootstrap: Bootstrap,
    pub seconds: f64,
    /// Processor seconds of it all, where the system tells.
    pub cpu_seconds: Option<f64>,
}

/// " level" for a lead inside its interval.
fn level(lead: &Estimate) -> &'static str {
    if lead.low <= 0.0 && lead.high >= 0.0 { " level" } else { "" }
}

impl Comparison {
    fn all(&self) -> Vec<usize> {
        (0..self.photos).collect()
    }

    fn accuracy(&self) -> Table {
        let columns = "method|1 km|25 km|200 km|750 km|2500 km|GeoScore|median km|NLL|area 10 / 50 / 90 %|in 50 % / 90 %|\
                       density / coverage|chosen on validation";
        let mut table = Table::new(&columns.split('|').collect::<Vec<_>>());
        let all = self.all();
        for trial in &self.trials {
            let mut row = vec![format!("{} ({})", trial.description, trial.name)];
            row.extend(
                TABLE_RADII_KM.iter().map(|&radius| percent_interval(trial.share(radius, &all, &self.bootstrap))),
            );
            row.push(format!("{:.0}", trial.geoscore(&all, &self.bootstrap).value));
            row.push(format!("{:.0}", trial.median_km(&all)));
            row.push(trial.nll(&all).map_or("–".to_owned(), |nll| format!("{nll:.2}")));
            let areas = trial.recall_area(&all, &self.bootstrap);
            row.push(areas.map_or("–".to_owned(), |areas| areas.in_millions()));
            let held = |said: f64| {
                trial.coverage(said, &all).map_or("–".to_owned(), |share| format!("{:.0}", 100.0 * share))
            };
            row.push(format!("{} / {}", held(0.5), held(0.9)));
            let truths: Vec<_> = self.truths.iter().map(|truth| truth.to_latlon()).collect();
            let prdc = trial.density_and_coverage(&truths);
            row.push(prdc.map_or("–".to_owned(), |[density, coverage]| format!("{density:.2} / {coverage:.2}")));
            row.push(trial.chosen.clone());
            table.push(row);
        }
        table
    }

    fn costs(&self) -> Table {
        let mut table = Table::new(&["method", "parameters", "fit s", "fit CPU s", "ms per photo"]);
        for trial in &self.trials {
            table.push(vec![
                trial.name.clone(),
                short_count(trial.parameters),
                format!("{:.1}", trial.fit_seconds()),
                trial.fit_cpu_seconds().map_or("–".to_owned(), |seconds| format!("{seconds:.1}")),
                format!("{:.2}", trial.milliseconds_per_photo()),
            ]);
        }
        table
    }

    /// A method of ours less every other method.
    fn leads(&self, ours: Method, chosen: &[usize]) -> Option<Table> {
        let ours = self.trials.iter().find(|trial| trial.name == ours.name())?;
        let others: Vec<&Trial> = self.trials.iter().filter(|trial| trial.name != ours.name).collect();
        if others.is_empty() || chosen.is_empty() {
            return None;
        }
        let mut table = Table::new(&[&format!("{} less", ours.name), "200 km", "750 km", "2500 km", "NLL"]);
        for other in others {
            let mut row = vec![other.name.clone()];
            row.extend([200.0, 750.0, 2500.0].map(|r| {
                let lead = ours.lead(other, r, chosen, &self.bootstrap);
                percent_interval(lead) + level(&lead)
            }));
            let nll = ours.nll_lead(other, chosen, &self.bootstrap);
            row.push(
                nll.map_or("–".to_owned(), |e| {
                    format!("{:+.2} [{:+.2}, {:+.2}]{}", e.value, e.low, e.high, level(&e))
                }),
            );
            table.push(row);
        }
        Some(table)
    }

    /// Places and likelihood of some photos.
    fn some_table(&self, chosen: &[usize]) -> Table {
        let mut table = Table::new(&["method", "200 km", "750 km", "2500 km", "NLL"]);
        for trial in &self.trials {
            let mut row = vec![trial.name.clone()];
            row.extend([200.0, 750.0, 2500.0].map(|r| percent_interval(trial.share(r, chosen, &self.bootstrap))));
            row.push(trial.nll(chosen).map_or("–".to_owned(), |nll| format!("{nll:.2}")));
            table.push(row);
        }
        table
    }

    pub fn render(&self, markdown: bool) -> String {
        let show = |table: &Table| table.render(markdown);
        let heading = |text: &str| if markdown { format!("\n### {text}\n") } else { format!("\n{text}\n") };
        let cpu = self.cpu_seconds.map_or(String::new(), |seconds| format!(", {seconds:.0} s of CPU time"));
        let mut out = format!("{}; {:.0} s in all{cpu}.\n", self.title, self.seconds);
        out += "Share of test photos (%) answered nearer than each radius [95 % bootstrap interval: blocks of 15° \
                and seeds are drawn]; NLL in nats per steradian (uniform: 2.53). Every choice is made on the validation photos of the test \
                photos' collections: of places (step, sizes, window, decoder) by accuracy, of densities (step, sizes, kernels, exponent, \
                floor) by likelihood. A range whose end is chosen is widened. Flows have the likelihood of their differential equation. \
                \"constant\" never looks at the photo. \"area\": the densest million km² that hold the truth of 10, 50 and 90 % of \
                the photos; \"in 50 % / 90 %\": how many true places lie in the regions said to hold so many; density and coverage of the \
                answers among the truths, of three neighbours. A lead inside its interval is level.\n";
        if let Some(first) = self.trials.iter().rev().find(|_| self.photos > 1) {
            let moran = first.morans_i(&self.truths).map(|value| format!("{value:+.2}")).join(" / ");
            out += &format!(
                "Moran's I of being right within 750 km ({}), of photos 0–500 / 500–1,000 / 1,000–2,500 km apart: {moran}.\n",
                first.name
            );
        }
        if !self.blank.is_empty() {
            let rows: Vec<String> = self.blank.iter().map(ToString::to_string).collect();
            out += &format!(
                "Test rows (from 0) that show nothing: {}. They are in all figures but those of the last table.\n",
                rows.join(", ")
            );
        }
        out += &heading("Accuracy");
        out += &show(&self.accuracy());
        for ours in [Method::Bundled, Method::LocDiff, Method::Blend] {
            if let Some(table) = self.leads(ours, &self.all()) {
                out += &heading(&format!("{} less each method, photo by photo (points; nats)", ours.name()));
                out += &show(&table);
            }
        }
        if !self.blank.is_empty() {
            let kept: Vec<usize> = self.all().into_iter().filter(|photo| !self.blank.contains(photo)).collect();
            out += &heading(&format!("Without the {} blank pictures", self.blank.len()));
            out += &show(&self.some_table(&kept));
        }
        out += &heading("Cost");
        out += &show(&self.costs());
        out
    }

    pub fn to_json(&self) -> Value {
        let rows = |chosen: &[usize]| -> Vec<Value> {
            if chosen.is_empty() {
                return Vec::new();
            }
            self.trials.iter().map(|trial| trial.to_json(chosen, &self.bootstrap)).collect()
        };
        json!({
            "title": self.title, "n": self.photos, "methods": rows(&self.all()), "bootstrap": self.bootstrap,
            "blank_rows": self.blank,
            "seconds": self.seconds, "cpu_seconds": self.cpu_seconds,
        })
    }
}
