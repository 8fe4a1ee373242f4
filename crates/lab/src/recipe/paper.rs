//! What the paper reports, benchmark by benchmark: % within 1, 25, 200, 750 and 2500 km, density and coverage; what it does not
//! report is absent.

use locdiff_base::Named;
use locdiff_model::eval::Benchmark;
use serde::Deserialize;
use std::{collections::HashMap, sync::LazyLock};

/// A row of the paper's tables.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Published {
    /// The system.
    pub(crate) system: &'static str,
    /// % within each radius.
    pub(crate) within: [Option<f64>; 5],
    /// Density and coverage, as plonk computes them.
    pub(crate) prdc: Option<(f64, f64)>,
}

static PUBLISHED: LazyLock<HashMap<&str, Vec<Published>>> =
    LazyLock::new(|| serde_json::from_str(include_str!("published.json")).expect("published.json holds rows"));

/// The rows of a benchmark that ours is put beside; Im2GPS is in none of the paper's tables.
pub(crate) fn published(benchmark: Benchmark) -> &'static [Published] {
    PUBLISHED.get(benchmark.name()).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_benchmark_but_im2gps_has_rows() {
        for (benchmark, ..) in Benchmark::ALL {
            assert_eq!(published(*benchmark).is_empty(), *benchmark == Benchmark::Im2gps, "{}", benchmark.name());
        }
    }
}
