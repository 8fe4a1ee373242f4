//! From questions to answers: the one place that asks the model, for the server and for a page without one.

use crate::problem::{Problem, Result};
use crate::{ask::Ask, render::Rendered, render::Renderer, trips, work::Upload, work::Work};
use locdiff::{Control, LocateError, LocateOptions, Located, Locator, Photo, PhotoLimits, Read, Source};
use serde_json::{Value, json};
use std::sync::{Arc, PoisonError, RwLock};

/// Settings whose options are kept: a country's outline is read once.
const MOST_KEPT: usize = 16;
/// The longer side of a preview, in pixels.
const PREVIEW_SIDE: u32 = 480;

/// A model, and what answers are made with.
pub(crate) struct Engine {
    locator: Arc<Locator>,
    max_megapixels: u32,
    kept: RwLock<Vec<(LocateOptions, Arc<LocateOptions>)>>,
}

/// What became of a question: how many results it had, and its answer.
pub(crate) struct Answered {
    pub(crate) results: usize,
    pub(crate) rendered: Rendered,
}

impl Engine {
    pub(crate) fn new(locator: Arc<Locator>, max_megapixels: u32) -> Self {
        Self { locator, max_megapixels, kept: RwLock::default() }
    }

    pub(crate) fn locator(&self) -> &Locator {
        &self.locator
    }

    /// Questions of the same request and kind, together.
    pub(crate) fn compute(&self, asked: &[(&Ask, &Work)], control: Control<'_>) -> Vec<Answered> {
        self.all(asked, control).unwrap_or_else(|error| {
            let problem = Problem::from(&error);
            asked.iter().map(|_| Answered { results: 0, rendered: Err(problem.clone()) }).collect()
        })
    }

    fn all(&self, asked: &[(&Ask, &Work)], control: Control<'_>) -> Result<Vec<Answered>, LocateError> {
        let Some((ask, work)) = asked.first() else { return Ok(Vec::new()) };
        let sources: Vec<Vec<Source>> = asked.iter().map(|(_, work)| work.sources()).collect::<Result<_, _>>()?;
        let sources: Vec<Source> = sources.into_iter().flatten().collect();
        let options = self.options(&ask.options.photos)?;
        let photos = || asked.iter().flat_map(|(_, work)| work.photos());
        let decode = |photo: &Upload| {
            let name = photo.name.as_deref().unwrap_or("the photo");
            Photo::decode(&photo.contents, name, &PhotoLimits::of_megapixels(options.max_megapixels))
                .map_err(LocateError::from)
        };
        Ok(match work {
            Work::Embed(_) => {
                let found = self.embedded(sources, options, control);
                share(asked, found, |_, photos| Renderer::embeddings(photos))
            }
            Work::Steps(_) => {
                let photo = self.locator.read(sources, options.clone(), control).together();
                let steps = photo.and_then(|photo| self.locator.sampled_steps(&photo, &options));
                share(asked, vec![steps], |_, steps| Renderer::steps(steps))
            }
            Work::Preview(_) => {
                let small = |photo| decode(photo)?.thumbnail(PREVIEW_SIDE, usize::MAX).ok_or_else(LocateError::stopped);
                share(asked, photos().map(small).collect(), |_, found| Renderer::preview(found))
            }
            Work::Occlusion(_) => {
                let parts = |photo| self.locator.occlusion(&decode(photo)?, &options);
                share(asked, photos().map(parts).collect(), |_, found| Renderer::occlusion(found))
            }
            Work::Expose(_) => {
                let found = |photo: &Upload| {
                    let name = photo.name.as_deref().unwrap_or("the photo");
                    self.locator.exposure_of(&photo.contents, name, &options)
                };
                share(asked, photos().map(found).collect(), |_, found| Renderer::findings(found))
            }
            Work::Album(_, facts) | Work::AlbumEmbeddings(_, facts) => {
                let told = facts.options(&ask.options, &options);
                let said = told.and_then(|told| self.locator.locate_album_with(sources, &told, control));
                let said = said.map_err(Problem::from).and_then(|run| trips::object(&run));
                share(asked, vec![(); work.len()], |_, _| Renderer::album(said.as_ref()))
            }
            Work::Locate(_) | Work::LocateEmbeddings(_) if ask.is_together => {
                let answer = self.locator.locate_together(sources, &options, control);
                share(asked, vec![answer], |ask, mut answer| {
                    Renderer::one(ask, answer.pop().unwrap_or(Err(LocateError::stopped())))
                })
            }
            Work::Locate(_) | Work::LocateEmbeddings(_) => {
                let found = self.located(sources, &options, control);
                share(asked, found, Renderer::answers)
            }
        })
    }

    /// A result for each photo. A failure that is no photo's is every photo's.
    fn located(&self, sources: Vec<Source>, options: &LocateOptions, control: Control<'_>) -> Vec<Result<Located>> {
        let count = sources.len();
        let run = self.locator.locate_all(sources, options).map(|run| run.with_control(control));
        each(run.and_then(|mut run| gathered(|| run.next_block())), count)
    }

    /// The same for embeddings.
    fn embedded(&self, sources: Vec<Source>, options: Arc<LocateOptions>, control: Control<'_>) -> Vec<Result<Read>> {
        let count = sources.len();
        let mut run = self.locator.read(sources, options, control);
        each(gathered(|| run.next_block()), count)
    }

    /// How a request is answered; those of the last ones are kept. No file is read, whatever its regions are called.
    fn options(&self, asked: &LocateOptions) -> Result<Arc<LocateOptions>, LocateError> {
        let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, options)) = kept.iter().find(|(known, _)| known == asked) {
            return Ok(options.clone());
        }
        drop(kept);
        let mut limited = asked.clone();
        limited.max_megapixels = self.max_megapixels;
        let options = Arc::new(limited.resolved_without_files()?);
        let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == MOST_KEPT {
            drop(kept.remove(0));
        }
        kept.push((asked.clone(), options.clone()));
        Ok(options)
    }
}

/// The version, the model and its encoder.
pub(crate) fn about(locator: &Locator) -> Value {
    let config = locator.model().config();
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "model": { "degree": config.degree, "embedding_dim": config.embedding_dim },
        "encoder": locator.encoder().map(|encoder| encoder.fingerprint().to_string()),
    })
}

/// All blocks of a run.
fn gathered<T>(mut block: impl FnMut() -> Result<Option<Vec<T>>, LocateError>) -> Result<Vec<T>, LocateError> {
    let mut all = Vec::new();
    while let Some(few) = block()? {
        all.extend(few);
    }
    Ok(all)
}

/// Gives each question its results.
fn share<T>(asked: &[(&Ask, &Work)], results: Vec<T>, render: impl Fn(&Ask, Vec<T>) -> Rendered) -> Vec<Answered> {
    let mut results = results.into_iter();
    let each = |(ask, work): &(&Ask, &Work)| {
        let own: Vec<T> = results.by_ref().take(work.len()).collect();
        Answered { results: own.len(), rendered: render(ask, own) }
    };
    asked.iter().map(each).collect()
}

/// One for each photo, or the failure of all for each.
fn each<T>(all: Result<Vec<T>, LocateError>, count: usize) -> Vec<Result<T>> {
    match all {
        Ok(all) => all.into_iter().map(Ok).collect(),
        Err(error) => (0..count).map(|_| Err(Problem::from(&error))).collect(),
    }
}
