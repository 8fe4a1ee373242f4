//! Options as flags: each fills its field of [`LocatorOptions`] or [`LocateOptions`], whose defaults they show.

use crate::args::{DeviceArg, named, parse_positive};
use crate::{embeddings::same_rows, output::ensure_usage, photos::PhotoArgs, progress};
use anyhow::Result;
use clap::Args;
use locdiff::Precision;
use locdiff::{GalleryRule, Hybrid, HybridChanges, LocateOptions, Locator, LocatorOptions, MapFactorChoice, Pooling};
use locdiff_base::Named;
use locdiff_io::data::RowFile;
use locdiff_model::{SampleOptions, diffusion::Sampler};
use locdiff_nn::Device;
use locdiff_retrieval::gallery::{Centres, HybridRule};
use locdiff_vision::Encoder;
use std::path::PathBuf;

/// Which model, which encoder, and where they run.
#[derive(Debug, Clone, Args)]
pub(crate) struct ModelArgs {
    /// Use this model: a folder, cs-unet (bundled), or a name such as geoclip (see `locdiff get`) [default: streetview-l31, bundled]
    #[arg(long, value_name = "FOLDER", env = "LOCDIFF_MODEL", hide_env_values = true)]
    model: Option<PathBuf>,
    #[command(flatten)]
    encoder: EncoderArg,
}

impl ModelArgs {
    pub(crate) fn options(&self) -> LocatorOptions {
        let mut options = self.encoder.options();
        options.model.clone_from(&self.model);
        options
    }

    /// The locator that these flags name.
    pub(crate) fn open(&self) -> Result<Locator> {
        open(&self.options(), &LocateOptions::default())
    }
}

/// Opens a locator that can answer what is asked, with a bar while a gallery's locations are embedded.
pub(crate) fn open(options: &LocatorOptions, asked: &LocateOptions) -> Result<Locator> {
    let bar = progress::bar("embedding places", None);
    let locator = Locator::open_with(options, |done| bar.set_position(done as u64));
    bar.finish_and_clear();
    let locator = locator?;
    locator.check(asked)?;
    Ok(locator)
}

/// Which encoder, and where it runs.
#[derive(Debug, Clone, Args)]
pub(crate) struct EncoderArg {
    /// Use this image encoder: a folder or a name (see `locdiff get --list`) [default: the model's own]
    #[arg(long, value_name = "FOLDER", env = "LOCDIFF_ENCODER", hide_env_values = true)]
    pub(crate) encoder: Option<PathBuf>,
    /// Compute matrix products this way; int8 speeds up transformer encoders on the CPU [default: f32; on CUDA tf32]
    #[arg(long, value_name = "NAME", value_parser = named::<Precision>())]
    pub(crate) precision: Option<Precision>,
    /// Where it runs.
    #[command(flatten)]
    pub(crate) device: DeviceArg,
}

impl EncoderArg {
    fn options(&self) -> LocatorOptions {
        let mut options = LocatorOptions::default();
        options.encoder.clone_from(&self.encoder);
        (options.device, options.precision) = (self.device.device, self.precision);
        options
    }

    pub(crate) fn open(&self) -> Result<Encoder> {
        Ok(self.options().open_encoder(&Device::open_with(self.device.device, self.precision)?)?)
    }
}

