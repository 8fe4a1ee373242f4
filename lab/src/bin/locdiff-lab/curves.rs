//! Tables as curves: accuracy by degree, and by where answers may lie.

use locdiff_model::report::svg::{Axis, Plot};
use serde_json::Value;

/// Smaller radii have no curve.
const SMALLEST_KM: f64 = 25.0;

/// The looks of curves, one for each radius; a second series of the same radius is dashed.
const COLOURS: [&str; 5] = ["first", "second", "third", "fourth", "fifth"];

/// A row of a table: its name, and shares (0 to 1) within radii in kilometres.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AccuracyRow {
    /// The name: "L = 23", or "LocDiff, 21,000 grid points", whose first part is the series.
    pub(crate) name: String,
    /// Radius and share.
    pub(crate) within: Vec<(f64, f64)>,
}

impl AccuracyRow {
    /// The rows of a table in JSON, as `locdiff-lab reproduce` prints it; radii from 25 km on.
    pub(crate) fn of_table(table: &Value) -> Vec<Self> {
        table["rows"].as_array().into_iter().flatten().filter_map(Self::of_json).collect()
    }

    fn of_json(row: &Value) -> Option<Self> {
        let ours = &row["ours"]; // shares, or more than those
        let within = ours.as_array().or_else(|| ours["within"].as_array())?;
        let pair = |value: &Value| Some((value["radius_km"].as_f64()?, value["share"]["value"].as_f64()?));
        let within = within.iter().filter_map(pair).filter(|(km, _)| *km >= SMALLEST_KM).collect();
        Some(Self { name: row["name"].as_str()?.to_owned(), within })
    }

    fn parts(&self) -> (&str, &str) {
        self.name.split_once(", ").unwrap_or(("", &self.name))
    }
}

/// Curves of a table's shares, a colour for each radius, along its rows; rows whose names begin alike ("LocDiff, …") are one
/// series, and the second series is dashed. As SVG.
pub(crate) fn accuracy_curves(title: &str, rows: &[AccuracyRow]) -> String {
    let mut series: Vec<&str> = Vec::new();
    let mut places: Vec<&str> = Vec::new();
    for row in rows {
        let (own, place) = row.parts();
        if !series.contains(&own) {
            series.push(own);
        }
        if !places.contains(&place) {
            places.push(place);
        }
    }
    let most = rows.iter().flat_map(|row| &row.within).map(|(_, share)| *share).fold(0.1, f64::max);
    let top = (most * 10.0).ceil() / 10.0;
    let ticks = places.iter().enumerate().map(|(k, place)| (k as f64, (*place).to_owned())).collect();
    let x = Axis {
        from: -0.3,
        to: places.len() as f64 - 0.5,
        is_log: false,
        ticks,
        label: "full line: first series, dashed: second",
    };
    let x = if series.len() > 1 { x } else { Axis { label: "", ..x } };
    let percents = (0..=10).map(|k| f64::from(k) / 10.0).filter(|share| *share <= top + 1e-9);
    let y_ticks = percents.map(|share| (share, format!("{:.0} %", 100.0 * share))).collect();
    let y = Axis { from: 0.0, to: top, is_log: false, ticks: y_ticks, label: "photos within" };
    let mut plot = Plot::new(x, y);
    let radii: Vec<f64> = rows.first().map_or(Vec::new(), |row| row.within.iter().map(|(km, _)| *km).collect());
    for (s, own) in series.iter().enumerate() {
        let dash = if s == 0 { "" } else { " dashed" };
        for (r, radius) in radii.iter().enumerate() {
            let colour = COLOURS[r % COLOURS.len()];
            let points: Vec<(f64, f64, &str)> = rows
                .iter()
                .filter(|row| row.parts().0 == *own)
                .filter_map(|row| {
                    let at = places.iter().position(|place| *place == row.parts().1)? as f64;
                    row.within.get(r).map(|(_, share)| (at, *share, row.name.as_str()))
                })
                .collect();
            plot.line(&format!("line {colour}{dash}"), points.iter().map(|(x, y, _)| (*x, *y)));
            for (x, share, name) in &points {
                let tip = format!("{name}: {:.1} % within {radius} km", 100.0 * share);
                plot.dot(&format!("dot {colour}"), *x, *share, &tip);
            }
            if let (0, Some((x, share, _))) = (s, points.last()) {
                plot.text(*x, *share, &format!("{radius} km"));
            }
        }
    }
    plot.finish_file(title)
}
