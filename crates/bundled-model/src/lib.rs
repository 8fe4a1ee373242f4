//! The default model, `streetview-l31`, inside the binary, in a crate of its own because of the registry's limit of 10 MB. The default model, LocDiff-Bayes (`bayes`), is a density given the image, and its denoiser follows by Bayes' rule; the paper's network is the CS-UNet (`cs-unet`).

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

/// What the default model is called.
pub const NAME: &str = "streetview-l31";

/// The networks that read text in photos (PP-OCRv6 tiny and small, Apache-2.0), as `lab/scripts/reading_model.py` writes them.
pub fn reading() -> &'static [u8] {
    include_bytes!("../reading/reading.safetensors")
}

/// The default model.
///
/// ```
/// let files = locdiff_bundled_model::model();
/// assert!(files.weights.len() < 10_000_000);
/// ```
pub fn model() -> ModelFiles {
    ModelFiles {
        config: include_bytes!("../streetview-l31/config.json"),
        weights: include_bytes!("../streetview-l31/model.safetensors"),
        calibration: include_bytes!("../streetview-l31/calibration.json"),
    }
}
