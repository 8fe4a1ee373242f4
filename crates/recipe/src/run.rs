//! Stages one after another: those that are done are passed over, one that was cut off goes on.

use crate::error::cannot;
use crate::identity::{of_path, sum};
use crate::stage::{Input, Stage};
use crate::stamp::Stamp;
use crate::steps::perform;
use crate::{RecipeError, Result};
use locdiff_base::{AtomicFile, OutputLock};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The file that makes a folder a recipe's.
const MARK: &str = "recipe.json";

/// How far a stage is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Its outputs are there, of these inputs and settings.
    Done,
    /// It was begun with these inputs and settings, and cut off.
    CutOff,
    /// It was done with others: it is made anew.
    Changed,
    /// Nothing is there.
    New,
}

impl Standing {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::CutOff => "cut off",
            Self::Changed => "changed",
            Self::New => "new",
        }
    }
}

/// A recipe's folder.
pub struct Run<'a> {
    out: &'a Path,
    /// What the stages so far made, by name.
    made: BTreeMap<String, String>,
}

impl<'a> Run<'a> {
    /// In a folder that need not be there.
    pub fn new(out: &'a Path) -> Self {
        Self { out, made: BTreeMap::new() }
    }

    fn beside(&self, stage: &Stage, end: &str) -> PathBuf {
        self.out.join(format!("{}.{end}", stage.name))
    }

    /// Inputs and settings as one checksum; `None` where a stage before it is not done.
    fn identity(&self, stage: &Stage) -> Result<Option<String>> {
        let mut inputs = Vec::new();
        for input in &stage.inputs {
            match input {
                Input::Path(path) => inputs.push(of_path(path)?),
                Input::Stage(name) => match self.made.get(name) {
                    Some(made) => inputs.push(made.clone()),
                    None => return Ok(None),
                },
            }
        }
        let text = json!([env!("CARGO_PKG_VERSION"), stage.name, stage.settings, inputs]).to_string();
        Ok(Some(sum(text.as_bytes())))
    }

    /// How far a stage is; those before it were asked before.
    ///
    /// # Errors
    /// Inputs that cannot be looked at.
    pub fn standing(&mut self, stage: &Stage) -> Result<Standing> {
        let done = Stamp::read(&self.beside(stage, "done"), self.out);
        let begun = fs::read_to_string(self.beside(stage, "begun")).ok();
        let Some(identity) = self.identity(stage)? else {
            return Ok(if done.is_some() || begun.is_some() { Standing::Changed } else { Standing::New });
        };
        Ok(match (done, begun) {
            (Some(stamp), _) if stamp.identity == identity => {
                self.made.insert(stage.name.clone(), stamp.made);
                Standing::Done
            }
            (None, Some(begun)) if begun.trim() == identity => Standing::CutOff,
            (None, None) => Standing::New,
            _ => Standing::Changed,
        })
    }

    /// Makes the stages that are not done. `command` runs a command of the program; `tell` is told of each stage before it.
    ///
    /// # Errors
    /// A folder that is another's or in use, and whatever a stage fails with: what is finished is kept.
    pub fn run<E: From<RecipeError>>(
        mut self,
        stages: &[Stage],
        mut command: impl FnMut(&[String]) -> std::result::Result<(), E>,
        mut tell: impl FnMut(&Stage, Standing),
    ) -> std::result::Result<(), E> {
        let _lock = self.claim()?;
        for stage in stages {
            let standing = self.standing(stage)?;
            tell(stage, standing);
            if standing != Standing::Done {
                self.make(stage, standing, &mut command)?;
            }
        }
        Ok(())
    }

    fn make<E: From<RecipeError>>(
        &mut self,
        stage: &Stage,
        standing: Standing,
        command: &mut impl FnMut(&[String]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let folder = self.out.join(&stage.name);
        let identity = self.identity(stage)?.unwrap_or_default();
        if standing != Standing::CutOff {
            // In this order a kill in between leaves nothing that could be taken for another's.
            for old in [self.beside(stage, "done"), self.beside(stage, "begun")] {
                remove(&old, |path| fs::remove_file(path))?;
            }
            remove(&folder, |path| fs::remove_dir_all(path))?;
        }
        fs::create_dir_all(&folder).map_err(cannot(&folder))?;
        AtomicFile::write_whole(&self.beside(stage, "begun"), format!("{identity}\n").as_bytes())
            .map_err(RecipeError::from)?;
        for step in &stage.steps {
            perform(step, command)?;
        }
        if let Some(file) = stage.outputs.iter().find(|file| !self.out.join(file).is_file()) {
            return Err(RecipeError::NoOutput { stage: stage.name.clone(), file: file.clone() }.into());
        }
        let stamp = Stamp::of(&identity, self.out, &stage.outputs)?;
        stamp.write(&self.beside(stage, "done"))?;
        self.made.insert(stage.name.clone(), stamp.made);
        Ok(())
    }

    /// Takes the folder for this run alone.
    fn claim(&self) -> Result<OutputLock> {
        let mark = self.out.join(MARK);
        if !mark.is_file() {
            let is_empty = fs::read_dir(self.out).map_or(true, |mut entries| entries.next().is_none());
            if !is_empty {
                return Err(RecipeError::Foreign { folder: self.out.to_owned() });
            }
            fs::create_dir_all(self.out).map_err(cannot(self.out))?;
            AtomicFile::write_whole(&mark, b"{\"format\": \"locdiff-recipe\", \"version\": 1}\n")?;
        }
        Ok(OutputLock::folder(self.out)?)
    }
}

/// Removes what may not be there.
fn remove(path: &Path, how: fn(&Path) -> std::io::Result<()>) -> Result<()> {
    match how(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(cannot(path)(error)),
        _ => Ok(()),
    }
}
