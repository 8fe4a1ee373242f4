//! `locdiff review`: a page to look at the places of a folder's photos, correct them, and write them.

use super::{album::known::count_films, album::known::read_tracks, locate::tag_args::RuleArgs};
use crate::{interrupt::InterruptGuard, output, photos::PhotoArgs, request::ModelArgs, verbosity};
use anyhow::{Result, ensure};
use clap::Args;
use locdiff::{AlbumOptions, review::FolderReview, review::ReviewBackend, review::ReviewSession};
use locdiff_serve::{LocalPage, TileAddress, run_review};
use std::{path::Path, path::PathBuf, sync::atomic::Ordering};

#[derive(Debug, Args)]
#[command(
    after_help = "Only you can open the page: its address holds a token that expires once the page has loaded. Each step is saved in FOLDER/.locdiff-review at once; \
                  repeat the command to continue. Photos change only when you press the page's button. GPS tags are never overwritten. \
                  `locdiff undo` undoes everything."
)]
pub(crate) struct Review {
    /// Folder with the photos
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    #[command(flatten)]
    model: ModelArgs,
    /// Use a GPS track from the same time, as in `album`. Repeat for several
    #[arg(long, value_name = "FILE")]
    track: Vec<PathBuf>,
    /// Write tagged copies here, if you choose copies on the page [default: FOLDER-tagged]
    #[arg(long, value_name = "FOLDER")]
    copies: Option<PathBuf>,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    rule: RuleArgs,
}

/// The page of a review.
#[derive(Debug, Args)]
pub(crate) struct PageArgs {
    /// Serve the page on this port of 127.0.0.1 [default: a free one]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// Show streets from a tile server such as https://tile.openstreetmap.org/{z}/{x}/{y}.png, which then learns the areas you view
    #[arg(long, value_name = "URL")]
    tiles: Option<TileAddress>,
}

impl Review {
    pub(crate) fn run(self) -> Result<()> {
        let folder = self.folder;
        ensure!(folder.is_dir(), "{} is not a folder: name the one that holds the photos", folder.display());
        let found = PhotoArgs::with_images(Vec::new()).gather(std::slice::from_ref(&folder))?;
        let mut options = AlbumOptions::default();
        options.logs = read_tracks(&self.track)?;
        count_films(&found.passed_over.videos, &mut options);
        let photos = found.sources().iter().filter_map(|source| source.file_path().map(Path::to_owned)).collect();
        let copies = self.copies.unwrap_or_else(|| beside(&folder));
        let acts = FolderReview::acts(&folder)?;
        let locator = self.model.open()?;
        let backend = FolderReview::new(locator, folder.clone(), photos, copies, self.rule.rule(), options)?;
        let session = ReviewSession::open(backend, &acts)?;
        let [ticked, written, all] = show_review(&session, &self.page)?;
        if all == 0 {
            output::print_line!("ended before the photos were placed");
        } else {
            output::print_line!("{ticked} of {all} photos are ticked, {written} are written");
        }
        verbosity::note(&format!("`locdiff review {}` continues from here", folder.display()));
        Ok(())
    }
}

/// Shows a session until its page or an interrupt ends it; how many photos are ticked, how many written, and all.
pub(crate) fn show_review<B: ReviewBackend + Send>(session: &ReviewSession<B>, args: &PageArgs) -> Result<[usize; 3]> {
    output::finish_files();
    let guard = InterruptGuard::begin();
    let page = LocalPage::bind(args.port)?;
    verbosity::note(&format!("the page is at {}", page.url()));
    verbosity::note("Ctrl-C or the page's button \"Done\" ends it");
    run_review(page, session, args.tiles.as_ref(), || guard.stop().load(Ordering::SeqCst))?;
    Ok(session.counts())
}

/// The folder's name with `-tagged` behind it.
fn beside(folder: &Path) -> PathBuf {
    let mut path = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned()).into_os_string();
    path.push("-tagged");
    path.into()
}
