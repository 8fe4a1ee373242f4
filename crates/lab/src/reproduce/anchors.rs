//! `locdiff-lab reproduce anchors`: the paper's generalizability table, gallery against even grids.

use crate::experiment::ExperimentArgs;
use anyhow::Result;
use clap::Args;
use locdiff_baselines::AnchorTable;
use locdiff_model::report::terminal::{output::TableFormat, progress};

#[derive(Debug, Args)]
pub(crate) struct ReproduceAnchors {
    #[command(flatten)]
    experiment: ExperimentArgs,
    /// Sizes of the even grids [the paper: 21000,100000,500000,1000000]
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "21000,100000")]
    sizes: Vec<usize>,
    #[command(flatten)]
    format: TableFormat,
}

impl ReproduceAnchors {
    pub(super) fn run(self) -> Result<()> {
        let bar = progress::share_bar("reproducing");
        let tell = |share: f64| progress::set_share(&bar, share);
        let table = self.experiment.make(|experiment| AnchorTable::make(experiment, &self.sizes, &tell))?;
        bar.finish_and_clear();
        self.format.print(|| table.to_json(), |markdown| table.render(markdown))
    }
}
