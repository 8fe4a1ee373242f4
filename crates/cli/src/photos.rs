//! Photos as commands take them: which files, how large, and what bad ones mean for the exit code.

use crate::{output::misuse, say, verbosity};
use anyhow::{Result, anyhow, bail};
use clap::Args;
use locdiff::LocateOptions;
use locdiff_vision::sources::{IngestError, PhotoLimits, PhotoList, Photos};
use std::path::PathBuf;

/// How photos are found and read.
#[derive(Debug, Clone, Args)]
pub(crate) struct PhotoArgs {
    /// Read paths from this CSV column [default: path, file, file_name, filename, image, photo or img]
    #[arg(long, value_name = "NAME")]
    path_column: Option<String>,
    /// Find the pictures of a published list (MP16, YFCC, OSV-5M …) in a folder, or in a .zip, .tar or .parquet file. Repeat for several
    #[arg(long, value_name = "WHERE")]
    images: Vec<PathBuf>,
    /// Refuse photos with more than N million pixels
    #[arg(long, value_name = "N", default_value_t = LocateOptions::default().max_megapixels, value_parser = clap::value_parser!(u32).range(1..=4000))]
    max_megapixels: u32,
    /// Exit with 0 even if some photos cannot be used
    #[arg(long)]
    allow_bad: bool,
}

impl PhotoArgs {
    /// As without flags, but for where the pictures of a list are.
    pub(crate) fn with_images(images: Vec<PathBuf>) -> Self {
        Self { path_column: None, images, max_megapixels: LocateOptions::default().max_megapixels, allow_bad: false }
    }

    /// The photos that the arguments name; what is passed over is said, a line each, or counted where it is no photo by its name.
    pub(crate) fn gather(&self, arguments: &[PathBuf]) -> Result<Photos> {
        if !self.images.is_empty() {
            return self.listed(arguments);
        }
        let photos = Photos::gather(arguments, self.path_column.as_deref()).map_err(|error| match error {
            IngestError::PathColumn(error) => anyhow!("name the column with --path-column: {error}"),
            error => error.into(),
        })?;
        for skipped in photos.skipped() {
            say::warning(&format!("{}: {}; skipped", skipped.path.display(), skipped.reason));
        }
        if !photos.passed_over.is_empty() {
            verbosity::note(&format!("skipped: {}", photos.passed_over));
        }
        Ok(photos)
    }

    /// The photos of a published list: rows that are bad or without a picture are counted, not told one by one.
    fn listed(&self, arguments: &[PathBuf]) -> Result<Photos> {
        let [list] = arguments else { return misuse("--images goes with one list of photos: name one") };
        let list = PhotoList::read(list)?;
        let photos = Photos::listed(&list, &self.images)?;
        let name = list.path.display();
        if list.is_swapped {
            verbosity::note(&format!("{name}: its columns of latitude and longitude are swapped"));
        }
        let tell = |count: usize, first: Option<String>, what: &str| {
            if let Some(first) = first {
                say::warning(&format!("{name}: {count} rows {what}, the first is {first}; skipped"));
            }
        };
        let bad = photos.skipped().iter().map(|skipped| format!("{}: {}", skipped.path.display(), skipped.reason));
        tell(photos.skipped().len(), bad.into_iter().next(), "or shards cannot be used");
        tell(photos.absent.len(), photos.absent.first().cloned(), "have no picture here");
        Ok(photos)
    }

    /// The most that a photo may ask for.
    pub(crate) fn limits(&self) -> PhotoLimits {
        PhotoLimits::of_megapixels(self.max_megapixels)
    }

    pub(crate) fn fill(&self, options: &mut LocateOptions) {
        options.max_megapixels = self.max_megapixels;
    }

    /// The one rule for runs in which some photos were bad: everything else is done, and the exit code is 1.
    /// `list` says where the bad ones are named.
    pub(crate) fn settle(&self, bad: usize, count: usize, list: &str) -> Result<()> {
        if bad > 0 && bad == count {
            bail!("none of {count} photos can be used: see {list}");
        }
        if bad > 0 && !self.allow_bad {
            bail!("{bad} of {count} photos cannot be used; the others are done. See {list}, or add --allow-bad");
        }
        Ok(())
    }
}
