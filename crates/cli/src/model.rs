//! The model and encoder that answer: folders, or those inside the binary.

use crate::args::DeviceArg;
use crate::encoder;
use anyhow::{Context, Result};
use clap::Args;
use locdiff::{Calibration, Device, Locator, Model, open_model};
use std::path::{Path, PathBuf};

/// Which model, which encoder, and where they run.
#[derive(Debug, Args)]
pub(crate) struct ModelArgs {
    /// Folder of a model [default: the bundled streetview-l31]
    #[arg(long, value_name = "FOLDER", env = "LOCDIFF_MODEL", hide_env_values = true)]
    model: Option<PathBuf>,
    /// Folder of the image encoder [default: the bundled one]
    #[arg(long, value_name = "FOLDER", env = "LOCDIFF_ENCODER", hide_env_values = true)]
    encoder: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceArg,
}

impl ModelArgs {
    pub(crate) fn open(&self, with_encoder: bool) -> Result<Locator> {
        let device = Device::open(self.device.device)?;
        let model = model_of(self.model.as_deref(), &device)?;
        let encoder =
            if with_encoder { Some(encoder::open(self.encoder.as_deref(), &device)?) } else { None };
        Ok(Locator::new(model, encoder)?)
    }
}

/// The model in a folder, or the bundled one, with its calibration.
pub(crate) fn model_of(folder: Option<&Path>, device: &Device) -> Result<(Model, Option<Calibration>)> {
    match folder {
        Some(folder) => open_model(folder, device).context("--model"),
        #[cfg(feature = "bundled")]
        None => Ok(locdiff::bundled_model(device)?),
        #[cfg(not(feature = "bundled"))]
        None => anyhow::bail!("this program was built without the bundled model: give --model FOLDER"),
    }
}
