//! The photos under review: a folder's, or a server's.

use super::actions::ReviewDecisions;
use locdiff_shdd::sphere::LatLon;
use serde_json::Value;
use std::{collections::BTreeMap, sync::atomic::AtomicBool};

/// Reason why an action of a [`ReviewSession`](super::ReviewSession) fails, in words for the user.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ReviewError(String);

impl ReviewError {
    /// Wraps another error, or text.
    pub fn of(error: impl std::fmt::Display) -> Self {
        Self(error.to_string())
    }
}

pub(crate) type ReviewResult<T> = Result<T, ReviewError>;

/// A photo and what is known of it.
#[derive(Debug, Clone)]
pub(crate) struct ReviewPhoto {
    /// What it is known by; no other has the same.
    pub(crate) key: String,
    pub(crate) name: String,
    pub(crate) camera: Option<String>,
    /// Its own GPS tag, which stays.
    pub(crate) gps: Option<LatLon>,
    /// The answer as JSON, as albums give it; or why there is none.
    pub(crate) said: Result<Value, String>,
    /// Whether the answer is sure enough to be written unasked.
    pub(crate) is_sure: bool,
    pub(crate) is_written: bool,
}

/// All photos, as they are placed now.
#[derive(Debug, Default)]
pub struct ReviewPhotos {
    pub(crate) photos: Vec<ReviewPhoto>,
    /// Clocks: camera, its photos, how far it was found to be ahead, in seconds.
    pub(crate) clocks: Vec<(String, usize, f64)>,
}

/// A photo whose place is to be written.
#[derive(Debug, Clone)]
pub struct ChosenPlace {
    pub(crate) number: usize,
    pub(crate) key: String,
    pub(crate) at: LatLon,
    pub(crate) radius_90_km: f64,
    pub(crate) place: String,
    pub(crate) by_hand: bool,
}

/// Control of running work: a flag that stops it, and a callback for its progress.
#[derive(Clone, Copy)]
pub struct ReviewWork<'a> {
    pub(crate) stop: &'a AtomicBool,
    pub(crate) told: &'a (dyn Fn(&'static str, usize, usize) + Sync),
}

/// The photos that a review shows: [`FolderReview`](super::FolderReview) and `immich::Review`. Its methods are called from two threads: pictures and places along a track from one, all else from the other.
pub trait ReviewBackend: Sync {
    /// What the page is headed by.
    fn title(&self) -> String;

    /// Ways to write places: a name, and that in words.
    fn ways(&self) -> Vec<(&'static str, String)>;

    /// Whether photos are placed again after a decision.
    fn places_again(&self) -> bool;

    /// Reads the photos if necessary, and places them. An unreadable photo is not an error; anything else that stops the work is.
    fn place(&self, decisions: &ReviewDecisions, work: ReviewWork<'_>) -> ReviewResult<ReviewPhotos>;

    /// Receives the ticked photos after every action, for a backend that stores them elsewhere, too. Fails on a file that cannot be written.
    fn keep(&self, _: &[ChosenPlace]) -> ReviewResult<()> {
        Ok(())
    }

    /// A photo as a JPEG or WebP file, small or large. Fails if it cannot be read.
    fn picture(&self, number: usize, key: &str, is_large: bool) -> ReviewResult<Vec<u8>>;

    /// Returns the locations of a camera's photos by time alone if its clock were `ahead_s` seconds ahead.
    fn along(&self, _camera: &str, _ahead_s: f64, _known: &BTreeMap<usize, LatLon>) -> Vec<(usize, LatLon)> {
        Vec::new()
    }

    /// Writes locations in one of the ways, and returns a summary. Fails if it cannot continue; a journal lists everything written until then.
    fn write(&self, chosen: &[ChosenPlace], way: &str, work: ReviewWork<'_>) -> ReviewResult<String>;

    /// Undoes all writing, and returns a summary. Fails as [`ReviewBackend::write`] does.
    fn take_back(&self, stop: &AtomicBool) -> ReviewResult<String>;

    /// Which photos are written now. Fails on a journal that cannot be read.
    fn written(&self) -> ReviewResult<Vec<String>>;
}
