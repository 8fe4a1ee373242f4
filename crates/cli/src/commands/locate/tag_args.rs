//! The flags of tagging.

use anyhow::{Result, ensure};
use clap::Args;
use locdiff_phototags::JOURNAL_NAME;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(next_help_heading = "Tagging")]
#[expect(clippy::struct_excessive_bools, reason = "flags")]
pub(crate) struct TagArgs {
    /// Write copies of the photos with the place as EXIF GPS into this folder; the photos stay as they are, and those
    /// that have a GPS tag are left out
    #[arg(long, value_name = "FOLDER")]
    pub(super) write_exif: Option<PathBuf>,
    /// Write the place into a file PHOTO.xmp beside each photo that has no GPS tag; what such a file says already stays
    #[arg(long)]
    pub(super) xmp: bool,
    /// Write a table for exiftool -csv=FILE, with the photos that have no GPS tag
    #[arg(long, value_name = "FILE.csv")]
    pub(super) exiftool_csv: Option<PathBuf>,
    /// Tag photos that have a GPS tag too, and replace it in their copies and sidecars; --force alone never does
    #[arg(long, hide_short_help = true)]
    pub(super) replace_tags: bool,
    /// Say what --write-exif, --xmp and --exiftool-csv would write, and write nothing at all
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Where to note what was written, for `locdiff undo` [default: locdiff-journal.jsonl in the folder of --write-exif,
    /// else here]
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    journal: Option<PathBuf>,
    /// Do not ask before --write-exif and --xmp
    #[arg(long)]
    yes: bool,
}

impl TagArgs {
    pub(super) fn touches_files(&self) -> bool {
        self.write_exif.is_some() || self.xmp
    }

    /// The one output that is a file of its own.
    pub(crate) fn table(&self) -> Option<&Path> {
        self.exiftool_csv.as_deref()
    }

    /// Asks before photos are copied or files are put beside them.
    pub(crate) fn ask(&self, count: usize) -> Result<()> {
        ensure!(
            !self.dry_run || self.touches_files() || self.exiftool_csv.is_some(),
            "--dry-run says what --write-exif, --xmp or --exiftool-csv would write: give one of them"
        );
        ensure!(
            !self.replace_tags || self.touches_files() || self.exiftool_csv.is_some(),
            "--replace-tags is about --write-exif, --xmp and --exiftool-csv: give one of them"
        );
        if self.yes || self.dry_run || !self.touches_files() {
            return Ok(());
        }
        ensure!(
            std::io::stdin().is_terminal(),
            "--write-exif and --xmp ask first, and there is no terminal: add --yes, or --dry-run to see what they would do"
        );
        eprint!("Write the estimated place for {count} photos (copies or sidecars; originals stay)? [y/N] ");
        let mut line = String::new();
        std::io::stdin().read_line(&mut line)?;
        ensure!(matches!(line.trim(), "y" | "Y" | "yes"), "nothing written, as you wished");
        Ok(())
    }

    pub(super) fn journal_path(&self) -> PathBuf {
        self.journal.clone().unwrap_or_else(|| {
            self.write_exif.as_deref().map_or_else(|| JOURNAL_NAME.into(), |folder| folder.join(JOURNAL_NAME))
        })
    }
}
