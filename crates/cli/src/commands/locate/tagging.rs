//! What tagging does, for people and programs: `locate` and `album` alike.

use super::tag_args::TagArgs;
use crate::output::{self, is_forced};
use crate::verbosity;
use anyhow::Result;
use locdiff::Answer;
use locdiff_base::one_line;
use locdiff_phototags::{Overwrite, TagPlace, TagPlan, TagStep, Tagger};
use std::io::Write;
use std::path::{Path, PathBuf};

pub(crate) fn of_answer(answer: &Answer) -> TagPlace<'_> {
    let photo = answer.photo.as_deref().unwrap_or_default();
    let Answer { best, radius_90_km, place, gps, .. } = answer;
    TagPlace { photo, best: *best, radius_90_km: *radius_90_km, place, gps: *gps }
}

/// The tags of a run.
pub(crate) struct Tagging {
    tagger: Tagger,
    dry_run: bool,
    as_json: bool,
}

impl Tagging {
    pub(crate) fn new(args: &TagArgs, as_json: bool) -> Result<Self> {
        let plan = TagPlan {
            copies: args.write_exif.clone(),
            sidecars: args.xmp,
            table: args.exiftool_csv.clone(),
            overwrite: Overwrite { files: is_forced(), locations: args.replace_tags },
            dry_run: args.dry_run,
            journal: args.journal_path(),
        };
        Ok(Self { tagger: Tagger::new(plan)?, dry_run: args.dry_run, as_json })
    }

    /// Tags one photo; prints the plan of a dry run, and what was not done.
    pub(crate) fn tag(&mut self, place: &TagPlace<'_>, photo: Option<&Path>) -> Result<()> {
        for step in self.tagger.tag(place, photo)? {
            if self.dry_run {
                std::io::stdout().write_all(self.line(&step).as_bytes())?;
            } else if let Some(reason) = &step.reason {
                verbosity::note(&one_line(&format!("no tag: {reason}")));
            }
        }
        Ok(())
    }

    /// Completes the tags: says which files were written, these and others. How many photos could not take a tag.
    pub(crate) fn finish(self, others: &[PathBuf]) -> Result<usize> {
        let (dry_run, as_json) = (self.dry_run, self.as_json);
        let tagged = self.tagger.finish()?;
        if !as_json {
            output::tell_written(others.iter().chain(&tagged.written).map(PathBuf::as_path))?;
        }
        let would = if dry_run { "would be" } else { "were" };
        if tagged.has_location > 0 {
            let count = tagged.has_location;
            verbosity::note(&format!(
                "{count} photos have a GPS tag and {would} left as they are (--replace-tags replaces it)"
            ));
        }
        if tagged.unfit > 0 {
            verbosity::note(&format!("{} photos {would} not tagged, for the reasons above", tagged.unfit));
        }
        if let Some(journal) = tagged.journal {
            let journal = journal.display();
            verbosity::note(&format!("{journal} lists the tags; `locdiff undo {journal}` takes them back"));
        }
        Ok(tagged.unfit)
    }

    fn line(&self, step: &TagStep) -> String {
        if self.as_json {
            return format!("{}\n", serde_json::to_value(step).unwrap_or_default());
        }
        let TagStep { action, at, place, .. } = step;
        let photo = one_line(&step.photo);
        match (&step.file, &step.reason) {
            (Some(file), _) => format!("{action:<16} {photo} → {}: {at}   {place}\n", file.display()),
            (None, reason) => format!("{action:<16} {}\n", reason.as_deref().unwrap_or(&photo)),
        }
    }
}
