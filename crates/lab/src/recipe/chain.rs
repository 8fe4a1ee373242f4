//! The paper's chain: embed, train, calibrate, evaluate on each benchmark, tables.

use crate::recipe::dataset::{Dataset, Missing, Photos, TrainingSet, find_encoder, test_set};
use crate::recipe::error::{RecipeError, Result};
use crate::recipe::stage::{Input, Stage, Step, Work};
use crate::{recipe::paper::published, recipe::tables::JudgedBenchmark, recipe::task::Task};
use locdiff_base::{Named, setting};
use locdiff_model::eval::Benchmark;
use locdiff_retrieval::geoclip::{GALLERY_FILE, WEIGHTS_FILE};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The paper's degree and steps.
const PAPER: (u64, u64) = (47, 750_000);
/// Ours in the stead of the paper's loss over random anchors: its models give densities, which can be calibrated.
const LOSS: &str = "nll";
/// The losses whose models give densities.
const WITH_DENSITIES: [&str; 2] = ["nll", "kl"];
/// Photos that a calibration needs.
const LEAST_HELD_OUT: usize = 50;

/// What a user chooses.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RecipeSettings {
    /// Where the data is.
    pub(crate) data: PathBuf,
    /// Where everything is made.
    pub(crate) out: PathBuf,
    /// The encoder's folder; `None` is the bundled one.
    pub(crate) encoder: Option<PathBuf>,
    /// GeoCLIP's folder, for LocDiff-H; `None` leaves that out.
    pub(crate) geoclip: Option<PathBuf>,
    /// What to train on.
    pub(crate) training: Vec<TrainingSet>,
    /// What to test with.
    pub(crate) benchmarks: Vec<Benchmark>,
    /// Settings of training in the stead of the paper's, by the names they have on the command line.
    pub(crate) train: Vec<(String, String)>,
    /// The share of the land that is held out to validate and calibrate with.
    pub(crate) held_out: f64,
    /// Photos of a shard of embeddings.
    pub(crate) shard_photos: usize,
    /// Seed of everything random.
    pub(crate) seed: u64,
    /// Go on with what is there where something is missing.
    pub(crate) skip_missing: bool,
    /// Plan what is missing too, as if it were there: to estimate what all of it takes.
    pub(crate) as_if_there: bool,
}

/// What is to be done, and what is missing for the rest.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Chain {
    /// The stages, in their order.
    pub(crate) stages: Vec<Stage>,
    /// What is missing.
    pub(crate) missing: Vec<Missing>,
}

/// The paper's chain with these settings.
///
/// # Errors
/// Settings out of range. What is missing is told, not an error, see [`Chain::check`].
pub(crate) fn paper(settings: &RecipeSettings) -> Result<Chain> {
    if !(0.0..0.9).contains(&settings.held_out) {
        return Err(setting::<RecipeError>("the share that is held out", settings.held_out, "0 up to 0.9"));
    }
    let mut builder = Builder { settings, stages: Vec::new(), missing: Vec::new(), judged: Vec::new() };
    if let Some(folder) = &settings.encoder {
        builder.missing.extend(find_encoder(folder).err());
    }
    let mut embedded = Vec::new();
    for set in &settings.training {
        embedded.push((*set, builder.embed(set.dataset(), false)));
    }
    for benchmark in &settings.benchmarks {
        let is_tested = settings.training.iter().any(|set| set.is_tested_by(*benchmark));
        let is_there = is_tested && builder.embed(test_set(*benchmark), true);
        let report = is_there.then(PathBuf::new);
        builder.judged.push(JudgedBenchmark { benchmark: *benchmark, report, hybrid: None });
    }
    for (set, is_there) in embedded {
        if is_there {
            builder.train(set);
            if builder.has_densities() {
                builder.calibrate(set);
            }
        }
        for k in 0..builder.judged.len() {
            let JudgedBenchmark { benchmark, report, .. } = builder.judged[k].clone();
            if set.is_tested_by(benchmark) && report.is_some() {
                let report = is_there.then(|| builder.evaluate(set, benchmark));
                builder.judged[k].report = report;
                builder.judged[k].hybrid = is_there.then(|| builder.hybrid(set, benchmark)).flatten();
            }
        }
    }
    builder.tables();
    Ok(Chain { stages: builder.stages, missing: builder.missing })
}

