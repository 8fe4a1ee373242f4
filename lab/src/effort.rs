//! How much work a method may do, and the wall and processor time that it took.

use locdiff_base::named;
use std::time::Instant;

/// The work a neural method may do; the same for all, so that none wins by its budget.
///
/// ```
/// use locdiff_lab::Effort;
/// assert!(Effort::quick().steps < Effort::full().steps);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    pub steps: u32,
    pub batch: usize,
    pub width: usize,
    /// The highest learning rate; half a cosine brings it to 0.
    pub lr: f64,
    /// Share of hidden values dropped in training.
    pub dropout: f32,
    /// Deviation of normal noise on the standardised embeddings in training: the encoder saw the training photos, so theirs
    /// are tidier than those of new ones.
    pub embedding_noise: f32,
    /// Validations during training; the best one's weights are kept.
    pub validations: u32,
    pub locdiff_degree: usize,
    /// Samples per photo, for methods that sample.
    pub samples: usize,
    pub sampler_steps: usize,
}

impl Effort {
    /// For 2 cores and half an hour for everything.
    pub fn quick() -> Self {
        Self { steps: 400, width: 256, validations: 4, locdiff_degree: 15, ..Self::full() }
    }

    /// What the tables of `docs/results.md` use.
    pub fn full() -> Self {
        Self {
            steps: 3000,
            batch: 512,
            width: 512,
            lr: 1e-3,
            dropout: 0.3,
            embedding_noise: 1.0,
            validations: 8,
            locdiff_degree: 31,
            samples: 16,
            sampler_steps: 20,
        }
    }

    /// For tests on toy data.
    #[cfg(test)]
    pub(crate) fn tiny() -> Self {
        Self {
            steps: 200,
            batch: 64,
            width: 32,
            lr: 3e-3,
            dropout: 0.0,
            embedding_noise: 0.0,
            validations: 4,
            ..Self::full()
        }
    }
}

named! {
    /// A budget by its name.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum EffortPreset: "preset" {
        Quick = "quick", "on two cores, half an hour for all methods with one seed";
        Full = "full", "what docs/results.md reports; for a GPU, or a night";
    }
}

impl EffortPreset {
    /// The work, and how many seeds there are.
    pub fn effort(self) -> (Effort, u32) {
        match self {
            Self::Quick => (Effort::quick(), 1),
            Self::Full => (Effort::full(), 3),
        }
    }
}

/// Measures from when it was started.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch {
    start: Instant,
    cpu: Option<f64>,
}

impl Stopwatch {
    pub fn start() -> Self {
        Self { start: Instant::now(), cpu: cpu_seconds() }
    }

    pub fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// Processor seconds of this process on all threads since the start, where the system tells.
    pub fn cpu_seconds(&self) -> Option<f64> {
        cpu_seconds().zip(self.cpu).map(|(now, before)| now - before)
    }
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "not every system tells")]
fn cpu_seconds() -> Option<f64> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9)
}

#[cfg(not(unix))]
fn cpu_seconds() -> Option<f64> {
    None
}
