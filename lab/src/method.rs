//! The methods by name.

use crate::{CellScheme, CoordinatePath, Effort, EncoderKind, Fit, Result, RetrievalGallery, coordinates, encoders};
use crate::{baseline::Constant, baseline::Task, blend::Blend, bundled::Bundled, cells::CellClassifier};
use crate::{contrastive::Contrastive, knn::NearestNeighbours, locdiff::LocDiff, vmf::VmfMixture, vmf::VonMisesFisher};
use locdiff_base::{Named, setting};
use locdiff_model::{LossKind, QuadratureRecipe};
use locdiff_nn::Device;
use std::{fmt, str::FromStr};

/// A method that `locdiff-lab compare` knows.
///
/// ```
/// use locdiff_lab::Method;
/// assert_eq!("knn".parse::<Method>().unwrap(), Method::NearestNeighbours);
/// assert!("magic".parse::<Method>().unwrap_err().to_string().contains("constant, knn, planet"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// `[L]kNN`: the mode of the nearest photos' places.
    NearestNeighbours,
    /// Classification into cells.
    Cells(CellScheme),
    /// Retrieval of places by an image–location contrast.
    Contrastive(RetrievalGallery),
    Vmf,
    VmfMixture,
    /// Diffusion or a flow of coordinates.
    Coordinates(CoordinatePath),
    /// Diffusion of a location encoder's vectors, with a learned decoder.
    Encoder(EncoderKind),
    /// The same with the density loss over pixels, from a single evaluation.
    EncoderDensity(EncoderKind),
    /// LocDiff with the paper's network and mean squared error, read by samples.
    CsUnetMse,
    /// LocDiff with the paper's network, read by samples.
    CsUnetSamples,
    CsUnet,
    /// Always the best place of the validation photos.
    Constant,
    Bundled,
    /// LocDiff's density mixed with retrieval's.
    Blend,
    /// The bundled model's density mixed with retrieval's.
    BundledBlend,
    /// LocDiff with the paper's network, loss and sampler.
    Paper,
    LocDiff,
}

/// What is made of the bundled model.
const BUNDLED: [Method; 2] = [Method::Bundled, Method::BundledBlend];
/// Numbers of an embedding that the bundled model takes.
const BUNDLED_COLUMNS: usize = 512;

/// All but the location encoders, in the order of tables, with their names on the command line and what they are.
const MAIN: [(Method, &str, &str); 19] = [
    (Method::Constant, "constant", "always the best constant place"),
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
    (Method::Paper, "locdiff-paper", "LocDiff (paper: CS-UNet, its loss, its sampler)"),
    (Method::CsUnet, "locdiff-cs-unet", "LocDiff (CS-UNet, likelihood loss)"),
    (Method::Bundled, "bundled", "LocDiff-Bayes (default)"),
    (Method::BundledBlend, "bundled-knn", "LocDiff-Bayes (default) and kNN"),
    (Method::Blend, "locdiff-knn", "LocDiff-Bayes, trained here, without map factors, and kNN"),
    (Method::LocDiff, "locdiff", "LocDiff-Bayes, trained here, without map factors"),
];

/// Rows of the table of encoders that are SHDD's, by its own codec.
const SHDD: [(Method, &str, &str); 2] = [
    (Method::CsUnetMse, "shdd-mse", "SHDD and its codec, mean squared error, samples"),
    (Method::CsUnetSamples, "shdd-samples", "SHDD and its codec, nll, samples"),
];

impl Method {
    pub fn all() -> Vec<Self> {
        let mut all = Self::main();
        let ours = all.pop();
        all.extend(EncoderKind::ALL.iter().map(|(kind, ..)| Self::Encoder(*kind)));
        all.extend(ours);
        all
    }

    /// All but the location encoders, and the bundled model, which takes embeddings of one encoder alone: see [`Method::for_columns`].
    pub fn main() -> Vec<Self> {
        MAIN.iter().map(|(method, ..)| *method).filter(|method| !BUNDLED.contains(method)).collect()
    }

