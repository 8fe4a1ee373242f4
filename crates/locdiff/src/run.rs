//! Photos in, an answer for each, in blocks.

use crate::pipeline::{EmbedSources, Read};
use crate::{Control, LocateError, LocateOptions, Locator, Source, control::Thumbnails, error::Result, source::Origin};
use locdiff_model::{TraceStep, answer::Answer};
use serde_json::Value;
use std::{collections::VecDeque, sync::Arc};

/// Iterator over answers by [`Locator::locate_all`], one item per photo in their order. A failure that concerns no single photo is its last item.
#[must_use]
pub struct Run<'a> {
    locator: &'a Locator,
    photos: EmbedSources<'a>,
    ready: VecDeque<Located>,
    given: usize,
    is_over: bool,
}

/// A photo as a program names it: a path, bytes, a reader, an embedding.
type Boxed<'a> = Box<dyn Iterator<Item = Source> + Send + 'a>;

impl Locator {
    /// Answers a photo, with the default options. Fails if the file cannot be read or is not a photo, or the device fails.
    pub fn locate(&self, photo: impl Into<Source>) -> Result<Answer> {
        self.locate_with(photo, &LocateOptions::default())
    }

    /// Answers a photo. Fails as [`Locator::locate`] does, and if an option cannot be honoured or knowledge leaves no location.
    ///
    /// ```
    /// # #[cfg(feature = "bundled")] {
    /// use locdiff::{LocateOptions, Locator};
    /// # std::env::set_current_dir("../../fixtures/vision").unwrap();
    /// let answer = Locator::bundled()?.locate_with("china.jpg", &LocateOptions::new().within("China"))?;
    /// assert_eq!(answer.country_code.as_deref(), Some("CN"));
    /// # }
    /// # Ok::<(), locdiff::LocateError>(())
    /// ```
    pub fn locate_with(&self, photo: impl Into<Source>, options: &LocateOptions) -> Result<Answer> {
        let first = self.locate_all([photo.into()], options)?.next();
        first.map_or_else(|| Err(LocateError::stopped()), |photo| photo.answer)
    }

    /// Answers photos, in their order. Memory holds a few photos at a time. Fails if an option cannot be honoured.
    ///
    /// ```
    /// # #[cfg(feature = "bundled")] {
    /// use locdiff::{LocateOptions, Locator};
    /// # std::env::set_current_dir("../../fixtures/vision").unwrap();
    /// let locator = Locator::bundled()?;
    /// let mut run = locator.locate_all(["china.jpg", "no such file.jpg"], &LocateOptions::new())?;
    /// assert!(run.next().unwrap().answer.is_ok());
    /// assert!(run.next().unwrap().answer.is_err());
    /// assert!(run.next().is_none());
    /// # }
    /// # Ok::<(), locdiff::LocateError>(())
    /// ```
    pub fn locate_all<'a>(
        &'a self,
        photos: impl IntoIterator<Item: Into<Source> + 'a, IntoIter: Send + 'a>,
        options: &LocateOptions,
    ) -> Result<Run<'a>> {
        let options = options.resolved()?;
        self.check(&options)?;
        let sources: Boxed<'a> = Box::new(photos.into_iter().map(Into::into));
        let photos = self.read(sources, Arc::new(options), Control::new());
        Ok(Run { locator: self, photos, ready: VecDeque::new(), given: 0, is_over: false })
    }

    /// Reads and embeds photos, a block at a time.
    pub fn read<'a>(
        &'a self,
        sources: impl IntoIterator<Item = Source, IntoIter: Send + 'a>,
        options: Arc<LocateOptions>,
        control: Control<'a>,
    ) -> EmbedSources<'a> {
        let mut photos = EmbedSources::new(self.encoder(), self.is_on_gpu(), sources, options, control);
        photos.most = self.photos_per_block();
        photos
    }

    /// Answers photos of one location together, by the geometric mean of their densities. Fails as [`Locator::locate_with`] does, and if any
    /// photo cannot be used.
    pub fn locate_together<'a>(
        &'a self,
        photos: impl IntoIterator<Item: Into<Source> + 'a, IntoIter: Send + 'a>,
        options: &LocateOptions,
        control: Control<'a>,
    ) -> Result<Answer> {
        let options = options.resolved()?;
        let sources: Boxed<'a> = Box::new(photos.into_iter().map(Into::into));
        let photo = self.read(sources, Arc::new(options.clone()), control).together()?;
        let samples = options.samples.max(photo.views.len());
        self.answer(&photo, &options.samples(samples))
    }

    pub(crate) fn answer_read(&self, read: Vec<Read>, options: &LocateOptions) -> Result<Vec<Located>> {
        let mut traces = Vec::with_capacity(read.len());
        let (mut rest, mut photos) = (Vec::with_capacity(read.len()), Vec::with_capacity(read.len()));
        for Read { origin, photo, thumbnail } in read {
            traces.push(match &photo {
                Ok(photo) if options.with_trace => self.trace(photo, options)?,
                _ => Vec::new(),
            });
            let has_time = photo.as_ref().is_ok_and(|photo| photo.own_time().is_moment());
            let is_there =
                |line: &&String| photo.as_ref().is_ok_and(|own| own.text.iter().any(|read| read.text == **line));
            let ignored_text: Vec<String> = options.ignore_text.iter().filter(is_there).cloned().collect();
            rest.push((origin, thumbnail, has_time, ignored_text));
            photos.push(photo);
        }
        let answers = self.answer_each(photos, options);
        let all = rest.into_iter().zip(answers).zip(traces);
        all.map(|(((origin, thumbnail, has_time, ignored_text), answer), trace)| match answer {
            Err(error) if !error.is_about_photo() => Err(error),
            answer => Ok(Located { trace, has_time, ignored_text, ..Located::new(origin, answer, thumbnail) }),
        })
        .collect()
    }
}

