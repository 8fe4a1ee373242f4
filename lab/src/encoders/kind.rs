//! The encoders by name.

use crate::contrastive::FourierFeatures;
use locdiff_base::{Named, named};
use std::sync::LazyLock;

named! {
    /// A location encoder of the paper's appendix. λ is the longitude and φ the latitude in radians; λˢ and φˢ are these divided by
    /// the scale αˢ, one of 16 (8 for `dfs`) from 0.05 to 1 in geometric steps.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum EncoderKind: "location encoder" {
        /// One number for each cell of a grid of 15°: 1 inside, 0 outside.
        Tile = "encoder-tile", "tile + NN";
        /// sin and cos of πλ/180° and of πφ/90° (Mac Aodha et al.).
        Wrap = "encoder-wrap", "wrap + NN";
        /// Gaussian kernels about random training places, in the plane of longitude and latitude (Space2Vec).
        Rbf = "encoder-rbf", "rbf + NN";
        /// √(2/W)·cos(ω·x + b) with random ω and b, in the same plane (Rahimi and Recht).
        Rff = "encoder-rff", "rff + NN";
        /// sin and cos of λˢ and φˢ (Space2Vec).
        Grid = "encoder-grid", "Space2Vec-grid + NN";
        /// sin and cos along three directions 120° apart (Space2Vec).
        Theory = "encoder-theory", "Space2Vec-theory + NN";
        Xyz = "encoder-xyz", "xyz + NN";
        /// sin and cos of 2ˢπ times each coordinate of the unit vector (NeRF).
        Nerf = "encoder-nerf", "NeRF + NN";
        /// sin φˢ, cos φˢ cos λˢ, cos φˢ sin λˢ (Sphere2Vec).
        SphereC = "encoder-sphere-c", "Sphere2Vec-sphereC + NN";
        SphereCPlus = "encoder-sphere-c-plus", "Sphere2Vec-sphereC+ + NN";
        /// sin φˢ, cos φˢ cos λ, cos φ cos λˢ, cos φˢ sin λ, cos φ sin λˢ (Sphere2Vec).
        SphereM = "encoder-sphere-m", "Sphere2Vec-sphereM + NN";
        SphereMPlus = "encoder-sphere-m-plus", "Sphere2Vec-sphereM+ + NN";
        /// All products of sines and cosines of φⁿ and λᵐ: the double Fourier sphere.
        Dfs = "encoder-dfs", "Sphere2Vec-dfs + NN";
        /// A sine layer on spherical harmonics (Rußwurm et al.).
        SirenSh = "encoder-siren-sh", "Siren (SH) + NN";
        /// Random Fourier features at three scales, what GeoCLIP's location network sees (Vivanco Cepeda et al.).
        GeoClip = "encoder-geoclip", "GeoCLIP's features + NN";
        /// The harmonics themselves, with the same decoder as the others: SHDD's code without its codec.
        Shdd = "encoder-shdd", "SHDD + NN";
    }
}

/// Scales of the multi-scale encoders, and of the double Fourier sphere, whose size goes with their square.
pub(crate) const SCALES: usize = 16;
pub(crate) const DFS_SCALES: usize = 8;
/// Octaves of NeRF.
pub(crate) const OCTAVES: usize = 6;
/// The smallest and the largest αˢ in radians: features from 2000 km to the whole Earth.
pub(crate) const MIN_RADIUS: f64 = 0.05;
pub(crate) const MAX_RADIUS: f64 = 1.0;
/// Size of the random encoders.
pub(crate) const RANDOM_SIZE: usize = 128;
/// Side of a tile in degrees.
pub(crate) const TILE_DEG: f64 = 15.0;
/// Degree of the harmonics under the sine layer.
pub(crate) const SIREN_DEGREE: usize = 9;

/// Degree of the harmonics as an encoding.
pub(crate) const SHDD_DEGREE: usize = 31;

/// In the appendix's order, with the names on the command line and in the paper.
impl EncoderKind {
    pub(crate) fn dimension(self) -> usize {
        match self {
            Self::Tile => (360.0 / TILE_DEG) as usize * (180.0 / TILE_DEG) as usize,
            Self::Wrap => 4,
            Self::Rbf | Self::Rff | Self::SirenSh => RANDOM_SIZE,
            Self::Grid => 4 * SCALES,
            Self::Theory | Self::SphereCPlus => 6 * SCALES,
            Self::Xyz => 3,
            Self::Nerf => 6 * OCTAVES,
            Self::SphereC => 3 * SCALES,
            Self::SphereM => 5 * SCALES,
            Self::SphereMPlus => 8 * SCALES,
            Self::Dfs => 4 * DFS_SCALES + 4 * DFS_SCALES * DFS_SCALES,
            Self::GeoClip => FourierFeatures::SIZE,
            Self::Shdd => (SHDD_DEGREE + 1) * (SHDD_DEGREE + 1),
        }
    }

    /// The name of its method with the density loss.
    pub(crate) fn density_name(self) -> &'static str {
        static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
            EncoderKind::ALL.iter().map(|(_, name, _)| name.replace("encoder-", "density-")).collect()
        });
        &NAMES[self as usize]
    }

    pub(crate) fn paper_name(self) -> &'static str {
        Self::ALL.iter().find(|(kind, ..)| *kind == self).map_or("", |(.., name)| name)
    }
}
