//! The one thread that owns the model: it computes what waited while it computed.

use crate::ask::Settings;
use crate::job::{Done, Job, Times, Upload, Work};
use crate::metrics::{Metrics, Stage};
use crate::problem::{Kind, Problem};
use crate::queue::Queue;
use crate::render::Renderer;
use crate::trips::Trips;
use locdiff::{
    Answer, EmbeddedPhoto, Embedding, LocateError, LocateOptions, Locator, Photo, PhotoLimits, SampleOptions,
};
use rayon::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

/// Settings whose options are kept: a country's outline is read once.
const MOST_KEPT: usize = 16;

/// What the backend's thread holds.
pub(crate) struct Backend {
    locator: Arc<Locator>,
    limits: PhotoLimits,
    queue: Arc<Queue>,
    metrics: Arc<Metrics>,
    kept: RwLock<Vec<(Settings, LocateOptions)>>,
    renderer: Renderer,
    trips: Trips,
}

/// A photo between its stages.
type Embedded = Result<EmbeddedPhoto, LocateError>;

impl Backend {
    pub(crate) fn new(
        locator: Arc<Locator>,
        limits: PhotoLimits,
        queue: Arc<Queue>,
        metrics: Arc<Metrics>,
    ) -> Self {
        Self {
            locator,
            limits,
            queue,
            metrics,
            kept: RwLock::default(),
            renderer: Renderer::default(),
            trips: Trips::default(),
        }
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

    /// Jobs of the same settings and kind, together.
    fn compute(&self, jobs: Vec<Job>) {
        let Some(first) = jobs.first() else { return };
        let options = match self.options(&first.ask.settings) {
            Ok(options) => options,
            Err(error) => {
                let problem = Problem::from(&error);
                for job in jobs {
                    drop(job.reply.send(Err(problem.clone())));
                }
                return;
            }
        };
        let begin = Instant::now();
        let mut times = Times::default();
        let embedded = self.embedded(&jobs, &options, &mut times);
        let before = Instant::now();
        match first.work {
            Work::Embed(_) => {
                self.settle(jobs, embedded, times, begin, |renderer, _, photos| renderer.embeddings(photos));
                return;
            }
            Work::Steps(_) => {
                let steps = one(embedded).and_then(|photo| self.locator.sampled_steps(&photo, &options));
                times.answer = before.elapsed();
                self.settle(jobs, vec![steps], times, begin, |renderer, _, steps| renderer.steps(steps));
                return;
            }
            Work::Album(_) => {
                let photos = vec![(); embedded.len()];
                let said = self.trips.answer(&self.locator, first, embedded, &options);
                times.answer = before.elapsed();
                self.settle(jobs, photos, times, begin, |_, _, _| Renderer::album(said.as_ref()));
                return;
            }
            Work::Locate(_) | Work::LocateEmbeddings(_) => {}
        }
        let answers = if first.ask.is_together {
            vec![one(embedded).and_then(|photo| {
                let samples = options.sampling.samples.max(photo.views.len());
                let sampling = SampleOptions { samples, ..options.sampling };
                self.locator.answer(&photo, &options.clone().with_sampling(sampling))
            })]
        } else {
            self.locator.answer_each(embedded, &options)
        };
        times.answer = before.elapsed();
        self.settle(
            jobs,
            answers,
            times,
            begin,
            |renderer, job, answers: Vec<Result<Answer, LocateError>>| {
                renderer.answers(&job.ask, &job.work, answers)
            },
        );
    }

    /// Gives each job its results.
    fn settle<T>(
        &self,
        jobs: Vec<Job>,
        results: Vec<T>,
        times: Times,
        begin: Instant,
        render: impl Fn(&Renderer, &Job, Vec<T>) -> Result<(Vec<u8>, &'static str), Problem>,
    ) {
        let mut results = results.into_iter();
        for job in jobs {
            let own: Vec<T> = results.by_ref().take(job.work.len()).collect();
            let count = own.len() as u64;
            let times = Times { queue: begin.saturating_duration_since(job.arrived), ..times };
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

    /// The photos of all jobs as embeddings: as many at a time as there are threads, and as their pixels allow.
    fn embedded(&self, jobs: &[Job], options: &LocateOptions, times: &mut Times) -> Vec<Embedded> {
        let mut photos: Vec<&Upload> = Vec::new();
        let mut embedded = Vec::new();
        for job in jobs {
            match &job.work {
                Work::LocateEmbeddings(rows) => embedded.extend(rows.iter().enumerate().map(embedding)),
                work => photos.extend(work.photos()),
            }
        }
        for few in runs(&photos, self.limits.max_pixels) {
            let begin = Instant::now();
            let (decoding, encoding) = (AtomicU64::new(0), AtomicU64::new(0));
            let timed = |sum: &AtomicU64, since: Instant| {
                sum.fetch_add(since.elapsed().as_nanos() as u64, Ordering::Relaxed);
            };
            // A thread each: decoding a photo and its embedding take one.
            embedded.par_extend(few.par_iter().map(|upload| {
                let since = Instant::now();
                let name = upload.name.as_deref().unwrap_or("the photo");
                let photo = Photo::decode(&upload.contents, name, &self.limits);
                timed(&decoding, since);
                let since = Instant::now();
                let embedded = self.locator.embed(&photo?, options);
                timed(&encoding, since);
                Ok(match &upload.name {
                    Some(name) => embedded?.with_name(name),
                    None => embedded?,
                })
            }));
            let (decoding, encoding) = (decoding.into_inner() as f64, encoding.into_inner() as f64);
            let decode = begin.elapsed().mul_f64(decoding / (decoding + encoding).max(1.0));
            times.decode += decode;
            times.encode += begin.elapsed().saturating_sub(decode);
        }
        embedded
    }

    fn options(&self, settings: &Settings) -> Result<LocateOptions, LocateError> {
        let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, options)) = kept.iter().find(|(known, _)| known == settings) {
            return Ok(options.clone());
        }
        drop(kept);
        let options = settings.options()?;
        let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == MOST_KEPT {
            kept.remove(0);
        }
        kept.push((settings.clone(), options.clone()));
        Ok(options)
    }
}

fn embedding((row, values): (usize, &Vec<f32>)) -> Embedded {
    let name = format!("row {}", row + 1);
    Ok(EmbeddedPhoto::from(Embedding::new(values.clone(), None)?).with_name(name))
}

/// Runs of photos with no more pixels together than one photo may have.
fn runs<'a, 'b>(photos: &'b [&'a Upload], most_pixels: u64) -> Vec<&'b [&'a Upload]> {
    let mut runs = Vec::new();
    let mut begin = 0;
    while begin < photos.len() {
        let (mut end, mut pixels) = (begin + 1, photos[begin].pixels);
        while end < photos.len() && pixels + photos[end].pixels <= most_pixels {
            pixels += photos[end].pixels;
            end += 1;
        }
        runs.push(&photos[begin..end]);
        begin = end;
    }
    runs
}

