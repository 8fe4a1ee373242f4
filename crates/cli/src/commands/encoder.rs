//! `locdiff encoder inspect`: what an encoder's folder is, and whether it works.

use crate::terminal::subcommands::subcommands;
use crate::{args::DeviceArg, args::named, output::Out};
use anyhow::Result;
use clap::Args;
use locdiff_nn::{Device, Precision};
use locdiff_vision::Inspection;
use std::{io::Write, path::PathBuf};

subcommands! {
    /// About image encoders.
    pub(crate) enum EncoderCommand {
        /// Describe an encoder's folder and check it
        Inspect(Inspect),
    }
}

#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// Folder or name: CLIP, DINOv2, SigLIP, ONNX, or one with an encoder.json [default: the bundled one]
    #[arg(value_name = "FOLDER")]
    folder: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceArg,
    /// Compute matrix products this way [default: f32; on CUDA tf32]
    #[arg(long, value_name = "NAME", value_parser = named::<Precision>())]
    precision: Option<Precision>,
    /// Print one JSON object instead of lines
    #[arg(long)]
    json: bool,
}

impl Inspect {
    fn run(self) -> Result<()> {
        let device = Device::open_with(self.device.device, self.precision)?;
        let mut options = locdiff::LocatorOptions::default();
        options.encoder.clone_from(&self.folder);
        let encoder = options.open_encoder(&device)?;
        let inspection = Inspection::of(&encoder, self.folder.as_deref(), device.to_string())?;
        if self.json {
            writeln!(Out, "{}", inspection.to_json())?;
        } else {
            write!(Out, "{}", inspection.to_text())?;
        }
        Ok(())
    }
}
