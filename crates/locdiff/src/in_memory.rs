//! A model and an encoder whose files are in memory: those that are part of this library, or a page's.

use crate::{LocateError, Locator, shape::shape_of};
use locdiff_model::Model;
use locdiff_model::answer::Calibration;
use locdiff_nn::Device;
use locdiff_vision::Encoder;
use std::path::Path;

/// The contents of a model's and an encoder's files.
#[derive(Debug, Clone, Copy)]
pub struct FilesInMemory<'a> {
    /// What messages and fingerprints say before "model" and "encoder".
    pub called: &'a str,
    /// `encoder.json` of the encoder.
    pub encoder: &'a [u8],
    /// `model.safetensors` of the encoder.
    pub encoder_weights: &'a [u8],
    /// `config.json` of the model.
    pub config: &'a [u8],
    /// `model.safetensors` of the model.
    pub weights: &'a [u8],
    /// `calibration.json` of the model.
    pub calibration: &'a [u8],
}

impl FilesInMemory<'_> {
    /// The model with its calibration.
    pub(crate) fn model(&self, device: &Device) -> Result<(Model, Option<Calibration>), LocateError> {
        let name = |file: &str| Path::new(&format!("{} model", self.called)).join(file);
        let config = (&*name("config.json"), self.config);
        let model = Model::from_bytes(device, config, (&name("model.safetensors"), self.weights))?;
        let calibration = Calibration::from_bytes(name("calibration.json"), self.calibration, &shape_of(&model))?;
        Ok((model, Some(calibration)))
    }

    /// The encoder.
    pub(crate) fn encoder(&self, device: &Device) -> Result<Encoder, LocateError> {
        let name = |file: &str| Path::new(&format!("{} encoder", self.called)).join(file);
        let description = (&*name("encoder.json"), self.encoder);
        Ok(Encoder::from_bytes_on(description, (&name("model.safetensors"), self.encoder_weights), device)?)
    }
}

impl Locator {
    /// A locator of files in memory, on the CPU.
    ///
    /// # Errors
    /// Files that cannot be used, or do not belong together.
    pub fn from_memory(files: &FilesInMemory<'_>) -> Result<Self, LocateError> {
        let device = Device::cpu();
        let (model, calibration) = files.model(&device)?;
        Self::new(model, calibration, Some(files.encoder(&device)?))
    }
}
