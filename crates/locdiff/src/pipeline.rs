//! The one way from photos to embeddings, a block at a time. On the CPU a photo is decoded and embedded on one thread, as many photos at
//! a time as there are threads. In batches, the next block is read while the encoder works on those before.

use crate::{Control, EmbeddedPhoto, Embedding, LocateError, LocateOptions, Progress, Source, control::Thumbnails};
use crate::{error::Failure, error::Result, reading::read_text, source::Known, source::Origin};
use locdiff_base::{ensure, timed};
use locdiff_vision::{Augmentation, Begun, Encoder, Photo, PhotoFacts, PhotoLimits, Prepared, VisionError};
use rayon::prelude::*;
use std::{collections::VecDeque, iter::Fuse, sync::Arc};

/// A photo that was read, or the reason why it was not. See [`Locator::read`](crate::Locator::read).
#[non_exhaustive]
pub struct Read {
    /// Source of the photo.
    pub origin: Origin,
    /// The photo as its embedding; an error concerns this photo alone.
    pub photo: Result<EmbeddedPhoto>,
    /// JPEG thumbnail, if one was asked for.
    pub thumbnail: Option<Vec<u8>>,
}

/// Photos as embeddings, a block at a time: the first stage of every answer.
pub struct EmbedSources<'a> {
    sources: Fuse<Box<dyn Iterator<Item = Source> + Send + 'a>>,
    pub(crate) options: Arc<LocateOptions>,
    pub(crate) most: usize,
    next: usize,
    pub(crate) embedder: Embedder<'a>,
    opened: Vec<Opened>,
    begun: VecDeque<BegunBlock>,
}

pub(crate) struct Embedder<'a> {
    encoder: Option<&'a Encoder>,
    pub(crate) control: Control<'a>,
    pub(crate) thumbnails: Option<Thumbnails>,
    limits: locdiff_vision::PhotoLimits,
    views: Views,
    require_place: bool,
    pub(crate) reads_text: bool,
    /// Whether a block is embedded as one batch, or a photo on each thread.
    pub(crate) in_batches: bool,
}

pub(crate) struct Views {
    /// The number of views in addition to the photo itself.
    pub(crate) others: u32,
    pub(crate) augmentation: Augmentation,
    pub(crate) seed: u64,
    /// Whether each photo has different crops, drawn by its number.
    pub(crate) by_number: bool,
}

/// A photo without its embedding yet, and what the encoder is to see of it: nothing if it came with one or was left out.
type Opened = (Read, Vec<Prepared>);

/// Photos that the encoder has begun with, and how many pictures it has of each.
struct BegunBlock {
    photos: Vec<(Read, usize)>,
    begun: Option<Begun>,
}

const BLOCK: usize = 32;
/// Batches that a device may have before the first of them is finished.
const UNDER_WAY: usize = 2;

impl<'a> EmbedSources<'a> {
    /// Reads and embeds photos with an encoder; `in_batches` is for a GPU.
    pub fn new(
        encoder: Option<&'a Encoder>,
        in_batches: bool,
        sources: impl IntoIterator<Item = Source, IntoIter: Send + 'a>,
        options: Arc<LocateOptions>,
        control: Control<'a>,
    ) -> Self {
        let sources: Box<dyn Iterator<Item = Source> + Send + 'a> = Box::new(sources.into_iter());
        let (views, limits, thumbnails, require_place) = (Views::of(&options), options.limits(), None, false);
        let reads_text = options.text;
        let embedder = Embedder { encoder, control, thumbnails, limits, views, require_place, reads_text, in_batches };
        let (opened, begun) = (Vec::new(), VecDeque::new());
        Self { sources: sources.fuse(), options, most: BLOCK, next: 0, embedder, opened, begun }
    }

    /// For files: photos from number `next` on, in batches. Photos without a place have no views if one is required.
    pub(crate) fn for_files(
        mut self,
        (next, most): (usize, usize),
        views: Views,
        limits: PhotoLimits,
        require_place: bool,
    ) -> Self {
        (self.embedder.views, self.embedder.limits, self.embedder.require_place) = (views, limits, require_place);
        self.embedder.reads_text = false;
        Self { most, next, ..self }
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.embedder.control.is_stopped()
    }

    /// Returns the next photos, or `None` after the last or if it was stopped. Fails for reasons that concern no single photo: settings, the
    /// device.
    pub fn next_block(&mut self) -> Result<Option<Vec<Read>>> {
        let next = if self.embedder.in_batches { Self::next_batch } else { Self::next_each };
        let control = self.embedder.control;
        let block = control.timed(|times| &times.read, || next(self))?;
        let Some(mut read) = block else { return Ok(None) };
        match read.iter().position(|one| matches!(&one.photo, Err(error) if !error.is_about_photo())) {
            Some(at) => read.swap_remove(at).photo.map(|_| None),
            None => Ok(Some(read)),
        }
    }

