//! The model and the encoder that are part of this library.

use crate::{Locator, in_memory::FilesInMemory};

impl Locator {
    /// The name of the model that is part of this library.
    pub const BUNDLED_MODEL: &'static str = locdiff_bundled_model::NAME;
}

pub(crate) fn files() -> FilesInMemory<'static> {
    let locdiff_bundled_model::ModelFiles { config, weights, calibration } = locdiff_bundled_model::model();
    let (encoder, encoder_weights) = locdiff_bundled_encoder::encoder();
    FilesInMemory { called: "the bundled", encoder, encoder_weights, config, weights, calibration }
}
