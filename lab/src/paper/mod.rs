//! Tables of the paper that train models, made again on embeddings at hand.

mod anchors;
mod diffusion;
mod drift;
mod models;
#[cfg(test)]
mod purpose;
mod timing;

pub use anchors::AnchorTable;
pub use diffusion::DiffusionTable;
pub use drift::NoisyCodes;
pub use drift::with_noise;
pub use models::{ModelTable, ModelTableKind};
pub use timing::{TimedOperation, TimingTable};

use crate::{Effort, Method, Splits, Trial};
use locdiff_model::eval::Bootstrap;
use locdiff_nn::Device;

/// What every table is made with.
#[derive(Debug, Clone, Copy)]
pub struct Experiment<'a> {
    pub device: &'a Device,
    pub splits: &'a Splits,
    pub effort: Effort,
    pub effort_name: &'a str,
    pub seeds: &'a [u64],
}

impl Experiment<'_> {
    /// The photos, the budget and the seeds in words.
    fn in_words(&self) -> String {
        format!(
            "{} training and {} test photos, preset {}, {} steps, seeds {:?}",
            self.splits.training.len(),
            self.splits.test.len(),
            self.effort_name,
            self.effort.steps,
            self.seeds
        )
    }

    fn photos(&self) -> Vec<usize> {
        (0..self.splits.test.len()).collect()
    }
}

/// What stands beside every table: what never looks at the photo, and the bundled model where the embeddings are its own.
fn beside(experiment: &Experiment<'_>) -> Vec<Method> {
    Method::for_columns(vec![Method::Constant], experiment.splits.training.columns())
}

/// The paper's shares within 25, 200, 750 and 2500 km in a cell of a table.
fn paper_cell(shares: Option<[f64; 4]>) -> String {
    shares.map_or("–".to_owned(), |shares| shares.map(|share| share.to_string()).join(" / "))
}

/// A row's shares within the table's radii, with intervals.
fn share_cells(trial: &Trial, photos: &[usize], bootstrap: &Bootstrap) -> [String; 5] {
    crate::comparison::TABLE_RADII_KM
        .map(|radius| crate::table::percent_interval(trial.share(radius, photos, bootstrap)))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}
