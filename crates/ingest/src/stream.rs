//! Photos decoded one after the other.

use crate::{PhotoLimits, PhotoSource};
use locdiff_vision::{Photo, VisionError};
use rayon::prelude::*;
use std::{collections::VecDeque, vec};

/// A photo, or why there is none.
#[derive(Debug)]
pub struct ReadPhoto {
    /// Where it came from.
    pub source: PhotoSource,
    /// The photo; an error concerns this one alone.
    pub photo: Result<Photo, VisionError>,
}

/// Photos in their order, each decoded when its turn comes: as many at a time as there are threads, so that memory stays
/// at so many photos however long the list is.
#[derive(Debug)]
pub struct PhotoStream {
    waiting: vec::IntoIter<PhotoSource>,
    decoded: VecDeque<ReadPhoto>,
    limits: PhotoLimits,
}

impl PhotoStream {
    /// Of photos that were found before.
    pub fn new(sources: Vec<PhotoSource>, limits: PhotoLimits) -> Self {
        Self { waiting: sources.into_iter(), decoded: VecDeque::new(), limits }
    }

    /// Decodes the next `most` photos and works on each, a photo on each thread: no pixels are held but those worked on. What
    /// came of them in their order; nothing after the last.
    pub fn work_on<T: Send>(&mut self, most: usize, work: impl Fn(ReadPhoto) -> T + Sync) -> Vec<T> {
        let ready: Vec<ReadPhoto> = self.decoded.drain(..self.decoded.len().min(most)).collect();
        let waiting: Vec<PhotoSource> = self.waiting.by_ref().take(most - ready.len()).collect();
        let limits = self.limits;
        let read = |source: PhotoSource| ReadPhoto { photo: source.read(&limits), source };
        let mut done: Vec<T> = ready.into_iter().map(&work).collect();
        done.par_extend(waiting.into_par_iter().with_max_len(1).map(|source| work(read(source))));
        done
    }
}

impl Iterator for PhotoStream {
    type Item = ReadPhoto;

    fn next(&mut self) -> Option<ReadPhoto> {
        if self.decoded.is_empty() {
            let turn: Vec<PhotoSource> = self.waiting.by_ref().take(rayon::current_num_threads().max(1)).collect();
            let read = |source: PhotoSource| ReadPhoto { photo: source.read(&self.limits), source };
            self.decoded = turn.into_par_iter().map(read).collect::<Vec<_>>().into();
        }
        self.decoded.pop_front()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.decoded.len() + self.waiting.len();
        (left, Some(left))
    }
}

impl ExactSizeIterator for PhotoStream {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_photo_has_a_result_in_its_order() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/vision");
        let names = ["china.jpg", "nowhere.jpg", "rgb.png", "networks.json", "rgb.bmp"];
        let sources = names.map(|name| PhotoSource::file(format!("{folder}/{name}"))).to_vec();
        let mut stream = PhotoStream::new(sources, PhotoLimits::default());
        for (place, name) in names.iter().enumerate() {
            assert_eq!(stream.len(), names.len() - place);
            let read = stream.next().unwrap();
            assert!(read.source.name().ends_with(name));
            assert_eq!(read.photo.is_ok(), place % 2 == 0, "{name}");
        }
        assert!(stream.next().is_none());
    }

    #[test]
    fn photos_are_worked_on_in_their_order() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/vision");
        let sources: Vec<PhotoSource> = (0..7)
            .map(|k| PhotoSource::file(format!("{folder}/{}", if k % 3 == 0 { "china.jpg" } else { "rgb.png" })))
            .collect();
        let mut stream = PhotoStream::new(sources.clone(), PhotoLimits::default());
        assert_eq!(stream.next().unwrap().source.name(), sources[0].name());
        let mut names: Vec<String> = vec![sources[0].name().to_owned()];
        loop {
            let turn = stream.work_on(4, |read| (read.source.name().to_owned(), read.photo.is_ok()));
            assert!(turn.len() <= 4 && turn.iter().all(|(_, is_read)| *is_read));
            if turn.is_empty() {
                break;
            }
            names.extend(turn.into_iter().map(|(name, _)| name));
        }
        assert!(names.iter().eq(sources.iter().map(PhotoSource::name)), "{names:?}");
    }
}
