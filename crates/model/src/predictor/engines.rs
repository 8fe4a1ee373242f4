//! Engines that are kept for the next call, and how photos are cut into batches for them.

use super::prediction::{BLOCK_ROWS, SampleOptions};
use crate::Result;
use std::sync::{Mutex, PoisonError};

/// Engines that are kept for the next call; the one that was not used for longest makes room.
const KEPT: usize = 8;

/// Storage for one batch size and one way to run.
pub(super) trait Engine<M>: Sized {
    fn new(model: &M, photos: usize, options: SampleOptions) -> Result<Self>;

    /// Whether it runs so many photos in this way, whatever the seed.
    fn fits(&self, photos: usize, options: SampleOptions) -> bool;
}

/// Engines that wait for their next call. One at work is outside: callers on several threads never wait for each other.
pub(super) struct Engines<E>(Mutex<Vec<E>>);

impl<E> Engines<E> {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Runs `work` with an engine for so many photos, a kept one where there is one.
    pub(super) fn with<M, T>(
        &self,
        model: &M,
        photos: usize,
        options: SampleOptions,
        work: impl FnOnce(&mut E) -> Result<T>,
    ) -> Result<T>
    where
        E: Engine<M>,
    {
        let kept = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = {
            let mut kept = kept();
            kept.iter().position(|engine| engine.fits(photos, options)).map(|at| kept.remove(at))
        };
        let mut engine = waiting.map_or_else(|| E::new(model, photos, options), Ok)?;
        let done = work(&mut engine)?;
        let mut kept = kept();
        if kept.len() == KEPT {
            kept.remove(0);
        }
        kept.push(engine);
        Ok(done)
    }
}

/// How photos are cut into batches: how many photos each holds and how many places its engine has. There are four
/// sizes, so that a few engines, and recorded graphs, serve every number of photos.
pub(super) fn batches(photos: usize, samples: usize) -> Vec<(usize, usize)> {
    let most = BLOCK_ROWS / samples;
    let sizes = [most, most / 4, most / 16, 1].map(|size| size.max(1));
    let (mut left, mut cut) = (photos, Vec::new());
    while left > 0 {
        // The smallest engine that takes all that is left, unless a quarter of it or more would be idle.
        let whole = sizes.iter().rev().find(|&&size| size >= left && 4 * (size - left) <= size);
        let part = sizes.iter().find(|&&size| size <= left);
        let size = *whole.or(part).unwrap_or(&1);
        cut.push((size.min(left), size));
        left -= size.min(left);
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::batches;

    #[test]
    fn every_photo_is_in_one_batch_of_a_known_size() {
        for photos in 0..200 {
            let cut = batches(photos, 16);
            assert_eq!(cut.iter().map(|(count, _)| count).sum::<usize>(), photos);
            assert!(cut.iter().all(|(count, size)| count <= size && [64, 16, 4, 1].contains(size)));
            let idle: usize = cut.iter().map(|(count, size)| size - count).sum();
            assert!(4 * idle <= photos + idle, "{photos}: {cut:?}");
        }
        assert_eq!(batches(3, 1024), [(1, 1); 3]);
    }
}
