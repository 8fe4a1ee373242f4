//! The frame of the program: flags, exit codes, messages, progress, Ctrl-C.
//!
//! | you want | item |
//! |---|---|
//! | to run a program's command and get its exit code | [`program`] |
//! | flags that several commands have | [`args`] |
//! | commands below a command | [`subcommands`] |
//! | files and standard output, one rule for all | [`output`] |
//! | to say something on standard error | [`say`], [`verbosity`] |
//! | bars | [`progress`] |
//! | Ctrl-C | [`interrupt`] |
//! | examples in the help, completions, manual pages | [`examples`], [`manual`] |

pub(crate) mod args;
mod call;
pub(crate) mod examples;
pub mod interrupt;
pub(crate) mod manual;
pub(crate) mod output;
pub(crate) mod program;
pub(crate) mod progress;
pub(crate) mod say;
pub(crate) mod subcommands;
pub(crate) mod verbosity;
