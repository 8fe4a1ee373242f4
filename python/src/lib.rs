//! The module `locdiff._locdiff`, the Python side of the Rust crates. Long calls run without the GIL, each on its own pool of threads
//! (`pool.rs`). The package `locdiff` is a thin layer above it.

mod again;
mod album;
mod answer;
mod batch;
mod codec;
mod density;
mod errors;
mod gallery;
mod input;
mod judging;
mod locator;
mod options;
mod places;
mod pool;
mod training;

use pyo3::{prelude::*, types::PyString};
use std::{ffi::OsString, sync::mpsc, time::Duration};

/// Run the command `locdiff` with arguments, the first of which is the program's name, and return its exit code. Ctrl-C stops a command
/// that saves its work (130). For other commands it raises `KeyboardInterrupt`, and the command goes on in its thread.
#[pyfunction]
fn run_command(py: Python<'_>, arguments: Vec<Bound<'_, PyString>>) -> PyResult<u8> {
    /// How often signals are looked for.
    const PAUSE: Duration = Duration::from_millis(50);
    const STACK: usize = 8 << 20; // as a main thread has
    let given: Vec<OsString> = arguments.iter().map(|one| one.extract()).collect::<PyResult<_>>()?;
    let (done, ended) = mpsc::channel();
    let thread = std::thread::Builder::new().stack_size(STACK);
    thread.spawn(move || {
        let _ = done.send(locdiff_cli::run_command(given));
    })?;
    py.detach(move || {
        loop {
            match ended.recv_timeout(PAUSE) {
                Ok(code) => return Ok(code),
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    if let Err(error) = Python::attach(|py| py.check_signals())
                        && !locdiff_cli::interrupt::ask_to_stop()
                    {
                        return Err(error);
                    }
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => {
                    let message = "the command ended with a panic: please report it";
                    return Err(errors::LocDiffError::new_err(message));
                }
            }
        }
    })
}

#[pymodule(gil_used = false)]
fn _locdiff(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    errors::add(module)?;
    module.add_class::<answer::Answer>()?;
    module.add_class::<codec::Codec>()?;
    module.add_class::<density::Density>()?;
    module.add_class::<gallery::Gallery>()?;
    module.add_class::<locator::Locator>()?;
    module.add_function(wrap_pyfunction!(answer::_unpickle_answer, module)?)?;
    module.add_function(wrap_pyfunction!(run_command, module)?)?;
    module.add_function(wrap_pyfunction!(pool::set_threads, module)?)?;
    module.add_function(wrap_pyfunction!(pool::threads, module)?)?;
    module.add_function(wrap_pyfunction!(training::train, module)?)?;
    module.add_function(wrap_pyfunction!(training::calibrate, module)?)?;
    module.add_function(wrap_pyfunction!(judging::evaluate, module)?)?;
    module.add_function(wrap_pyfunction!(batch::plan, module)?)?;
    module.add_function(wrap_pyfunction!(batch::describe, module)?)?;
    module.add_function(wrap_pyfunction!(batch::merge, module)?)?;
    module.add_function(wrap_pyfunction!(batch::part, module)?)?;
    module.add_class::<batch::Runner>()
}
