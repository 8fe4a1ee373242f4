//! The one error type of the engine.

use locdiff_base::{BadSetting, WriteError};
use std::path::PathBuf;

/// What can go wrong in the engine: a wrong shape, an absent device, a bad file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum NnError {
    /// Operands whose shapes do not fit together.
    #[error("{op}: {detail}")]
    Shape { op: &'static str, detail: String },
    /// Operands that live on different devices.
    #[error("{op}: the operands live on different devices; move them to one device first")]
    DeviceMismatch { op: &'static str },
    /// A device name that is none of `auto`, `cpu`, `cuda` and `cuda:N`.
    #[error("unknown device `{0}`: use auto, cpu, cuda or cuda:N (N = 0, 1, …)")]
    UnknownDevice(String),
    /// CUDA was asked for and is not to be had here.
    #[error(
        "no CUDA device can be used: {reason}. Install the NVIDIA driver (libcuda) and the CUDA 13 libraries \
         cuBLASLt and NVRTC, put their folder on LD_LIBRARY_PATH, or choose the CPU"
    )]
    CudaUnavailable { reason: String },
    /// A call into CUDA failed.
    #[error("CUDA: {what} failed: {detail}")]
    Cuda { what: &'static str, detail: String },
    /// A setting outside its range.
    #[error(transparent)]
    Setting(#[from] BadSetting),
    /// A weight file that does not fit the model.
    #[error("{path}: {detail}", path = path.display())]
    WeightFile { path: PathBuf, detail: String },
    /// A file that could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A file that could not be read.
    #[error("{path}: {source}", path = path.display())]
    Io { path: PathBuf, source: std::io::Error },
}

/// A result whose error is [`NnError`].
pub type Result<T> = std::result::Result<T, NnError>;

/// Returns a shape error unless `fits` holds; `detail` is only built on failure.
pub(crate) fn check_shape(fits: bool, op: &'static str, detail: impl FnOnce() -> String) -> Result<()> {
    if fits { Ok(()) } else { Err(NnError::Shape { op, detail: detail() }) }
}
