//! The encoder that a command uses: a folder, or the one inside the binary.

use anyhow::Result;
use clap::Args;
use locdiff_vision::{Encoder, Photo};
use std::path::{Path, PathBuf};

/// Which encoder.
#[derive(Debug, Clone, Args)]
pub(crate) struct EncoderArg {
    /// Folder of the image encoder [default: the bundled streetview-lite0]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) encoder: Option<PathBuf>,
}

impl EncoderArg {
    pub(crate) fn open(&self) -> Result<Encoder> {
        open(self.encoder.as_deref())
    }
}

/// Opens the encoder in a folder, or the bundled one.
pub(crate) fn open(folder: Option<&Path>) -> Result<Encoder> {
    Ok(if let Some(folder) = folder {
        Encoder::open(folder)?
    } else {
        let (description, weights) = locdiff_bundled::encoder();
        let name = Path::new("the bundled encoder");
        Encoder::from_bytes((name, description), (name, weights))?
    })
}

/// A colourful picture that is the same everywhere, to try an encoder with.
pub(crate) fn test_picture() -> Photo {
    const SIDE: u32 = 256;
    let pixel = |i: u32| {
        let (x, y) = (i % SIDE, i / SIDE);
        [x as u8, y as u8, (x * y / 64) as u8]
    };
    let rgb = (0..SIDE * SIDE).flat_map(pixel).collect();
    Photo::from_rgb(SIDE, SIDE, rgb).expect("three bytes a pixel")
}
