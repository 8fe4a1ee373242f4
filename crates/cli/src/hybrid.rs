//! Retrieval as commands use it: the gallery to open, and LocDiff-H on top of samples.

use crate::args::{named, parse_positive};
use crate::output::Usage;
use crate::progress;
use anyhow::{Context, Result, ensure};
use clap::Args;
use locdiff::{
    Centres, Codec, Device, Embedding, Fusion, Gallery, Hybrid, HybridAnswer, HybridOptions, HybridRule,
    Prediction, Retriever,
};
use locdiff_base::Named;
use locdiff_data::{Fingerprint, RowFile};
use locdiff_geoclip::{GeoClip, GeoClipCache, open_geoclip_gallery};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The list of a gallery's photos in its folder.
pub(crate) const PHOTO_LIST: &str = "photos.csv";

/// LocDiff-H: retrieval within caps around the samples.
#[derive(Debug, Args)]
#[command(next_help_heading = "Hybrid")]
pub(crate) struct HybridArgs {
    /// Answer by retrieval near the samples: a gallery's folder, or, with --geoclip, a file of places
    #[arg(long, value_name = "GALLERY")]
    hybrid: Option<PathBuf>,
    /// GeoCLIP's folder, where the gallery's vectors are GeoCLIP's (see `locdiff import geoclip`)
    #[arg(long, value_name = "FOLDER", requires = "hybrid")]
    geoclip: Option<PathBuf>,
    /// Embeddings for the retrieval, row by row, where they are not the model's
    #[arg(long, value_name = "FILE", requires = "hybrid")]
    hybrid_embeddings: Option<PathBuf>,
    /// Their tensor in a safetensors file that holds several
    #[arg(long, value_name = "NAME", requires = "hybrid_embeddings")]
    hybrid_tensor: Option<String>,
    /// How samples and retrieval become one place
    #[arg(long, value_parser = named::<HybridRule>(), default_value = HybridRule::Fused.name(), requires = "hybrid")]
    hybrid_rule: HybridRule,
    /// What candidates lie around
    #[arg(long, value_parser = named::<Centres>(), default_value = Centres::Samples.name(), requires = "hybrid")]
    hybrid_around: Centres,
    /// Candidates lie within this distance [default: fused 400, paper 200]
    #[arg(long, value_name = "KM", value_parser = parse_positive, requires = "hybrid")]
    hybrid_radius_km: Option<f64>,
    /// Temperature of the softmax over cosines [default: the retriever's own]
    #[arg(long, value_name = "T", value_parser = parse_positive, requires = "hybrid")]
    hybrid_temperature: Option<f64>,
    /// Weight of the model's log density in the fused rule [default: 1]
    #[arg(long, value_name = "W", requires = "hybrid")]
    hybrid_weight: Option<f64>,
    /// Below this share of probability around the best candidate the model's own answer stands [default: 0]
    #[arg(long, value_name = "SHARE", requires = "hybrid")]
    hybrid_confidence: Option<f64>,
}

impl HybridArgs {
    fn options(&self) -> Result<HybridOptions> {
        // The paper's rule takes the one best match: there is nothing to weigh.
        let idle = [
            ("--hybrid-temperature", self.hybrid_temperature.is_some()),
            ("--hybrid-weight", self.hybrid_weight.is_some()),
            ("--hybrid-confidence", self.hybrid_confidence.is_some()),
        ];
        if let (HybridRule::Paper, Some((flag, _))) =
            (self.hybrid_rule, idle.into_iter().find(|(_, is_given)| *is_given))
        {
            return Err(Usage(format!("{flag} means nothing with --hybrid-rule paper: leave it out")).into());
        }
        let mut options = self.hybrid_rule.options();
        options.centres = self.hybrid_around;
        options.radius_km = self.hybrid_radius_km.unwrap_or(options.radius_km);
        options.temperature = self.hybrid_temperature.or(options.temperature);
        options.confidence = self.hybrid_confidence.unwrap_or(options.confidence);
        if let Some(weight) = self.hybrid_weight {
            let floor = options.fusion.map_or(0.1, |fusion| fusion.floor);
            options.fusion = Some(Fusion { weight, floor });
        }
        Ok(options)
    }

    /// The gallery's folder, where one was asked for.
    pub(crate) fn gallery(&self) -> Option<&Path> {
        self.hybrid.as_deref()
    }

    /// Whether the retrieval has embeddings of its own.
    pub(crate) fn has_own_embeddings(&self) -> bool {
        self.hybrid_embeddings.is_some()
    }

    /// The hybrid, where one was asked for, for so many photos with embeddings of so many numbers.
    pub(crate) fn open(
        &self,
        (name, rows, columns): (&str, usize, usize),
        encoder: Option<&Fingerprint>,
        device: &Device,
    ) -> Result<Option<OpenHybrid>> {
        let Some(gallery) = &self.hybrid else { return Ok(None) };
        let options = self.options()?;
        let retriever = open_retriever(gallery, self.geoclip.as_deref(), device).context("--hybrid")?;
        let own = match &self.hybrid_embeddings {
            Some(path) => Some(RowFile::open(path, self.hybrid_tensor.as_deref())?),
            None => None,
        };
        if let Some(file) = &own {
            ensure!(
                file.rows() == rows,
                "{} has {} rows, {name} has {rows}: row k of both must be the same photo",
                file.name(),
                file.rows()
            );
        }
        let (name, columns, encoder) = own
            .as_ref()
            .map_or((name, columns, encoder), |file| (file.name(), file.columns(), file.encoder()));
        let hybrid = Hybrid::new(retriever, options);
        hybrid.check_embeddings(name, columns, encoder)?;
        Ok(Some(OpenHybrid { hybrid: Arc::new(hybrid), own }))
    }
}

/// LocDiff-H for the photos of one run.
pub(crate) struct OpenHybrid {
    pub(crate) hybrid: Arc<Hybrid>,
    /// Embeddings for the retrieval, where they are not the model's.
    own: Option<RowFile>,
}

impl OpenHybrid {
    /// The embedding for the retrieval of a row, where it has one of its own.
    pub(crate) fn own_embedding(&self, row: usize) -> Result<Option<Embedding>> {
        Ok(self.own.as_ref().map(|file| file.embedding(row)).transpose()?)
    }

    /// The hybrid's place for a row of which the model says `prediction`.
    pub(crate) fn settle(
        &self,
        codec: &Codec,
        row: usize,
        embedding: &Embedding,
        prediction: &Prediction,
    ) -> Result<HybridAnswer> {
        let own = self.own_embedding(row)?;
        let embedding = own.as_ref().unwrap_or(embedding);
        Ok(self.hybrid.settle(codec, embedding.values(), prediction)?)
    }
}

/// A gallery's folder, or a file of places with GeoCLIP, with a progress bar while vectors are made.
pub(crate) fn open_retriever(
    gallery: &Path,
    geoclip: Option<&Path>,
    device: &Device,
) -> Result<Box<dyn Retriever>> {
    let bar = progress::bar("embedding places", None);
    let retriever =
        locdiff::open_retriever(gallery, geoclip, device, |done, _| bar.set_position(done as u64));
    bar.finish_and_clear();
    Ok(retriever?)
}

/// GeoCLIP's gallery of a file of places, with a progress bar while it is made.
pub(crate) fn open_places(cache: &GeoClipCache, model: &GeoClip) -> Result<Gallery> {
    let bar = progress::bar("embedding places", None);
    let gallery = open_geoclip_gallery(cache, model, |done, _| bar.set_position(done as u64))?;
    bar.finish_and_clear();
    Ok(gallery)
}