impl Chain {
    /// Fails where something is missing, unless that was allowed.
    ///
    /// # Errors
    /// [`RecipeError::Missing`]; also where nothing is left to train on.
    pub(crate) fn check(&self, settings: &RecipeSettings) -> Result<()> {
        let can_train = self.stages.iter().any(|stage| matches!(stage.work, Work::Train { .. }));
        let needs_encoder = self.missing.first().is_some_and(|missing| Some(&missing.at) == settings.encoder.as_ref());
        match self.missing.first() {
            Some(first) if !settings.skip_missing || !can_train || needs_encoder => Err(RecipeError::Missing {
                count: self.missing.len(),
                data: settings.data.clone(),
                first: first.what.clone(),
            }),
            _ => Ok(()),
        }
    }
}

struct Builder<'a> {
    settings: &'a RecipeSettings,
    stages: Vec<Stage>,
    missing: Vec<Missing>,
    judged: Vec<JudgedBenchmark>,
}

impl Builder<'_> {
    fn of(&self, stage: &str, file: &str) -> PathBuf {
        self.settings.out.join(stage).join(file)
    }

    fn training_setting(&self, name: &str, usual: u64) -> u64 {
        let given = self.settings.train.iter().rev().find(|(key, _)| key == name);
        given.and_then(|(_, value)| value.parse().ok()).unwrap_or(usual)
    }

    fn degree(&self) -> u64 {
        self.training_setting("degree", PAPER.0)
    }

    fn loss(&self) -> &str {
        let given = self.settings.train.iter().rev().find(|(key, _)| key == "loss");
        given.map_or(LOSS, |(_, value)| value.as_str())
    }

    fn has_densities(&self) -> bool {
        WITH_DENSITIES.contains(&self.loss())
    }

    /// The encoder as an input and as a setting.
    fn encoder(&self) -> (Vec<Input>, Value) {
        match &self.settings.encoder {
            Some(folder) => (vec![Input::Path(folder.clone())], json!("folder")),
            None => (Vec::new(), json!("bundled")),
        }
    }

    /// A stage that embeds a set; false where it is not there.
    fn embed(&mut self, set: &Dataset, is_test: bool) -> bool {
        let photos = match set.find(&self.settings.data) {
            Ok(photos) => photos,
            Err(missing) => {
                self.missing.push(missing);
                if !self.settings.as_if_there {
                    return false;
                }
                set.expected(&self.settings.data)
            }
        };
        let name = format!("embed-{}", set.name);
        let (job, out) = (self.of(&name, "job"), self.of(&name, "embeddings.safetensors"));
        let (mut inputs, encoder) = self.encoder();
        match &photos {
            Photos::Listed { list, pictures } => {
                inputs.extend([Input::Path(list.clone()), Input::Path(pictures.clone())]);
            }
            Photos::Shards(shards) => inputs.extend(shards.iter().cloned().map(Input::Path)),
        }
        let plan = Task::Plan {
            photos: photos.clone(),
            encoder: self.settings.encoder.clone(),
            shard_photos: self.settings.shard_photos,
            job: job.clone(),
        };
        let mut steps = vec![
            Step::Task { task: plan, unless: Some(job.join("job.json")) },
            task(Task::Embed { job: job.clone() }),
            task(Task::Merge { job, out }),
        ];
        let mut outputs = vec![relative(&name, "embeddings.safetensors"), relative(&name, "embeddings.csv")];
        if is_test {
            steps.push(Step::Truth { photos: photos.clone(), out: self.of(&name, "truth.csv") });
            outputs.push(relative(&name, "truth.csv"));
        }
        let count = count(&photos).unwrap_or(set.photos);
        let is_clip = self.settings.encoder.is_some();
        // Parts of f32 and the merged file of f16, and what a manifest says of a photo.
        let bytes = count * (if is_clip { 768 } else { 512 } * 6 + 250);
        let work = Work::Embed { photos: count, is_clip };
        let settings = json!({ "encoder": encoder });
        self.stages.push(Stage { name, work, bytes, inputs, settings, steps, outputs });
        true
    }

    fn train(&mut self, set: TrainingSet) {
        let (name, from) = (format!("train-{}", set.name()), format!("embed-{}", set.name()));
        let run = self.of(&name, "run");
        let (embeddings, locations) = (self.of(&from, "embeddings.safetensors"), self.of(&from, "embeddings.csv"));
        let RecipeSettings { held_out, seed, train, .. } = self.settings;
        let mut given = train.clone();
        if !train.iter().any(|(key, _)| key == "loss") {
            given.insert(0, ("loss".to_owned(), LOSS.to_owned()));
        }
        let (held_out, seed) = (*held_out, *seed);
        let work = Task::Train { embeddings, locations, held_out, seed, settings: given, out: run };
        let (steps, degree) = (self.training_setting("steps", PAPER.1), self.degree());
        self.stages.push(Stage {
            work: Work::Train { steps, degree },
            bytes: crate::recipe::estimate::run_bytes(degree),
            inputs: vec![Input::Stage(from)],
            settings: json!({ "held_out": held_out, "seed": seed, "loss": self.loss(), "train": train }),
            steps: vec![task(work)],
            outputs: MODEL_FILES.map(|file| relative(&name, &format!("run/{file}"))).to_vec(),
            name,
        });
    }

    fn calibrate(&mut self, set: TrainingSet) {
        let name = format!("calibrate-{}", set.name());
        let (embedded, trained) = (format!("embed-{}", set.name()), format!("train-{}", set.name()));
        let (embeddings, locations) =
            (self.of(&embedded, "embeddings.safetensors"), self.of(&embedded, "embeddings.csv"));
        let (model, rows) = (self.of(&name, "model"), self.of(&name, "held-out.txt"));
        let RecipeSettings { held_out, seed, .. } = *self.settings;
        let mut steps = vec![Step::HeldOut {
            locations: locations.clone(),
            share: held_out,
            seed,
            least: LEAST_HELD_OUT,
            out: rows.clone(),
        }];
        steps.extend(
            MODEL_FILES.map(|file| Step::Copy { from: self.of(&trained, "run").join(file), to: model.join(file) }),
        );
        steps.push(task(Task::Calibrate { model, embeddings, locations, rows, seed }));
        let photos = (self.embedded(&embedded) as f64 * held_out) as u64;
        let files = MODEL_FILES.into_iter().chain([CALIBRATION_FILE]);
        let outputs = files.map(|file| relative(&name, &format!("model/{file}"))).collect();
        let work = Work::Calibrate { photos, degree: self.degree() };
        let inputs = vec![Input::Stage(embedded), Input::Stage(trained)];
        let settings = json!({ "held_out": held_out, "seed": seed });
        let bytes = crate::recipe::estimate::model_bytes(self.degree());
        self.stages.push(Stage { name, work, bytes, inputs, settings, steps, outputs });
    }

    /// How many photos a stage embeds.
    fn embedded(&self, stage: &str) -> u64 {
        match self.stages.iter().find(|other| other.name == stage).map(|stage| stage.work) {
            Some(Work::Embed { photos, .. }) => photos,
            _ => 0,
        }
    }

    /// A stage that judges the model of a training set; its report.
    fn evaluate(&mut self, set: TrainingSet, benchmark: Benchmark) -> PathBuf {
        let test = test_set(benchmark);
        let (name, embedded) = (format!("evaluate-{}", benchmark.name()), format!("embed-{}", test.name));
        let (stage, folder) = if self.has_densities() { ("calibrate", "model") } else { ("train", "run") };
        let judged = format!("{stage}-{}", set.name());
        let report = self.of(&name, "report.csv");
        let seed = self.settings.seed;
        let step = task(Task::Evaluate {
            benchmark,
            truth: self.of(&embedded, "truth.csv"),
            model: self.of(&judged, folder),
            embeddings: self.of(&embedded, "embeddings.safetensors"),
            embedded: self.of(&embedded, "embeddings.csv"),
            csv: report.clone(),
            html: self.of(&name, "report.html"),
            seed,
        });
        let photos = self.embedded(&embedded);
        self.stages.push(Stage {
            work: Work::Answer { photos, degree: self.degree() },
            bytes: 1 << 20,
            inputs: vec![Input::Stage(embedded), Input::Stage(judged)],
            settings: json!({ "benchmark": benchmark.name(), "seed": seed }),
            steps: vec![step],
            outputs: vec![relative(&name, "report.csv")],
            name,
        });
        report
    }

    /// A stage that judges LocDiff-H with the model of a training set, where GeoCLIP is there and the paper has a row of it; its report.
    fn hybrid(&mut self, set: TrainingSet, benchmark: Benchmark) -> Option<PathBuf> {
        let geoclip = self.settings.geoclip.clone()?;
        published(benchmark).iter().find(|row| row.system.starts_with("LocDiff-H"))?;
        let embedded = format!("embed-{}", test_set(benchmark).name);
        let (name, trained) = (format!("hybrid-{}", benchmark.name()), format!("train-{}", set.name()));
        let report = self.of(&name, "report.csv");
        let seed = self.settings.seed;
        // The folder itself changes: vectors of places are kept in it.
        let files = [WEIGHTS_FILE, GALLERY_FILE].map(|file| Input::Path(geoclip.join(file)));
        let step = task(Task::Hybrid {
            benchmark,
            truth: self.of(&embedded, "truth.csv"),
            model: self.of(&trained, "run"),
            geoclip,
            embeddings: self.of(&embedded, "embeddings.safetensors"),
            embedded: self.of(&embedded, "embeddings.csv"),
            csv: report.clone(),
            html: self.of(&name, "report.html"),
            seed,
        });
        self.stages.push(Stage {
            work: Work::Answer { photos: self.embedded(&embedded), degree: self.degree() },
            bytes: 1 << 20,
            inputs: [Input::Stage(embedded), Input::Stage(trained)].into_iter().chain(files).collect(),
            settings: json!({ "benchmark": benchmark.name(), "seed": seed }),
            steps: vec![step],
            outputs: vec![relative(&name, "report.csv")],
            name,
        });
        Some(report)
    }

    fn tables(&mut self) {
        let name = "tables".to_owned();
        let (degree, steps) = (self.degree(), self.training_setting("steps", PAPER.1));
        let others = self.settings.train.iter().filter(|(key, _)| !["degree", "steps", "loss"].contains(&key.as_str()));
        let others: Vec<String> = others.map(|(key, value)| format!(", {key} = {value}")).collect();
        let others = others.concat();
        let read =
            if self.has_densities() { "read off the calibrated density" } else { "decoded from 16 samples together" };
        let encoder = if self.settings.encoder.is_some() { "an encoder of the user's" } else { "the bundled encoder" };
        let about = format!(
            "LocDiff, L = {degree}, {steps} steps, loss {}, else the paper's settings{others}, {encoder}, answers {read}; OSV-5M by a model trained on it, all others by one trained on MP16 (the paper's YFCC4k is of a model trained on YFCC)",
            self.loss()
        );
        let is_judged = |stage: &&Stage| stage.name.starts_with("evaluate-") || stage.name.starts_with("hybrid-");
        let stages = self.stages.iter().filter(is_judged);
        let inputs = stages.map(|stage| Input::Stage(stage.name.clone())).collect();
        let (json, markdown) = (self.of(&name, "tables.json"), self.of(&name, "tables.md"));
        let benchmarks: Vec<&str> = self.judged.iter().map(|judged| judged.benchmark.name()).collect();
        self.stages.push(Stage {
            work: Work::Little,
            bytes: 1 << 14,
            inputs,
            settings: json!({ "about": about, "benchmarks": benchmarks }),
            outputs: vec![relative(&name, "tables.json"), relative(&name, "tables.md")],
            steps: vec![Step::Tables { reports: self.judged.clone(), about, json, markdown }],
            name,
        });
    }
}

/// A model's files.
const MODEL_FILES: [&str; 2] = ["config.json", "model.safetensors"];
const CALIBRATION_FILE: &str = "calibration.json";

fn task(task: Task) -> Step {
    Step::Task { task, unless: None }
}

fn relative(stage: &str, file: &str) -> PathBuf {
    Path::new(stage).join(file)
}

/// How many photos a list has, where that is soon counted.
fn count(photos: &Photos) -> Option<u64> {
    const SOON: u64 = 200 << 20;
    let Photos::Listed { list, .. } = photos else { return None };
    let bytes = locdiff_base::read_bounded(list, SOON).ok()?;
    let lines = bytes.split(|byte| *byte == b'\n').count() as u64 - 1;
    let has_header = list.extension().is_some_and(|end| end == "csv");
    Some(lines.saturating_sub(u64::from(has_header)))
}
