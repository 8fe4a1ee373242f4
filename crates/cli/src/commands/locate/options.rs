//! Which locator, and how it answers.

use crate::args::{named, parse_positive};
use crate::model::ModelArgs;
use crate::sampling::SamplingArgs;
use anyhow::{Context, Result};
use clap::Args;
use locdiff::{Knowledge, LocateOptions, Locator, Pooling, Region, with_prior};
use std::path::PathBuf;

/// What `locate` and jobs of `batch` ask of an answer alike.
#[derive(Debug, Args)]
pub(crate) struct AnswerArgs {
    /// Seed of noise and views
    #[arg(long, default_value_t = 0, env = "LOCDIFF_SEED", hide_env_values = true)]
    pub(crate) seed: u64,
    /// The most places to list
    #[arg(short = 'k', long, value_name = "K", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) hypotheses: u32,
    /// The radius of the window that the density is seen through: the place is where it holds most [default: the calibration's]
    #[arg(long, value_name = "KM", value_parser = parse_positive)]
    pub(crate) window_km: Option<f64>,
    /// It must be here: a continent, a country, a state or province (name or ISO code), "50 km around 48.85,2.35",
    /// "lat0,lon0,lat1,lon1" or a GeoJSON file; repeated, in one of these
    #[arg(long, value_name = "REGION", allow_hyphen_values = true)]
    pub(crate) within: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct LocatorArgs {
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    sampling: SamplingArgs,
    /// Views of each photo (crops, colours) that noise or samples are spread over, one density of all; 1 is the photo alone
    #[arg(long, value_name = "K", default_value_t = 1, conflicts_with = "embeddings")]
    views: usize,
    /// Take the place from samples, put together so (Algorithm 2 of the paper: `--views K --pool mean`) [default: read off the
    /// density, without sampling]
    #[arg(long, value_parser = named::<Pooling>(), conflicts_with_all = ["gallery", "hybrid", "within", "prior"])]
    pool: Option<Pooling>,
    #[command(flatten)]
    answer: AnswerArgs,
    /// Weights on places: an Esri ASCII raster (.asc), or a CSV with lat, lon and weight
    #[arg(long, value_name = "FILE")]
    prior: Option<PathBuf>,
    /// How far a CSV's places reach
    #[arg(long, value_name = "KM", default_value = "100", value_parser = parse_positive, requires = "prior")]
    prior_km: f64,
}

impl LocatorArgs {
    pub(crate) fn open(&self, with_encoder: bool) -> Result<Locator> {
        self.model.open(with_encoder)
    }

    pub(crate) fn options(&self) -> Result<LocateOptions> {
        let mut options = LocateOptions::default()
            .with_sampling(self.sampling.options(self.answer.seed))
            .with_views(self.views)
            .with_hypotheses(self.answer.hypotheses as usize)
            .with_window_km(self.answer.window_km);
        if let Some(pooling) = self.pool {
            options = options.with_pooling(pooling);
        }
        let within = &self.answer.within;
        if !within.is_empty() || self.prior.is_some() {
            let mut knowledge = Knowledge::new();
            if !within.is_empty() {
                let regions: Result<Vec<Region>, _> = within.iter().map(|text| Region::parse(text)).collect();
                knowledge = knowledge.within(Region::union(&regions.context("--within")?));
            }
            if let Some(path) = &self.prior {
                knowledge = with_prior(knowledge, path, self.prior_km).context("--prior")?;
            }
            options = options.with_knowledge(knowledge);
        }
        Ok(options)
    }
}
