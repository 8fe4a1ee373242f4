//! The flags of tagging.

use crate::output::{check_ends, check_folder, claim, finish_files, is_forced};
use anyhow::{Result, bail, ensure};
use clap::Args;
use locdiff_base::counted;
use locdiff_io::tags::{Overwrite, TagPlan, TagRule};
use std::{collections::BTreeSet, io::IsTerminal, path::Path, path::PathBuf};

/// Which places are sure enough: one rule for `locate`, `album` and `immich`.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "Tagging")]
pub(crate) struct RuleArgs {
    /// Tag a photo only if 90 % lies within this distance, and never after "I can't tell"
    #[arg(long, value_name = "DISTANCE", default_value = "25km", alias = "sure-km", value_parser = parse_km)]
    sure_within: f64,
    /// Tag every photo, even if the answer is a guess
    #[arg(long, conflicts_with = "sure_within")]
    tag_guesses: bool,
}

impl RuleArgs {
    pub(crate) fn rule(self) -> TagRule {
        if self.tag_guesses { TagRule::GUESSES } else { TagRule { sure_within_km: Some(self.sure_within) } }
    }
}

/// "25km", "25 km", "500m", or kilometres alone.
fn parse_km(text: &str) -> Result<f64, String> {
    let (number, scale) = match (text.strip_suffix("km"), text.strip_suffix('m')) {
        (Some(number), _) => (number, 1.0),
        (None, Some(number)) => (number, 1e-3),
        (None, None) => (text, 1.0),
    };
    let km = number.trim().parse().ok().map(|number: f64| scale * number).filter(|km| *km > 0.0 && km.is_finite());
    km.ok_or_else(|| "give a distance such as 25km or 500m".to_owned())
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Tagging")]
#[expect(clippy::struct_excessive_bools, reason = "flags")]
pub(crate) struct TagArgs {
    /// Write copies with GPS tags into this folder, if the location is sure; photos with a GPS tag are left out
    #[arg(long, value_name = "FOLDER")]
    write_exif: Option<PathBuf>,
    /// Copy all other photos and sidecars too, unchanged, so that the folder is a whole album
    #[arg(long, requires = "write_exif")]
    copy_all: bool,
    /// Write the location into the photos; each original stays as NAME_original until `undo` restores it
    #[arg(long, conflicts_with = "write_exif")]
    in_place: bool,
    /// Write the location into PHOTO.xmp next to each photo without a GPS tag; other fields stay as they are
    #[arg(long)]
    xmp: bool,
    /// Write a table for `exiftool -csv=FILE`, with the photos without a GPS tag
    #[arg(long, value_name = "FILE.csv")]
    exiftool_csv: Option<PathBuf>,
    #[command(flatten)]
    rule: RuleArgs,
    /// Also write city, state and country as XMP, into sidecars and JPEGs
    #[arg(long)]
    pub(super) write_place_names: bool,
    /// Replace existing GPS tags in copies and sidecars; --force alone never does
    #[arg(long)]
    replace_tags: bool,
    /// Print what would be tagged and why not, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Write the journal for `locdiff undo` here [default: locdiff-journal.jsonl in the --write-exif folder, else in the photos' folder]
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// Do not ask before writing tags
    #[arg(long)]
    yes: bool,
}

/// Names of flags, and their files.
type Flagged<'a> = (&'a str, &'a [&'a Option<PathBuf>]);

impl TagArgs {
    fn touches_files(&self) -> bool {
        self.write_exif.is_some() || self.xmp || self.in_place
    }

    /// Whether anything is written about photos.
    pub(crate) fn is_given(&self) -> bool {
        self.touches_files() || self.exiftool_csv.is_some()
    }

    /// The one output that is a file of its own.
    pub(crate) fn table(&self) -> Option<&Path> {
        self.exiftool_csv.as_deref()
    }

    /// Whether the plan is shown and asked about before photos are copied or written into, or files put beside them.
    pub(super) fn asks(&self) -> bool {
        self.touches_files() && !self.yes && !self.dry_run
    }

    /// Sees, before any work is done, that tags and other outputs can be written. `own` are the outputs of some flags.
    pub(crate) fn claim(&self, outputs: &[&Path], own: Flagged<'_>, photos: &[&Path], prints: bool) -> Result<()> {
        if let Some(output) = outputs.iter().find(|output| photos.contains(output)) {
            bail!("{} is one of the photos: name another output file", output.display());
        }
        check_ends(own.0, own.1)?;
        if !outputs.is_empty() || self.is_given() {
            finish_files();
        }
        if !self.dry_run {
            claim(outputs.iter().copied(), prints)?;
            self.check_folders(photos)?;
        }
        self.check()
    }

    /// What does not go together, before any work is done.
    fn check(&self) -> Result<()> {
        let flags = [("--dry-run", self.dry_run), ("--replace-tags", self.replace_tags)];
        for (flag, _) in flags.into_iter().filter(|(_, is_given)| *is_given) {
            ensure!(self.is_given(), "{flag} needs --write-exif, --in-place, --xmp or --exiftool-csv: add one of them");
        }
        ensure!(
            !self.write_place_names || self.touches_files(),
            "--write-place-names needs --write-exif, --in-place or --xmp: add one of them"
        );
        ensure!(
            !self.asks() || std::io::stdin().is_terminal(),
            "--write-exif, --in-place and --xmp ask first, but there is no terminal: add --yes, or --dry-run to see the plan"
        );
        Ok(())
    }

    /// Whether tags can be written where they go, before any work is done.
    fn check_folders(&self, photos: &[&Path]) -> Result<()> {
        if let Some(folder) = &self.write_exif {
            check_folder(folder)?;
        }
        let beside = photos.iter().filter(|_| self.in_place || self.xmp).filter_map(|photo| photo.parent());
        beside.collect::<BTreeSet<_>>().into_iter().try_for_each(check_folder)
    }

    /// What is written about photos that were given so.
    pub(super) fn plan(&self, given: &[PathBuf]) -> TagPlan {
        TagPlan {
            given: given.to_vec(),
            copies: self.write_exif.clone(),
            copy_all: self.copy_all,
            in_place: self.in_place,
            sidecars: self.xmp,
            table: self.exiftool_csv.clone(),
            rule: self.rule.rule(),
            overwrite: Overwrite { files: is_forced(), locations: self.replace_tags },
            dry_run: self.dry_run,
            journal: self.journal.clone(),
        }
    }
}

/// The one rule for runs in which photos cannot hold the tag that was asked for: all else is done, and the exit code is 1.
pub(crate) fn untagged_is_bad(untagged: usize, count: usize) -> Result<()> {
    ensure!(untagged == 0, "{untagged} of {} cannot hold a tag; everything else is written", counted(count, "photo"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_read() {
        let read = |text: &str| parse_km(text).ok();
        assert_eq!([read("25km"), read("25 km"), read("25"), read("500m")], [25.0, 25.0, 25.0, 0.5].map(Some));
        assert_eq!([read("0km"), read("-3"), read("nan"), read("far"), read("1e999")], [None; 5]);
    }
}
