//! `locdiff immich`: places for the photos of an immich server.

mod suggest;

use super::{locate::tag_args::RuleArgs, review::PageArgs, review::show_review};
use crate::{interrupt::InterruptGuard, output, progress, request::ModelArgs, verbosity};
use anyhow::{Context, Result, ensure};
use clap::{Args, Subcommand};
use locdiff::immich::{ApiKey, Applied, Immich, Review, Suggester, Suggestions};
use locdiff::review::ReviewSession;
use serde_json::json;
use std::{path::Path, path::PathBuf, sync::Arc};
use suggest::FileArg;

#[derive(Debug, Args)]
#[command(
    after_help = "The API key is read from IMMICH_API_KEY or --key-file, never from the command line. A location that immich knows is \
                  never overwritten. Repeat an interrupted command to continue it."
)]
pub(crate) struct ImmichArgs {
    /// Address of the server, such as http://127.0.0.1:2283 or https://photos.example
    #[arg(value_name = "URL")]
    url: String,
    #[command(subcommand)]
    what: What,
    /// Trust your own certificate authority, for https: a PEM file
    #[arg(long, value_name = "FILE.pem", global = true)]
    authority: Option<PathBuf>,
    /// Read the API key from this file [default: the variable IMMICH_API_KEY]
    #[arg(long, value_name = "FILE", global = true, env = "IMMICH_API_KEY_FILE", hide_env_values = true)]
    key_file: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Find locations for photos without one, and write them into a file; the server stays as it is
    Suggest(Box<suggest::Suggest>),
    /// Check and correct suggestions in the browser
    Review(Box<ReviewArgs>),
    /// Write the accepted suggestions to the server
    Apply(ApplyArgs),
    /// Undo what `apply` wrote, except locations that were changed since
    Undo(UndoArgs),
}

#[derive(Debug, Args)]
struct ReviewArgs {
    #[command(flatten)]
    file: FileArg,
    /// Write the journal for `undo` here
    #[arg(long, value_name = "FILE.jsonl", default_value = "immich-journal.jsonl")]
    journal: PathBuf,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    rule: RuleArgs,
}

#[derive(Debug, Args)]
struct ApplyArgs {
    #[command(flatten)]
    file: FileArg,
    /// Write the journal for `undo` here
    #[arg(long, value_name = "FILE.jsonl", default_value = "immich-journal.jsonl")]
    journal: PathBuf,
    /// Print how many would be written, and write none
    #[arg(long)]
    dry_run: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct UndoArgs {
    /// Read the journal that `apply` wrote
    #[arg(long, value_name = "FILE.jsonl", default_value = "immich-journal.jsonl")]
    journal: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl ImmichArgs {
    pub(crate) fn run(self) -> Result<()> {
        let authority = self.authority.map(|path| std::fs::read(&path).with_context(|| path.display().to_string()));
        let key = ApiKey::find(self.key_file.as_deref())?;
        let server = Arc::new(Immich::new(&self.url, key, authority.transpose()?.as_deref())?);
        match self.what {
            What::Suggest(args) => args.run(&server),
            What::Review(args) => review(server, &args),
            What::Apply(args) => write(&server, &args),
            What::Undo(args) => take_back(&server, &args.journal, args.json),
        }
    }
}

fn review(server: Arc<Immich>, args: &ReviewArgs) -> Result<()> {
    let file = &args.file.file;
    let mut review = Review::open(server.clone(), file, &args.journal)?;
    if review.has_trips() {
        review = review.with_suggester(Suggester::new(args.model.open()?, server, file, args.rule.rule(), false)?);
    }
    let acts = review.acts();
    let [ticked, _, all] = show_review(&ReviewSession::open(review, &acts)?, &args.page)?;
    output::print_line!("{ticked} of {all} are ticked");
    Ok(())
}

fn write(server: &Immich, args: &ApplyArgs) -> Result<()> {
    let suggestions = Suggestions::read(&args.file.file, server.server())?;
    let ticked = suggestions.taken();
    if args.dry_run {
        output::print_line!(
            "{ticked} of {} suggestions would be written to {}",
            suggestions.suggestions.len(),
            server.server()
        );
        return Ok(());
    }
    output::finish_files();
    let guard = InterruptGuard::begin();
    let bar = progress::bar("writing", Some(ticked as u64));
    let applied = server.apply(&suggestions, &args.journal, guard.stop(), || bar.inc(1));
    bar.finish_and_clear();
    let Applied { done, kept, nothing, stopped, .. } = applied?;
    let summary = json!({ "written": done, "had_place": kept, "gone": nothing, "stopped": stopped });
    let words = format!("{done} written, {kept} had a location already and keep it, {nothing} are gone");
    output::tell(args.json, &summary, &words)?;
    if done > 0 {
        let (url, journal) = (server.server(), args.journal.display());
        verbosity::note(&format!("`locdiff immich {url} undo --journal {journal}` removes them"));
    }
    is_whole(stopped)
}

fn take_back(server: &Immich, journal: &Path, as_json: bool) -> Result<()> {
    output::finish_files();
    let guard = InterruptGuard::begin();
    let bar = progress::bar("taking back", None);
    let undone = server.undo(journal, guard.stop(), || bar.inc(1));
    bar.finish_and_clear();
    let Applied { done, kept, nothing, stopped, .. } = undone?;
    let summary = json!({ "cleared": done, "changed": kept, "nothing": nothing, "stopped": stopped });
    let words = format!("{done} removed, {kept} have changed since and stay, {nothing} had no location");
    output::tell(as_json, &summary, &words)?;
    is_whole(stopped)
}

fn is_whole(stopped: bool) -> Result<()> {
    ensure!(!stopped, "stopped before the end: repeat the command to continue");
    Ok(())
}
