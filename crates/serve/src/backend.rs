//! The one thread that owns the model: it computes what waited while it computed.

use crate::queue::{Done, Job, Queue};
use crate::{engine::Answered, engine::Engine, metrics::Metrics, problem::Kind, work::Work};
use locdiff::{Control, Locator, StageTimes};
use std::{panic::AssertUnwindSafe, panic::catch_unwind, sync::Arc, sync::atomic::Ordering, time::Instant};

/// What the backend's thread holds.
pub(crate) struct Backend {
    engine: Engine,
    queue: Arc<Queue>,
    metrics: Arc<Metrics>,
}

impl Backend {
    pub(crate) fn new(locator: Arc<Locator>, max_megapixels: u32, queue: Arc<Queue>, metrics: Arc<Metrics>) -> Self {
        Self { engine: Engine::new(locator, max_megapixels), queue, metrics }
    }

    /// Until the queue is closed and empty.
    pub(crate) fn run(&self) {
        while let Some(jobs) = self.queue.take(self.engine.locator().photos_per_block()) {
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
        let counter = match job {
            _ if Instant::now() >= job.deadline => &self.metrics.late,
            _ if job.reply.is_closed() => &self.metrics.gone,
            _ => return true,
        };
        counter.fetch_add(job.work.len() as u64, Ordering::Relaxed);
        false
    }

    /// Jobs of the same request and kind, together.
    fn compute(&self, jobs: Vec<Job>) {
        let (begin, stages) = (Instant::now(), StageTimes::default());
        let asked: Vec<_> = jobs.iter().map(|job| (&job.ask, &job.work)).collect();
        let answered = self.engine.compute(&asked, Control::new().with_times(&stages));
        let (decode, encode, answer) = stages.split(begin.elapsed());
        for (job, Answered { results, rendered }) in jobs.into_iter().zip(answered) {
            let times = [begin.saturating_duration_since(job.arrived), decode, encode, answer];
            let done = rendered.map(|(body, content_type)| Done { body, content_type, times });
            if done.is_ok() {
                self.metrics.answered.fetch_add(results as u64, Ordering::Relaxed);
                self.metrics.stages(times);
            }
            let Job { reply, reserved, .. } = job;
            // The client may be gone by now.
            drop(reply.send(done));
            drop(reserved);
        }
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
                && group[0].ask.options == job.ask.options
                && std::mem::discriminant(&group[0].work) == std::mem::discriminant(&job.work)
        };
        if let Some(group) = groups.iter_mut().find(alike) { group.push(job) } else { groups.push(vec![job]) }
    }
    groups
}
