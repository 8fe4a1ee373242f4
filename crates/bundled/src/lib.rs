//! Files of `models/` inside the binary, so that nothing has to be downloaded or found at run time.

/// `encoder.json` and `model.safetensors` of the default encoder, `models/streetview-lite0`.
///
/// ```
/// use locdiff_vision::Encoder;
/// use std::path::Path;
/// let (description, weights) = locdiff_bundled::encoder();
/// let encoder = Encoder::from_bytes(
///     (Path::new("the bundled encoder.json"), description),
///     (Path::new("the bundled model.safetensors"), weights),
/// )?;
/// assert_eq!(encoder.embedding(), 512);
/// # Ok::<(), locdiff_vision::VisionError>(())
/// ```
pub fn encoder() -> (&'static [u8], &'static [u8]) {
    (
        include_bytes!("../../../models/streetview-lite0/encoder.json"),
        include_bytes!("../../../models/streetview-lite0/model.safetensors"),
    )
}

/// The files of a model's folder.
#[derive(Debug, Clone, Copy)]
pub struct ModelFiles {
    /// `config.json`.
    pub config: &'static [u8],
    /// `model.safetensors`.
    pub weights: &'static [u8],
    /// `calibration.json`.
    pub calibration: &'static [u8],
}

/// The default model, `models/streetview-l23`.
///
/// ```
/// let files = locdiff_bundled::model();
/// assert!(files.weights.len() < 10_000_000);
/// ```
pub fn model() -> ModelFiles {
    ModelFiles {
        config: include_bytes!("../../../models/streetview-l23/config.json"),
        weights: include_bytes!("../../../models/streetview-l23/model.safetensors"),
        calibration: include_bytes!("../../../models/streetview-l23/calibration.json"),
    }
}
