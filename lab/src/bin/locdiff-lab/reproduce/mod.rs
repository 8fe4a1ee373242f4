//! `locdiff-lab reproduce`: tables of the paper, regenerated.

mod drift;
mod gallery_bias;
mod timing;
mod trained;

use anyhow::Result;
use clap::Subcommand;
use locdiff_lab::ModelTableKind;

#[derive(Debug, Subcommand)]
pub(crate) enum Reproduce {
    /// The perturbation-drift table: how far a decoded place moves when its code gets Gaussian noise
    Drift(drift::Drift),
    /// The gallery-bias table: how many places of GeoCLIP's gallery lie near the photos of Im2GPS3k
    GalleryBias(gallery_bias::GalleryBias),
    /// The table of training losses
    Losses(Box<trained::Models>),
    /// The table of location encoders and decoders, with their drift
    Encoders(Box<trained::Models>),
    /// The table of bottleneck widths
    Widths(Box<trained::Models>),
    /// Accuracy by degree L
    Degrees(Box<trained::Models>),
    /// When sampling beats a single evaluation at pure noise: by degree, training photos, steps and guidance
    Diffusion(Box<trained::Diffusion>),
    /// The generalizability table: a gallery against even grids
    Anchors(Box<trained::GridAnchors>),
    /// Times of unit operations and of training
    Timing(timing::ReproduceTiming),
}

impl Reproduce {
    pub(crate) fn run(self) -> Result<()> {
        match self {
            Self::Drift(drift) => drift.run(),
            Self::GalleryBias(table) => table.run(),
            Self::Losses(table) => table.run(ModelTableKind::Losses),
            Self::Encoders(table) => table.run(ModelTableKind::Encoders),
            Self::Widths(table) => table.run(ModelTableKind::Widths),
            Self::Degrees(table) => table.run(ModelTableKind::Degrees),
            Self::Diffusion(table) => table.run(),
            Self::Anchors(table) => table.run(),
            Self::Timing(timing) => timing.run(),
        }
    }
}
