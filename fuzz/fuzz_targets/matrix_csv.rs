#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| locdiff_data::fuzzing::matrix_csv(bytes));
