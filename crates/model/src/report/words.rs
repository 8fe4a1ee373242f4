//! Numbers and rules in words.

use crate::eval::{Bootstrap, DistanceRule, Estimate};
use crate::report::Report;

impl Report {
    /// "haversine on a sphere of 6371 km, within means d < r".
    pub(crate) fn rules_in_words(&self) -> String {
        let distance = match self.rules.distance {
            DistanceRule::Haversine => "haversine on a sphere of 6371 km",
            DistanceRule::Wgs84 => "geodesic on WGS-84",
        };
        let within = if self.rules.edge_counts { "d ≤ r" } else { "d < r" };
        let rounded = if self.rules.rounds_score { ", GeoScore rounded per photo" } else { "" };
        format!("{distance}, within means {within}{rounded}")
    }

    /// "n = 2997, 3 without an answer (misses), …".
    pub(crate) fn counts_in_words(&self) -> String {
        let mut parts = vec![format!("n = {}", self.scores.n)];
        parts.push(format!("{} without an answer{}", self.scores.missing + self.skipped, {
            match (self.scores.missing, self.skipped) {
                (0, 0) => "",
                (_, 0) => " (counted as misses)",
                _ => " (left out)",
            }
        }));
        if self.without_truth > 0 {
            parts.push(format!("{} without a truth (left out)", self.without_truth));
        }
        parts.join(", ")
    }

    /// "95 % bootstrap intervals, 1000 draws of 143 blocks of 5°, seed 0".
    pub(crate) fn intervals_in_words(&self) -> String {
        let Bootstrap { replicates, confidence, seed, blocks } = &self.bootstrap;
        let of = blocks.as_ref().map_or(String::new(), |blocks| format!(" of {} blocks of 5°", blocks.count()));
        format!("{} % bootstrap intervals, {replicates} draws{of}, seed {seed}", short(100.0 * confidence))
    }
}

/// "49.15 %".
pub(crate) fn percent(share: f64) -> String {
    if share.is_finite() { format!("{:.2} %", 100.0 * share) } else { "–".to_owned() }
}

/// "47.3 to 51.0".
pub(crate) fn percent_interval(estimate: &Estimate) -> String {
    format!("{:.1} to {:.1}", 100.0 * estimate.low, 100.0 * estimate.high)
}

/// Whole km from 100 on, a digit below; "none" for no answer.
pub(crate) fn km(value: f64) -> String {
    match value {
        _ if value.is_nan() => "–".to_owned(),
        _ if value.is_infinite() => "none".to_owned(),
        _ if value.abs() >= 100.0 => format!("{value:.0}"),
        _ => format!("{value:.1}"),
    }
}

pub(crate) fn km_interval(estimate: &Estimate) -> String {
    format!("{} to {}", km(estimate.low), km(estimate.high))
}

/// A probability of chance: "0.031", "< 0.001".
pub(crate) fn p_value(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }
}

/// A number without needless zeros.
pub(crate) fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
