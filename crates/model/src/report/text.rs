//! The report on a terminal.

use crate::eval::{Bootstrap, CountryScores, DistanceRule, Estimate, Likelihood, Prdc, RADIUS_NAMES};
use crate::{eval::ReliabilityCurve, eval::ReliabilityPoint, report::Breakdown, report::Report, report::Rival};
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
        let Estimate { value, low, high } = scores.geoscore;
        line!(out, "{:<20} {value:>10.1}   {low:.1} to {high:.1}", "GeoScore");
        let median = scores.median_km();
        line!(out, "{:<20} {:>7} km   {}", "median error", km(median.value), km_interval(&median));
        line!(out, "{:<20} {:>7} km   {}", "mean error", km(scores.mean_km.value), km_interval(&scores.mean_km));
        let quantiles: Vec<String> =
            scores.quantiles.iter().map(|q| format!("{:.0} %: {}", 100.0 * q.p, km(q.km.value))).collect();
        line!(out, "{:<20} {} km", "error quantiles", quantiles.join(", "));
        country_scores(&mut out, &self.country_scores);
        if let Some(prdc) = &self.prdc {
            let k = prdc.neighbours;
            let chunks = format!("{} chunks, k = {k}", prdc.chunks);
            for (what, found) in [(format!("all, k = {k}"), prdc.whole), (chunks, prdc.chunked)] {
                let Some(Prdc { precision, recall, density, coverage }) = found else { continue };
                let first = format!("PRDC ({what}): precision {precision:.3}, recall {recall:.3}");
                line!(out, "{first}, density {density:.3}, coverage {coverage:.3}");
            }
        }
        if let Some(likelihood) = &self.likelihood {
            let Likelihood { n, nats: Estimate { value, low, high }, plonk } = likelihood;
            let nats = format!("NLL {value:.3} nats per steradian ({low:.3} to {high:.3}; uniform 2.531)");
            line!(out, "{nats}, plonk's figure {plonk:.3} (uniform 1.217), n = {n}");
        }
        if let Some(found) = &self.recall_area {
            let areas = found.in_millions();
            line!(
                out,
                "recall against area: the densest {areas} million km² hold the truth of 10 / 50 / 90 % of the photos"
            );
        }
        for (what, calibration) in [("credible regions", &self.regions), ("radii", &self.radii)] {
            calibration.iter().for_each(|calibration| reliability(&mut out, what, calibration));
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

fn country_scores(out: &mut String, scores: &CountryScores) {
    let CountryScores { country, state, continent, probabilities } = scores;
    for (what, found) in [("right country", country), ("right state", state), ("right continent", continent)] {
        let (value, interval) = (percent(found.share.value), percent_interval(&found.share));
        line!(out, "{what:<20} {value:>10}   {interval} (n = {})", found.n);
    }
    let Some(said) = probabilities else { return };
    let (Estimate { value, low, high }, first) = (said.log_loss_nats, said.most_probable);
    let right = percent(first.share.value);
    line!(
        out,
        "probabilities of countries: log loss {value:.3} nats ({low:.3} to {high:.3}), the most probable is right {right}, n = {}",
        first.n
    );
    reliability(out, "probabilities of countries by tenths", &said.reliability);
}

fn reliability(out: &mut String, what: &str, calibration: &ReliabilityCurve) {
    let is_even = calibration.curve.windows(2).all(|pair| pair[0].n == pair[1].n);
    let point = |p: &ReliabilityPoint| {
        let n = if is_even { String::new() } else { format!(" (n = {})", p.n) };
        format!("{:.0}: {:.1}{n}", 100.0 * p.promised, 100.0 * p.observed)
    };
    let points = calibration.curve.iter().map(point).collect::<Vec<_>>().join(", ");
    let mean = 100.0 * calibration.mean_absolute_error;
    let largest = 100.0 * calibration.largest_error;
    let error = format!("mean absolute error {mean:.1} points, largest {largest:.1}");
    line!(out, "{what}, stated %: observed %   {points}   {error}");
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
        line!(out, "… and {} more in the JSON and the CSV", breakdown.groups.len() - MOST);
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
    let (Estimate { value, low, high }, m) = (paired.geoscore, &paired.median_km);
    line!(out, "GeoScore {value:+.1} ({low:+.1} to {high:+.1}); median error {} km ({})", km(m.value), km_interval(m));
    let [own, other] =
        [&report.country_scores, &rival.country_scores].map(|scores| percent(scores.country.share.value));
    line!(out, "right country: first {own}, second {other}");
    let (first, second, p) = (paired.nearer_first, paired.nearer_second, p_value(paired.nearer_p_value));
    line!(out, "nearer to the truth: first {first}, second {second}, p {p} (sign test)");
}

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
        let counted = match (self.scores.missing, self.skipped) {
            (0, 0) => "",
            (_, 0) => " (counted as misses)",
            _ => " (left out)",
        };
        let without_answer = self.scores.missing + self.skipped;
        let counts = format!("n = {}, {without_answer} without an answer{counted}", self.scores.n);
        match self.without_truth {
            0 => counts,
            without => format!("{counts}, {without} without a truth (left out)"),
        }
    }

    /// "95 % bootstrap intervals, 1000 draws of 143 blocks of 15°, seed 0".
    pub(crate) fn intervals_in_words(&self) -> String {
        let Bootstrap { replicates, confidence, seed, blocks } = &self.bootstrap;
        let of = blocks.as_ref().map_or(String::new(), |blocks| format!(" of {} blocks of 15°", blocks.count()));
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
