//! Wall and processor time.

use std::time::Instant;

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
