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
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) body: Vec<u8>,
    pub(crate) content_type: &'static str,
    pub(crate) times: Times,
}

/// How long each stage took: queue, decode, encode, answer.
pub(crate) type Times = [Duration; 4];
