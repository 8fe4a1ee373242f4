//! The photos under review: a folder's, or a server's.

use super::actions::ReviewDecisions;
use locdiff_shdd::sphere::LatLon;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

/// Why something in a review cannot be done, in words for the person.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ReviewError(pub String);

impl ReviewError {
    /// Of another error.
    pub fn of(error: impl std::fmt::Display) -> Self {
        Self(error.to_string())
    }
}

/// What a backend returns.
pub type ReviewResult<T> = Result<T, ReviewError>;

/// A photo and what is said of it.
#[derive(Debug, Clone)]
pub struct ReviewPhoto {
    /// What it is known by; no other has the same.
    pub key: String,
    /// What it is called.
    pub name: String,
    /// The camera.
    pub camera: Option<String>,
    /// Its own GPS tag, which stays.
    pub gps: Option<LatLon>,
    /// The answer as JSON, as albums give it; or why there is none.
    pub said: Result<Value, String>,
    /// Whether the answer is sure enough to be written unasked.
    pub is_sure: bool,
    /// Whether its place was written.
    pub is_written: bool,
}

/// All photos, as they are placed now.
#[derive(Debug, Default)]
pub struct ReviewPhotos {
    /// The photos.
    pub photos: Vec<ReviewPhoto>,
    /// Clocks: camera, its photos, how far it was found to be ahead, in seconds.
    pub clocks: Vec<(String, usize, f64)>,
}

/// A photo whose place is to be written.
#[derive(Debug, Clone)]
pub struct ChosenPlace {
    /// Its number.
    pub number: usize,
    /// Its key.
    pub key: String,
    /// Where it was taken.
    pub at: LatLon,
    /// Nine in ten within this distance.
    pub radius_90_km: f64,
    /// The place in words.
    pub place: String,
    /// Whether somebody placed it.
    pub by_hand: bool,
}

/// What is told of work: so many of so many, and what is done.
pub type TellProgress<'a> = &'a (dyn Fn(&'static str, usize, usize) + Sync);

/// The photos that a review shows. Its methods are called from two threads: pictures and places along a track from one, all else from the other.
pub trait ReviewBackend: Sync {
    /// What the page is headed by.
    fn title(&self) -> String;

    /// Ways to write places: a name, and that in words.
    fn ways(&self) -> Vec<(&'static str, String)>;

    /// Whether photos are placed anew by what is decided.
    fn places_again(&self) -> bool;

    /// Reads the photos if need be, and places them.
    ///
    /// # Errors
    /// What is no photo's fault.
    fn place(
        &self,
        decisions: &ReviewDecisions,
        stop: &AtomicBool,
        told: TellProgress<'_>,
    ) -> ReviewResult<ReviewPhotos>;

    /// Is told what is ticked, after every act: for who keeps that elsewhere, too.
    ///
    /// # Errors
    /// A file that cannot be written.
    fn keep(&self, _: &[ChosenPlace]) -> ReviewResult<()> {
        Ok(())
    }

    /// A photo as a JPEG or WebP file, small or large.
    ///
    /// # Errors
    /// Where it cannot be read.
    fn picture(&self, number: usize, key: &str, is_large: bool) -> ReviewResult<Vec<u8>>;

    /// Where a camera's photos would be by time alone, were its clock so many seconds ahead.
    fn along(&self, _camera: &str, _ahead_s: f64, _known: &BTreeMap<usize, LatLon>) -> Vec<(usize, LatLon)> {
        Vec::new()
    }

    /// Writes places in one of the ways, and says what came of it.
    ///
    /// # Errors
    /// What stops all of it; what was written by then stands in a journal.
    fn write(
        &self,
        chosen: &[ChosenPlace],
        way: &str,
        stop: &AtomicBool,
        told: TellProgress<'_>,
    ) -> ReviewResult<String>;

    /// Takes back what was written, and says what came of it.
    ///
    /// # Errors
    /// As [`ReviewBackend::write`].
    fn take_back(&self, stop: &AtomicBool) -> ReviewResult<String>;

    /// Which photos are written now.
    ///
    /// # Errors
    /// A journal that cannot be read.
    fn written(&self) -> ReviewResult<Vec<String>>;
}
