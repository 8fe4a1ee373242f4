//! How good answers are, where the truth is known.

use super::print::place;
use crate::commands::train::describe;
use anyhow::{Result, ensure};
use locdiff::{Answer, AnswerDensity, Calibration, LEVELS, ReliabilityCurve};
use locdiff_data::{PointColumns, read_points};
use locdiff_eval::Accuracy;
use locdiff_sphere::LatLon;
use serde_json::json;
use std::io::Write;
use std::path::Path;

/// Truths and what was answered.
pub(crate) struct Score {
    truth: Vec<LatLon>,
    /// Answer, truth, and whether it could be told.
    pairs: Vec<(LatLon, LatLon, bool)>,
    /// Probability of everything denser than the truth, and the share said of the radius
    /// that reaches the truth.
    denser: Vec<f64>,
    nearer: Vec<f64>,
    log_density: f64,
}

impl Score {
    pub(crate) fn open(path: &Path, count: usize) -> Result<Self> {
        let truth = read_points(path, None, &PointColumns::default())?;
        ensure!(
            truth.len() == count,
            "the embeddings have {count} rows, --truth has {}: row k of both must be the same photo",
            truth.len()
        );
        Ok(Self { truth, pairs: Vec::new(), denser: Vec::new(), nearer: Vec::new(), log_density: 0.0 })
    }

    pub(crate) fn add(
        &mut self,
        row: usize,
        answer: &Answer,
        density: &AnswerDensity<'_>,
        calibration: &Calibration,
    ) {
        let (best, truth) = (place(answer.best), self.truth[row]);
        self.pairs.push((best, truth, answer.can_tell));
        self.denser.push(density.mass_denser_than(truth.to_unit()));
        let within = density.mass_within_km(best, locdiff_sphere::haversine_km(best, truth));
        self.nearer.push(calibration.radius_share(within));
        self.log_density += density.log_density(&[truth.to_unit()])[0];
    }

    pub(crate) fn tell(&self, as_json: bool) -> Result<()> {
        let mut out = std::io::stdout();
        let of = |told: Option<bool>| {
            let chosen = self.pairs.iter().filter(|(_, _, can)| told.is_none_or(|told| told == *can));
            Accuracy::new(chosen.map(|(answer, truth, _)| (*answer, *truth)))
        };
        let (all, told, silent) = (of(None), of(Some(true)), of(Some(false)));
        let regions = ReliabilityCurve::of_levels(&self.denser);
        let radii = ReliabilityCurve::of_levels(&self.nearer);
        let worst = regions.largest_error.max(radii.largest_error);
        // Of a share of one half, the largest of all.
        let standard_error = 0.5 / (self.pairs.len().max(1) as f64).sqrt();
        let nll = -self.log_density / self.pairs.len().max(1) as f64;
        if as_json {
            let summary = json!({
                "summary": {
                    "accuracy": all, "answered": told, "cannot_tell": silent, "nll_nats": nll, "levels": LEVELS,
                    "regions": regions, "radii": radii, "worst_deviation": worst, "standard_error": standard_error,
                }
            });
            return Ok(writeln!(out, "{summary}")?);
        }
        let percent = |shares: &[f64]| {
            let each: Vec<String> = shares.iter().map(|share| format!("{:>4.1}", 100.0 * share)).collect();
            each.join(" ")
        };
        writeln!(out, "all          {}", describe(&all))?;
        writeln!(out, "answered     {}", describe(&told))?;
        writeln!(out, "can't tell   {}", describe(&silent))?;
        writeln!(out, "−log density {nll:.3} nats per steradian (uniform 2.531)")?;
        writeln!(out, "said         {} %", percent(&LEVELS))?;
        writeln!(out, "in regions   {} %", percent(&regions.observed()))?;
        writeln!(
            out,
            "within radii {} % (standard error {:.1} points)",
            percent(&radii.observed()),
            100.0 * standard_error
        )?;
        Ok(())
    }
}
