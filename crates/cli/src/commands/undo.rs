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
Files that were created are removed, photos, sidecars and copies that were changed are restored to the byte, also those that got \
another name in their folder. What an interrupted run left is removed. A file that changed since stays, is named, and remains in the \
journal; the exit code is 1 then. A journal that names anything outside its folder, or a \
link, is refused whole.")]
pub(crate) struct UndoArgs {
    /// The journal that `locate` named, or the folder with one in it
    #[arg(value_name = "JOURNAL")]
    journal: PathBuf,
    /// Say what would be done, and do nothing
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
            verbosity::note(&format!(
                "nothing to take back: {folder} lists no tags that LocDiff wrote ({JOURNAL_NAME})"
            ));
        }
        let refused = done.iter().filter(|(_, what)| what.is_refusal()).count();
        let count = done.len();
        ensure!(
            refused == 0,
            "{refused} of {count} files changed since they were written, and stay as they are: remove or mend them yourself"
        );
        Ok(())
    }
}
