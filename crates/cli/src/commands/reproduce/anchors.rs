//! `locdiff reproduce anchors`: the paper's generalizability table, gallery against even grids.

use crate::commands::experiment::{EffortArgs, SplitArgs};
use crate::output::TableFormat;
use crate::progress;
use anyhow::Result;
use clap::Args;
use locdiff_baselines::{AnchorTable, Experiment};

#[derive(Debug, Args)]
pub(crate) struct ReproduceAnchors {
    #[command(flatten)]
    data: SplitArgs,
    #[command(flatten)]
    effort: EffortArgs,
    /// Sizes of the even grids [the paper: 21000,100000,500000,1000000]
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "21000,100000")]
    sizes: Vec<usize>,
    #[command(flatten)]
    format: TableFormat,
}

impl ReproduceAnchors {
    pub(super) fn run(self) -> Result<()> {
        let (splits, device, seeds) = (self.data.read()?, self.effort.device()?, self.effort.seeds());
        let experiment = Experiment {
            device: &device,
            splits: &splits,
            effort: self.effort.effort(),
            effort_name: self.effort.preset_name(),
            seeds: &seeds,
        };
        let bar = progress::share_bar("reproducing");
        let table = AnchorTable::make(&experiment, &self.sizes, &|share| progress::set_share(&bar, share))?;
        bar.finish_and_clear();
        self.format.print(|| table.to_json(), |markdown| table.render(markdown))
    }
}
