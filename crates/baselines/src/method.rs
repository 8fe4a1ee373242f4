//! The methods by name.

use crate::{
    Baseline, BaselineError, Blend, CellClassifier, CellScheme, Contrastive, CoordinateGenerator,
    CoordinatePath, Effort, EncoderAblation, EncoderKind, LocDiff, NearestNeighbours, RetrievalGallery,
    VmfMixture, VonMisesFisher,
};
use locdiff_base::setting;
use locdiff_nn::Device;
use std::{fmt, str::FromStr};

/// A method that `locdiff-lab compare` knows.
///
/// ```
/// use locdiff_baselines::Method;
/// assert_eq!("knn".parse::<Method>().unwrap(), Method::NearestNeighbours);
/// assert!("magic".parse::<Method>().unwrap_err().to_string().contains("knn, planet"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// `[L]kNN`: the mode of the nearest photos' places.
    NearestNeighbours,
    /// Classification into cells.
    Cells(CellScheme),
    /// Retrieval of places by an image–location contrast.
    Contrastive(RetrievalGallery),
    /// One von Mises–Fisher density per photo.
    Vmf,
    /// A mixture of them.
    VmfMixture,
    /// Diffusion or a flow of coordinates.
    Coordinates(CoordinatePath),
    /// Diffusion of a location encoder's vectors, with a learned decoder.
    Encoder(EncoderKind),
    /// LocDiff with the paper's network.
    CsUnet,
    /// LocDiff's density mixed with retrieval's.
    Blend,
    /// LocDiff itself.
    LocDiff,
}

impl Method {
    /// All methods, in the order of tables.
    pub fn all() -> Vec<Self> {
        let mut all = Self::main();
        let ours = all.pop();
        all.extend(EncoderKind::ALL.map(Self::Encoder));
        all.extend(ours);
        all
    }

    /// All but the location encoders.
    pub fn main() -> Vec<Self> {
        vec![
            Self::NearestNeighbours,
            Self::Cells(CellScheme::Hard),
            Self::Cells(CellScheme::Smooth),
            Self::Cells(CellScheme::Combined),
            Self::Cells(CellScheme::Hierarchy),
            Self::Contrastive(RetrievalGallery::TrainingPlaces),
            Self::Contrastive(RetrievalGallery::Grid),
            Self::Vmf,
            Self::VmfMixture,
            Self::Coordinates(CoordinatePath::DiffusionR3),
            Self::Coordinates(CoordinatePath::FlowR3),
            Self::Coordinates(CoordinatePath::FlowS2),
            Self::CsUnet,
            Self::Blend,
            Self::LocDiff,
        ]
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::NearestNeighbours => "knn",
            Self::Cells(CellScheme::Hard) => "planet",
            Self::Cells(CellScheme::Smooth) => "cells",
            Self::Cells(CellScheme::Combined) => "cplanet",
            Self::Cells(CellScheme::Hierarchy) => "isns",
            Self::Contrastive(RetrievalGallery::TrainingPlaces) => "geoclip-gallery",
            Self::Contrastive(RetrievalGallery::Grid) => "geoclip-grid",
            Self::Vmf => "vmf",
            Self::VmfMixture => "vmf-mixture",
            Self::Coordinates(CoordinatePath::DiffusionR3) => "diff-r3",
            Self::Coordinates(CoordinatePath::FlowR3) => "fm-r3",
            Self::Coordinates(CoordinatePath::FlowS2) => "rfm-s2",
            Self::Encoder(kind) => kind.name(),
            Self::CsUnet => "locdiff-cs-unet",
            Self::Blend => "locdiff-knn",
            Self::LocDiff => "locdiff",
        }
    }

    /// What it is, in a few words.
    pub fn description(self) -> &'static str {
        match self {
            Self::NearestNeighbours => "[L]kNN retrieval",
            Self::Cells(CellScheme::Hard) => "PlaNet: adaptive cells",
            Self::Cells(CellScheme::Smooth) => "cells, smoothed labels (PIGEON's labels alone)",
            Self::Cells(CellScheme::Combined) => "CPlaNet: combined partitions",
            Self::Cells(CellScheme::Hierarchy) => "nested partitions (ISNs without scenes)",
            Self::Contrastive(RetrievalGallery::TrainingPlaces) => {
                "GeoCLIP-style, gallery of training places"
            }
            Self::Contrastive(RetrievalGallery::Grid) => "GeoCLIP-style, grid of 21,000 points",
            Self::Vmf => "vMF",
            Self::VmfMixture => "vMF mixture",
            Self::Coordinates(CoordinatePath::DiffusionR3) => "diffusion in R³",
            Self::Coordinates(CoordinatePath::FlowR3) => "flow matching in R³",
            Self::Coordinates(CoordinatePath::FlowS2) => "Riemannian flow matching on S²",
            Self::Encoder(kind) => kind.paper_name(),
            Self::CsUnet => "LocDiff with the paper's CS-UNet",
            Self::Blend => "LocDiff+kNN (ours)",
            Self::LocDiff => "LocDiff (ours)",
        }
    }

    /// Whether another seed gives other answers.
    pub fn is_random(self) -> bool {
        self != Self::NearestNeighbours
    }

    /// The method, to be fitted.
    pub fn build(self, device: &Device, effort: Effort, seed: u64) -> Box<dyn Baseline> {
        match self {
            Self::NearestNeighbours => Box::new(NearestNeighbours::new(device)),
            Self::Cells(scheme) => Box::new(CellClassifier::new(device, effort, seed, scheme)),
            Self::Contrastive(gallery) => Box::new(Contrastive::new(device, effort, seed, gallery)),
            Self::Vmf => Box::new(VonMisesFisher::new(device, effort, seed)),
            Self::VmfMixture => Box::new(VmfMixture::new(device, effort, seed)),
            Self::Coordinates(path) => Box::new(CoordinateGenerator::new(device, effort, seed, path)),
            Self::Encoder(kind) => Box::new(EncoderAblation::new(device, effort, seed, kind)),
            Self::CsUnet => {
                Box::new(LocDiff::with_run(device, &effort, LocDiff::cs_unet_config(&effort, seed)))
            }
            Self::Blend => Box::new(Blend::new(device, &effort, seed)),
            Self::LocDiff => Box::new(LocDiff::new(device, &effort, seed)),
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Method {
    type Err = BaselineError;

    fn from_str(name: &str) -> Result<Self, BaselineError> {
        let all = Self::all();
        all.iter().copied().find(|method| method.name() == name).ok_or_else(|| {
            let names: Vec<_> = all.iter().map(|method| method.name()).collect();
            setting("method", name, format!("give all or some of {}", names.join(", ")))
        })
    }
}
