//! Retrieval as commands use it: the gallery to open, and LocDiff-H on top of samples.

use crate::args::parse_positive;
use crate::progress;
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use locdiff_data::RowFile;
use locdiff_gallery::{
    Centres, Fusion, Gallery, HybridAnswer, HybridOptions, PhotoRetriever, Retriever, VectorType, hybrid,
};
use locdiff_geoclip::{GeoClip, GeoClipCache, GeoClipRetriever, open_geoclip_gallery};
use locdiff_nn::Device;
use locdiff_shdd::Codec;
use locdiff_sphere::{LatLon, UnitVec};
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RuleArg {
    Fused,
    Paper,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CentresArg {
    Samples,
    Answer,
}

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
    /// fused: the model's density times a softmax of the retrieval; paper: the best match near a sample
    #[arg(long, value_enum, default_value_t = RuleArg::Fused, requires = "hybrid")]
    hybrid_rule: RuleArg,
    /// Candidates lie around every sample, or around the model's own answer
    #[arg(long, value_enum, default_value_t = CentresArg::Samples, requires = "hybrid")]
    hybrid_around: CentresArg,
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
    fn options(&self) -> HybridOptions {
        let mut options = match self.hybrid_rule {
            RuleArg::Fused => HybridOptions::default(),
            RuleArg::Paper => HybridOptions::PAPER,
        };
        options.centres = match self.hybrid_around {
            CentresArg::Samples => Centres::Samples,
            CentresArg::Answer => Centres::Answer,
        };
        options.radius_km = self.hybrid_radius_km.unwrap_or(options.radius_km);
        options.temperature = self.hybrid_temperature.or(options.temperature);
        options.confidence = self.hybrid_confidence.unwrap_or(options.confidence);
        if let Some(weight) = self.hybrid_weight {
            let floor = options.fusion.map_or(0.1, |fusion| fusion.floor);
            options.fusion = Some(Fusion { weight, floor });
        }
        options
    }

    /// Whether the retrieval has embeddings of its own.
    pub(crate) fn has_own_embeddings(&self) -> bool {
        self.hybrid_embeddings.is_some()
    }

    /// The hybrid, where one was asked for, for so many photos with embeddings of so many numbers.
    pub(crate) fn open(
        &self,
        (name, rows, columns): (&str, usize, usize),
        device: &Device,
    ) -> Result<Option<Hybrid>> {
        let Some(gallery) = &self.hybrid else { return Ok(None) };
        let retriever = open_retriever(gallery, self.geoclip.as_deref(), device).context("--hybrid")?;
        let own = match &self.hybrid_embeddings {
            Some(path) => Some(RowFile::open(path, self.hybrid_tensor.as_deref())?),
            None => None,
        };
        if let Some(file) = &own {
            anyhow::ensure!(
                file.rows() == rows,
                "{} has {} rows, {name} has {rows}: row k of both must be the same photo",
                file.name(),
                file.rows()
            );
        }
        let (name, columns) = own.as_ref().map_or((name, columns), |file| (file.name(), file.columns()));
        check_dimension(name, columns, retriever.as_ref())?;
        Ok(Some(Hybrid { retriever, own, options: self.options() }))
    }
}

/// Fails where embeddings are not the retriever's.
pub(crate) fn check_dimension(name: &str, columns: usize, retriever: &dyn Retriever) -> Result<()> {
    anyhow::ensure!(
        columns == retriever.input_dimension(),
        "{name} has embeddings of {columns} numbers, the retrieval takes {}: use the encoder the gallery was built with",
        retriever.input_dimension()
    );
    Ok(())
}

/// A gallery's folder, or a file of places with GeoCLIP.
pub(crate) fn open_retriever(
    gallery: &Path,
    geoclip: Option<&Path>,
    device: &Device,
) -> Result<Box<dyn Retriever>> {
    let Some(folder) = geoclip else {
        anyhow::ensure!(
            gallery.is_dir(),
            "{} is no folder: build a gallery with `locdiff gallery build`, or give --geoclip for a file of places",
            gallery.display()
        );
        return Ok(Box::new(PhotoRetriever::new(Gallery::open(gallery)?)?));
    };
    let model = GeoClip::open(folder, device)?;
    let gallery = if gallery.is_dir() {
        Gallery::open(gallery)?
    } else {
        let cache =
            GeoClipCache { places: gallery.to_owned(), model: folder.to_owned(), vectors: VectorType::F16 };
        open_places(&cache, &model)?
    };
    Ok(Box::new(GeoClipRetriever::new(model, gallery)?))
}

/// GeoCLIP's gallery of a file of places, with a progress bar while it is made.
pub(crate) fn open_places(cache: &GeoClipCache, model: &GeoClip) -> Result<Gallery> {
    let bar = progress::bar("embedding places", None);
    let gallery = open_geoclip_gallery(cache, model, |done, _| bar.set_position(done as u64))?;
    bar.finish_and_clear();
    Ok(gallery)
}

/// What the model says about a photo.
pub(crate) struct Found<'a> {
    /// The photo's number, from 0.
    pub(crate) row: usize,
    pub(crate) embedding: &'a [f32],
    /// The samples' places.
    pub(crate) samples: &'a [LatLon],
    /// The model's own answer.
    pub(crate) plain: LatLon,
    /// The pooled code; its field is the mean of the samples' densities, cut at the code's degree.
    pub(crate) code: &'a [f64],
}

/// LocDiff-H for the photos of one run.
pub(crate) struct Hybrid {
    retriever: Box<dyn Retriever>,
    own: Option<RowFile>,
    options: HybridOptions,
}

impl Hybrid {
    /// Puts the hybrid's place into a model's answer; says whether it is the gallery's.
    pub(crate) fn settle(
        &self,
        codec: &Codec,
        row: usize,
        embedding: &[f32],
        answer: &mut locdiff_model::Answer,
    ) -> Result<bool> {
        let locdiff_model::Answer { samples, place, code } = &*answer;
        let chosen = self.answer(codec, &Found { row, embedding, samples, plain: *place, code })?;
        answer.place = chosen.place;
        Ok(chosen.row.is_some())
    }

    /// The answer for a photo.
    pub(crate) fn answer(&self, codec: &Codec, found: &Found<'_>) -> Result<HybridAnswer> {
        let mut own = Vec::new();
        if let Some(file) = &self.own {
            own.resize(file.columns(), 0.0);
            file.read_row(found.row, &mut own)?;
        }
        let embedding = if self.own.is_some() { &own[..] } else { found.embedding };
        let log_density = |points: &[UnitVec]| -> Vec<f64> {
            let values = codec.field().values(found.code, points).unwrap_or_else(|_| vec![0.0; points.len()]);
            values.into_iter().map(|density| density.max(f64::MIN_POSITIVE).ln()).collect()
        };
        let retriever = self.retriever.as_ref();
        Ok(hybrid(retriever, embedding, found.samples, found.plain, &log_density, &self.options)?)
    }
}
