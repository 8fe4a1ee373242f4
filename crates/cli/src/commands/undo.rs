//! `locdiff undo`: takes back the tags that `locate` wrote.

use anyhow::{Result, ensure};
use clap::Args;
use locdiff_io::tags::undo;
use serde_json::json;
use std::{io::Write, path::PathBuf};

#[derive(Debug, Args)]
#[command(after_help = "\
Files that were created are removed, photos, sidecars and copies that were changed are restored to the byte. A file that changed \
since stays, is named, and remains in the journal; the exit code is 1 then. A journal that names anything outside its folder, or a \
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
        let done = undo(&self.journal, self.dry_run)?;
        let mut out = std::io::stdout().lock();
        for (file, what) in &done {
            let done = what.words(self.dry_run);
            if self.json {
                writeln!(out, "{}", json!({"file": file, "done": done, "refused": what.is_refusal()}))?;
            } else {
                writeln!(out, "{}: {done}", file.display())?;
            }
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