impl<'a> Run<'a> {
    /// Adds run control: stop, progress, and a place to keep embeddings.
    pub fn with_control(mut self, control: Control<'a>) -> Self {
        self.photos.embedder.control = control;
        self
    }

    /// Makes a JPEG thumbnail of each photo, sized for maps of `photos`; none for 0.
    pub fn with_thumbnails(mut self, photos: usize) -> Self {
        self.photos.embedder.thumbnails = (photos > 0).then(|| Thumbnails::of_answers(photos));
        self
    }

    /// Returns the next block of photos, or `None` after the last or if the run was stopped. Fails for reasons that concern no single photo:
    /// options, knowledge that leaves no location, the device.
    pub fn next_block(&mut self) -> Result<Option<Vec<Located>>> {
        if self.is_over {
            return Ok(None);
        }
        let read = self.photos.next_block();
        let answer = |read| self.locator.answer_read(read, &self.photos.options);
        let block = read.and_then(|read| read.map(answer).transpose());
        self.is_over = !matches!(block, Ok(Some(_)));
        block
    }
}

impl Iterator for Run<'_> {
    type Item = Located;

    fn next(&mut self) -> Option<Located> {
        while self.ready.is_empty() {
            match self.next_block() {
                Ok(Some(block)) => self.ready.extend(block),
                Ok(None) => return None,
                Err(error) => {
                    let origin = Origin { row: self.given, ..Origin::default() };
                    return Some(Located::new(origin, Err(error), None));
                }
            }
        }
        self.given += 1;
        if self.photos.is_stopped() { None } else { self.ready.pop_front() }
    }
}

/// A photo and its answer, or the reason why it has none. In albums, the answer is an [`AlbumAnswer`](crate::AlbumAnswer).
///
/// ```no_run
/// # fn show(photo: locdiff::Located) {
/// match photo.answer {
///     Ok(answer) => println!("{}: {}", photo.name, answer.place),
///     Err(error) => eprintln!("{}: {error}", photo.name),
/// }
/// # }
/// ```
#[non_exhaustive]
pub struct Located<A = Answer> {
    /// The photo's name.
    pub name: String,
    /// Source of the photo.
    pub origin: Origin,
    /// The answer. An error of which [`LocateError::is_about_photo`] is false ended the run.
    pub answer: Result<A>,
    /// A small JPEG of the photo, if the run makes them.
    pub thumbnail: Option<Vec<u8>>,
    /// The backward process, if the run records it.
    pub trace: Vec<TraceStep>,
    /// Whether the photo, or its name, states when it was taken.
    pub has_time: bool,
    /// Lines of text in the photo that [`LocateOptions::ignore_text`] left out.
    pub ignored_text: Vec<String>,
}

impl<A> Located<A> {
    pub(crate) fn new(origin: Origin, answer: Result<A>, thumbnail: Option<Vec<u8>>) -> Self {
        let name = origin.called().to_owned();
        Self { name, origin, answer, thumbnail, trace: Vec::new(), has_time: false, ignored_text: Vec::new() }
    }

    pub(crate) fn json(&self, answer: fn(&A) -> Value) -> Value {
        match &self.answer {
            Ok(found) => answer(found),
            Err(error) => self.origin.failure_json(error),
        }
    }
}

impl Located {
    /// Returns the JSON object that every interface writes: the answer, or the photo's name and the reason.
    pub fn to_json(&self) -> Value {
        self.json(Answer::to_json)
    }
}
