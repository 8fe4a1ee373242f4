//! Waiting for something that another thread or process does.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Far beyond what the slowest machine takes for anything that a test waits for.
pub const LIMIT: Duration = Duration::from_mins(5);

/// Waits until something holds. Fails only if it never does, that is after [`LIMIT`].
#[track_caller]
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < LIMIT, "after {LIMIT:?} it does not hold yet: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until a file exists.
#[track_caller]
pub fn wait_for_file(path: &Path) {
    wait_until(&format!("{} exists", path.display()), || path.exists());
}

/// Sends a signal, such as `TERM`, to a process.
#[track_caller]
pub fn signal(process: &Child, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &process.id().to_string()]).status().expect("kill runs");
    assert!(sent.success(), "signal {name} was not sent");
}

/// Runs a command that must end by itself. Fails if it has not after [`LIMIT`].
#[track_caller]
pub fn output_in_time(command: &mut Command) -> Output {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let (id, (send, receive)) = (child.id().to_string(), mpsc::channel());
    std::thread::spawn(move || send.send(child.wait_with_output()));
    let output = receive.recv_timeout(LIMIT).unwrap_or_else(|_| {
        let _ = Command::new("kill").args(["-KILL", &id]).status();
        panic!("after {LIMIT:?} it has not ended: {command:?}")
    });
    output.expect("the program's output")
}

/// Tries something whose order of events the system decides, until it comes out as wanted. Fails if it never does.
#[track_caller]
pub fn try_until(what: &str, mut attempt: impl FnMut() -> bool) {
    assert!((0..100).any(|_| attempt()), "in a hundred attempts never: {what}");
}
