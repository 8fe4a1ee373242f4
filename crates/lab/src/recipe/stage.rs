//! A stage: what it reads, how it is made, what it leaves.

use crate::recipe::task::Task;
use serde_json::Value;
use std::path::PathBuf;

/// Something that a stage is made from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Input {
    /// A file or folder of the user's.
    Path(PathBuf),
    /// What another stage made.
    Stage(String),
}

/// How much a stage has to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Work {
    /// Photos to embed, by CLIP ViT-L/14 or by the bundled encoder.
    Embed { photos: u64, is_clip: bool },
    /// Steps to train, at a degree L.
    Train { steps: u64, degree: u64 },
    /// Photos to calibrate with.
    Calibrate { photos: u64, degree: u64 },
    /// Photos to answer and to judge.
    Answer { photos: u64, degree: u64 },
    /// Next to nothing.
    Little,
}

/// A part of a stage.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// Work for the other libraries; passed over where a file is there already.
    Task { task: Task, unless: Option<PathBuf> },
    /// A list's photos as a table of id, lat, lon: missing pictures count as photos without an answer.
    Truth { photos: crate::recipe::dataset::Photos, out: PathBuf },
    /// The numbers of the rows that training leaves out.
    HeldOut { locations: PathBuf, share: f64, seed: u64, least: usize, out: PathBuf },
    /// Copies a file.
    Copy { from: PathBuf, to: PathBuf },
    /// The paper's tables with our column.
    Tables { reports: Vec<crate::recipe::tables::JudgedBenchmark>, about: String, json: PathBuf, markdown: PathBuf },
}

/// A stage of a recipe.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stage {
    /// Its name, and that of its folder.
    pub(crate) name: String,
    /// What it has to do.
    pub(crate) work: Work,
    /// Bytes that it leaves on the disk, about.
    pub(crate) bytes: u64,
    pub(crate) inputs: Vec<Input>,
    /// Everything else that decides what it makes.
    pub(crate) settings: Value,
    pub(crate) steps: Vec<Step>,
    /// What it leaves, below the recipe's folder.
    pub(crate) outputs: Vec<PathBuf>,
}

impl Stage {
    /// Its commands as a user would type them, and in words what is no command.
    pub(crate) fn commands(&self, device: Option<&str>) -> Vec<String> {
        self.steps.iter().map(|step| step.describe(device)).collect()
    }
}

impl Step {
    fn describe(&self, device: Option<&str>) -> String {
        match self {
            Self::Task { task, .. } => task.command(device),
            Self::Truth { out, .. } => format!("# the list's places → {}", out.display()),
            Self::HeldOut { share, out, .. } => {
                format!("# the rows that training holds out ({share} of the land) → {}", out.display())
            }
            Self::Copy { from, to } => format!("cp {} {}", from.display(), to.display()),
            Self::Tables { markdown, .. } => {
                format!("# the paper's tables with our column → {}", markdown.display())
            }
        }
    }
}
