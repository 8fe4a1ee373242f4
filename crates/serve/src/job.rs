//! A request on its way through the queue, and what became of it.

use crate::{ask::Ask, budget::Reserved, problem::Problem, work::Work};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// A request's share of the backend.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) work: Work,
    pub(crate) ask: Ask,
    pub(crate) arrived: Instant,
    /// Nobody waits for the answer after this.
    pub(crate) deadline: Instant,
    pub(crate) reply: oneshot::Sender<Result<Done, Problem>>,
    /// The memory that the photos take.
    pub(crate) reserved: Reserved,
}

/// What became of a job.
#[derive(Debug, Default)]
pub(crate) struct Done {
    pub(crate) body: Vec<u8>,
    pub(crate) content_type: &'static str,
    pub(crate) times: Times,
}

/// How long each stage took.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Times {
    pub(crate) queue: Duration,
    pub(crate) decode: Duration,
    pub(crate) encode: Duration,
    pub(crate) answer: Duration,
}
