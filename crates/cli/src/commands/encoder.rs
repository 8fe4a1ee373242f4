//! `locdiff encoder inspect`: what an encoder's folder is, whether it works, and how fast.

use crate::args::DeviceArg;
use anyhow::Result;
use clap::{Args, Subcommand};
use locdiff_nn::Device;
use locdiff_vision::Inspection;
use std::path::PathBuf;

/// About image encoders.
#[derive(Debug, Subcommand)]
pub(crate) enum EncoderCommand {
    /// Print what an encoder's folder is, check it and time it
    Inspect(Inspect),
}

impl EncoderCommand {
    pub(crate) fn run(self) -> Result<()> {
        match self {
            Self::Inspect(command) => command.run(),
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// Folder: one with an encoder.json, or a CLIP from Hugging Face [default: the bundled one]
    #[arg(value_name = "FOLDER")]
    folder: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceArg,
    /// Print one JSON object instead of lines
    #[arg(long)]
    json: bool,
}

impl Inspect {
    fn run(self) -> Result<()> {
        let device = Device::open(self.device.device)?;
        let encoder = locdiff::encoder_of(self.folder.as_deref(), &device)?;
        let inspection = Inspection::of(&encoder, self.folder.as_deref(), device.to_string())?;
        if self.json {
            println!("{}", inspection.to_json());
        } else {
            print!("{}", inspection.to_text());
        }
        Ok(())
    }
}
