//! `locdiff-lab reproduce diffusion`: when sampling beats a single evaluation at pure noise.

use crate::experiment::ExperimentArgs;
use anyhow::Result;
use clap::Args;
use locdiff_baselines::DiffusionTable;
use locdiff_model::NetworkKind;
use locdiff_model::report::terminal::{args::named, output::TableFormat, progress};

#[derive(Debug, Args)]
pub(crate) struct ReproduceDiffusion {
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

impl ReproduceDiffusion {
    pub(super) fn run(self) -> Result<()> {
        for share in &self.shares {
            anyhow::ensure!(*share > 0.0 && *share <= 1.0, "--shares {share}: give numbers above 0 and up to 1");
        }
        let bar = progress::share_bar("reproducing");
        let tell = |what: &str, share: f64| {
            bar.set_message(what.to_owned());
            progress::set_share(&bar, share);
        };
        let table = self.experiment.make(|experiment| {
            DiffusionTable::make(experiment, self.network, &self.degrees, &self.shares, &self.chains, &tell)
        })?;
        bar.finish_and_clear();
        self.format.print(|| table.to_json(), |markdown| table.render(markdown))
    }
}
