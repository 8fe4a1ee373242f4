//! What LocDiff's programs, `locdiff` and `locdiff-lab`, share.
//!
//! | you want | item |
//! |---|---|
//! | to run a program's command and get its exit code | [`program`] |
//! | flags that several commands have | [`args`] |
//! | files and standard output, one rule for all | [`output`] |
//! | to say something on standard error | [`say`], [`verbosity`] |
//! | bars | [`progress`] |
//! | Ctrl-C | [`interrupt`] |
//! | examples in the help, completions, manual pages | [`examples`], [`manual`] |
#![expect(clippy::missing_errors_doc, reason = "every error is a message for whoever typed the command")]

pub mod args;
mod call;
pub mod examples;
pub mod interrupt;
pub mod manual;
pub mod output;
pub mod program;
pub mod progress;
pub mod say;
pub mod verbosity;
