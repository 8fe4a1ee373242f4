//! The galleries that a run was asked to use.

use super::{Inputs, Locate};
use crate::hybrid::OpenHybrid;
use crate::manners;
use anyhow::{Result, ensure};
use locdiff::{LocateOptions, Locator};

impl Locate {
    /// The locator with the gallery that was asked for.
    pub(super) fn with_gallery(&self, locator: Locator) -> Result<Locator> {
        let model = locator.model();
        let Some(gallery) = self.gallery.open(
            model.config().embedding_dim,
            model.config().encoder.as_ref(),
            model.params().device(),
        )?
        else {
            return Ok(locator);
        };
        ensure!(
            self.hybrid.gallery().is_none(),
            "--gallery and --hybrid are two ways to use a gallery: leave out one of them"
        );
        let locator = locator.with_gallery(gallery)?;
        if locator.reader().calibration().gallery.as_ref().is_some_and(|mix| !mix.is_fitted()) {
            manners::note(
                "this model was never calibrated with this gallery: see `locdiff calibrate --gallery`",
            );
        }
        Ok(locator)
    }

    /// LocDiff-H, where it was asked for.
    pub(super) fn open_hybrid(
        &self,
        locator: &Locator,
        options: &LocateOptions,
        inputs: &Inputs,
    ) -> Result<Option<OpenHybrid>> {
        let name =
            self.embeddings.as_ref().map_or("the encoder".to_owned(), |path| path.display().to_string());
        let model = locator.model();
        let columns = model.config().embedding_dim;
        let encoder = inputs.encoder(locator);
        let hybrid = self.hybrid.open((&name, inputs.count(), columns), encoder, model.params().device())?;
        if hybrid.is_some() {
            ensure!(
                options.knowledge.is_none(),
                "--hybrid does not go with --within or --prior: leave out one of them"
            );
            ensure!(
                self.embeddings.is_some() || !self.hybrid.has_own_embeddings(),
                "--hybrid-embeddings go with --embeddings, row by row: leave them out for photos"
            );
        }
        Ok(hybrid)
    }
}
