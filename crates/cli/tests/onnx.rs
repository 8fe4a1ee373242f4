//! ONNX encoders where the ONNX Runtime library is missing, or is another file: each in a process of its own, as a
//! library that was loaded stays.

use crate::common;

use common::{command, fixture, skipped, stderr};

#[test]
fn without_the_library_one_line_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let model = fixture("onnx").canonicalize().unwrap().display().to_string();
    let inspect = |library: Option<&str>| {
        let mut command = command(folder.path(), &format!("encoder inspect --device cpu {model}"));
        command.env_clear();
        command.envs(library.map(|path| ("ORT_DYLIB_PATH", path))).output().unwrap()
    };
    let refused = |library: Option<&str>, words: &[&str]| {
        let output = inspect(library);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.lines().count() == 1 && words.iter().all(|word| message.contains(word)), "{message}");
    };
    // A file that is missing, one that is no library, and a library that is another one.
    let text = fixture("onnx/encoder.json").canonicalize().unwrap().display().to_string();
    refused(Some("/nowhere/libonnxruntime.so"), &["model.onnx", "ORT_DYLIB_PATH = /nowhere"]);
    refused(Some(&text), &["model.onnx", "ORT_DYLIB_PATH = ", "is not a usable ONNX Runtime library"]);
    if cfg!(target_os = "linux") {
        refused(Some("libc.so.6"), &["model.onnx", "ORT_DYLIB_PATH = libc.so.6", "OrtGetApiBase"]);
    }
    if inspect(None).status.success() {
        return skipped("cannot run here: the message where ONNX Runtime is missing: this system has it");
    }
    refused(None, &["model.onnx", "pip install onnxruntime", "ORT_DYLIB_PATH"]);
}
