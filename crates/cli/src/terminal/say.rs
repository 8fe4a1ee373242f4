//! Lines for people on standard error: names from outside cannot steer the terminal.

use super::{output::Aside, verbosity};
use locdiff_base::one_line;
use std::io::Write;

/// A line as it is, in one write.
pub(crate) fn line(text: &str) {
    let _ = Aside.write_all(format!("{text}\n").as_bytes());
}

/// A question whose answer is typed behind it.
pub(crate) fn ask(question: &str) {
    let _ = write!(Aside, "{question} [y/N] ");
}

/// Something was passed over, and the work goes on.
pub(crate) fn warning(text: &str) {
    if !verbosity::is_quiet() {
        line(&format!("warning: {}", one_line(text)));
    }
}

/// One photo failed, or the command did.
pub(crate) fn error(text: &str) {
    line(&format!("{} {}", verbosity::error_word(), one_line(text)));
}

/// Messages from the outermost to the cause, each said once: many name their cause in themselves.
pub(crate) fn chain(error: &anyhow::Error) -> String {
    let mut said = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if said.is_empty() {
            said = cause;
        } else if !said.contains(&cause) {
            said = format!("{said}: {cause}");
        }
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn a_cause_is_said_once() {
        let read = std::fs::read("/nowhere/x").map_err(|cause| {
            let text = format!("cannot read x: {cause}");
            anyhow::Error::from(cause).context(text)
        });
        let said = chain(&read.context("--encoder").unwrap_err());
        assert_eq!(said.matches("os error 2").count(), 1, "{said}");
        assert!(said.starts_with("--encoder: cannot read x: "), "{said}");
    }
}
