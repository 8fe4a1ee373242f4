//! `locdiff compare`: every method on the same embeddings, in one table.

use crate::commands::{
    experiment::{EffortArgs, SplitArgs, Splits, cpu_seconds},
    table::{Table, count, percent},
    trial::Trial,
};
use crate::progress;
use anyhow::{Context, Result};
use clap::Args;
use locdiff_base::AtomicFile;
use locdiff_baselines::Method;
use locdiff_eval::{Bootstrap, Nearby, Rules};
use locdiff_sphere::LatLon;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Parts of a progress bar that one training takes.
const PARTS: f64 = 1000.0;
/// Radii of the table: nothing here finds a photo within 1 km.
const RADII_KM: [f64; 4] = [25.0, 200.0, 750.0, 2500.0];

#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// The methods: all, main (all but the location encoders), or names with commas between them
    #[arg(long, value_name = "LIST", default_value = "all")]
    methods: String,
    #[command(flatten)]
    data: SplitArgs,
    #[command(flatten)]
    effort: EffortArgs,
    /// Test photos farther than this from every training photo make a table of their own
    #[arg(long, value_name = "KM", default_value_t = 200.0)]
    far_km: f64,
    /// Folder for the answers (METHOD-SEED.csv, for `locdiff evaluate`), compare.json and compare.md
    #[arg(short, long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Print JSON
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print Markdown
    #[arg(long)]
    markdown: bool,
}

fn parse_methods(list: &str) -> Result<Vec<Method>> {
    match list {
        "all" => Ok(Method::all()),
        "main" => Ok(Method::main()),
        _ => list.split(',').map(|name| Ok(name.trim().parse::<Method>()?)).collect(),
    }
}

impl Compare {
    pub(crate) fn run(self) -> Result<()> {
        let methods = parse_methods(&self.methods).context("--methods")?;
        let splits = self.data.read()?;
        let device = self.effort.device()?;
        if let Some(out) = &self.out {
            std::fs::create_dir_all(out)
                .with_context(|| format!("{}: cannot create this folder", out.display()))?;
        }
        let (effort, seeds) = (self.effort.effort(), self.effort.seeds());
        let bar = progress::bar("comparing", Some((methods.len() * seeds.len()) as u64 * PARTS as u64));
        bar.set_style(indicatif::ProgressStyle::with_template("{prefix} {wide_bar} {percent} % {msg}")?);
        let (start, cpu) = (Instant::now(), cpu_seconds());
        let mut trials = Vec::new();
        for (m, method) in methods.iter().enumerate() {
            let mut trial = Trial::new(method.name(), method.describe());
            for (s, seed) in seeds.iter().enumerate() {
                if s > 0 && !method.is_random() {
                    continue; // the same answers again
                }
                bar.set_message(format!("{method}, seed {seed}"));
                let done = ((m * seeds.len() + s) as f64) * PARTS;
                let mut fitted = method.build(&device, effort, *seed);
                trial
                    .run(fitted.as_mut(), &splits, *seed, self.out.as_deref(), &mut |share| {
                        bar.set_position((done + PARTS * share) as u64);
                    })
                    .with_context(|| format!("{method}, seed {seed}"))?;
            }
            trials.push(trial);
        }
        bar.finish_and_clear();
        let report = Report {
            trials,
            far: far_photos(&splits, self.far_km),
            far_km: self.far_km,
            bootstrap: Bootstrap::default(),
            n: splits.test.len(),
            title: format!(
                "{} training, {} validation and {} test photos of {} numbers; preset {}, {} steps, seeds {:?}; {device}",
                splits.training.len(),
                splits.validation.len(),
                splits.test.len(),
                splits.training.columns(),
                self.effort.preset_name(),
                effort.steps,
                seeds
            ),
            seconds: start.elapsed().as_secs_f64(),
            cpu_seconds: cpu_seconds().zip(cpu).map(|(after, before)| after - before),
        };
        if let Some(out) = &self.out {
            write(&out.join("compare.json"), &format!("{:#}\n", report.to_json()))?;
            write(&out.join("compare.md"), &report.render(true))?;
        }
        if self.json {
            println!("{}", report.to_json());
        } else {
            print!("{}", report.render(self.markdown));
        }
        Ok(())
    }
}

pub(crate) fn write(path: &Path, text: &str) -> Result<()> {
    Ok(AtomicFile::write_whole(path, text.as_bytes())?)
}

/// The test photos with no training photo within the distance.
fn far_photos(splits: &Splits, far_km: f64) -> Vec<usize> {
    let places: Vec<LatLon> = splits.training.points().iter().map(|point| point.to_latlon()).collect();
    let nearby = Nearby::new(&places, Rules::default());
    let is_far = |photo: &usize| {
        nearby.nearest_km(splits.test.points()[*photo].to_latlon()).is_none_or(|km| km > far_km)
    };
    (0..splits.test.len()).filter(is_far).collect()
}

struct Report {
    trials: Vec<Trial>,
    far: Vec<usize>,
    far_km: f64,
    bootstrap: Bootstrap,
    n: usize,
    title: String,
    seconds: f64,
    cpu_seconds: Option<f64>,
}

