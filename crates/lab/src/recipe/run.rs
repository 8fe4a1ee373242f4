//! Stages one after another: those that are done are passed over, one that was cut off goes on.

use crate::recipe::error::{RecipeError, Result};
use crate::recipe::identity::{of_path, sum};
use crate::recipe::stage::{Input, Stage};
use crate::{recipe::error::cannot, recipe::stamp::Stamp, recipe::steps::perform, recipe::task::Task};
use locdiff_base::{AtomicFile, OutputLock};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::{collections::BTreeMap, fs};

/// The file that makes a folder a recipe's.
const MARK: &str = "recipe.json";

/// How far a stage is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
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
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::CutOff => "cut off",
            Self::Changed => "changed",
            Self::New => "new",
        }
    }
}

/// A recipe's folder.
pub(crate) struct Run<'a> {
    out: &'a Path,
    /// What the stages so far made, by name.
    made: BTreeMap<String, String>,
}

impl<'a> Run<'a> {
    /// In a folder that need not be there.
    pub(crate) fn new(out: &'a Path) -> Self {
        Self { out, made: BTreeMap::new() }
    }

    fn beside(&self, stage: &Stage, end: &str) -> PathBuf {
        self.out.join(format!("{}.{end}", stage.name))
    }

    /// Inputs and settings as one checksum; `None` where an input is not there or a stage before it is not done.
    fn identity(&self, stage: &Stage) -> Result<Option<String>> {
        let mut inputs = Vec::new();
        for input in &stage.inputs {
            match input {
                Input::Path(path) if !path.exists() => return Ok(None),
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
    pub(crate) fn standing(&mut self, stage: &Stage) -> Result<Standing> {
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
            (None, Some(begun)) if begun == beginning(&identity, stage) => Standing::CutOff,
            (None, None) => Standing::New,
            _ => Standing::Changed,
        })
    }

    /// Makes the stages that are not done. `task` does what is the other libraries'; `tell` is told of each stage before it.
    ///
    /// # Errors
    /// A folder that is another's or in use, and whatever a stage fails with: what is finished is kept.
    pub(crate) fn run<E: From<RecipeError>>(
        mut self,
        stages: &[Stage],
        mut task: impl FnMut(&Task) -> std::result::Result<(), E>,
        mut tell: impl FnMut(&Stage, Standing),
    ) -> std::result::Result<(), E> {
        let _lock = self.claim()?;
        for stage in stages {
            let standing = self.standing(stage)?;
            tell(stage, standing);
            if standing != Standing::Done {
                self.make(stage, standing, &mut task)?;
            }
        }
        Ok(())
    }

    fn make<E: From<RecipeError>>(
        &mut self,
        stage: &Stage,
        standing: Standing,
        task: &mut impl FnMut(&Task) -> std::result::Result<(), E>,
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
        AtomicFile::write_whole(&self.beside(stage, "begun"), beginning(&identity, stage).as_bytes())
            .map_err(RecipeError::from)?;
        for step in &stage.steps {
            perform(step, task)?;
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

/// What a stage that is begun says: its identity, and where its inputs lie, for what is half done names them.
fn beginning(identity: &str, stage: &Stage) -> String {
    let paths = stage.inputs.iter().filter_map(|input| match input {
        Input::Path(path) => Some(path.canonicalize().unwrap_or_else(|_| path.clone()).display().to_string()),
        Input::Stage(_) => None,
    });
    format!("{identity} {}\n", sum(paths.collect::<Vec<_>>().join("\n").as_bytes()))
}

/// Removes what may not be there.
fn remove(path: &Path, how: fn(&Path) -> std::io::Result<()>) -> Result<()> {
    match how(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(cannot(path)(error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::stage::{Step, Work};

    fn stage(out: &Path, name: &str, inputs: Vec<Input>) -> Stage {
        let task = Task::Embed { job: out.join(name) };
        Stage {
            name: name.to_owned(),
            work: Work::Little,
            bytes: 0,
            inputs,
            settings: json!({}),
            steps: vec![Step::Task { task, unless: None }],
            outputs: vec![Path::new(name).join("made")],
        }
    }

    /// Runs two stages, the second of the first's output; the names of those that were made.
    fn run(folder: &Path, fails: Option<&str>) -> (Vec<String>, bool) {
        let out = folder.join("out");
        let stages = [
            stage(&out, "one", vec![Input::Path(folder.join("data"))]),
            stage(&out, "two", vec![Input::Stage("one".to_owned())]),
        ];
        let mut made = Vec::new();
        let work = |task: &Task| -> Result<()> {
            let Task::Embed { job } = task else { panic!("{task:?}") };
            let name = job.file_name().unwrap().to_string_lossy().into_owned();
            if fails == Some(name.as_str()) {
                return Err(RecipeError::FewHeldOut { photos: 0, least: 1 });
            }
            made.push(name);
            // The first stage's output is its data, rounded: some changes change nothing.
            let data = fs::read_to_string(folder.join("data")).unwrap();
            fs::write(job.join("made"), data.trim()).map_err(cannot(job))
        };
        let is_ok = Run::new(&out).run(&stages, work, |_, _| {}).is_ok();
        (made, is_ok)
    }

    #[test]
    fn stages_are_passed_over_resumed_and_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let both = || vec!["one".to_owned(), "two".to_owned()];
        fs::write(folder.join("data"), "a").unwrap();
        assert_eq!(run(folder, Some("two")), (vec!["one".to_owned()], false));
        assert_eq!(run(folder, None), (vec!["two".to_owned()], true));
        assert_eq!(run(folder, None), (Vec::new(), true));
        fs::write(folder.join("data"), "b").unwrap();
        assert_eq!(run(folder, None), (both(), true));
        // Another input that comes out the same disturbs nothing after it.
        fs::write(folder.join("data"), "b ").unwrap();
        assert_eq!(run(folder, None), (vec!["one".to_owned()], true));
        // What is damaged is made again: the output, or the stamp.
        fs::write(folder.join("out/two/made"), "other").unwrap();
        assert_eq!(run(folder, None), (vec!["two".to_owned()], true));
        let stamp = folder.join("out/one.done");
        let text = fs::read_to_string(&stamp).unwrap();
        fs::write(&stamp, text.replace("made", "mode")).unwrap();
        assert_eq!(run(folder, None), (vec!["one".to_owned()], true));
        // The folder may be moved.
        fs::create_dir(folder.join("elsewhere")).unwrap();
        for name in ["data", "out"] {
            fs::rename(folder.join(name), folder.join("elsewhere").join(name)).unwrap();
        }
        assert_eq!(run(&folder.join("elsewhere"), None), (Vec::new(), true));
    }

    #[test]
    fn another_folder_and_another_run_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        fs::write(folder.join("data"), "a").unwrap();
        fs::create_dir(folder.join("out")).unwrap();
        fs::write(folder.join("out/mine"), "x").unwrap();
        assert_eq!(run(folder, None), (Vec::new(), false));
        fs::remove_file(folder.join("out/mine")).unwrap();
        assert!(run(folder, None).1);
        let _lock = OutputLock::folder(&folder.join("out")).unwrap();
        assert_eq!(run(folder, None), (Vec::new(), false));
    }
}
