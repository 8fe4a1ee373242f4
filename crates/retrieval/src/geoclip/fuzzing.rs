//! The body of the fuzz target: any bytes may come, and nothing may panic, hang, run or take memory beyond the input's
//! size. `fuzz/` runs it under libFuzzer, the command's test `fuzz_smoke` on a stable toolchain.

use crate::geoclip::pth::{pickled_tensors, read_pth};

/// A `.pth` file; and, so that a fuzzer need not make zip archives, the same bytes as the pickle in one.
pub fn pth(bytes: &[u8]) {
    match read_pth("fuzz", bytes) {
        Ok(tensors) => {
            let mut total = 0;
            for tensor in tensors.values() {
                assert_eq!(tensor.shape.iter().product::<usize>(), tensor.values.len());
                assert!(tensor.values.iter().all(|value| value.is_finite()));
                total += tensor.values.len();
            }
            assert!(total <= 4 * bytes.len());
        }
        Err(error) => assert!(!error.to_string().contains(['\n', '\r']), "one line: {error}"),
    }
    if let Err(reason) = pickled_tensors(bytes) {
        assert!(!reason.contains(['\n', '\r']), "one line: {reason}");
    }
}
