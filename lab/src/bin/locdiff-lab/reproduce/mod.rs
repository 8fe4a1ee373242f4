//! `locdiff-lab reproduce`: tables of the paper, regenerated.

mod trained;
mod untrained;

use crate::terminal::subcommands::subcommands;
use locdiff_lab::ModelTableKind;

subcommands! {
    pub(crate) enum Reproduce {
        /// The perturbation-drift table: how far a decoded place moves when its code gets Gaussian noise
        Drift(untrained::Drift),
        /// The gallery-bias table: how many places of GeoCLIP's gallery lie near the photos of Im2GPS3k
        GalleryBias(untrained::GalleryBias),
        /// The table of training losses
        Losses(Box<trained::Models>) => ModelTableKind::Losses,
        /// The table of location encoders and decoders, with their drift
        Encoders(Box<trained::Models>) => ModelTableKind::Encoders,
        /// The table of bottleneck widths
        Widths(Box<trained::Models>) => ModelTableKind::Widths,
        /// Accuracy by degree L
        Degrees(Box<trained::Models>) => ModelTableKind::Degrees,
        /// When sampling beats a single evaluation at pure noise: by degree, training photos, steps and guidance
        Diffusion(Box<trained::Diffusion>),
        /// The generalizability table: a gallery against even grids
        Anchors(Box<trained::GridAnchors>),
        /// Times of unit operations and of training
        Timing(untrained::ReproduceTiming),
    }
}
