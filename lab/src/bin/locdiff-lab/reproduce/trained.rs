//! `locdiff-lab reproduce losses|encoders|widths|degrees|anchors|diffusion`: tables that train models, on embeddings at hand.

use crate::experiment::ExperimentArgs;
use crate::terminal::{TableFormat, named, set_share, share_bar};
use anyhow::{Result, ensure};
use clap::Args;
use locdiff_lab::{AnchorTable, DiffusionTable, ModelTable, ModelTableKind};
use locdiff_model::NetworkKind;

#[derive(Debug, Args)]
pub(crate) struct Models {
    #[command(flatten)]
    experiment: ExperimentArgs,
    #[command(flatten)]
    format: TableFormat,
}

impl Models {
    pub(super) fn run(self, kind: ModelTableKind) -> Result<()> {
        let bar = share_bar("reproducing");
        let tell = |row: &str, seed: u64, share: f64| {
            bar.set_message(format!("{row}, seed {seed}"));
            set_share(&bar, share);
        };
        let table = self.experiment.make(|experiment| ModelTable::make(kind, experiment, &tell))?;
        bar.finish_and_clear();
        self.format.print(|| table.to_json(), |markdown| table.render(markdown))
    }
}

#[derive(Debug, Args)]
pub(crate) struct GridAnchors {
    #[command(flatten)]
    experiment: ExperimentArgs,
    /// Sizes of the even grids [the paper: 21000,100000,500000,1000000]
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "21000,100000")]
    sizes: Vec<usize>,
    #[command(flatten)]
    format: TableFormat,
}

impl GridAnchors {
    pub(super) fn run(self) -> Result<()> {
        let bar = share_bar("reproducing");
        let tell = |share: f64| set_share(&bar, share);
        let table = self.experiment.make(|experiment| AnchorTable::make(experiment, &self.sizes, &tell))?;
        bar.finish_and_clear();
        self.format.print(|| table.to_json(), |markdown| table.render(markdown))
    }
}

#[derive(Debug, Args)]
pub(crate) struct Diffusion {
    #[command(flatten)]
    experiment: ExperimentArgs,
    /// Which network
    #[arg(long, value_parser = named::<NetworkKind>(), default_value = "cs-unet")]
    network: NetworkKind,
    /// Degrees, each trained with all photos
    #[arg(short = 'L', long, value_name = "L,L,…", value_delimiter = ',', default_value = "15,23,31")]
    degrees: Vec<usize>,
    /// Shares of the training photos, each with the preset's degree
    #[arg(long, value_name = "SHARES", value_delimiter = ',', default_value = "0.1,0.3")]
    shares: Vec<f64>,
    /// Chains whose densities part of the way are mixed: the more, the nearer the mixture is to the sampler's own density
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', default_value = "16")]
    chains: Vec<usize>,
    #[command(flatten)]
    format: TableFormat,
}

impl Diffusion {
    pub(super) fn run(self) -> Result<()> {
        for share in &self.shares {
            ensure!(*share > 0.0 && *share <= 1.0, "--shares {share}: give numbers above 0 and up to 1");
        }
        let bar = share_bar("reproducing");
        let tell = |what: &str, share: f64| {
            bar.set_message(what.to_owned());
            set_share(&bar, share);
        };
        let table = self.experiment.make(|experiment| {
            DiffusionTable::make(experiment, self.network, &self.degrees, &self.shares, &self.chains, &tell)
        })?;
        bar.finish_and_clear();
        self.format.print(|| table.to_json(), |markdown| table.render(markdown))
    }
}
