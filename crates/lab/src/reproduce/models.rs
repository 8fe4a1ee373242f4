//! `locdiff-lab reproduce losses|encoders|widths|degrees`: tables of the paper that train models, on embeddings at hand.

use crate::experiment::ExperimentArgs;
use anyhow::Result;
use clap::Args;
use locdiff_baselines::{ModelTable, ModelTableKind};
use locdiff_model::report::terminal::{output::TableFormat, progress};

#[derive(Debug, Args)]
pub(crate) struct ReproduceModels {
    #[command(flatten)]
    experiment: ExperimentArgs,
    #[command(flatten)]
    format: TableFormat,
}

impl ReproduceModels {
    pub(super) fn run(self, kind: ModelTableKind) -> Result<()> {
        let bar = progress::share_bar("reproducing");
        let tell = |row: &str, seed: u64, share: f64| {
            bar.set_message(format!("{row}, seed {seed}"));
            progress::set_share(&bar, share);
        };
        let table = self.experiment.make(|experiment| ModelTable::make(kind, experiment, &tell))?;
        bar.finish_and_clear();
        self.format.print(|| table.to_json(), |markdown| table.render(markdown))
    }
}
