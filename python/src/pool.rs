//! Threads that compute while Python goes on. Every call has a pool to itself while it runs: calls from several Python threads run
//! at the same time. A forked process makes new pools, because threads do not survive a fork.

use crate::errors::SettingError;
use pyo3::{call::PyCallArgs, prelude::*};
use rayon::ThreadPool;
use std::sync::{Mutex, PoisonError, mpsc};
use std::{num::NonZeroUsize, sync::atomic::AtomicBool, sync::atomic::Ordering, time::Duration};

struct Pools {
    /// The process that made them.
    process: u32,
    /// Threads of each; 0 until it is known.
    threads: usize,
    /// Those that no call uses.
    free: Vec<ThreadPool>,
}

static POOLS: Mutex<Pools> = Mutex::new(Pools { process: 0, threads: 0, free: Vec::new() });

/// Calls at the same time beyond this number leave no pool behind.
const MOST_FREE: usize = 16;

/// Works without the GIL.
pub(crate) fn compute<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    py.detach(|| {
        let pool = take()?;
        let result = pool.install(work);
        give(pool);
        Ok(result)
    })
}

fn with_pools<T>(use_them: impl FnOnce(&mut Pools) -> T) -> T {
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if pools.process != process {
        // Threads of the process that forked: waiting for their end would last for ever.
        std::mem::forget(std::mem::take(&mut pools.free));
        pools.process = process;
    }
    if pools.threads == 0 {
        let asked = std::env::var("LOCDIFF_THREADS").ok().and_then(|text| text.parse().ok());
        let cores = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        pools.threads = asked.filter(|threads| *threads > 0).unwrap_or_else(cores);
    }
    use_them(&mut pools)
}

fn take() -> PyResult<ThreadPool> {
    let (free, threads) = with_pools(|pools| (pools.free.pop(), pools.threads));
    if let Some(pool) = free {
        return Ok(pool);
    }
    let made = rayon::ThreadPoolBuilder::new().num_threads(threads).thread_name(|k| format!("locdiff-{k}")).build();
    made.map_err(|error| crate::errors::DeviceError::new_err(format!("no threads can be started: {error}")))
}

fn give(pool: ThreadPool) {
    let mut pool = Some(pool);
    with_pools(|pools| {
        let fits = |pool: &mut ThreadPool| pool.current_num_threads() == pools.threads && pools.free.len() < MOST_FREE;
        let kept = pool.take_if(fits);
        pools.free.extend(kept);
    }); // another is dropped without the lock
}

/// Set the number of threads of each call. Answers do not depend on it; 1 is best if many Python threads call at once.
#[pyfunction]
pub(crate) fn set_threads(count: usize) -> PyResult<()> {
    if count == 0 || count > 4096 {
        return Err(SettingError::new_err(format!("threads = {count} cannot be used: 1 to 4096")));
    }
    let old = with_pools(|pools| {
        pools.threads = count;
        std::mem::take(&mut pools.free)
    });
    drop(old);
    Ok(())
}

/// Return the number of threads of each call.
#[pyfunction]
pub(crate) fn threads() -> usize {
    with_pools(|pools| pools.threads)
}

/// Long work without the GIL that can be stopped: signals are answered while it runs, and what `tell` raises stops it, too.
pub(crate) struct Watch {
    /// Work that sees it set saves what it has and returns.
    pub(crate) stop: AtomicBool,
    progress: Option<Py<PyAny>>,
    done: Mutex<usize>,
    raised: Mutex<Option<PyErr>>,
}

impl Watch {
    /// Calls a Python function, if there is one.
    pub(crate) fn new(progress: Option<Py<PyAny>>) -> Self {
        Self { stop: AtomicBool::new(false), progress, done: Mutex::new(0), raised: Mutex::new(None) }
    }

    /// Works; fails with what a signal or the function raised.
    pub(crate) fn compute<T: Send>(&self, py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
        /// How often signals are looked for.
        const PAUSE: Duration = Duration::from_millis(50);
        let result = py.detach(|| {
            let pool = take()?;
            let result = std::thread::scope(|scope| {
                let (done, ended) = mpsc::channel();
                let pool = &pool;
                let worker = scope.spawn(move || {
                    let result = pool.install(work);
                    let _ = done.send(());
                    result
                });
                // The sender goes with the thread, so that a panic ends the waiting, too.
                while let Err(mpsc::RecvTimeoutError::Timeout) = ended.recv_timeout(PAUSE) {
                    if let Err(error) = Python::attach(|py| py.check_signals()) {
                        self.raise(error);
                    }
                }
                worker.join()
            });
            give(pool);
            result.map_err(|_| crate::errors::LocDiffError::new_err("the work ended with a panic: please report it"))
        });
        match self.raised.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(error) => Err(error),
            None => result,
        }
    }

    /// Calls the function with arguments.
    pub(crate) fn tell(&self, arguments: impl for<'py> PyCallArgs<'py>) {
        let Some(progress) = &self.progress else { return };
        if let Err(error) = Python::attach(|py| progress.call1(py, arguments).map(drop)) {
            self.raise(error);
        }
    }

    /// One more is done, whichever thread did it: calls the function with what the number makes, in the order of the numbers.
    pub(crate) fn advance<A: for<'py> PyCallArgs<'py>>(&self, arguments: impl FnOnce(usize) -> A) {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        *done += 1;
        if !self.stop.load(Ordering::SeqCst) {
            self.tell(arguments(*done));
        }
    }

    fn raise(&self, error: PyErr) {
        self.stop.store(true, Ordering::SeqCst);
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}
