//! How good answers are, where the truth is known.

use crate::embeddings::read_truth;
use crate::output;
use anyhow::Result;
use locdiff::{Answer, LEVELS, LatLon, Reader, ReliabilityCurve, Verdict};
use locdiff_eval::Accuracy;
use serde_json::json;
use std::io::Write;
use std::path::Path;

/// Truths and what was answered.
pub(crate) struct Score {
    truth: Vec<LatLon>,
    /// Answer, truth, and whether it could be told.
    pairs: Vec<(LatLon, LatLon, bool)>,
    verdicts: Vec<Verdict>,
}

impl Score {
    pub(crate) fn open(path: &Path, count: usize) -> Result<Self> {
        let truth = read_truth(path, "what is located", count)?;
        Ok(Self { truth, pairs: Vec::new(), verdicts: Vec::new() })
    }

    pub(crate) fn add(&mut self, row: usize, answer: &Answer, reader: &Reader) {
        let truth = self.truth[row];
        self.pairs.push((answer.best, truth, answer.can_tell));
        self.verdicts.push(reader.judge(&answer.density, 1.0 - answer.familiarity, answer.best, truth));
    }

    pub(crate) fn tell(&self, as_json: bool) -> Result<()> {
        let mut out = output::people();
        let of = |told: Option<bool>| {
            let chosen = self.pairs.iter().filter(|(_, _, can)| told.is_none_or(|told| told == *can));
            Accuracy::new(chosen.map(|(answer, truth, _)| (*answer, *truth)))
        };
        let (all, told, silent) = (of(None), of(Some(true)), of(Some(false)));
        let curve = |pick: fn(&Verdict) -> f64| {
            ReliabilityCurve::of_levels(&self.verdicts.iter().map(pick).collect::<Vec<_>>())
        };
        let (regions, radii) = (curve(|said| said.region_level), curve(|said| said.radius_share));
        let worst = regions.largest_error.max(radii.largest_error);
        // Of a share of one half, the largest of all.
        let standard_error = 0.5 / (self.pairs.len().max(1) as f64).sqrt();
        let log_density: f64 = self.verdicts.iter().map(|said| said.log_density).sum();
        let nll = -log_density / self.pairs.len().max(1) as f64;
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
        writeln!(out, "all          {all}")?;
        writeln!(out, "answered     {told}")?;
        writeln!(out, "can't tell   {silent}")?;
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
