//! Progress and cancellation of a run.

use crate::{EmbeddedPhoto, Origin};
use locdiff_vision::Photo;
use std::{sync::atomic::AtomicBool, sync::atomic::AtomicU64, sync::atomic::Ordering, time::Duration, time::Instant};

type Keep<'a> = dyn Fn(&Origin, &EmbeddedPhoto) + Sync + 'a;

/// Progress of a run, see [`Control::with_progress`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// A photo was read and embedded, or cannot be.
    Read,
    /// An album located a photo.
    Placed,
    /// The part of a shard with this number of photos exists and is whole.
    ShardSkipped(usize),
    /// The part of this shard is damaged or of other settings, and is made again.
    ShardAgain(u32),
}

/// Run control: a flag that stops a run, a progress function, and a clock for its stages.
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
#[must_use]
pub struct Control<'a> {
    stop: Option<&'a AtomicBool>,
    progress: Option<&'a (dyn Fn(Progress) + Sync)>,
    times: Option<&'a StageTimes>,
    embedded: Option<&'a Keep<'a>>,
    pub(crate) thumbnails: Option<Thumbnails>,
}

impl<'a> Control<'a> {
    /// Creates a control that never stops and reports nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops the run when the flag becomes true: no further photo is begun or returned.
    pub fn with_stop(self, stop: &'a AtomicBool) -> Self {
        Self { stop: Some(stop), ..self }
    }

    /// Calls a function after each photo, from the thread that worked on it.
    pub fn with_progress(self, progress: &'a (dyn Fn(Progress) + Sync)) -> Self {
        Self { progress: Some(progress), ..self }
    }

    /// Adds up how long the stages take.
    pub fn with_times(self, times: &'a StageTimes) -> Self {
        Self { times: Some(times), ..self }
    }

    /// Gives each embedded photo to a function, from the thread that worked on it, so that it can be kept.
    pub fn with_embedded(self, embedded: &'a Keep<'a>) -> Self {
        Self { embedded: Some(embedded), ..self }
    }

    /// Makes a JPEG thumbnail of each photo of an album, sized for a page of `photos`.
    pub fn with_album_thumbnails(self, photos: usize) -> Self {
        Self { thumbnails: Some(Thumbnails::of_page(photos)), ..self }
    }

    /// Makes a JPEG thumbnail of each photo, sized for a strip of photos.
    pub fn with_strip_thumbnails(self) -> Self {
        Self { thumbnails: Some(Thumbnails::LARGE), ..self }
    }

    /// Returns whether the run was asked to stop.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::SeqCst))
    }

    pub(crate) fn keep(&self, origin: &Origin, photo: &EmbeddedPhoto) {
        if let Some(embedded) = self.embedded {
            embedded(origin, photo);
        }
    }

    pub(crate) fn advance(&self, stage: Progress) {
        if let Some(progress) = self.progress {
            progress(stage);
        }
    }

    pub(crate) fn timed<T>(&self, stage: fn(&StageTimes) -> &AtomicU64, work: impl FnOnce() -> T) -> T {
        let Some(times) = self.times else { return work() };
        let since = Instant::now();
        let done = work();
        stage(times).fetch_add(since.elapsed().as_nanos() as u64, Ordering::Relaxed);
        done
    }
}

/// Time that all threads together worked on photos, see [`Control::with_times`].
#[derive(Debug, Default)]
pub struct StageTimes {
    pub(crate) decode: AtomicU64,
    pub(crate) encode: AtomicU64,
    /// From the beginning to the end of reading.
    pub(crate) read: AtomicU64,
}

impl StageTimes {
    /// Splits `elapsed` into decoding, embedding and the rest.
    pub fn split(&self, elapsed: Duration) -> (Duration, Duration, Duration) {
        let [decode, encode, read] = [&self.decode, &self.encode, &self.read].map(|sum| sum.load(Ordering::Relaxed));
        let read = Duration::from_nanos(read).min(elapsed);
        let decode = read.mul_f64(decode as f64 / (decode + encode).max(1) as f64);
        (decode, read.saturating_sub(decode), elapsed.saturating_sub(read))
    }
}

/// How large the small pictures of a page are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Thumbnails {
    sides: &'static [u32],
    bytes: usize,
}

/// The pictures of an album's page have no more bytes together, as JPEG files.
const PAGE_BYTES: usize = 12 << 20;

impl Thumbnails {
    /// For a page on which few are looked at.
    pub(crate) const LARGE: Self = Self { sides: &[160], bytes: 20_000 };

    /// For the maps of so many photos, of which a few are shown large.
    pub(crate) fn of_answers(photos: usize) -> Self {
        if photos > 12 { Self::LARGE } else { Self { sides: &[480, 320, 160], bytes: 60_000 } }
    }

    /// For a page of so many photos: 12 MB of pictures at the most.
    pub(crate) fn of_page(photos: usize) -> Self {
        Self { sides: &[96, 64, 48], bytes: (PAGE_BYTES / photos.max(1)).min(6_000) }
    }

    /// Returns a photo as a small JPEG file; `None` if it cannot be made that small.
    pub(crate) fn of(&self, photo: &Photo) -> Option<Vec<u8>> {
        self.sides.iter().find_map(|&side| photo.thumbnail(side, self.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_pictures_are_small() {
        let photo = Photo::test_picture();
        assert!(Thumbnails::of_page(2000).of(&photo).unwrap().len() <= 6_000);
        assert!(Thumbnails::of_page(20_000).of(&photo).is_none_or(|small| small.len() <= 629));
    }
}
