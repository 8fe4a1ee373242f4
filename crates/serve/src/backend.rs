//! The one thread that owns the model: it computes what waited while it computed.

use crate::job::{Done, Job, Times, Upload, Work};
use crate::metrics::{Metrics, Stage};
use crate::problem::{Kind, Problem};
use crate::{queue::Queue, render::Renderer, trips};
use locdiff::parts::{Read, StageTimes};
use locdiff::{Control, LocateError, LocateOptions, Located, Locator, Photo, Request, Source};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

/// Settings whose options are kept: a country's outline is read once.
const MOST_KEPT: usize = 16;
/// The longer side of a preview, in pixels.
const PREVIEW_SIDE: u32 = 480;

/// What the backend's thread holds.
pub(crate) struct Backend {
    locator: Arc<Locator>,
    max_megapixels: u32,
    queue: Arc<Queue>,
    metrics: Arc<Metrics>,
    kept: RwLock<Vec<(Request, Arc<LocateOptions>)>>,
    renderer: Renderer,
}

impl Backend {
    pub(crate) fn new(locator: Arc<Locator>, max_megapixels: u32, queue: Arc<Queue>, metrics: Arc<Metrics>) -> Self {
        let (kept, renderer) = (RwLock::default(), Renderer::default());
        Self { locator, max_megapixels, queue, metrics, kept, renderer }
    }

    /// Until the queue is closed and empty.
    pub(crate) fn run(&self) {
        while let Some(jobs) = self.queue.take(self.locator.photos_per_block()) {
            let begin = Instant::now();
            let jobs: Vec<Job> = jobs.into_iter().filter(|job| self.is_wanted(job)).collect();
            let photos = jobs.iter().map(|job| job.work.len()).sum();
            if photos > 0 {
                self.metrics.batch(photos);
            }
            for group in groups(jobs) {
                // A fault in one batch is said to its clients; the thread goes on.
                if catch_unwind(AssertUnwindSafe(|| self.compute(group))).is_err() {
                    self.metrics.refused(Kind::Internal.name());
                }
            }
            self.queue.done(photos, begin.elapsed());
        }
    }

    /// Whether somebody still waits; what nobody waits for is never computed.
    fn is_wanted(&self, job: &Job) -> bool {
        let count = |counter: &AtomicU64| {
            counter.fetch_add(job.work.len() as u64, Ordering::Relaxed);
            false
        };
        if Instant::now() >= job.deadline {
            return count(&self.metrics.late);
        }
        if job.reply.is_closed() {
            return count(&self.metrics.gone);
        }
        true
    }

    /// Jobs of the same request and kind, together.
    fn compute(&self, jobs: Vec<Job>) {
        let begin = Instant::now();
        let prepared = jobs.first().ok_or(LocateError::Stopped).and_then(|first| {
            let sources: Vec<Vec<Source>> = jobs.iter().map(|job| job.work.sources()).collect::<Result<_, _>>()?;
            Ok((self.options(&first.ask.request)?, sources.into_iter().flatten().collect::<Vec<_>>()))
        });
        let (options, sources) = match prepared {
            Ok(prepared) => prepared,
            Err(error) => {
                let problem = Problem::from(&error);
                for job in jobs {
                    drop(job.reply.send(Err(problem.clone())));
                }
                return;
            }
        };
        let stages = StageTimes::default();
        let control = Control::new().with_times(&stages);
        let first = &jobs[0];
        match first.work {
            Work::Embed(_) => {
                let found = self.embedded(sources, options, control);
                self.settle(jobs, found, begin, &stages, |renderer, _, photos| renderer.embeddings(photos));
            }
            Work::Steps(_) => {
                let photo = self.locator.read(sources, options.clone(), control).together();
                let steps = photo.and_then(|photo| self.locator.sampled_steps(&photo, &options));
                self.settle(jobs, vec![steps], begin, &stages, |renderer, _, steps| renderer.steps(steps));
            }
            Work::Preview(_) => {
                let small = |photo: &Upload| {
                    let name = photo.name.as_deref().unwrap_or("the photo");
                    let decoded = Photo::decode(&photo.contents, name, &options.limits).map_err(LocateError::from)?;
                    decoded.thumbnail(PREVIEW_SIDE, usize::MAX).ok_or(LocateError::Stopped)
                };
                let found = jobs.iter().flat_map(|job| job.work.photos()).map(small).collect();
                self.settle(jobs, found, begin, &stages, |_, _, found| Renderer::preview(found));
            }
            Work::Occlusion(_) => {
                let parts = |photo: &Upload| {
                    let name = photo.name.as_deref().unwrap_or("the photo");
                    let decoded = Photo::decode(&photo.contents, name, &options.limits).map_err(LocateError::from)?;
                    self.locator.occlusion(&decoded, &options)
                };
                let found = jobs.iter().flat_map(|job| job.work.photos()).map(parts).collect();
                self.settle(jobs, found, begin, &stages, |_, _, found| Renderer::occlusion(found));
            }
            Work::Album(_, ref facts) | Work::AlbumEmbeddings(_, ref facts) => {
                let request = facts.request(&first.ask.request);
                let said = request.and_then(|request| self.locator.run_album_of(sources, &request, &options, control));
                let said = said.map_err(|error| Problem::from(&error)).and_then(|run| trips::object(&run));
                let photos = vec![(); first.work.len()];
                self.settle(jobs, photos, begin, &stages, |_, _, _| Renderer::album(said.as_ref()));
            }
            Work::Locate(_) | Work::LocateEmbeddings(_) if first.ask.is_together => {
                let answer = self.locator.run_together(sources, &options, control);
                self.settle(jobs, vec![answer], begin, &stages, |renderer, job, mut answer| {
                    renderer.one(&job.ask, answer.pop().unwrap_or(Err(LocateError::Stopped)))
                });
            }
            Work::Locate(_) | Work::LocateEmbeddings(_) => {
                let found = self.located(sources, options, control);
                self.settle(jobs, found, begin, &stages, |renderer, job, found| renderer.answers(&job.ask, found));
            }
        }
    }

