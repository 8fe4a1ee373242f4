//! The plots of the page.

use crate::eval::{DistanceScores, RADII_KM, RecallArea, ReliabilityCurve};
use crate::{report::Report, report::svg::Axis, report::svg::Plot, report::text::percent};
use locdiff_map::{Coast, Detail};
use std::fmt::Write;

fn percent_axis(label: &'static str) -> Axis {
    let ticks = (0..=5).map(|k| (f64::from(k) * 0.2, format!("{} %", k * 20))).collect();
    Axis { from: 0.0, to: 1.0, is_log: false, ticks, label }
}

pub(crate) fn accuracy_curve(report: &Report) -> String {
    let last = report.scores.curve.last().map_or(20_000.0, |point| point.radius_km);
    let ticks = RADII_KM.iter().chain(&[5.0, 10_000.0]).map(|km| (*km, km.to_string())).collect();
    let x = Axis { from: 1.0, to: last, is_log: true, ticks, label: "distance from the truth, km" };
    let mut plot = Plot::new(x, percent_axis("photos within"));
    let mut draw = |scores: &DistanceScores, name: &str, class: &str| {
        let band = scores.curve.iter().map(|p| (p.radius_km, p.share.low, p.share.high));
        plot.band(&format!("band {class}"), &band.collect::<Vec<_>>());
        plot.line(&format!("line {class}"), scores.curve.iter().map(|p| (p.radius_km, p.share.value)));
        for point in &scores.radii {
            let tip = format!("{name}: {} within {} km", percent(point.share.value), point.radius_km);
            plot.dot(&format!("dot {class}"), point.radius_km, point.share.value, &tip);
        }
    };
    if let Some(rival) = &report.rival {
        draw(&rival.scores, &rival.name, "second");
    }
    draw(&report.scores, &report.name, "first");
    plot.finish("Share of photos within a distance of the truth, by distance")
}

/// Share of photos whose densest region of an area holds the truth.
pub(crate) fn recall_area(found: &RecallArea) -> String {
    let ticks = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8].map(|km2| (km2, format!("{km2:.0e}"))).into();
    let to = found.curve.last().map_or(5.1e8, |point| point.area_km2);
    let x = Axis { from: 1e2, to, is_log: true, ticks, label: "area, km²" };
    let mut plot = Plot::new(x, percent_axis("truths inside"));
    plot.line("line first", found.curve.iter().map(|point| (point.area_km2, point.recall)));
    plot.finish("Share of photos whose densest region holds the truth, by its area")
}

/// Promised against observed shares.
pub(crate) fn reliability(regions: Option<&ReliabilityCurve>, radii: Option<&ReliabilityCurve>) -> String {
    let mut plot = Plot::new(percent_axis("stated"), percent_axis("observed"));
    plot.line("diagonal", [(0.0, 0.0), (1.0, 1.0)].into_iter());
    let n = regions.or(radii).and_then(|found| found.curve.first()).map_or(0, |point| point.n);
    let chance = |k| {
        let p = f64::from(k) / 50.0;
        let half = 1.96 * (p * (1.0 - p) / n.max(1) as f64).sqrt();
        (p, p - half, p + half)
    };
    plot.band("band chance", &(0..=50).map(chance).collect::<Vec<_>>());
    for (found, what, class) in [(regions, "regions", "first"), (radii, "radii", "second")] {
        let Some(found) = found else { continue };
        let points = || found.curve.iter().map(|point| (point.promised, point.observed));
        plot.line(&format!("line {class}"), points());
        for (promised, observed) in points() {
            let tip = format!("{what}: {} stated, {} observed", percent(promised), percent(observed));
            plot.dot(&format!("dot {class}"), promised, observed, &tip);
        }
    }
    plot.finish("Observed share of truths inside regions, by stated probability")
}

/// Errors are sorted into these classes on the map: upper edge in km, class, text.
pub(crate) const ERROR_CLASSES: [(f64, &str, &str); 5] = [
    (25.0, "e0", "under 25 km"),
    (200.0, "e1", "25 to 200 km"),
    (750.0, "e2", "200 to 750 km"),
    (2500.0, "e3", "750 to 2500 km"),
    (f64::INFINITY, "e4", "2500 km and more, or no answer"),
];

pub(crate) fn error_class(km: f64) -> usize {
    ERROR_CLASSES.iter().position(|class| km < class.0).unwrap_or(ERROR_CLASSES.len() - 1)
}

/// Photos on the map are thinned to this many: a page stays small.
pub(crate) const MOST_DOTS: usize = 5000;

/// Where the photos are and how far off their answers.
pub(crate) fn error_map(report: &Report) -> String {
    let mut out = String::from("<svg class=map viewBox='-180 -85 360 145' role=img aria-label='Map of errors'>");
    out.push_str("<rect class=sea x=-180 y=-90 width=360 height=180 /><path class=land d='");
    for ring in Coast::load(Detail::Coarse).land {
        // What leaves the map on one side comes in on the other.
        let reach = ring.points.iter().fold([0.0f64; 2], |[w, e], p| [w.min(p[0]), e.max(p[0])]);
        let turns = [(true, 0.0), (reach[0] < -180.0, 360.0), (reach[1] > 180.0, -360.0)];
        for (_, turn) in turns.into_iter().filter(|(is_needed, _)| *is_needed) {
            for (index, [lon, lat]) in ring.points.iter().enumerate() {
                let pen = if index == 0 { 'M' } else { 'L' };
                let _ = write!(out, "{pen}{:.1} {:.1}", lon + turn, -lat);
            }
            out.push('Z');
        }
    }
    out.push_str("'/>");
    let stride = report.points.len().div_ceil(MOST_DOTS).max(1);
    let mut shown: Vec<_> = report.points.iter().step_by(stride).collect();
    // The best on top: they are fewer.
    shown.sort_by(|a, b| b.1.total_cmp(&a.1));
    for (place, km) in shown {
        let class = ERROR_CLASSES[error_class(*km)].1;
        let _ = write!(out, "<circle class={class} cx={:.2} cy={:.2} r=1 />", place.lon_deg(), -place.lat_deg());
    }
    out.push_str("</svg>");
    out
}
