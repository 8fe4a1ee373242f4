//! `locdiff`: where on Earth was this photo taken, with an honest uncertainty.

use std::process::ExitCode;

fn main() -> ExitCode {
    locdiff_cli::run_command(std::env::args_os()).into()
}