/// What `locate` and jobs of `batch` ask of an answer alike.
#[derive(Debug, Args)]
pub(crate) struct AnswerArgs {
    /// Set the seed of noise and views
    #[arg(long, default_value_t = LocateOptions::default().seed, env = "LOCDIFF_SEED", hide_env_values = true)]
    seed: u64,
    /// List up to K locations
    #[arg(short = 'k', long, value_name = "K", default_value_t = LocateOptions::default().hypotheses as u32, value_parser = clap::value_parser!(u32).range(1..=100))]
    hypotheses: u32,
    /// Choose as best the location whose circle of this radius holds most probability [default: from the calibration]
    #[arg(long, value_name = "KM", value_parser = parse_positive)]
    window_km: Option<f64>,
    /// Use map factors (towns, coast and climate that the picture shows), or none
    #[arg(long, value_name = "WHICH", value_parser = named::<MapFactorChoice>(), default_value = LocateOptions::default().factors.name())]
    factors: MapFactorChoice,
    /// With GeoCLIP: search near its best locations for better ones (docs/models.md)
    #[arg(long)]
    refine: bool,
    /// Restrict the answer to a region. Repeat to allow several
    ///
    /// A continent, a country, a state or province (name or ISO code), "50 km around Paris" (a town or coordinates), "lat0,lon0,lat1,lon1", or a
    /// GeoJSON file
    #[arg(long, value_name = "REGION", allow_hyphen_values = true)]
    within: Vec<String>,
    /// Weigh locations by a file: an Esri ASCII raster (.asc), or a CSV with lat, lon and weight
    #[arg(long, value_name = "FILE")]
    prior: Option<PathBuf>,
    /// Spread each point of a CSV prior over this distance
    #[arg(long, value_name = "KM", default_value_t = LocateOptions::default().prior_km, value_parser = parse_positive, requires = "prior")]
    prior_km: f64,
    /// State what you know: language=Polish, drives!=left … (`--clue help` lists all). Repeat for several
    #[arg(long, value_name = "KIND=VALUE")]
    pub(crate) clue: Vec<String>,
    /// Use this time for clues of the sun: 2024-05-12T13:45:10, with Z or +02:00 if known [default: each photo's]
    #[arg(long, value_name = "TIME", requires = "clue")]
    time: Option<String>,
    /// Do not read text in the photos
    #[arg(long)]
    no_text: bool,
    /// Ignore this line of text; write it exactly as LocDiff prints it. Repeat for several
    #[arg(long, value_name = "LINE", conflicts_with = "no_text")]
    ignore_text: Vec<String>,
    /// Print the effect of the picture, the map, each clue and the region, and the answer without each
    #[arg(long)]
    why: bool,
    /// Average over K views of each photo (crops and colours); 1 is the photo alone
    #[arg(long, value_name = "K", default_value_t = LocateOptions::default().views)]
    views: usize,
}

impl AnswerArgs {
    /// What these flags ask, with those of sampling and reading.
    pub(crate) fn options(&self, sampling: &SamplingArgs, pool: &PoolArg, reading: &PhotoArgs) -> LocateOptions {
        let mut options = LocateOptions::default();
        options.seed = self.seed;
        options.hypotheses = self.hypotheses as usize;
        options.window_km = self.window_km;
        options.refine = self.refine;
        options.factors = self.factors;
        options.within.clone_from(&self.within);
        options.prior.clone_from(&self.prior);
        options.prior_km = self.prior_km;
        options.clue.clone_from(&self.clue);
        options.time.clone_from(&self.time);
        options.text = !self.no_text;
        options.ignore_text.clone_from(&self.ignore_text);
        (options.why, options.views) = (self.why, self.views);
        (options.samples, options.sampler) = (sampling.samples, sampling.sampler);
        (options.steps, options.guidance, options.pool) = (sampling.steps, sampling.guidance, pool.pool);
        reading.fill(&mut options);
        options
    }
}

/// Draws of noise, and how samples are made.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Sampling")]
pub(crate) struct SamplingArgs {
    /// Average over N draws of noise; with --pool, draw N samples
    #[arg(long, value_name = "N", default_value_t = LocateOptions::default().samples)]
    pub(crate) samples: usize,
    /// Sample with this sampler
    #[arg(long, value_parser = named::<Sampler>(), default_value = LocateOptions::default().sampler.name())]
    pub(crate) sampler: Sampler,
    /// Take N steps of the sampler
    #[arg(long, value_name = "N", default_value_t = LocateOptions::default().steps)]
    pub(crate) steps: usize,
    /// Use classifier-free guidance; radii are calibrated for 0 (none)
    #[arg(long, value_name = "W", default_value_t = LocateOptions::default().guidance, allow_hyphen_values = true)]
    pub(crate) guidance: f32,
}

