//! The report on a terminal.

use crate::report::words::{km, km_interval, p_value, percent, percent_interval};
use crate::report::{Breakdown, Report, Rival};
use crate::eval::{Estimate, RADIUS_NAMES, ReliabilityCurve};
use std::fmt::Write;

/// Appends a line; writing to a `String` cannot fail.
macro_rules! line {
    ($out:expr) => { $out.push('\n') };
    ($out:expr, $($argument:tt)*) => {{ let _ = writeln!($out, $($argument)*); }};
}

impl Report {
    /// A table for the terminal.
    pub fn to_text(&self) -> String {
        text(self)
    }
}

fn text(report: &Report) -> String {
    let mut out = String::new();
    let scores = &report.scores;
    line!(out, "{} against {}", report.name, report.truth);
    line!(out, "preset {}: {}", report.preset, report.rules_in_words());
    line!(out, "{}; {}", report.counts_in_words(), report.intervals_in_words());
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
    if let Some(prdc) = &report.prdc {
        let k = prdc.neighbours;
        for (what, found) in
            [(format!("all, k = {k}"), prdc.whole), (format!("{} chunks, k = {k}", prdc.chunks), prdc.chunked)]
        {
            if let Some(p) = found {
                line!(
                    out,
                    "PRDC ({what}): precision {:.3}, recall {:.3}, density {:.3}, coverage {:.3}",
                    p.precision,
                    p.recall,
                    p.density,
                    p.coverage
                );
            }
        }
    }
    if let Some(likelihood) = &report.likelihood {
        let (value, low, high) = (likelihood.nats.value, likelihood.nats.low, likelihood.nats.high);
        line!(
            out,
            "NLL {value:.3} nats per steradian ({low:.3} to {high:.3}; uniform 2.531), plonk's figure {:.3} (uniform 1.217), n = {}",
            likelihood.plonk,
            likelihood.n
        );
    }
    if let Some(found) = &report.recall_area {
        line!(
            out,
            "recall against area: the densest {} million km² hold the truth of 10 / 50 / 90 % of the photos",
            found.in_millions()
        );
    }
    for (what, calibration) in [("credible regions", &report.regions), ("radii told", &report.radii)] {
        if let Some(calibration) = calibration {
            reliability(&mut out, what, calibration);
        }
    }
    if let Some(found) = &report.correlogram {
        let lags: Vec<String> = found
            .lags
            .iter()
            .map(|lag| format!("{}–{} km {:+.2} (z {:.1})", lag.from_km, lag.to_km, lag.moran_i, lag.z))
            .collect();
        line!(out, "Moran's I of errors by distance between photos: {}", lags.join(", "));
    }
    for breakdown in &report.breakdowns {
        groups(&mut out, breakdown);
    }
    for other in report.rival.iter().chain(&report.constant) {
        rival(&mut out, report, other);
    }
    for note in &report.notes {
        line!(out, "note: {note}");
    }
    out
}

fn reliability(out: &mut String, what: &str, calibration: &ReliabilityCurve) {
    let points: Vec<String> = calibration
        .curve
        .iter()
        .map(|point| format!("{:.0}: {:.1}", 100.0 * point.promised, 100.0 * point.observed))
        .collect();
    line!(
        out,
        "{what}, promised %: observed %   {}   mean absolute error {:.1} points, largest {:.1}",
        points.join(", "),
        100.0 * calibration.mean_absolute_error,
        100.0 * calibration.largest_error
    );
}

fn groups(out: &mut String, breakdown: &Breakdown) {
    const MOST: usize = 20;
    line!(
        out,
        "\n{:<28} {:>6} {:>38} {:>10}",
        format!("by {}", breakdown.by),
        "n",
        "% within 1 / 25 / 200 / 750 / 2500 km",
        "median km"
    );
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
    line!(
        out,
        "{:<20} {:>10} {:>10} {:>12}   {:<18} {:>17} {:>8}",
        "",
        "first",
        "second",
        "difference",
        "interval",
        "only one is right",
        "p"
    );
    for ((radius, first), second) in paired.radii.iter().zip(&report.scores.radii).zip(&rival.scores.radii) {
        let points = |share: f64| format!("{:+.2}", 100.0 * share);
        let interval = format!("{} to {}", points(radius.difference.low), points(radius.difference.high));
        let only = format!("{} : {}", radius.only_first, radius.only_second);
        line!(
            out,
            "{:<20} {:>10} {:>10} {:>12}   {interval:<18} {only:>17} {:>8}",
            format!("within {} km", radius.radius_km),
            percent(first.share.value),
            percent(second.share.value),
            points(radius.difference.value),
            p_value(radius.p_value)
        );
    }
    let (g, m) = (&paired.geoscore, &paired.median_km);
    line!(
        out,
        "GeoScore {:+.1} ({:+.1} to {:+.1}); median error {} km ({})",
        g.value,
        g.low,
        g.high,
        km(m.value),
        km_interval(m)
    );
    line!(
        out,
        "nearer to the truth: first {}, second {}, p {} (sign test)",
        paired.nearer_first,
        paired.nearer_second,
        p_value(paired.nearer_p_value)
    );
}
