//! What a run is told while it works, and what it tells.

use crate::{EmbeddedPhoto, Origin, thumbnails::Thumbnails};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What is done with a photo that was embedded.
type Keep<'a> = dyn Fn(&Origin, &EmbeddedPhoto) + Sync + 'a;

/// What a photo is done with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// It was read and embedded, or could not be.
    Read,
    /// An album placed it.
    Placed,
}

/// A run's strings: a flag that stops it, a function that is called for every photo, a clock for its stages.
///
/// ```
/// use locdiff::Control;
/// use std::sync::atomic::{AtomicBool, Ordering};
/// let stop = AtomicBool::new(false);
/// let control = Control::new().with_stop(&stop);
/// assert!(!control.is_stopped());
/// stop.store(true, Ordering::SeqCst);
/// assert!(control.is_stopped());
/// ```
#[derive(Clone, Copy, Default)]
pub struct Control<'a> {
    stop: Option<&'a AtomicBool>,
    progress: Option<&'a (dyn Fn(Progress) + Sync)>,
    times: Option<&'a StageTimes>,
    embedded: Option<&'a Keep<'a>>,
    thumbnails: Option<Thumbnails>,
}

impl<'a> Control<'a> {
    /// One that never stops and tells nobody.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops when the flag becomes true: no further photo is begun, and nothing more comes out.
    #[must_use]
    pub fn with_stop(self, stop: &'a AtomicBool) -> Self {
        Self { stop: Some(stop), ..self }
    }

    /// Calls a function after each photo, from whichever thread worked on it.
    #[must_use]
    pub fn with_progress(self, progress: &'a (dyn Fn(Progress) + Sync)) -> Self {
        Self { progress: Some(progress), ..self }
    }

    /// Adds up how long the stages take.
    #[must_use]
    pub fn with_times(self, times: &'a StageTimes) -> Self {
        Self { times: Some(times), ..self }
    }

    /// Gives every photo that was embedded to a function, from whichever thread worked on it: to keep it, should the run be cut off.
    #[must_use]
    pub fn with_embedded(self, embedded: &'a Keep<'a>) -> Self {
        Self { embedded: Some(embedded), ..self }
    }

    /// Makes a small JPEG of each photo of an album, as for a page of so many.
    #[must_use]
    pub fn with_album_thumbnails(self, photos: usize) -> Self {
        Self { thumbnails: Some(Thumbnails::of_page(photos)), ..self }
    }

    /// The same as large as a strip of photos shows them.
    #[must_use]
    pub fn with_strip_thumbnails(self) -> Self {
        Self { thumbnails: Some(Thumbnails::LARGE), ..self }
    }

    pub(crate) fn album_thumbnails(&self) -> Option<Thumbnails> {
        self.thumbnails
    }

    /// Whether it was asked to stop.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::SeqCst))
    }

    /// A photo was embedded.
    pub(crate) fn keep(&self, origin: &Origin, photo: &EmbeddedPhoto) {
        if let Some(embedded) = self.embedded {
            embedded(origin, photo);
        }
    }

    /// A photo is done with a stage.
    pub(crate) fn advance(&self, stage: Progress) {
        if let Some(progress) = self.progress {
            progress(stage);
        }
    }

    /// Works, and adds the time to a stage.
    pub(crate) fn timed<T>(&self, stage: fn(&StageTimes) -> &AtomicU64, work: impl FnOnce() -> T) -> T {
        let Some(times) = self.times else { return work() };
        let since = Instant::now();
        let done = work();
        stage(times).fetch_add(since.elapsed().as_nanos() as u64, Ordering::Relaxed);
        done
    }
}

/// How long threads worked on photos, all threads together.
#[derive(Debug, Default)]
pub struct StageTimes {
    pub(crate) decode: AtomicU64,
    pub(crate) encode: AtomicU64,
    /// From the beginning to the end of reading.
    pub(crate) read: AtomicU64,
}

impl StageTimes {
    /// Decoding, embedding and the rest as parts of `elapsed`, in which the first two went on on several threads.
    pub fn split(&self, elapsed: Duration) -> (Duration, Duration, Duration) {
        let [decode, encode, read] = [&self.decode, &self.encode, &self.read].map(|sum| sum.load(Ordering::Relaxed));
        let read = Duration::from_nanos(read).min(elapsed);
        let decode = read.mul_f64(decode as f64 / (decode + encode).max(1) as f64);
        (decode, read.saturating_sub(decode), elapsed.saturating_sub(read))
    }
}