impl SamplingArgs {
    /// The same as options.
    pub(crate) fn options(&self, seed: u64) -> Result<SampleOptions> {
        let Self { samples, sampler, steps, guidance } = *self;
        let options = SampleOptions { samples, sampler, steps, guidance, seed };
        options.check()?;
        Ok(options)
    }

    /// Fails where a sampler is named that would not be used.
    pub(crate) fn check_used(&self, has_samples: bool) -> Result<()> {
        let usual = LocateOptions::default();
        let is_usual = self.sampler == usual.sampler && self.steps == usual.steps;
        let needs = "--sampler and --steps need --pool, --trace or --gallery-rule hybrid";
        ensure_usage!(has_samples || is_usual, "{needs}: add one of these, or leave them out");
        Ok(())
    }
}

/// How samples become one place.
#[derive(Debug, Args)]
#[command(next_help_heading = "Sampling")]
pub(crate) struct PoolArg {
    /// Take the location from samples, pooled this way; Algorithm 2 of the paper is `--views K --pool mean` [default: from the density]
    #[arg(long, value_parser = named::<Pooling>(), conflicts_with_all = ["any_gallery", "within", "prior"])]
    pub(crate) pool: Option<Pooling>,
}

/// A gallery beside the model, and what it does.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Gallery")]
pub(crate) struct GalleryArgs {
    /// Combine the model with this gallery: a folder by `gallery build`; with --geoclip a file of locations
    #[arg(long, value_name = "GALLERY", group = "any_gallery")]
    pub(crate) gallery: Option<PathBuf>,
    /// Use the GeoCLIP in this folder, if it made the gallery's vectors (see `locdiff import geoclip`)
    #[arg(long, value_name = "FOLDER", alias = "gallery-geoclip", requires = "any_gallery")]
    pub(crate) geoclip: Option<PathBuf>,
}

/// What a gallery does.
#[derive(Debug, Args)]
#[command(next_help_heading = "Gallery")]
pub(crate) struct GalleryRuleArgs {
    #[command(flatten)]
    pub(crate) files: GalleryArgs,
    /// Combine by one density of both, or by retrieval near the samples [default: mix; `sample`: hybrid]
    #[arg(long, value_parser = named::<GalleryRule>(), requires = "any_gallery")]
    gallery_rule: Option<GalleryRule>,
    /// The old name of --gallery with --gallery-rule hybrid
    #[arg(long, value_name = "GALLERY", group = "any_gallery", conflicts_with = "gallery", hide = true)]
    hybrid: Option<PathBuf>,
    /// The old name of --gallery-rule
    #[arg(long, value_parser = named::<HybridRule>(), requires = "hybrid", hide = true)]
    hybrid_rule: Option<HybridRule>,
    /// Read the retrieval's embeddings here, row by row, if they differ from the model's
    #[arg(long, value_name = "FILE", alias = "hybrid-embeddings", requires = "any_gallery")]
    pub(crate) gallery_embeddings: Option<PathBuf>,
    /// Read this tensor of --gallery-embeddings, if the file holds several
    #[arg(long, value_name = "NAME", alias = "hybrid-tensor", requires = "gallery_embeddings")]
    gallery_tensor: Option<String>,
    /// Search candidates around samples or the answer
    #[arg(long, value_parser = named::<Centres>(), default_value = Centres::Samples.name(), alias = "hybrid-around", requires = "any_gallery")]
    gallery_around: Centres,
    /// Search candidates within this distance [default: hybrid 400, paper 200]
    #[arg(long, value_name = "KM", value_parser = parse_positive, alias = "hybrid-radius-km", requires = "any_gallery")]
    gallery_radius_km: Option<f64>,
    /// Set the temperature of the softmax over cosines [default: the retriever's own]
    #[arg(long, value_name = "T", value_parser = parse_positive, alias = "hybrid-temperature", requires = "any_gallery")]
    gallery_temperature: Option<f64>,
    /// Set the weight of the model's log density [default: 1]
    #[arg(long, value_name = "W", alias = "hybrid-weight", requires = "any_gallery")]
    gallery_weight: Option<f64>,
    /// Keep the model's own answer if less probability lies around the best candidate [default: 0]
    #[arg(long, value_name = "SHARE", alias = "hybrid-confidence", requires = "any_gallery")]
    gallery_confidence: Option<f64>,
}

