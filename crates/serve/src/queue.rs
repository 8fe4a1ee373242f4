//! What waits for the backend: bounded, and it knows how long the wait is.

use crate::{ask::Ask, body::Reserved, problem::Problem, work::Work};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::{collections::VecDeque, time::Duration, time::Instant};
use tokio::sync::oneshot;

/// Photos that wait.
#[derive(Debug)]
pub(crate) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    most: usize,
}

#[derive(Debug)]
struct State {
    waiting: VecDeque<Job>,
    /// Photos of the jobs that wait.
    photos: usize,
    /// Photos that are computed now.
    in_work: usize,
    /// A running mean.
    seconds_per_photo: f64,
    is_closed: bool,
}

/// What the first guess of a photo's time is.
const FIRST_GUESS_S: f64 = 0.1;
/// How much the last batch counts in the mean.
const NEWEST: f64 = 0.2;

impl State {
    /// What is computed now is waited for too: only so is the longest wait that of `most` photos. Where nothing else waits, a job
    /// as large as the queue has room, however busy the backend is.
    fn has_room(&self, photos: usize, most: usize) -> bool {
        let before = if self.photos == 0 { 0 } else { self.photos + self.in_work };
        before + photos <= most
    }
}

impl Queue {
    pub(crate) fn new(most: usize) -> Self {
        let state = State {
            waiting: VecDeque::new(),
            photos: 0,
            in_work: 0,
            seconds_per_photo: FIRST_GUESS_S,
            is_closed: false,
        };
        Self { state: Mutex::new(state), changed: Condvar::new(), most }
    }

    /// Lets a job wait; false where there is no room, whole jobs only.
    pub(crate) fn push(&self, job: Job) -> bool {
        let mut state = self.state();
        if state.is_closed || !state.has_room(job.work.weight(), self.most) {
            return false;
        }
        state.photos += job.work.weight();
        state.waiting.push_back(job);
        drop(state);
        self.changed.notify_one();
        true
    }

    /// Whether one more photo has no room.
    pub(crate) fn is_full(&self) -> bool {
        !self.state().has_room(1, self.most)
    }

    /// What waited, about so many photos; waits for the first. `None` once it is closed and empty.
    pub(crate) fn take(&self, photos: usize) -> Option<Vec<Job>> {
        let mut state = self.state();
        while state.waiting.is_empty() {
            if state.is_closed {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let mut taken = Vec::new();
        let mut count = 0;
        while let Some(next) = state.waiting.front() {
            if count > 0 && count + next.work.weight() > photos {
                break;
            }
            count += next.work.weight();
            taken.extend(state.waiting.pop_front());
        }
        state.photos -= count;
        state.in_work = count;
        Some(taken)
    }

    /// The batch is done: so many photos took so long.
    pub(crate) fn done(&self, photos: usize, took: Duration) {
        let mut state = self.state();
        state.in_work = 0;
        if photos > 0 {
            let measured = took.as_secs_f64() / photos as f64;
            state.seconds_per_photo += NEWEST * (measured - state.seconds_per_photo);
        }
    }

    /// Seconds until what waits now is done.
    pub(crate) fn wait_s(&self) -> u64 {
        let state = self.state();
        ((state.photos + state.in_work) as f64 * state.seconds_per_photo).ceil().max(1.0) as u64
    }

    /// Photos that wait.
    pub(crate) fn len(&self) -> usize {
        self.state().photos
    }

    /// Takes no more; what waits is still done.
    pub(crate) fn close(&self) {
        self.state().is_closed = true;
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Budget;

    fn job(photos: usize) -> Job {
        let now = Instant::now();
        Job {
            work: Work::LocateEmbeddings(vec![Vec::new(); photos]),
            ask: Ask::parse("").unwrap(),
            arrived: now,
            deadline: now,
            reply: oneshot::channel().0,
            reserved: Budget::new(0).begin(),
        }
    }

    #[test]
    fn batches_are_what_waited_and_no_more_wait_than_fit() {
        let queue = Queue::new(10);
        for photos in [1, 2, 4, 3] {
            assert!(queue.push(job(photos)));
        }
        assert!(queue.is_full() && !queue.push(job(1)));
        let sizes = |jobs: Vec<Job>| jobs.iter().map(|job| job.work.len()).collect::<Vec<_>>();
        assert_eq!(sizes(queue.take(4).unwrap()), [1, 2]);
        assert_eq!(sizes(queue.take(2).unwrap()), [4], "a job larger than a batch goes alone");
        queue.close();
        assert!(!queue.push(job(1)));
        assert_eq!(sizes(queue.take(4).unwrap()), [3]);
        assert!(queue.take(4).is_none());
    }

    #[test]
    fn what_is_computed_is_waited_for_too() {
        let queue = Queue::new(10);
        assert!(queue.push(job(8)));
        assert_eq!(queue.take(8).unwrap().len(), 1);
        assert!(queue.push(job(1)) && queue.push(job(1)));
        assert!(queue.is_full() && !queue.push(job(1)), "8 are computed and 2 wait");
        queue.done(8, Duration::from_millis(1));
        assert!(!queue.is_full() && queue.push(job(8)));
        assert!(queue.is_full());
        // A large job is not kept out by a busy backend alone.
        assert_eq!(queue.take(10).unwrap().len(), 3);
        assert!(queue.push(job(10)));
    }

    #[test]
    fn the_wait_is_what_waits_times_the_measured_time() {
        let queue = Queue::new(1000);
        assert_eq!(queue.wait_s(), 1);
        assert!(queue.push(job(100)));
        assert_eq!(queue.wait_s(), 10);
        for _ in 0..100 {
            queue.done(1, Duration::from_millis(500));
        }
        assert_eq!(queue.wait_s(), 50);
    }
}