impl Report {
    fn all(&self) -> Vec<usize> {
        (0..self.n).collect()
    }

    fn ours(&self) -> Option<&Trial> {
        self.trials.iter().find(|trial| trial.name == Method::LocDiff.name())
    }

    fn accuracy(&self) -> Table {
        let mut table = Table::new(&[
            "method",
            "25 km",
            "200 km",
            "750 km",
            "2500 km",
            "GeoScore",
            "median km",
            "NLL",
            "chosen on validation",
        ]);
        let all = self.all();
        for trial in &self.trials {
            let mut row = vec![format!("{} ({})", trial.description, trial.name)];
            row.extend(RADII_KM.iter().map(|&radius| percent(trial.share(radius, &all, &self.bootstrap))));
            row.push(format!("{:.0}", trial.geoscore(&all, &self.bootstrap).value));
            row.push(format!("{:.0}", trial.median_km(&all)));
            row.push(trial.nll(&all).map_or("–".to_owned(), |nll| format!("{nll:.2}")));
            row.push(trial.chosen.clone());
            table.push(row);
        }
        table
    }

    fn costs(&self) -> Table {
        let mut table = Table::new(&["method", "parameters", "fit s", "fit CPU s", "ms a photo"]);
        for trial in &self.trials {
            table.push(vec![
                trial.name.clone(),
                count(trial.parameters),
                format!("{:.1}", trial.fit_seconds()),
                trial.fit_cpu_seconds().map_or("–".to_owned(), |seconds| format!("{seconds:.1}")),
                format!("{:.2}", trial.milliseconds_a_photo()),
            ]);
        }
        table
    }

    /// LocDiff less every other method.
    fn leads(&self, chosen: &[usize]) -> Option<Table> {
        let ours = self.ours()?;
        let others: Vec<&Trial> = self.trials.iter().filter(|trial| trial.name != ours.name).collect();
        if others.is_empty() || chosen.is_empty() {
            return None;
        }
        let mut table = Table::new(&["LocDiff less", "200 km", "750 km", "2500 km"]);
        for other in others {
            let mut row = vec![other.name.clone()];
            row.extend([200.0, 750.0, 2500.0].map(|r| percent(ours.lead(other, r, chosen, &self.bootstrap))));
            table.push(row);
        }
        Some(table)
    }

    fn far_table(&self) -> Option<Table> {
        // Where every photo is far, the first table says it all.
        if self.far.is_empty() || self.far.len() == self.n {
            return None;
        }
        let mut table = Table::new(&["method", "200 km", "750 km", "2500 km"]);
        for trial in &self.trials {
            let mut row = vec![trial.name.clone()];
            let share = |radius| percent(trial.share(radius, &self.far, &self.bootstrap));
            row.extend([200.0, 750.0, 2500.0].map(share));
            table.push(row);
        }
        Some(table)
    }

    fn render(&self, markdown: bool) -> String {
        let show = |table: &Table| if markdown { table.markdown() } else { table.text() };
        let heading = |text: &str| if markdown { format!("\n### {text}\n") } else { format!("\n{text}\n") };
        let cpu = self.cpu_seconds.map_or(String::new(), |seconds| format!(", {seconds:.0} s of CPU time"));
        let mut out = format!("{}; {:.0} s in all{cpu}.\n", self.title, self.seconds);
        out += "Share of test photos (%) answered nearer than each radius [95 % bootstrap interval over photos]; NLL in \
                nats per steradian (uniform: 2.53), of LocDiff's density as `locate` reads it, calibrated on validation.\n";
        out += &heading("Accuracy");
        out += &show(&self.accuracy());
        if let Some(table) = self.leads(&self.all()) {
            out += &heading("LocDiff less each method, photo by photo (points)");
            out += &show(&table);
        }
        if let Some(table) = self.far_table() {
            let n = self.far.len();
            out += &heading(&format!(
                "Unseen places: {n} test photos > {} km from any training photo",
                self.far_km
            ));
            out += &show(&table);
            if let Some(table) = self.leads(&self.far) {
                out += "\n";
                out += &show(&table);
            }
        } else {
            let which = if self.far.is_empty() { "No test photo is" } else { "All test photos are" };
            out += &heading(&format!("{which} > {} km from every training photo", self.far_km));
        }
        out += &heading("Cost");
        out += &show(&self.costs());
        out
    }

    fn to_json(&self) -> Value {
        let rows = |chosen: &[usize]| -> Vec<Value> {
            if chosen.is_empty() {
                return Vec::new();
            }
            self.trials.iter().map(|trial| trial.to_json(chosen, &self.bootstrap)).collect()
        };
        json!({
            "title": self.title, "n": self.n, "methods": rows(&self.all()), "bootstrap": self.bootstrap,
            "far": {"km": self.far_km, "n": self.far.len(), "methods": rows(&self.far)},
            "seconds": self.seconds, "cpu_seconds": self.cpu_seconds,
        })
    }
}