/// Photos of one place as one; the first that failed fails them all.
fn one(photos: Vec<Embedded>) -> Embedded {
    Ok(EmbeddedPhoto::together(photos.into_iter().collect::<Result<Vec<_>, _>>()?))
}

/// Jobs of the same settings and kind, in the order of their first; what is to be one answer is a group of its own.
fn groups(jobs: Vec<Job>) -> Vec<Vec<Job>> {
    let mut groups: Vec<Vec<Job>> = Vec::new();
    for job in jobs {
        let is_own = |job: &Job| job.ask.is_together || matches!(job.work, Work::Steps(_) | Work::Album(_));
        let alike = |group: &&mut Vec<Job>| {
            !is_own(&group[0])
                && !is_own(&job)
                && group[0].ask.settings == job.ask.settings
                && std::mem::discriminant(&group[0].work) == std::mem::discriminant(&job.work)
        };
        match groups.iter_mut().find(alike) {
            Some(group) => group.push(job),
            None => groups.push(vec![job]),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Told;

    #[test]
    fn runs_hold_no_more_pixels_than_one_photo_may_have() {
        let upload =
            |pixels: u64| Upload { name: None, contents: bytes::Bytes::new(), pixels, told: Told::default() };
        let photos: Vec<Upload> = [5, 5, 90, 20, 1, 1, 1, 1, 1, 1].map(upload).into();
        let photos: Vec<&Upload> = photos.iter().collect();
        let runs = runs(&photos, 100);
        let sizes: Vec<usize> = runs.iter().map(|run| run.len()).collect();
        assert_eq!(sizes, [3, 7]);
    }
}
