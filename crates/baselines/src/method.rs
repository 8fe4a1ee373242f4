//! The methods by name.

use crate::{
    BaselineError, CellScheme, CoordinatePath, Effort, EncoderKind, Fit, RetrievalGallery,
    baseline::Task,
    blend::Blend,
    cells::CellClassifier,
    contrastive::Contrastive,
    coordinates, encoders,
    error::Result,
    knn::NearestNeighbours,
    locdiff::LocDiff,
    vmf::{COMPONENTS, VmfMixture, VonMisesFisher},
};
use locdiff_base::{Named, setting};
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

/// All but the location encoders, in the order of tables, with their names on the command line and what they are.
const MAIN: [(Method, &str, &str); 15] = [
    (Method::NearestNeighbours, "knn", "[L]kNN retrieval"),
    (Method::Cells(CellScheme::Hard), "planet", "PlaNet: adaptive cells"),
    (Method::Cells(CellScheme::Smooth), "cells", "cells, smoothed labels (PIGEON's labels alone)"),
    (Method::Cells(CellScheme::Combined), "cplanet", "CPlaNet: combined partitions"),
    (Method::Cells(CellScheme::Hierarchy), "isns", "nested partitions (ISNs without scenes)"),
    (
        Method::Contrastive(RetrievalGallery::TrainingPlaces),
        "geoclip-gallery",
        "GeoCLIP-style, gallery of training places",
    ),
    (Method::Contrastive(RetrievalGallery::Grid), "geoclip-grid", "GeoCLIP-style, grid of 21,000 points"),
    (Method::Vmf, "vmf", "vMF"),
    (Method::VmfMixture, "vmf-mixture", "vMF mixture"),
    (Method::Coordinates(CoordinatePath::DiffusionR3), "diff-r3", "diffusion in R³"),
    (Method::Coordinates(CoordinatePath::FlowR3), "fm-r3", "flow matching in R³"),
    (Method::Coordinates(CoordinatePath::FlowS2), "rfm-s2", "Riemannian flow matching on S²"),
    (Method::CsUnet, "locdiff-cs-unet", "LocDiff with the paper's CS-UNet"),
    (Method::Blend, "locdiff-knn", "LocDiff+kNN (ours)"),
    (Method::LocDiff, "locdiff", "LocDiff (ours)"),
];

impl Method {
    /// All methods, in the order of tables.
    pub fn all() -> Vec<Self> {
        let mut all = Self::main();
        let ours = all.pop();
        all.extend(EncoderKind::ALL.iter().map(|(kind, ..)| Self::Encoder(*kind)));
        all.extend(ours);
        all
    }

    /// All but the location encoders.
    pub fn main() -> Vec<Self> {
        MAIN.map(|(method, ..)| method).into()
    }

    fn entry(self) -> (&'static str, &'static str) {
        if let Self::Encoder(kind) = self {
            return (kind.name(), kind.paper_name());
        }
        let entry = MAIN.iter().find(|(method, ..)| *method == self);
        entry.map(|(_, name, description)| (*name, *description)).expect("MAIN lists every method")
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        self.entry().0
    }

    /// What it is, in a few words.
    pub fn description(self) -> &'static str {
        self.entry().1
    }

    /// Whether another seed gives other answers.
    pub fn is_random(self) -> bool {
        self != Self::NearestNeighbours
    }

    /// The method, to be fitted.
    pub fn build(self, device: &Device, effort: Effort, seed: u64) -> Box<Fit<'static>> {
        let device = device.clone();
        Box::new(move |data, progress| {
            let task = Task { method: self.name(), device: &device, effort: &effort, seed, data };
            let locdiff = |run, progress| LocDiff::fit(&device, &effort, run, data, progress);
            Ok(match self {
                Self::NearestNeighbours => Box::new(NearestNeighbours::fit(&device, data, progress)?),
                Self::Cells(scheme) => Box::new(CellClassifier::fit(task, scheme, progress)?),
                Self::Contrastive(gallery) => Box::new(Contrastive::fit(task, gallery, progress)?),
                Self::Vmf => Box::new(VonMisesFisher::fit(task, progress)?),
                Self::VmfMixture => Box::new(VmfMixture::fit(task, COMPONENTS, progress)?),
                Self::Coordinates(path) => Box::new(coordinates::fit(task, path, progress)?),
                Self::Encoder(kind) => Box::new(encoders::fit(task, kind, progress)?),
                Self::CsUnet => Box::new(locdiff(LocDiff::cs_unet_config(&effort, seed), progress)?),
                Self::Blend => Box::new(Blend::fit(task, progress)?),
                Self::LocDiff => Box::new(locdiff(LocDiff::run_config(&effort, seed), progress)?),
            })
        })
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Method {
    type Err = BaselineError;

    fn from_str(name: &str) -> Result<Self> {
        let all = Self::all();
        all.iter().copied().find(|method| method.name() == name).ok_or_else(|| {
            let names: Vec<_> = all.iter().map(|method| method.name()).collect();
            setting("method", name, format!("give all or some of {}", names.join(", ")))
        })
    }
}
