//! The report on a terminal.

use crate::eval::{Estimate, Prdc, RADIUS_NAMES, ReliabilityCurve};
use crate::report::words::{km, km_interval, p_value, percent, percent_interval};
use crate::report::{Breakdown, Report, Rival};
use std::fmt::Write;

/// Appends a line; writing to a `String` cannot fail.
macro_rules! line {
    ($out:expr) => { $out.push('\n') };
    ($out:expr, $($argument:tt)*) => {{ let _ = writeln!($out, $($argument)*); }};
}

impl Report {
    /// A table for the terminal.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        let scores = &self.scores;
        line!(out, "{} against {}", self.name, self.truth);
        line!(out, "preset {}: {}", self.preset, self.rules_in_words());
        line!(out, "{}; {}", self.counts_in_words(), self.intervals_in_words());
        line!(out);
        for (name, radius) in RADIUS_NAMES.iter().zip(&scores.radii) {
            let what = format!("{name:<10} {:>5} km", radius.radius_km);
            line!(out, "{what:<20} {:>10}   {}", percent(radius.share.value), percent_interval(&radius.share));
        }
        let number = |e: &Estimate| (format!("{:.1}", e.value), format!("{:.1} to {:.1}", e.low, e.high));
        let (value, interval) = number(&scores.geoscore);
        line!(out, "{:<20} {value:>10}   {interval}", "GeoScore");
        let median = scores.median_km();
        line!(out, "{:<20} {:>7} km   {}", "median error", km(median.value), km_interval(&median));
        line!(out, "{:<20} {:>7} km   {}", "mean error", km(scores.mean_km.value), km_interval(&scores.mean_km));
        let quantiles: Vec<String> =
            scores.quantiles.iter().map(|q| format!("{:.0} %: {}", 100.0 * q.p, km(q.km.value))).collect();
        line!(out, "{:<20} {} km", "error quantiles", quantiles.join(", "));
        if let Some(prdc) = &self.prdc {
            let k = prdc.neighbours;
            for (what, found) in
                [(format!("all, k = {k}"), prdc.whole), (format!("{} chunks, k = {k}", prdc.chunks), prdc.chunked)]
            {
                if let Some(p) = found {
                    let Prdc { precision, recall, density, coverage } = p;
                    line!(
                        out,
                        "PRDC ({what}): precision {precision:.3}, recall {recall:.3}, density {density:.3}, coverage {coverage:.3}"
                    );
                }
            }
        }
        if let Some(likelihood) = &self.likelihood {
            let (value, low, high) = (likelihood.nats.value, likelihood.nats.low, likelihood.nats.high);
            line!(
                out,
                "NLL {value:.3} nats per steradian ({low:.3} to {high:.3}; uniform 2.531), plonk's figure {:.3} (uniform 1.217), n = {}",
                likelihood.plonk,
                likelihood.n
            );
        }
        if let Some(found) = &self.recall_area {
            line!(
                out,
                "recall against area: the densest {} million km² hold the truth of 10 / 50 / 90 % of the photos",
                found.in_millions()
            );
        }
        for (what, calibration) in [("credible regions", &self.regions), ("radii told", &self.radii)] {
            if let Some(calibration) = calibration {
                reliability(&mut out, what, calibration);
            }
        }
        if let Some(found) = &self.correlogram {
            let lags: Vec<String> = found
                .lags
                .iter()
                .map(|lag| format!("{}–{} km {:+.2} (z {:.1})", lag.from_km, lag.to_km, lag.moran_i, lag.z))
                .collect();
            line!(out, "Moran's I of errors by distance between photos: {}", lags.join(", "));
        }
        for breakdown in &self.breakdowns {
            groups(&mut out, breakdown);
        }
        for other in self.rival.iter().chain(&self.constant) {
            rival(&mut out, self, other);
        }
        for note in &self.notes {
            line!(out, "note: {note}");
        }
        out
    }
}

fn reliability(out: &mut String, what: &str, calibration: &ReliabilityCurve) {
    let points: Vec<String> = calibration
        .curve
        .iter()
        .map(|point| format!("{:.0}: {:.1}", 100.0 * point.promised, 100.0 * point.observed))
        .collect();
    let (points, mean) = (points.join(", "), 100.0 * calibration.mean_absolute_error);
    let largest = 100.0 * calibration.largest_error;
    line!(
        out,
        "{what}, promised %: observed %   {points}   mean absolute error {mean:.1} points, largest {largest:.1}"
    );
}

fn groups(out: &mut String, breakdown: &Breakdown) {
    const MOST: usize = 20;
    let by = format!("by {}", breakdown.by);
    line!(out, "\n{by:<28}      n  % within 1 / 25 / 200 / 750 / 2500 km  median km");
    for group in breakdown.groups.iter().take(MOST) {
        let shares: Vec<String> =
            group.scores.radii.iter().map(|r| format!("{:>5.1}", 100.0 * r.share.value)).collect();
        let median = km(group.scores.median_km().value);
        line!(out, "{:<28} {:>6} {:>38} {median:>10}", group.name, group.scores.n, shares.join("   "));
    }
    if breakdown.groups.len() > MOST {
        line!(out, "… and {} more in the JSON, the CSV and the page", breakdown.groups.len() - MOST);
    }
}

fn rival(out: &mut String, report: &Report, rival: &Rival) {
    let paired = &rival.paired;
    line!(out, "\n{} less {}, on the same {} photos", report.name, rival.name, paired.n);
    line!(out, "{:26}first     second   difference   interval           only one is right        p", "");
    for ((radius, first), second) in paired.radii.iter().zip(&report.scores.radii).zip(&rival.scores.radii) {
        let points = |share: f64| format!("{:+.2}", 100.0 * share);
        let interval = format!("{} to {}", points(radius.difference.low), points(radius.difference.high));
        let only = format!("{} : {}", radius.only_first, radius.only_second);
        let (within, p) = (format!("within {} km", radius.radius_km), p_value(radius.p_value));
        let [first, second] = [first, second].map(|one| percent(one.share.value));
        let difference = points(radius.difference.value);
        line!(out, "{within:<20} {first:>10} {second:>10} {difference:>12}   {interval:<18} {only:>17} {p:>8}");
    }
    let (g, m) = (&paired.geoscore, &paired.median_km);
    let Estimate { value, low, high } = g;
    line!(out, "GeoScore {value:+.1} ({low:+.1} to {high:+.1}); median error {} km ({})", km(m.value), km_interval(m));
    let (first, second, p) = (paired.nearer_first, paired.nearer_second, p_value(paired.nearer_p_value));
    line!(out, "nearer to the truth: first {first}, second {second}, p {p} (sign test)");
}
