//! Photos in, a result for each, in blocks.

use crate::album::own_time;
use crate::pipeline::{EmbedSources, Read};
use crate::{
    Control, LocateError, LocateOptions, Locator, Request, Source, source::Origin, table::failure_json,
    thumbnails::Thumbnails,
};
use locdiff_model::answer::Answer;
use locdiff_model::{SampleOptions, TraceStep};
use serde_json::Value;
use std::{collections::VecDeque, path::Path, sync::Arc};

/// A photo and its answer, or why it has none.
pub struct Located {
    /// Where the photo came from.
    pub origin: Origin,
    /// The answer; an error concerns this photo alone.
    pub answer: Result<Answer, LocateError>,
    /// A small JPEG of it, where one was asked for.
    pub thumbnail: Option<Vec<u8>>,
    /// The backward process, where it was asked for.
    pub trace: Vec<TraceStep>,
    /// Whether the photo, or its name, says when it was taken.
    pub has_time: bool,
}

impl Located {
    /// What every interface writes about it: the answer, or the photo's name and the reason.
    pub fn to_json(&self) -> Value {
        match &self.answer {
            Ok(answer) => answer.to_json(),
            Err(error) => failure_json(self.origin.called(), &self.origin.reason(error)),
        }
    }
}

/// Answers as they come: an iterator over photos. An error of the iterator's own is no photo's, and ends it.
pub struct Run<'a> {
    locator: &'a Locator,
    photos: EmbedSources<'a>,
    with_trace: bool,
    ready: VecDeque<Located>,
    is_over: bool,
}

impl Locator {
    /// The answer for the photo in a file. For many photos, or other settings: [`Locator::run`].
    ///
    /// # Errors
    /// A file that cannot be read or is no photo, or a failure of the device.
    pub fn locate(&self, path: impl AsRef<Path>) -> Result<Answer, LocateError> {
        self.locate_one(Source::file(path.as_ref()), &LocateOptions::default())
    }

    /// The answer for one photo, with options: those of a [`Request`], or with [`crate::Knowledge`] of a program's own.
    ///
    /// # Errors
    /// As [`Locator::locate`]; options out of range; knowledge that leaves no place.
    pub fn locate_one(&self, source: Source, options: &LocateOptions) -> Result<Answer, LocateError> {
        let first = self.run_with([source], Arc::new(options.clone()), Control::new()).next();
        first.unwrap_or(Err(LocateError::Stopped))?.answer
    }

    /// Answers for photos, in their order and a result for each; memory holds a few photos at a time.
    ///
    /// ```
    /// # #[cfg(feature = "bundled")] {
    /// use locdiff::{Control, Locator, Request, Source};
    /// let photo = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/vision/china.jpg");
    /// let (locator, request) = (Locator::bundled()?, Request::default());
    /// let sources = [Source::file(photo), Source::file("no such file.jpg")];
    /// let mut run = locator.run(sources, &request, Control::new())?;
    /// assert!(run.next().unwrap()?.answer.is_ok());
    /// assert!(run.next().unwrap()?.answer.is_err());
    /// assert!(run.next().is_none());
    /// # }
    /// # Ok::<(), locdiff::LocateError>(())
    /// ```
    ///
    /// # Errors
    /// A request that cannot be answered: see [`Request::options`].
    pub fn run<'a>(
        &'a self,
        sources: impl IntoIterator<Item = Source, IntoIter: Send + 'a>,
        request: &Request,
        control: Control<'a>,
    ) -> Result<Run<'a>, LocateError> {
        Ok(self.run_with(sources, Arc::new(request.options()?), control))
    }

    /// The same with options that were made before.
    pub fn run_with<'a>(
        &'a self,
        sources: impl IntoIterator<Item = Source, IntoIter: Send + 'a>,
        options: Arc<LocateOptions>,
        control: Control<'a>,
    ) -> Run<'a> {
        let photos = self.read(sources, options, control);
        Run { locator: self, photos, with_trace: false, ready: VecDeque::new(), is_over: false }
    }

    /// Photos as embeddings, a block at a time.
    pub fn read<'a>(
        &'a self,
        sources: impl IntoIterator<Item = Source, IntoIter: Send + 'a>,
        options: Arc<LocateOptions>,
        control: Control<'a>,
    ) -> EmbedSources<'a> {
        let in_batches = self.model().params().device().is_cuda();
        EmbedSources::new(self.encoder(), in_batches, sources, options, control).with_block(self.photos_per_block())
    }

    /// One answer for photos of one place, from the geometric mean of their densities.
    ///
    /// # Errors
    /// As [`Run::next_block`]; the first photo that cannot be used fails them all.
    pub fn run_together<'a>(
        &'a self,
        sources: impl IntoIterator<Item = Source, IntoIter: Send + 'a>,
        options: &Arc<LocateOptions>,
        control: Control<'a>,
    ) -> Result<Answer, LocateError> {
        let photo = self.read(sources, options.clone(), control).together()?;
        let samples = options.sampling.samples.max(photo.views.len());
        let sampling = SampleOptions { samples, ..options.sampling };
        self.answer(&photo, &(**options).clone().with_sampling(sampling))
    }
}

