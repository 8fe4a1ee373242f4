//! The model and the encoder that are part of this library.

use crate::{LocateError, in_memory::FilesInMemory};
use locdiff_model::answer::Calibration;
use locdiff_model::Model;
use locdiff_nn::Device;
use locdiff_vision::Encoder;

/// What the model that is part of this library is called.
pub const BUNDLED_MODEL_NAME: &str = locdiff_bundled_model::NAME;

fn files() -> FilesInMemory<'static> {
    let locdiff_bundled_model::ModelFiles { config, weights, calibration } = locdiff_bundled_model::model();
    let (encoder, encoder_weights) = locdiff_bundled_encoder::encoder();
    FilesInMemory { called: "the bundled", encoder, encoder_weights, config, weights, calibration }
}

/// The model that is part of this library, with its calibration.
///
/// # Errors
/// A failure of the device.
pub fn bundled_model(device: &Device) -> Result<(Model, Option<Calibration>), LocateError> {
    files().model(device)
}

/// The encoder that is part of this library, on a device.
///
/// # Errors
/// A failure of the device.
pub fn bundled_encoder(device: &Device) -> Result<Encoder, LocateError> {
    files().encoder(device)
}
