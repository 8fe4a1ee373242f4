//! The default model, `streetview-l31`, and a compact one of the paper's network, `cs-unet`, inside the binary, in a crate of its own because of the registry's limit of 10 MB. The default model, LocDiff-Bayes (`bayes`), is a density given the image, and its denoiser follows by Bayes' rule; the paper's network is the CS-UNet (`cs-unet`).

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

/// What the model of the paper's network is called.
pub const CS_UNET: &str = "cs-unet";

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

/// The model of the paper's network, as `lab/scripts/train_cs_unet.sh` makes it: a diffusion that can be watched. Its weights are compressed by gzip.
///
/// ```
/// assert!(locdiff_bundled_model::cs_unet().weights.len() < 4_000_000);
/// ```
pub fn cs_unet() -> ModelFiles {
    ModelFiles {
        config: include_bytes!("../cs-unet/config.json"),
        weights: include_bytes!("../cs-unet/model.safetensors.gz"),
        calibration: include_bytes!("../cs-unet/calibration.json"),
    }
}
