//! Photos as commands take them: which files, how large, and what bad ones mean for the exit code.

use crate::say;
use anyhow::{Result, anyhow, bail};
use clap::Args;
use locdiff_ingest::{IngestError, PhotoLimits, Photos};
use std::path::PathBuf;

/// How photos are found and read.
#[derive(Debug, Clone, Args)]
pub(crate) struct PhotoArgs {
    /// Column of the paths in a CSV [default: path, file, file_name, filename, image, photo or img]
    #[arg(long, value_name = "NAME")]
    path_column: Option<String>,
    /// Largest photo, in millions of pixels
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=4000))]
    max_megapixels: u32,
    /// End with exit code 0 though some photos could not be used
    #[arg(long)]
    allow_bad: bool,
}

impl PhotoArgs {
    /// The photos that the arguments name; what is passed over is said, a line each.
    pub(crate) fn gather(&self, arguments: &[PathBuf]) -> Result<Photos> {
        let photos = Photos::gather(arguments, self.path_column.as_deref()).map_err(|error| match error {
            IngestError::PathColumn(error) => anyhow!("name the column with --path-column: {error}"),
            error => error.into(),
        })?;
        for skipped in photos.skipped() {
            say::warning(&format!("{}: {}; passed over", skipped.path.display(), skipped.reason));
        }
        Ok(photos)
    }

    /// The most that a photo may ask for.
    pub(crate) fn limits(&self) -> PhotoLimits {
        let usual = PhotoLimits::default();
        let max_pixels = u64::from(self.max_megapixels) * 1_000_000;
        // RGBA of 16 bits; the file's own bytes are bounded by the same number.
        PhotoLimits { max_pixels, max_bytes: usual.max_bytes.max(8 * max_pixels) }
    }

    /// The one rule for runs in which some photos were bad: everything else is done, and the exit code is 1.
    /// `list` says where the bad ones are named.
    pub(crate) fn settle(&self, bad: usize, count: usize, list: &str) -> Result<()> {
        if bad > 0 && bad == count {
            bail!("none of the {count} photos could be used: see {list}");
        }
        if bad > 0 && !self.allow_bad {
            bail!(
                "{bad} of {count} photos could not be used, the others are done: see {list}, or --allow-bad"
            );
        }
        Ok(())
    }
}
