//! `locdiff-lab compare`: every method on the same embeddings, in one table.

use crate::experiment::{EffortArgs, SplitArgs};
use crate::terminal::{TableFormat, claim, set_share, share_bar, write_file};
use anyhow::{Context, Result};
use clap::Args;
use locdiff_lab::{Comparison, Method, Stopwatch, Trial};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// The methods: all, main (all but the location encoders), or names with commas between them
    #[arg(long, value_name = "LIST", default_value = "all")]
    methods: String,
    #[command(flatten)]
    data: SplitArgs,
    #[command(flatten)]
    effort: EffortArgs,
    /// Folder for the answers (METHOD-SEED.csv, for `locdiff evaluate`), what validation chose (METHOD-SEED.txt), compare.json and compare.md
    #[arg(short, long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    #[command(flatten)]
    format: TableFormat,
}

pub(crate) fn parse_methods(list: &str) -> Result<Vec<Method>> {
    match list {
        "all" => Ok(Method::all()),
        "main" => Ok(Method::main()),
        _ => list.split(',').map(|name| name.trim().parse::<Method>()).collect(),
    }
}

impl Compare {
    pub(crate) fn run(self) -> Result<()> {
        let mut methods = parse_methods(&self.methods).context("--methods")?;
        let mut splits = self.data.read()?;
        let blank = splits.leave_out_blank()?;
        if ["all", "main"].contains(&self.methods.as_str()) {
            methods = Method::for_columns(methods, splits.training.columns());
        }
        let device = self.effort.device()?;
        if let Some(out) = &self.out {
            claim(&out.join("compare.json"))?;
            std::fs::create_dir_all(out).with_context(|| format!("{}: cannot create this folder", out.display()))?;
        }
        let (effort, seeds) = (self.effort.effort(), self.effort.seeds());
        let bar = share_bar("comparing");
        let watch = Stopwatch::start();
        let (total, mut done) = ((methods.len() * seeds.len()) as f64, 0.0);
        let mut trials = Vec::new();
        for method in methods {
            let mut trial = Trial::new(method.name(), method.description());
            for (k, &seed) in seeds.iter().enumerate() {
                // A method without chance would give the same answers again.
                if k == 0 || method.is_random() {
                    bar.set_message(format!("{method}, seed {seed}"));
                    let fit = method.build(&device, effort, seed);
                    let mut tell = |share: f64| set_share(&bar, (done + share) / total);
                    trial
                        .run(&*fit, &splits, seed, self.out.as_deref(), &mut tell)
                        .with_context(|| format!("{method}, seed {seed}"))?;
                }
                done += 1.0;
            }
            trials.push(trial);
        }
        bar.finish_and_clear();
        let comparison = Comparison {
            trials,
            bootstrap: splits.bootstrap(),
            photos: splits.test.len(),
            truths: splits.test.points().to_vec(),
            blank,
            title: format!(
                "{} training, {} validation and {} test photos of {} numbers; preset {}, {} steps, seeds {seeds:?}; {device}",
                splits.training.len(),
                splits.validation.len(),
                splits.test.len(),
                splits.training.columns(),
                self.effort.preset_name(),
                effort.steps,
            ),
            seconds: watch.seconds(),
            cpu_seconds: watch.cpu_seconds(),
        };
        if let Some(out) = &self.out {
            write_file(&out.join("compare.json"), format!("{:#}\n", comparison.to_json()).as_bytes())?;
            write_file(&out.join("compare.md"), comparison.render(true).as_bytes())?;
        }
        self.format.print(|| comparison.to_json(), |markdown| comparison.render(markdown))
    }
}