    /// A result for each photo; what is no photo's fault is every photo's.
    fn located(
        &self,
        sources: Vec<Source>,
        options: Arc<LocateOptions>,
        control: Control<'_>,
    ) -> Vec<Result<Located, Problem>> {
        let count = sources.len();
        let run = self.locator.run_with(sources, options, control);
        each(run.collect::<Result<Vec<_>, _>>(), count)
    }

    /// The same for embeddings.
    fn embedded(
        &self,
        sources: Vec<Source>,
        options: Arc<LocateOptions>,
        control: Control<'_>,
    ) -> Vec<Result<Read, Problem>> {
        let count = sources.len();
        let mut run = self.locator.read(sources, options, control);
        let mut all = Vec::with_capacity(count);
        let read = loop {
            match run.next_block() {
                Ok(Some(block)) => all.extend(block),
                Ok(None) => break Ok(all),
                Err(error) => break Err(error),
            }
        };
        each(read, count)
    }

    /// Gives each job its results.
    fn settle<T>(
        &self,
        jobs: Vec<Job>,
        results: Vec<T>,
        begin: Instant,
        stages: &StageTimes,
        render: impl Fn(&Renderer, &Job, Vec<T>) -> Result<(Vec<u8>, &'static str), Problem>,
    ) {
        let (decode, encode, answer) = stages.split(begin.elapsed());
        let mut results = results.into_iter();
        for job in jobs {
            let own: Vec<T> = results.by_ref().take(job.work.len()).collect();
            let count = own.len() as u64;
            let queue = begin.saturating_duration_since(job.arrived);
            let times = Times { queue, decode, encode, answer };
            let rendered = render(&self.renderer, &job, own);
            let done = rendered.map(|(body, content_type)| Done { body, content_type, times });
            if done.is_ok() {
                self.metrics.answered.fetch_add(count, Ordering::Relaxed);
                self.metrics.stage(Stage::Queue, times.queue);
                self.metrics.stage(Stage::Decode, times.decode);
                self.metrics.stage(Stage::Encode, times.encode);
                self.metrics.stage(Stage::Answer, times.answer);
            }
            let Job { reply, reserved, .. } = job;
            // Whoever asked may be gone by now.
            drop(reply.send(done));
            drop(reserved);
        }
    }

    /// How a request is answered; those of the last ones are kept. No file is read, whatever its regions are called.
    fn options(&self, request: &Request) -> Result<Arc<LocateOptions>, LocateError> {
        let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, options)) = kept.iter().find(|(known, _)| known == request) {
            return Ok(options.clone());
        }
        drop(kept);
        let mut limited = request.clone();
        limited.max_megapixels = self.max_megapixels;
        let options = Arc::new(limited.options_without_files()?);
        let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == MOST_KEPT {
            kept.remove(0);
        }
        kept.push((request.clone(), options.clone()));
        Ok(options)
    }
}

/// One for each photo, or the failure of all for each.
fn each<T>(all: Result<Vec<T>, LocateError>, count: usize) -> Vec<Result<T, Problem>> {
    match all {
        Ok(all) => all.into_iter().map(Ok).collect(),
        Err(error) => (0..count).map(|_| Err(Problem::from(&error))).collect(),
    }
}

/// Jobs of the same request and kind, in the order of their first; what is to be one answer is a group of its own.
fn groups(jobs: Vec<Job>) -> Vec<Vec<Job>> {
    let mut groups: Vec<Vec<Job>> = Vec::new();
    for job in jobs {
        let is_own = |job: &Job| {
            job.ask.is_together || matches!(job.work, Work::Steps(_) | Work::Album(..) | Work::AlbumEmbeddings(..))
        };
        let alike = |group: &&mut Vec<Job>| {
            !is_own(&group[0])
                && !is_own(&job)
                && group[0].ask.request == job.ask.request
                && std::mem::discriminant(&group[0].work) == std::mem::discriminant(&job.work)
        };
        match groups.iter_mut().find(alike) {
            Some(group) => group.push(job),
            None => groups.push(vec![job]),
        }
    }
    groups
}