    /// Combines all photos. Fails if any photo cannot be used, as [`EmbedSources::next_block`] does, and with
    /// [`ErrorKind::Stopped`](crate::ErrorKind::Stopped).
    pub fn together(mut self) -> Result<EmbeddedPhoto> {
        let mut photos = Vec::new();
        while let Some(block) = self.next_block()? {
            for read in block {
                photos.push(read.photo?);
            }
        }
        ensure!(!self.is_stopped(), LocateError::stopped());
        Ok(EmbeddedPhoto::together(photos))
    }

    fn take_block(&mut self) -> Vec<(usize, Source)> {
        let block: Vec<(usize, Source)> = (self.next..).zip(self.sources.by_ref().take(self.most)).collect();
        self.next += block.len();
        block
    }

    #[expect(clippy::unnecessary_wraps, reason = "as `next_batch`")]
    fn next_each(&mut self) -> Result<Option<Vec<Read>>> {
        let block = self.take_block();
        if block.is_empty() || self.is_stopped() {
            return Ok(None);
        }
        let embedder = &self.embedder;
        let mut read = Vec::with_capacity(block.len());
        for few in runs(&block, embedder.limits.max_pixels) {
            let done: Option<Vec<Read>> =
                few.par_iter().with_max_len(1).map(|(row, source)| embedder.each(*row, source)).collect();
            let Some(done) = done else { return Ok(None) };
            read.extend(done);
        }
        Ok(Some(read))
    }

    /// The oldest block that the encoder has begun with. Until it is there, the next are read.
    fn next_batch(&mut self) -> Result<Option<Vec<Read>>> {
        while self.begun.len() < UNDER_WAY
            && !self.begun.front().is_some_and(|block| block.begun.as_ref().is_none_or(Begun::is_ready))
        {
            if self.is_stopped() {
                return Ok(None);
            }
            let (block, before) = (self.take_block(), std::mem::take(&mut self.opened));
            if block.is_empty() && before.is_empty() {
                break;
            }
            let embedder = &self.embedder;
            let begin = || (!before.is_empty()).then(|| timed("beginning", || embedder.begin(before)));
            let (begun, opened) = rayon::join(begin, || timed("reading", || embedder.open_all(&block)));
            self.begun.extend(begun.transpose()?);
            self.opened = opened;
        }
        let Some(block) = self.begun.pop_front().filter(|_| !self.is_stopped()) else { return Ok(None) };
        timed("waiting for embeddings", || self.embedder.finish(block)).map(Some)
    }
}

