//! Standard output, closed or full: the program decides what that means.

use crate::WriteError;
use std::{io, io::Write, sync::OnceLock};

type Rule = fn(io::Error) -> io::Result<()>;

static RULE: OnceLock<Rule> = OnceLock::new();

/// Standard output. Its errors name it.
#[derive(Debug, Clone, Copy)]
pub struct StandardOutput;

impl StandardOutput {
    /// Sets what a failed write means in this process: an error, or nothing where the work goes on. The first call counts.
    pub fn on_failure(rule: Rule) {
        let _ = RULE.set(rule);
    }
}

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        io::stdout().write(bytes).or_else(|error| failed(error).map(|()| bytes.len()))
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush().or_else(failed)
    }
}

fn failed(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::Interrupted {
        return Err(error); // the caller tries again
    }
    let named = io::Error::new(error.kind(), WriteError::new("standard output", error));
    match RULE.get() {
        Some(rule) => rule(named),
        None => Err(named),
    }
}
