//! What commands write.

use anyhow::Result;
use clap::Args;
use locdiff_base::AtomicFile;
use serde_json::Value;
use std::io::Write;
use std::path::Path;

/// Writes a file that appears whole or not at all.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    Ok(AtomicFile::write_whole(path, bytes)?)
}

/// How a table is printed.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct TableFormat {
    /// Print JSON
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print Markdown
    #[arg(long)]
    markdown: bool,
}

impl TableFormat {
    /// Prints the one or the other; `render` is told whether Markdown is wanted.
    pub(crate) fn print(self, json: impl Fn() -> Value, render: impl Fn(bool) -> String) -> Result<()> {
        let mut out = std::io::stdout().lock();
        if self.json {
            writeln!(out, "{}", json())?;
        } else {
            write!(out, "{}", render(self.markdown))?;
        }
        Ok(())
    }
}