impl Run<'_> {
    /// With a small JPEG of each photo.
    #[must_use]
    pub fn with_thumbnails(self, with_thumbnails: bool) -> Self {
        Self { photos: self.photos.with_thumbnails(with_thumbnails.then_some(Thumbnails::LARGE)), ..self }
    }

    /// With the backward process of each photo.
    #[must_use]
    pub fn with_trace(self, with_trace: bool) -> Self {
        Self { with_trace, ..self }
    }

    /// The next photos, as many as are worked on together; `None` after the last, or where the run was stopped.
    ///
    /// # Errors
    /// What is no photo's fault: settings, knowledge that leaves no place, the device.
    pub fn next_block(&mut self) -> Result<Option<Vec<Located>>, LocateError> {
        if self.is_over {
            return Ok(None);
        }
        let block = match self.photos.next_block() {
            Ok(Some(read)) => self.locator.answer_read(read, self.photos.options(), self.with_trace).map(Some),
            Ok(None) => Ok(None),
            Err(error) => Err(error),
        };
        self.is_over = !matches!(block, Ok(Some(_)));
        block
    }
}

impl Locator {
    /// Answers for photos that were read.
    pub(crate) fn answer_read(
        &self,
        read: Vec<Read>,
        options: &LocateOptions,
        with_trace: bool,
    ) -> Result<Vec<Located>, LocateError> {
        let mut traces = Vec::with_capacity(read.len());
        let (mut rest, mut photos) = (Vec::with_capacity(read.len()), Vec::with_capacity(read.len()));
        for Read { origin, photo, thumbnail } in read {
            traces.push(match &photo {
                Ok(photo) if with_trace => self.trace(photo, options)?,
                _ => Vec::new(),
            });
            let has_time = photo.as_ref().is_ok_and(|photo| own_time(photo).is_some());
            rest.push((origin, thumbnail, has_time));
            photos.push(photo);
        }
        let answers = self.answer_each(photos, options);
        let all = rest.into_iter().zip(answers).zip(traces);
        all.map(|(((origin, thumbnail, has_time), answer), trace)| match answer {
            Err(error) if !error.is_about_photo() => Err(error),
            answer => Ok(Located { origin, answer, thumbnail, trace, has_time }),
        })
        .collect()
    }
}

impl Iterator for Run<'_> {
    type Item = Result<Located, LocateError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.ready.is_empty() {
            match self.next_block() {
                Ok(Some(block)) => self.ready.extend(block),
                Ok(None) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
        if self.photos.is_stopped() { None } else { self.ready.pop_front().map(Ok) }
    }
}
