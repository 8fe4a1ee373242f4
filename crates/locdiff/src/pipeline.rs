//! The one way from sources to embeddings, a block at a time: a photo is decoded and embedded on one thread, as many photos at a
//! time as there are threads.

use crate::error::Failure;
use crate::source::{Known, Origin};
use crate::{Control, EmbeddedPhoto, LocateError, LocateOptions, Progress, Source, thumbnails::Thumbnails};
use locdiff_vision::{Augmentation, Encoder, Photo};
use rayon::prelude::*;
use std::sync::Arc;

/// A photo that was read, or why it was not.
pub struct Read {
    /// Where it came from.
    pub origin: Origin,
    /// The photo as its embedding; an error concerns this photo alone.
    pub photo: Result<EmbeddedPhoto, LocateError>,
    /// A small JPEG of it, where one was asked for.
    pub thumbnail: Option<Vec<u8>>,
}

/// Photos as embeddings, a block at a time: the one stage before every answer.
pub struct EmbedSources<'a> {
    sources: Box<dyn Iterator<Item = Source> + Send + 'a>,
    /// Photos of a block.
    most: usize,
    /// The number of the next.
    next: usize,
    embedder: Embedder<'a>,
}

/// How photos are embedded.
struct Embedder<'a> {
    options: Arc<LocateOptions>,
    encoder: Option<&'a Encoder>,
    control: Control<'a>,
    thumbnails: Option<Thumbnails>,
    /// Whether photos are embedded as one batch, as a GPU wants it, or a photo on each thread.
    in_batches: bool,
}

/// Photos of a block, where nobody says otherwise.
const BLOCK: usize = 32;

impl<'a> EmbedSources<'a> {
    /// By an encoder; `in_batches` where it runs on a GPU.
    pub fn new(
        encoder: Option<&'a Encoder>,
        in_batches: bool,
        sources: impl IntoIterator<Item = Source, IntoIter: Send + 'a>,
        options: Arc<LocateOptions>,
        control: Control<'a>,
    ) -> Self {
        let sources = Box::new(sources.into_iter());
        let embedder = Embedder { options, encoder, control, thumbnails: None, in_batches };
        Self { sources, most: BLOCK, next: 0, embedder }
    }

    pub(crate) fn with_block(self, most: usize) -> Self {
        Self { most, ..self }
    }

    pub(crate) fn with_control(mut self, control: Control<'a>) -> Self {
        self.embedder.control = control;
        self
    }

    pub(crate) fn with_thumbnails(mut self, thumbnails: Option<Thumbnails>) -> Self {
        self.embedder.thumbnails = thumbnails;
        self
    }

    pub(crate) fn options(&self) -> &LocateOptions {
        &self.embedder.options
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.embedder.control.is_stopped()
    }

    /// The next photos; `None` after the last, or where it was stopped.
    ///
    /// # Errors
    /// What is no photo's fault: settings, a failure of the device.
    pub fn next_block(&mut self) -> Result<Option<Vec<Read>>, LocateError> {
        let first = self.next;
        let numbered = |(k, source)| (first + k, source);
        let block: Vec<(usize, Source)> = self.sources.by_ref().take(self.most).enumerate().map(numbered).collect();
        if block.is_empty() || self.is_stopped() {
            return Ok(None);
        }
        self.next += block.len();
        self.embedder.control.timed(|times| &times.read, || self.embedder.block(&block))
    }

    /// All photos; the first that cannot be used fails them all.
    ///
    /// # Errors
    /// As [`EmbedSources::next_block`], and [`ErrorKind::Stopped`](crate::ErrorKind::Stopped).
    pub fn together(mut self) -> Result<EmbeddedPhoto, LocateError> {
        let mut photos = Vec::new();
        while let Some(block) = self.next_block()? {
            for read in block {
                photos.push(read.photo?);
            }
        }
        if self.is_stopped() {
            return Err(LocateError::stopped());
        }
        Ok(EmbeddedPhoto::together(photos))
    }
}

