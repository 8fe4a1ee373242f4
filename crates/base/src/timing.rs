//! Where a command's time goes, for those who ask: `LOCDIFF_TIMING=1` has it on standard error.

use std::sync::{LazyLock, Mutex, PoisonError};
use std::{collections::BTreeMap, env, io, io::Write, time::Duration, time::Instant};

/// By name: time and calls.
type Spent = Mutex<BTreeMap<&'static str, (Duration, usize)>>;

static SPENT: LazyLock<Option<Spent>> = LazyLock::new(|| env::var_os("LOCDIFF_TIMING").map(|_| Mutex::default()));

/// Does some work, and adds its time to that of all work called so.
pub fn timed<T>(what: &'static str, work: impl FnOnce() -> T) -> T {
    let Some(spent) = &*SPENT else { return work() };
    let start = Instant::now();
    let result = work();
    let took = start.elapsed();
    let mut spent = spent.lock().unwrap_or_else(PoisonError::into_inner);
    let (time, count) = spent.entry(what).or_default();
    (*time, *count) = (*time + took, *count + 1);
    result
}

/// Says what was timed.
pub fn tell_times() {
    let Some(spent) = &*SPENT else { return };
    for (what, (time, count)) in &*spent.lock().unwrap_or_else(PoisonError::into_inner) {
        let _ = writeln!(io::stderr(), "time: {what}: {:.3} s in {count} calls", time.as_secs_f64());
    }
}