    /// Of several methods those that take embeddings of this size, with the bundled model where it is one.
    pub fn for_columns(methods: Vec<Self>, columns: usize) -> Vec<Self> {
        let mut all = methods;
        if columns == BUNDLED_COLUMNS {
            let at = all.len().saturating_sub(2);
            all.splice(at..at, BUNDLED);
        }
        all
    }

    fn entry(self) -> (&'static str, &'static str) {
        match self {
            Self::Encoder(kind) => return (kind.name(), kind.paper_name()),
            Self::EncoderDensity(kind) => return (kind.density_name(), kind.paper_name()),
            _ => (),
        }
        let entry = MAIN.iter().chain(&SHDD).find(|(method, ..)| *method == self);
        entry.map(|(_, name, description)| (*name, *description)).expect("MAIN lists every method")
    }

    pub fn name(self) -> &'static str {
        self.entry().0
    }

    pub fn description(self) -> &'static str {
        self.entry().1
    }

    /// Whether another seed gives other answers.
    pub fn is_random(self) -> bool {
        !matches!(self, Self::NearestNeighbours | Self::Constant | Self::Bundled | Self::BundledBlend)
    }

    pub fn build(self, device: &Device, effort: Effort, seed: u64) -> Box<Fit<'static>> {
        let device = device.clone();
        Box::new(move |data, progress| {
            let task = Task { method: self.name(), device: &device, effort: &effort, seed, data };
            let locdiff = |run, progress| LocDiff::fit(&device, &effort, run, data, progress);
            let by_rule = |run, progress| LocDiff::fit_by_rule(&device, &effort, run, data, progress);
            Ok(match self {
                Self::NearestNeighbours => Box::new(NearestNeighbours::fit(&device, data, None, progress)?),
                Self::Cells(scheme) => Box::new(CellClassifier::fit(task, scheme, progress)?),
                Self::Contrastive(gallery) => Box::new(Contrastive::fit(task, gallery, progress)?),
                Self::Vmf => Box::new(VonMisesFisher::fit(task, progress)?),
                Self::VmfMixture => Box::new(VmfMixture::fit(task, progress)?),
                Self::Coordinates(path) => Box::new(coordinates::fit(task, path, progress)?),
                Self::Encoder(kind) => Box::new(encoders::fit(task, kind, progress)?),
                Self::EncoderDensity(kind) => Box::new(encoders::EncoderDensity::fit(task, kind, progress)?),
                Self::CsUnetMse => {
                    let mut run = LocDiff::cs_unet_config(&effort, seed);
                    (run.model.loss, run.model.quadrature) = (LossKind::L2, QuadratureRecipe::None);
                    Box::new(locdiff(run, progress)?)
                }
                Self::CsUnetSamples => {
                    Box::new(locdiff(LocDiff::cs_unet_config(&effort, seed), progress)?.by_samples())
                }
                Self::CsUnet => Box::new(by_rule(LocDiff::cs_unet_config(&effort, seed), progress)?),
                Self::Paper => Box::new(by_rule(LocDiff::paper_config(&effort, seed), progress)?),
                Self::Constant => Box::new(Constant::fit(data)?),
                Self::Bundled => Box::new(Bundled::open(&device)?),
                Self::BundledBlend => Box::new(Blend::fit(&device, Bundled::open(&device)?, data, progress)?),
                Self::Blend => {
                    let model = LocDiff::of_task(task, &mut |share| progress(0.5 * share))?;
                    Box::new(Blend::fit(&device, model, data, &mut |share| progress(0.5 + 0.5 * share))?)
                }
                Self::LocDiff => Box::new(LocDiff::of_task(task, progress)?),
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
    type Err = anyhow::Error;

    fn from_str(name: &str) -> Result<Self> {
        let mut all = Self::all();
        all.extend(BUNDLED);
        all.extend([Self::CsUnetMse, Self::CsUnetSamples]);
        all.extend(EncoderKind::ALL.iter().map(|(kind, ..)| Self::EncoderDensity(*kind)));
        all.iter().copied().find(|method| method.name() == name).ok_or_else(|| {
            let names: Vec<_> = all.iter().map(|method| method.name()).collect();
            setting("method", name, format!("give all or some of {}", names.join(", ")))
        })
    }
}
