//! The encoder that a command uses: a folder, or the one inside the binary.

use crate::args::DeviceArg;
use anyhow::Result;
use clap::Args;
use locdiff_nn::Device;
use locdiff_vision::Encoder;
use std::path::{Path, PathBuf};

/// Which encoder, and where it runs.
#[derive(Debug, Clone, Args)]
pub(crate) struct EncoderArg {
    /// Folder of the image encoder: one with an encoder.json, or a CLIP from Hugging Face [default: the bundled
    /// one]
    #[arg(long, value_name = "FOLDER", env = "LOCDIFF_ENCODER", hide_env_values = true)]
    pub(crate) encoder: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) device: DeviceArg,
}

impl EncoderArg {
    pub(crate) fn open(&self) -> Result<Encoder> {
        open(self.encoder.as_deref(), &Device::open(self.device.device)?)
    }
}

/// Opens the encoder in a folder, or the bundled one.
pub(crate) fn open(folder: Option<&Path>, device: &Device) -> Result<Encoder> {
    match folder {
        Some(folder) => Ok(Encoder::open_on(folder, device)?),
        #[cfg(feature = "bundled")]
        None => Ok(locdiff::bundled_encoder(device)?),
        #[cfg(not(feature = "bundled"))]
        None => anyhow::bail!("this program was built without the bundled encoder: give --encoder FOLDER"),
    }
}