impl Embedder<'_> {
    fn block(&self, sources: &[(usize, Source)]) -> Result<Option<Vec<Read>>, LocateError> {
        let mut read = Vec::with_capacity(sources.len());
        for few in runs(sources, self.options.limits().max_pixels) {
            let done: Option<Vec<Read>> = if self.in_batches {
                self.batch(few)?
            } else {
                few.par_iter().with_max_len(1).map(|(row, source)| self.each(*row, source)).collect()
            };
            let Some(done) = done else { return Ok(None) };
            read.extend(done);
        }
        match read.iter().position(|one| matches!(&one.photo, Err(error) if !error.is_about_photo())) {
            Some(at) => read.swap_remove(at).photo.map(|_| None),
            None => Ok(Some(read)),
        }
    }

    /// One photo from its bytes to its embedding.
    fn each(&self, row: usize, source: &Source) -> Option<Read> {
        if self.control.is_stopped() {
            return None;
        }
        let decoded = source
            .own_embedding()
            .map_or_else(|| self.decode(source).map(Decoded::Photo), |own| own.map(Decoded::Embedded));
        let thumbnail = decoded.as_ref().ok().and_then(|decoded| self.thumbnail(decoded));
        let photo = decoded.and_then(|decoded| match decoded {
            Decoded::Embedded(photo) => Ok(photo),
            Decoded::Photo(photo) => {
                self.control.timed(|times| &times.encode, || embed(self.encoder, &photo, &self.options))
            }
        });
        Some(self.done(source.origin(row), photo, thumbnail))
    }

    /// A block on a GPU: decoded on all threads, embedded as one batch.
    fn batch(&self, few: &[(usize, Source)]) -> Result<Option<Vec<Read>>, LocateError> {
        if self.options.views != 1 || few.iter().any(|(_, source)| source.own_embedding().is_some()) {
            return Ok(few.iter().map(|(row, source)| self.each(*row, source)).collect());
        }
        if self.control.is_stopped() {
            return Ok(None);
        }
        let decoded: Vec<Result<Photo, LocateError>> =
            few.par_iter().with_max_len(1).map(|(_, source)| self.decode(source)).collect();
        let mut photos = Vec::with_capacity(decoded.len());
        let decoded: Vec<Result<(), LocateError>> =
            decoded.into_iter().map(|photo| photo.map(|photo| photos.push(photo))).collect();
        let encoder = self.encoder.ok_or(Failure::NoEncoder)?;
        let embeddings = self.control.timed(|times| &times.encode, || encoder.embed(&photos))?;
        let mut embedded = photos.iter().zip(embeddings).map(|(photo, embedding)| {
            let made = EmbeddedPhoto::from(embedding).with_gps(photo.gps()).with_taken(photo.taken().clone());
            (self.small(photo), made)
        });
        let all = few.iter().zip(decoded).map(|((row, source), decoded)| {
            let (thumbnail, photo) = match decoded.map(|()| embedded.next()) {
                Ok(Some((thumbnail, photo))) => (thumbnail, Ok(photo)),
                Ok(None) => (None, Err(Failure::NoEncoder.into())),
                Err(error) => (None, Err(error)),
            };
            self.done(source.origin(*row), photo, thumbnail)
        });
        Ok(Some(all.collect()))
    }

    fn decode(&self, source: &Source) -> Result<Photo, LocateError> {
        self.control.timed(|times| &times.decode, || source.read(&self.options.limits()))
    }

    fn thumbnail(&self, decoded: &Decoded) -> Option<Vec<u8>> {
        if let Decoded::Photo(photo) = decoded { self.small(photo) } else { None }
    }

    fn small(&self, photo: &Photo) -> Option<Vec<u8>> {
        self.thumbnails?.of(photo)
    }

    /// The photo under its name, with what is known of it.
    fn done(&self, origin: Origin, photo: Result<EmbeddedPhoto, LocateError>, thumbnail: Option<Vec<u8>>) -> Read {
        let photo = photo.map(|mut photo| {
            photo.name.clone_from(&origin.name);
            let Known { gps, camera, time_text, .. } = &origin.known;
            photo.gps = gps.or(photo.gps);
            if time_text.is_some() {
                photo.taken.time.clone_from(time_text);
                photo.taken.offset = None;
            }
            if camera.is_some() {
                photo.taken.camera.clone_from(camera);
            }
            self.control.keep(&origin, &photo);
            photo
        });
        self.control.advance(Progress::Read);
        Read { origin, photo, thumbnail }
    }
}

/// A photo's embedding, or those of its views where the options ask for several.
pub(crate) fn embed(
    encoder: Option<&Encoder>,
    photo: &Photo,
    options: &LocateOptions,
) -> Result<EmbeddedPhoto, LocateError> {
    let encoder = encoder.ok_or(Failure::NoEncoder)?;
    let views = if options.views == 1 {
        encoder.embed(std::slice::from_ref(photo))?
    } else {
        let (augmentation, seed) = (Augmentation::default(), options.seed);
        let views = (0..options.views as u32).map(|k| augmentation.view(photo, seed, 0, k));
        encoder.embed(&views.collect::<Result<Vec<Photo>, _>>()?)?
    };
    Ok(EmbeddedPhoto::new(views).with_gps(photo.gps()).with_taken(photo.taken().clone()))
}

enum Decoded {
    Photo(Photo),
    Embedded(EmbeddedPhoto),
}

/// Runs of photos with no more pixels together than one photo may have, as far as their pixels are known.
fn runs(sources: &[(usize, Source)], most_pixels: u64) -> Vec<&[(usize, Source)]> {
    let mut runs = Vec::new();
    let mut begin = 0;
    while begin < sources.len() {
        let (mut end, mut pixels) = (begin + 1, sources[begin].1.pixels());
        while end < sources.len() && pixels + sources[end].1.pixels() <= most_pixels {
            pixels += sources[end].1.pixels();
            end += 1;
        }
        runs.push(&sources[begin..end]);
        begin = end;
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_hold_no_more_pixels_than_one_photo_may_have() {
        let source = |(row, pixels)| (row, Source::file("a.jpg").with_pixels(pixels));
        let sources: Vec<_> = [5, 5, 90, 20, 1, 1, 1, 1, 1, 1].into_iter().enumerate().map(source).collect();
        let sizes: Vec<usize> = runs(&sources, 100).iter().map(|run| run.len()).collect();
        assert_eq!(sizes, [3, 7]);
    }
}