impl Embedder<'_> {
    fn each(&self, row: usize, source: &Source) -> Option<Read> {
        if self.control.is_stopped() {
            return None;
        }
        let (mut read, pictures) = self.open(row, source);
        let finish = |encoder: &Encoder| self.encode(|| encoder.begin(pictures)?.finish());
        let values = self.encoder.map_or(Ok(Vec::new()), finish).unwrap_or_else(|error| {
            read.photo = Err(error.into());
            Vec::new()
        });
        let read = self.complete(read, values);
        self.control.advance(Progress::Read);
        Some(read)
    }

    fn open_all(&self, block: &[(usize, Source)]) -> Vec<Opened> {
        let open = |(row, source): &(usize, Source)| {
            let opened = self.open(*row, source);
            self.control.advance(Progress::Read);
            opened
        };
        let runs = runs(block, self.limits.max_pixels).into_iter();
        runs.flat_map(|few| few.par_iter().with_max_len(1).map(open).collect::<Vec<_>>()).collect()
    }

    fn open(&self, row: usize, source: &Source) -> Opened {
        let (origin, mut thumbnail) = (source.origin(row), None);
        let made = self.pictures(source, &origin, &mut thumbnail);
        let (photo, pictures) = made.map_or_else(|error| (Err(error), Vec::new()), |(photo, all)| (Ok(photo), all));
        (Read { origin, photo, thumbnail }, pictures)
    }

    /// Reads a photo and makes what the encoder is to see of it and of its other views.
    fn pictures(
        &self,
        source: &Source,
        origin: &Origin,
        thumbnail: &mut Option<Vec<u8>>,
    ) -> Result<(EmbeddedPhoto, Vec<Prepared>)> {
        if let Some(own) = source.own_embedding() {
            return Ok((own?, Vec::new()));
        }
        let takes_files = self.thumbnails.is_none() && self.views.others == 0 && !self.reads_text;
        if let Some(encoder) = self.encoder.filter(|_| takes_files)
            && let Some((contents, name)) = source.file_bytes(&self.limits)
        {
            let prepare = || encoder.prepare(contents?, &name, &self.limits);
            let (file, facts) = self.control.timed(|times| &times.decode, prepare)?;
            let facts = if let Some(path) = &origin.path { facts.with_sidecars(path) } else { facts };
            return self.unless_left_out(origin, &facts, || Ok(vec![file]));
        }
        let photo = self.control.timed(|times| &times.decode, || source.read(&self.limits))?;
        *thumbnail = self.thumbnails.and_then(|thumbnails| thumbnails.of(&photo));
        let (mut own, pictures) = self.unless_left_out(origin, photo.facts(), || {
            let encoder = self.encoder.ok_or(Failure::NoEncoder)?;
            Ok(self.encode(|| self.views.pictures(encoder, &photo, origin.row))?)
        })?;
        own.text = if self.reads_text { source.text(&photo)? } else { Vec::new() };
        Ok((own, pictures))
    }

    /// A photo and its pictures, unless it lacks a place that is required.
    fn unless_left_out(
        &self,
        origin: &Origin,
        facts: &PhotoFacts,
        pictures: impl FnOnce() -> Result<Vec<Prepared>>,
    ) -> Result<(EmbeddedPhoto, Vec<Prepared>)> {
        let is_left_out = self.require_place && facts.gps.is_none() && origin.place.is_none();
        let photo = EmbeddedPhoto::new(Vec::new()).with_gps(facts.gps).with_taken(facts.taken.clone());
        Ok((photo, if is_left_out { Vec::new() } else { pictures()? }))
    }

    fn begin(&self, opened: Vec<Opened>) -> Result<BegunBlock> {
        let mut all = Vec::new();
        let give = |(read, pictures): Opened| {
            let count = pictures.len();
            all.extend(pictures);
            (read, count)
        };
        let photos = opened.into_iter().map(give).collect();
        let begun = self.encoder.map(|encoder| self.encode(|| encoder.begin(all))).transpose()?;
        Ok(BegunBlock { photos, begun })
    }

    fn finish(&self, block: BegunBlock) -> Result<Vec<Read>> {
        let values = block.begun.map(|begun| self.encode(|| begun.finish())).transpose()?;
        let mut values = values.unwrap_or_default().into_iter();
        let each = |(read, count)| self.complete(read, values.by_ref().take(count).collect());
        Ok(block.photos.into_iter().map(each).collect())
    }

    fn encode<T>(&self, work: impl FnOnce() -> Result<T, VisionError>) -> Result<T, VisionError> {
        self.control.timed(|times| &times.encode, work)
    }

    /// The photo with its embeddings, under its name, with what is known of it.
    fn complete(&self, read: Read, values: Vec<Result<Vec<f32>, VisionError>>) -> Read {
        let Read { origin, photo, thumbnail } = read;
        let photo = photo.and_then(|mut photo| {
            photo.views.extend(embeddings(self.encoder, values)?);
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
            Ok(photo)
        });
        Read { origin, photo, thumbnail }
    }
}

impl Views {
    /// Returns the views for an answer: every photo is cropped alike.
    fn of(options: &LocateOptions) -> Self {
        let others = options.views.saturating_sub(1) as u32;
        Self { others, augmentation: Augmentation::default(), seed: options.seed, by_number: false }
    }

    /// What the network sees of a photo and of its other views.
    fn pictures(&self, encoder: &Encoder, photo: &Photo, row: usize) -> Result<Vec<Prepared>, VisionError> {
        let number = if self.by_number { row as u64 } else { 0 };
        let others = (1..=self.others).map(|view| self.augmentation.view(photo, self.seed, number, view));
        let others = others.map(|view| encoder.preprocess(&view?));
        std::iter::once(encoder.preprocess(photo)).chain(others).map(|pixels| Ok(Prepared::pixels(pixels?))).collect()
    }
}

pub(crate) fn embed(encoder: Option<&Encoder>, photo: &Photo, options: &LocateOptions) -> Result<EmbeddedPhoto> {
    let encoder = encoder.ok_or(Failure::NoEncoder)?;
    let pictures = Views::of(options).pictures(encoder, photo, 0)?;
    let views = embeddings(Some(encoder), encoder.begin(pictures)?.finish()?)?;
    let text = if options.text { read_text(photo) } else { Vec::new() };
    Ok(EmbeddedPhoto { text, ..EmbeddedPhoto::new(views).with_gps(photo.gps()).with_taken(photo.taken().clone()) })
}

fn embeddings(
    encoder: Option<&Encoder>,
    values: Vec<Result<Vec<f32>, VisionError>>,
) -> Result<Vec<Embedding>, VisionError> {
    let encoder = encoder.map(Encoder::fingerprint);
    values.into_iter().map(|values| Ok(Embedding::new(values?, encoder.cloned())?)).collect()
}

/// Runs of photos with no more pixels together than one photo may have, as far as their pixels are known.
fn runs(sources: &[(usize, Source)], most_pixels: u64) -> Vec<&[(usize, Source)]> {
    let mut runs = Vec::new();
    let mut begin = 0;
    while begin < sources.len() {
        let (mut end, mut pixels) = (begin + 1, sources[begin].1.pixels);
        while end < sources.len() && pixels + sources[end].1.pixels <= most_pixels {
            pixels += sources[end].1.pixels;
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
