//! The model and the encoder that are part of this library.

use crate::{LocateError, shape::shape_of};
use locdiff_answer::Calibration;
use locdiff_model::Model;
use locdiff_nn::Device;
use locdiff_vision::Encoder;
use std::path::Path;

/// What the model that is part of this library is called.
pub const BUNDLED_MODEL_NAME: &str = locdiff_bundled_model::NAME;

/// The model that is part of this library, with its calibration.
///
/// # Errors
/// A failure of the device.
pub fn bundled_model(device: &Device) -> Result<(Model, Option<Calibration>), LocateError> {
    let locdiff_bundled_model::ModelFiles { config, weights, calibration } = locdiff_bundled_model::model();
    let name = |file: &str| Path::new("the bundled model").join(file);
    let model = Model::from_bytes(device, (&name("config.json"), config), (&name("model.safetensors"), weights))?;
    let calibration = Calibration::from_bytes(name("calibration.json"), calibration, &shape_of(&model))?;
    Ok((model, Some(calibration)))
}

/// The encoder that is part of this library, on a device.
///
/// # Errors
/// A failure of the device.
pub fn bundled_encoder(device: &Device) -> Result<Encoder, LocateError> {
    let (description, weights) = locdiff_bundled_encoder::encoder();
    let name = |file: &str| Path::new("the bundled encoder").join(file);
    Ok(Encoder::from_bytes_on((&name("encoder.json"), description), (&name("model.safetensors"), weights), device)?)
}
