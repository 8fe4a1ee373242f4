//! `locdiff-lab reproduce`: tables of the paper, regenerated.

mod anchors;
mod diffusion;
mod drift;
mod gallery_bias;
mod models;
mod timing;

use anyhow::Result;
use clap::Subcommand;
use locdiff_baselines::ModelTableKind;

#[derive(Debug, Subcommand)]
pub(crate) enum Reproduce {
    /// The perturbation-drift table: how far a decoded place moves when its code gets Gaussian noise
    Drift(drift::Drift),
    /// The gallery-bias table: how many places of GeoCLIP's gallery lie near the photos of Im2GPS3k
    GalleryBias(gallery_bias::GalleryBias),
    /// The table of training losses
    Losses(Box<models::ReproduceModels>),
    /// The table of location encoders and decoders, with their drift
    Encoders(Box<models::ReproduceModels>),
    /// The table of bottleneck widths
    Widths(Box<models::ReproduceModels>),
    /// Accuracy by degree L
    Degrees(Box<models::ReproduceModels>),
    /// When sampling beats a single evaluation at pure noise: by degree, training photos, steps and guidance
    Diffusion(Box<diffusion::ReproduceDiffusion>),
    /// The generalizability table: a gallery against even grids
    Anchors(Box<anchors::ReproduceAnchors>),
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
