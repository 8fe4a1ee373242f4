//! `locdiff-lab recipe`: the paper's main tables from the published data.

use crate::recipe::chain::{Chain, RecipeSettings, paper};
use crate::recipe::dataset::{Missing, TrainingSet};
use crate::recipe::run::{Run, Standing};
use crate::{recipe::estimate::Rates, recipe::stage::Stage, recipe::work};
use anyhow::Result;
use clap::{Args, Subcommand};
use locdiff_base::{Named, one_line};
use locdiff_model::eval::Benchmark;
use locdiff_retrieval::geoclip::SETTINGS_FILE;
use locdiff_nn::DeviceSpec;
use locdiff_model::report::terminal::args::{DeviceArg, named};
use locdiff_model::report::terminal::{output, say};
use serde_json::{Value, json};
use std::{fmt::Write as _, io::Write as _, path::PathBuf};

#[derive(Debug, Subcommand)]
pub(crate) enum Recipe {
    /// Embed, train, calibrate, evaluate on each benchmark, and print the paper's tables with our column
    Paper(Paper),
}

impl Recipe {
    pub(crate) fn run(self) -> Result<()> {
        match self {
            Self::Paper(paper) => paper.run(),
        }
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "A stage that is done is passed over, one that was cut off goes on, and whatever changes (data, settings) is made anew \
                  with what depends on it. docs/recipe.md says what to download, and how to run a stage on several machines."
)]
pub(crate) struct Paper {
    /// Folder of the published data: mp16/, osv5m/, im2gps/, im2gps3k/, yfcc4k/, yfcc26k/, gws15k/, as their authors publish them; with geoclip/ (`locdiff import geoclip`) LocDiff-H, too
    #[arg(long, value_name = "FOLDER")]
    data: PathBuf,
    /// Folder in which everything is made
    #[arg(short, long, value_name = "FOLDER", default_value = "paper")]
    out: PathBuf,
    /// Folder of the image encoder, or `bundled` [default: clip-vit-large-patch14 in the data]
    #[arg(long, value_name = "FOLDER")]
    encoder: Option<PathBuf>,
    /// What to train on
    #[arg(long, value_parser = named::<TrainingSet>(), value_delimiter = ',',
          default_values = [TrainingSet::Mp16.name(), TrainingSet::Osv5m.name()])]
    train_on: Vec<TrainingSet>,
    /// What to test with
    #[arg(long, value_parser = named::<Benchmark>(), value_delimiter = ',', default_values = Benchmark::ALL.iter().map(|one| one.1))]
    benchmarks: Vec<Benchmark>,
    /// Do what can be done with the data that is there
    #[arg(long)]
    skip_missing: bool,
    /// Another setting of `locdiff train` than the paper's, by its flag: steps=50, degree=7, batch=64; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_setting)]
    set: Vec<(String, String)>,
    /// Share of the land that is held out to validate and calibrate with
    #[arg(long, value_name = "SHARE", default_value_t = 0.002)]
    held_out: f64,
    /// Photos of a shard of embeddings
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    shard_photos: usize,
    /// Where to compute: auto, cpu, cuda or cuda:N
    #[arg(long, value_name = "DEVICE", value_parser = parse_device, env = "LOCDIFF_DEVICE", hide_env_values = true)]
    device: Option<(String, DeviceSpec)>,
    /// Seed of everything random
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Say what is missing and what would be done, with estimates of time and disk (of all, as if nothing were missing; with
    /// --skip-missing of what is there); do nothing
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn parse_device(text: &str) -> Result<(String, DeviceSpec), String> {
    Ok((text.to_owned(), locdiff_model::report::terminal::args::parse_device(text)?))
}

fn parse_setting(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("give a name, = and a value: steps=50")?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    if is_name {
        Ok((name.to_owned(), value.to_owned()))
    } else {
        Err(format!("'{name}' is no flag of `locdiff train`"))
    }
}

impl Paper {
    fn settings(&self) -> RecipeSettings {
        let encoder = match &self.encoder {
            Some(folder) if folder.as_os_str() == "bundled" => None,
            Some(folder) => Some(folder.clone()),
            None => Some(self.data.join("clip-vit-large-patch14")),
        };
        let mut train: Vec<(String, String)> = Vec::new();
        for (name, value) in &self.set {
            train.retain(|(other, _)| other != name); // the last one counts
            train.push((name.clone(), value.clone()));
        }
        RecipeSettings {
            data: self.data.clone(),
            out: self.out.clone(),
            encoder,
            geoclip: Some(self.data.join("geoclip")).filter(|folder| folder.join(SETTINGS_FILE).is_file()),
            training: self.train_on.clone(),
            benchmarks: self.benchmarks.clone(),
            train,
            held_out: self.held_out,
            shard_photos: self.shard_photos,
            seed: self.seed,
            skip_missing: self.skip_missing,
            as_if_there: self.dry_run && !self.skip_missing,
        }
    }

    fn run(self) -> Result<()> {
        let settings = self.settings();
        work::check(&settings.train)?;
        let chain = paper(&settings)?;
        if self.dry_run {
            return self.dry_run(&chain);
        }
        for missing in &chain.missing {
            say::warning(&missing_line(missing));
        }
        chain.check(&settings)?;
        output::keep_stdout();
        let count = chain.stages.len();
        let mut number = 0;
        let tell = |stage: &Stage, standing: Standing| {
            number += 1;
            let how = match standing {
                Standing::Done => "done before",
                Standing::CutOff => "goes on",
                Standing::Changed => "anew: its inputs or settings have changed",
                Standing::New => "begins",
            };
            eprintln!("[{number}/{count}] {}: {how}", stage.name);
        };
        let device = self.device.as_ref().map_or(DeviceSpec::default(), |(_, device)| *device);
        let device = DeviceArg { device };
        Run::new(&self.out).run(&chain.stages, |task| work::perform(task, &device), tell)?;
        let name = if self.json { "tables.json" } else { "tables.md" };
        let tables = std::fs::read_to_string(self.out.join("tables").join(name))?;
        Ok(writeln!(std::io::stdout(), "{}", tables.trim_end())?)
    }

    /// What would be done.
    fn dry_run(&self, chain: &Chain) -> Result<()> {
        let mut run = Run::new(&self.out);
        let device = self.device.as_ref().map(|(name, _)| name.as_str());
        let rates = [("cpu", Rates::cpu()), ("h200", Rates::h200())];
        let mut stages = Vec::new();
        for stage in &chain.stages {
            let standing = run.standing(stage)?;
            let is_done = standing == Standing::Done;
            let seconds: Vec<Option<f64>> =
                rates.iter().map(|(_, rates)| if is_done { Some(0.0) } else { rates.seconds(stage) }).collect();
            stages.push((stage, standing, seconds));
        }
        let mut out = std::io::stdout().lock();
        if self.json {
            let stages = stages.iter().map(|(stage, standing, seconds)| {
                json!({
                    "stage": stage.name, "standing": standing.word(), "commands": stage.commands(device), "bytes": stage.bytes,
                    "seconds": { "cpu": seconds[0], "h200": seconds[1] },
                })
            });
            let missing = chain.missing.iter().map(|missing| {
                json!({ "what": missing.what, "at": missing.at, "gigabytes": missing.gigabytes, "from": missing.from })
            });
            let machines: serde_json::Map<String, Value> = rates
                .iter()
                .map(|(name, rates)| {
                    ((*name).to_owned(), json!({ "machine": rates.machine, "measured": rates.measured }))
                })
                .collect();
            let all = json!({
                "stages": stages.collect::<Vec<_>>(), "missing": missing.collect::<Vec<_>>(), "rates": machines,
            });
            return Ok(writeln!(out, "{all}")?);
        }
        let mut text = String::new();
        for missing in &chain.missing {
            writeln!(text, "missing: {}", missing_line(missing))?;
        }
        for (stage, standing, seconds) in &stages {
            let bytes = size(stage.bytes as f64);
            writeln!(text, "\n{} ({}): {bytes}, {}", stage.name, standing.word(), hours(seconds))?;
            for command in stage.commands(device) {
                writeln!(text, "  {command}")?;
            }
        }
        let total = |k: usize| stages.iter().map(|(.., seconds)| seconds[k]).sum::<Option<f64>>();
        let bytes: u64 = stages.iter().map(|(stage, ..)| stage.bytes).sum();
        writeln!(
            text,
            "\nin all: {} on the disk beside the data, {}",
            size(bytes as f64),
            hours(&[total(0), total(1)])
        )?;
        for (name, rates) in &rates {
            writeln!(text, "{name} is {}; {}", rates.machine, rates.measured)?;
        }
        Ok(write!(out, "{text}")?)
    }
}

fn missing_line(missing: &Missing) -> String {
    let at = one_line(&missing.at.to_string_lossy());
    format!("{}, sought in {at}, about {}: {}", missing.what, size(missing.gigabytes * 1e9), missing.from)
}

fn size(bytes: f64) -> String {
    match bytes {
        _ if bytes >= 1e9 => format!("{:.1} GB", bytes / 1e9),
        _ if bytes >= 1e6 => format!("{:.1} MB", bytes / 1e6),
        _ => format!("{:.0} kB", (bytes / 1e3).ceil()),
    }
}

/// Times on the two machines.
fn hours(seconds: &[Option<f64>]) -> String {
    let one = |seconds: &Option<f64>| match seconds {
        None => "not measured".to_owned(),
        Some(seconds) if *seconds >= 3600.0 => format!("{:.1} h", seconds / 3600.0),
        Some(seconds) if *seconds >= 60.0 => format!("{:.0} min", seconds / 60.0),
        Some(seconds) => format!("{:.0} s", seconds.ceil()),
    };
    format!("cpu {}, h200 {}", one(&seconds[0]), one(&seconds[1]))
}
