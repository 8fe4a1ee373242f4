//! What tagging does, for people and programs: `locate` and `album` alike.

use super::tag_args::TagArgs;
use crate::{output, output::Out, say, verbosity};
use anyhow::{Result, ensure};
use locdiff::AlbumAnswer;
use locdiff_base::one_line;
use locdiff_io::tags::{TagPlace, TagPlan, TagStep, Tagged, Tagger};
use std::{io::Write, path::Path, path::PathBuf};

/// What is to be written about a photo of an album, with what does not fit.
pub(crate) fn of_album(answer: &AlbumAnswer) -> TagPlace {
    let odd = answer.outlier.as_ref().or(answer.hint.as_ref());
    TagPlace { odd: odd.map(|odd| odd.reason.clone()), ..answer.tag_place() }
}

/// A photo of a plan: what is to be written, where it has an answer, and its file.
type Planned = (Option<TagPlace>, Option<PathBuf>);

/// The tags of a run.
pub(crate) struct Tagging {
    tagger: Tagger,
    /// What is done once the user has said yes to what was planned, with the photos it is about.
    asked: Option<(TagPlan, Vec<Planned>)>,
    plan: Vec<String>,
    dry_run: bool,
    as_json: bool,
    with_names: bool,
}

impl Tagging {
    /// For photos that were given so.
    pub(crate) fn new(args: &TagArgs, given: &[PathBuf], as_json: bool) -> Result<Self> {
        let plan = args.plan(given);
        let asked = args.asks().then(|| (plan.clone(), Vec::new()));
        let tagger = Tagger::new(TagPlan { dry_run: plan.dry_run || asked.is_some(), ..plan })?;
        let with_names = args.write_place_names;
        Ok(Self { tagger, asked, plan: Vec::new(), dry_run: args.dry_run, as_json, with_names })
    }

    /// Tags one photo, or plans to; prints the plan of a dry run, and what was not done.
    pub(crate) fn tag(&mut self, mut place: TagPlace, photo: Option<&Path>) -> Result<()> {
        place.names = place.names.filter(|_| self.with_names);
        for step in self.tagger.tag(&place, photo)? {
            if self.dry_run {
                Out.write_all(self.line(&step).as_bytes())?;
            } else if self.asked.is_some() {
                self.plan.push(step.to_string());
            } else if let Some(reason) = &step.reason {
                verbosity::note(&one_line(&format!("no tag: {}: {reason}", step.photo)));
            }
        }
        if let Some((_, photos)) = &mut self.asked {
            photos.push((Some(place), photo.map(Path::to_owned)));
        }
        Ok(())
    }

    /// A photo without an answer, which is copied where all are.
    pub(crate) fn pass(&mut self, photo: Option<&Path>) -> Result<()> {
        if let Some((_, photos)) = &mut self.asked {
            photos.push((None, photo.map(Path::to_owned)));
        }
        Ok(self.tagger.pass(photo)?)
    }

    /// Completes the tags, after a question where one is due: says which files were written, these and others. How many photos
    /// cannot hold a tag.
    pub(crate) fn finish(mut self, others: &[PathBuf], is_interrupted: bool) -> Result<usize> {
        if !self.as_json {
            output::tell_written(others.iter().map(PathBuf::as_path))?;
        }
        if is_interrupted && self.asked.is_some() {
            return Ok(0); // nobody is asked, and nothing is tagged
        }
        if let Some((plan, photos)) = self.asked.take().filter(|(_, photos)| !photos.is_empty()) {
            self.plan.iter().for_each(|line| say::line(line));
            if self.tagger.tagged().tagged == 0 && !plan.copy_all {
                return summarise(self.tagger.tagged(), self.as_json).map(|()| self.tagger.tagged().cannot_hold);
            }
            let originals = if plan.in_place { "the originals stay as NAME_original" } else { "the originals stay" };
            ask(&format!("{}. Write these tags ({originals})?", self.tagger.tagged()))?;
            self.tagger = Tagger::new(plan)?;
            for (place, photo) in &photos {
                match place {
                    Some(place) => drop(self.tagger.tag(place, photo.as_deref())?),
                    None => self.tagger.pass(photo.as_deref())?,
                }
            }
        }
        let tagged = self.tagger.finish()?;
        if !self.as_json {
            output::tell_written(tagged.written.iter().map(PathBuf::as_path))?;
        }
        summarise(&tagged, self.as_json)?;
        Ok(tagged.cannot_hold)
    }

    fn line(&self, step: &TagStep) -> String {
        if self.as_json { format!("{}\n", serde_json::to_value(step).unwrap_or_default()) } else { format!("{step}\n") }
    }
}

/// How many of what, and how to take it back.
fn summarise(tagged: &Tagged, as_json: bool) -> Result<()> {
    let Tagged { unsure, already_tagged, cannot_hold, .. } = *tagged;
    if tagged.tagged + unsure + already_tagged + cannot_hold > 0 {
        match (tagged.dry_run, as_json) {
            (true, true) => writeln!(Out, "{}", serde_json::json!({ "summary": tagged }))?,
            (true, false) => writeln!(Out, "{tagged}")?,
            (false, _) => verbosity::note(&tagged.to_string()),
        }
    }
    if unsure > 0 {
        verbosity::note("unsure: --sure-within sets another distance, --tag-guesses tags every guess");
    }
    if already_tagged > 0 {
        verbosity::note("already tagged: add --replace-tags to replace tags");
    }
    for journal in &tagged.journals {
        let journal = journal.display();
        verbosity::note(&format!("{journal} lists the tags; `locdiff undo {journal}` removes them"));
    }
    Ok(())
}

/// Fails unless the user says yes.
fn ask(question: &str) -> Result<()> {
    say::ask(question);
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    ensure!(matches!(line.trim(), "y" | "Y" | "yes"), "cancelled: no tag is written");
    Ok(())
}