impl GalleryRuleArgs {
    /// Whether a gallery is given.
    pub(crate) fn is_given(&self) -> bool {
        self.files.gallery.is_some() || self.hybrid.is_some()
    }

    /// The embeddings for the retrieval of a file's rows, where it has its own.
    pub(crate) fn own_rows(&self, file: &RowFile) -> Result<Option<RowFile>> {
        let Some(path) = &self.gallery_embeddings else { return Ok(None) };
        let own = RowFile::open(path, self.gallery_tensor.as_deref())?;
        same_rows((own.name(), own.rows()), (file.name(), file.rows()))?;
        Ok(Some(own))
    }

    pub(crate) fn fill(&self, usual: GalleryRule, options: &mut LocatorOptions) -> Result<()> {
        let old = match self.hybrid_rule {
            Some(HybridRule::Paper) => GalleryRule::Paper,
            _ => GalleryRule::Hybrid,
        };
        let rule = self.gallery_rule.unwrap_or(if self.hybrid.is_some() { old } else { usual });
        options.gallery = self.files.gallery.clone().or_else(|| self.hybrid.clone());
        options.geoclip.clone_from(&self.files.geoclip);
        options.gallery_rule = rule;
        let changes = &mut options.hybrid;
        changes.around_answer = self.gallery_around == Centres::Answer;
        changes.radius_km = self.gallery_radius_km;
        changes.temperature = self.gallery_temperature;
        changes.weight = self.gallery_weight;
        changes.confidence = self.gallery_confidence;
        let is_changed = *changes != HybridChanges::default() || self.gallery_embeddings.is_some();
        let flags = "--gallery-around, -radius-km, -temperature, -weight, -confidence and -embeddings";
        ensure_usage!(rule != GalleryRule::Mix || !is_changed, "{flags} go with --gallery-rule hybrid or paper");
        // The paper's rule takes the one best match: there is nothing to weigh.
        let HybridChanges { temperature, weight, confidence, .. } = *changes;
        let is_idle = rule == GalleryRule::Paper && [temperature, weight, confidence].iter().any(Option::is_some);
        let flags = "--gallery-temperature, -weight and -confidence";
        ensure_usage!(!is_idle, "{flags} have no effect with --gallery-rule paper: leave them out");
        Ok(())
    }
}

/// LocDiff-H for the rows of a file.
pub(crate) struct RowHybrid {
    pub(crate) hybrid: Hybrid,
    /// Embeddings for the retrieval, where they are not the model's.
    pub(crate) own: Option<RowFile>,
}

/// LocDiff-H without a locator, where it was asked for: what `sample` does.
pub(crate) fn hybrid(args: &GalleryRuleArgs, file: &RowFile, device: &Device) -> Result<Option<RowHybrid>> {
    let mut options = LocatorOptions::default();
    args.fill(GalleryRule::Hybrid, &mut options)?;
    let is_mix = options.gallery.is_some() && options.gallery_rule == GalleryRule::Mix;
    ensure_usage!(
        !is_mix,
        "--gallery-rule mix reads a density, samples have none: choose hybrid or paper, or `locate`"
    );
    let bar = progress::bar("embedding places", None);
    let hybrid = options.open_hybrid(device, |done| bar.set_position(done as u64));
    bar.finish_and_clear();
    let Some(hybrid) = hybrid? else { return Ok(None) };
    let own = args.own_rows(file)?;
    let used = own.as_ref().unwrap_or(file);
    hybrid.check_embeddings(used.name(), used.columns(), used.encoder())?;
    Ok(Some(RowHybrid { hybrid, own }))
}
