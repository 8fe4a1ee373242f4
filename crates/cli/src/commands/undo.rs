//! `locdiff undo`: takes back the tags that `locate` wrote.

use crate::{output, verbosity};
use anyhow::{Result, ensure};
use clap::Args;
use locdiff_base::one_line;
use locdiff_io::tags::{JOURNAL_NAME, undo};
use serde_json::json;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "\
Created files are removed. Changed photos, sidecars and copies are restored to the byte, even if you renamed them within their folder. \
Remains of an interrupted run are removed. A file that changed since stays as it is and in the journal; `undo` names it and exits \
with 1. A journal that names a link or anything outside its folder is refused.")]
pub(crate) struct UndoArgs {
    /// Journal, or the folder that contains it
    #[arg(value_name = "JOURNAL")]
    journal: PathBuf,
    /// Print the plan and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print one JSON object per file
    #[arg(long)]
    json: bool,
}

impl UndoArgs {
    pub(crate) fn run(self) -> Result<()> {
        if !self.dry_run {
            output::finish_files();
        }
        let done = undo(&self.journal, self.dry_run)?;
        for (file, what) in &done {
            let done = what.words(self.dry_run);
            let summary = json!({"file": file, "done": done, "refused": what.is_refusal()});
            output::tell(self.json, &summary, &format!("{}: {done}", one_line(&file.to_string_lossy())))?;
        }
        if done.is_empty() {
            let folder = self.journal.display();
            verbosity::note(&format!("nothing to undo: {folder} lists no tags that LocDiff wrote ({JOURNAL_NAME})"));
        }
        let refused = done.iter().filter(|(_, what)| what.is_refusal()).count();
        let count = done.len();
        ensure!(
            refused == 0,
            "{refused} of {count} files changed since they were written, and stay as they are: remove or restore them yourself"
        );
        Ok(())
    }
}
