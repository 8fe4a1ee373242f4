//! A compact model of the paper's network, a CS-UNet, inside the binary: a diffusion that can be watched, beside the default model.
//!
//! A crate of its own, because with the other models the package would pass the registry's limit of 10 MiB.

/// What the model is called.
pub const NAME: &str = "cs-unet";

/// `config.json`, `model.safetensors` and `calibration.json` of the model, as `lab/scripts/train_cs_unet.sh` writes them.
///
/// ```
/// let [config, weights, calibration] = locdiff_bundled_cs_unet::files();
/// assert!(config.starts_with(b"{") && calibration.starts_with(b"{") && weights.len() <= 6_000_000);
/// ```
pub fn files() -> [&'static [u8]; 3] {
    [
        include_bytes!("../cs-unet/config.json"),
        include_bytes!("../cs-unet/model.safetensors"),
        include_bytes!("../cs-unet/calibration.json"),
    ]
}
