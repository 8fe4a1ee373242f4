//! The device's queues, over which CUDA spreads streams.

use std::env;

/// CUDA reads it when it is started.
const VARIABLE: &str = "CUDA_DEVICE_MAX_CONNECTIONS";
/// The most that CUDA gives. With its usual 8 some of the streams of nvJPEG's are in one queue with the network's and wait for whole
/// passes of it.
const QUEUES: &str = "32";

/// Asks for as many queues as there are, unless somebody has said how many, or other threads run already.
pub(crate) fn ask_for_queues() {
    if env::var_os(VARIABLE).is_none() && is_only_thread() {
        // SAFETY: no other thread is there to read the environment meanwhile.
        unsafe { env::set_var(VARIABLE, QUEUES) };
    }
}

/// Whether the process has no thread but this. Systems that do not tell have others.
fn is_only_thread() -> bool {
    std::fs::read_dir("/proc/self/task").is_ok_and(|threads| threads.count() == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beside_other_threads_the_environment_is_left_alone() {
        // A test has a thread beside the main one.
        assert!(!is_only_thread());
        let before = env::var_os(VARIABLE);
        ask_for_queues();
        assert_eq!(env::var_os(VARIABLE), before);
    }
}
