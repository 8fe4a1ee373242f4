//! Albums with known places, judged beside what photo managers do.

use super::model::ModelArgs;
use crate::{commands::album::settings, progress};
use anyhow::{Context, Result};
use clap::Args;
use locdiff_album::{AlbumScores, Judging};
use locdiff_model::eval::Bootstrap;
use std::path::{Path, PathBuf};

/// Which albums.
#[derive(Debug, Args)]
pub(super) struct AlbumArgs {
    /// Evaluate albums instead: a table with time, lat and lon
    ///
    /// Further columns, if known: album, row (of --embeddings), gps_lat, gps_lon, camera, stray. Baselines for photos without a tag: the nearest
    /// tag in time, interpolation in time, single photos. Intervals resample albums
    #[arg(long, value_name = "FILE.csv", requires = "embeddings", conflicts_with_all = ["truth", "predictions", "codes", "html", "csv"])]
    pub(super) album: Option<PathBuf>,
    /// Take the photos of an album as of one location
    #[arg(long, requires = "album")]
    pub(super) same_place: bool,
    /// Trust the clocks of all cameras, even if one contradicts the others by hours
    #[arg(long, requires = "album")]
    pub(super) trust_clocks: bool,
    /// Read settings of the album model, as JSON
    #[arg(long, value_name = "FILE.json", requires = "album")]
    pub(super) album_settings: Option<PathBuf>,
}

/// Answers the albums of a table and judges them.
pub(super) fn judge(
    table: &Path,
    judging: Judging,
    chosen: Option<&Path>,
    model: &ModelArgs,
    bootstrap: &Bootstrap,
) -> Result<AlbumScores> {
    let locator = model.locator()?;
    let embeddings = model.embeddings.as_deref().context("--album needs --embeddings")?;
    let trips = locator.album_trips(embeddings, model.tensor.as_deref(), table)?;
    let bar = progress::bar("albums", Some(trips.len() as u64));
    let album = locator.album(settings(chosen)?)?;
    let scores = AlbumScores::of(&album, &trips, judging, bootstrap, || bar.inc(1))?;
    bar.finish_and_clear();
    Ok(scores)
}
