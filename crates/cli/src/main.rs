//! `locdiff`: where on Earth was this photo taken, with a calibrated uncertainty.

use std::process::ExitCode;

fn main() -> ExitCode {
    // It wants to be the only thread.
    locdiff_nn::photos::ask_for_queues();
    // The handler has a thread of its own: from there nothing but this ends a command that cannot stop by itself.
    locdiff_cli::interrupt::handle(|| std::process::exit(130));
    locdiff_cli::run_command(std::env::args_os()).into()
}
