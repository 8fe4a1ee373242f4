//! Suggestions: the server's photos, trip by trip, answered together.

use crate::commands::locate::tag_args::RuleArgs;
use crate::{interrupt::InterruptGuard, output, progress, request::ModelArgs, say, verbosity};
use anyhow::{Result, bail, ensure};
use clap::Args;
use locdiff::immich::{AssetFilter, Immich, ImmichError, Suggester, Suggestions, Trips};
use locdiff::{ErrorKind, Progress};
use locdiff_album::TRIP_PAUSE_S;
use locdiff_base::counted;
use std::{path::PathBuf, sync::Arc};

/// The file of suggestions.
#[derive(Debug, Args)]
pub(super) struct FileArg {
    /// Use this file of suggestions
    #[arg(long, value_name = "FILE.json", default_value = "immich-suggestions.json")]
    pub(super) file: PathBuf,
}

#[derive(Debug, Args)]
pub(super) struct Suggest {
    #[command(flatten)]
    file: FileArg,
    #[command(flatten)]
    model: ModelArgs,
    /// Take only photos after this time, such as 2024-05-01T00:00:00Z
    #[arg(long, value_name = "TIME")]
    after: Option<String>,
    /// Take only photos before this time
    #[arg(long, value_name = "TIME")]
    before: Option<String>,
    /// Take only photos of this album, by its id in immich
    #[arg(long, value_name = "ID")]
    album: Option<String>,
    /// End a trip at a pause of this many hours
    #[arg(long, value_name = "HOURS", default_value_t = TRIP_PAUSE_S / 3600.0)]
    pause: f64,
    /// Trust the clocks of all cameras
    #[arg(long)]
    trust_clocks: bool,
    #[command(flatten)]
    rule: RuleArgs,
}

impl Suggest {
    pub(super) fn run(self, server: &Arc<Immich>) -> Result<()> {
        let file = &self.file.file;
        output::claim([file.as_path()], true)?;
        ensure!(self.pause > 0.0, "--pause must be more than 0");
        let locator = self.model.open()?;
        let mut filter = AssetFilter::default();
        (filter.after, filter.before, filter.album) = (self.after, self.before, self.album);
        let bar = progress::bar("asking", None);
        let assets = server.assets(&filter, |seen| bar.set_position(seen as u64));
        bar.finish_and_clear();
        let trips = Trips::of(assets?, 3600.0 * self.pause);
        if trips.untimed > 0 {
            verbosity::note(&format!("without a time, and left out: {}", counted(trips.untimed, "photo")));
        }
        let [all, without, count, wanted] = trips.counts();
        verbosity::note(&format!(
            "{}, {without} without a location, in {} of {}",
            counted(all, "photo"),
            counted(count, "trip"),
            counted(wanted, "photo")
        ));
        let guard = InterruptGuard::begin();
        let suggester = Suggester::new(locator, server.clone(), file, self.rule.rule(), self.trust_clocks)?;
        if suggester.known() > 0 {
            verbosity::note(&format!("continuing after {} of an earlier run", counted(suggester.known(), "photo")));
        }
        let bar = progress::bar("looking", Some(wanted as u64));
        let advance = |stage: Progress| bar.inc(u64::from(stage == Progress::Read));
        let (mut suggestions, mut answered) = (Vec::new(), Vec::new());
        for (trip, known) in trips.photos_by_trip() {
            let found = match suggester.trip(&trip, known, guard.stop(), &advance) {
                Err(ImmichError::Locate(error)) if error.kind() == ErrorKind::Stopped => {
                    bail!("stopped before the end: repeat the command to continue")
                }
                found => found?,
            };
            found.clocks.iter().for_each(|clock| verbosity::note(&crate::commands::album::print::clock(clock)));
            found.failures.iter().for_each(|reason| bar.suspend(|| say::error(reason)));
            suggestions.extend(found.suggestions);
            answered.push(found.trip);
        }
        bar.finish_and_clear();
        let (url, suggestions) = (server.server(), Suggestions::new(server.server(), suggestions, answered));
        suggestions.write(file)?;
        let (count, taken) = (suggestions.suggestions.len(), suggestions.taken());
        output::print_line!("{}, {taken} of them ticked: {}", counted(count, "suggestion"), file.display());
        verbosity::note(&format!("`locdiff immich {url} review` shows them, `apply` writes those that are ticked"));
        Ok(())
    }
}
