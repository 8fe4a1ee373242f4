//! `locdiff reproduce losses|encoders|widths|degrees`: tables of the paper that train models, on embeddings at hand.

use crate::commands::experiment::{EffortArgs, SplitArgs};
use crate::output::TableFormat;
use crate::progress;
use anyhow::Result;
use clap::Args;
use locdiff_baselines::{Experiment, ModelTable, ModelTableKind};

#[derive(Debug, Args)]
pub(crate) struct ReproduceModels {
    #[command(flatten)]
    data: SplitArgs,
    #[command(flatten)]
    effort: EffortArgs,
    #[command(flatten)]
    format: TableFormat,
}

impl ReproduceModels {
    pub(super) fn run(self, kind: ModelTableKind) -> Result<()> {
        let (splits, device, seeds) = (self.data.read()?, self.effort.device()?, self.effort.seeds());
        let experiment = Experiment {
            device: &device,
            splits: &splits,
            effort: self.effort.effort(),
            effort_name: self.effort.preset_name(),
            seeds: &seeds,
        };
        let bar = progress::share_bar("reproducing");
        let table = ModelTable::make(kind, &experiment, &|row, seed, share| {
            bar.set_message(format!("{row}, seed {seed}"));
            progress::set_share(&bar, share);
        })?;
        bar.finish_and_clear();
        self.format.print(|| table.to_json(), |markdown| table.render(markdown))
    }
}
