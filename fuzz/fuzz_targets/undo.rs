#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| locdiff_fuzz::undo(bytes));
