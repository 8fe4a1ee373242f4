//! The paper's tables with our column: from the reports that `evaluate` leaves.

use anyhow::Result;
use locdiff_base::Named;
use locdiff_io::data::TableReader;
use locdiff_model::eval::{Benchmark, RADII_KM};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::{fmt::Write, path::Path, sync::LazyLock};

/// A row of the paper's tables; what it does not report is absent.
#[derive(Debug, Deserialize)]
struct Published {
    system: &'static str,
    /// % within 1, 25, 200, 750 and 2500 km.
    within: [Option<f64>; 5],
    /// Density and coverage, as plonk computes them.
    prdc: Option<(f64, f64)>,
}

static PUBLISHED: LazyLock<HashMap<&str, Vec<Published>>> =
    LazyLock::new(|| serde_json::from_str(include_str!("published.json")).expect("published.json holds rows"));

/// The rows of a benchmark that ours is put beside; Im2GPS is in none of the paper's tables.
fn published(benchmark: Benchmark) -> &'static [Published] {
    PUBLISHED.get(benchmark.name()).map_or(&[], Vec::as_slice)
}

/// A number with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Figure {
    value: f64,
    interval: Option<(f64, f64)>,
    n: u64,
}

/// Our figures by metric.
type Ours = BTreeMap<String, Figure>;

pub(crate) struct Tables {
    about: String,
    blocks: Vec<Block>,
}

/// A benchmark with our figures and those of our LocDiff-H.
struct Block {
    benchmark: Benchmark,
    ours: Option<Ours>,
    hybrid: Option<Ours>,
}

/// The lines of a block that only we have.
const OWN: [(&str, &str); 2] = [("geoscore", "GeoScore"), ("mean_km", "mean distance, km")];

impl Tables {
    /// Of the reports in the script's folder; a benchmark without one was not run.
    pub(crate) fn read(about: &str, folder: &Path) -> Result<Self> {
        let report = |kind: &str, benchmark: Benchmark| {
            let file = folder.join(format!("{kind}-{}", benchmark.name())).join("report.csv");
            file.is_file().then(|| figures(&file)).transpose()
        };
        let block = |(benchmark, ..): &(Benchmark, &str, &str)| {
            let (ours, hybrid) = (report("evaluate", *benchmark)?, report("hybrid", *benchmark)?);
            Ok(Block { benchmark: *benchmark, ours, hybrid })
        };
        Ok(Self { about: about.to_owned(), blocks: Benchmark::ALL.iter().map(block).collect::<Result<_>>()? })
    }

    pub(crate) fn to_json(&self) -> Value {
        let figure = |figure: &Figure| {
            json!({ "value": figure.value, "low": figure.interval.map(|(low, _)| low),
                    "high": figure.interval.map(|(_, high)| high), "n": figure.n })
        };
        let all = |ours: &Ours| {
            ours.iter().map(|(metric, found)| (metric.clone(), figure(found))).collect::<serde_json::Map<_, _>>()
        };
        let block = |Block { benchmark, ours, hybrid }: &Block| {
            let rows = published(*benchmark).iter().map(|row| {
                json!({ "system": row.system, "percent_within": row.within, "density": row.prdc.map(|p| p.0),
                        "coverage": row.prdc.map(|p| p.1) })
            });
            json!({
                "benchmark": benchmark.name(), "rules": benchmark.preset().name(), "photos": benchmark.photos(),
                "radii_km": RADII_KM, "published": rows.collect::<Vec<_>>(),
                "ours": ours.as_ref().map(all), "ours_locdiff_h": hybrid.as_ref().map(all),
            })
        };
        json!({ "ours": self.about, "tables": self.blocks.iter().map(block).collect::<Vec<_>>() })
    }

    pub(crate) fn to_markdown(&self) -> String {
        let mut text = format!("# The paper's tables, and ours\nOurs: {}.\n", self.about);
        for own in &self.blocks {
            block(&mut text, own);
        }
        text
    }
}

fn block(text: &mut String, Block { benchmark, ours, hybrid }: &Block) {
    let (benchmark, ours) = (*benchmark, ours.as_ref());
    let rows = published(benchmark);
    let n = ours.and_then(|ours| ours.get("within_1_km")).map_or(0, |figure| figure.n);
    let missing = ours.and_then(|ours| ours.get("missing")).map_or(0.0, |figure| figure.value);
    // Writing to a String cannot fail.
    let _ = write!(
        text,
        "\n## {}\n{} photos are published, {}'s rules. ",
        benchmark.title(),
        benchmark.photos(),
        benchmark.preset()
    );
    let _ = match ours {
        Some(_) => writeln!(text, "Ours: {n} photos, of which {missing} are missing and count as misses.\n"),
        None => writeln!(text, "Ours: not run.\n"),
    };
    let systems = rows.iter().map(|row| row.system);
    let own: Vec<(&str, Option<&Ours>)> = std::iter::once(("**ours**", ours))
        .chain(hybrid.as_ref().map(|hybrid| ("**ours, LocDiff-H**", Some(hybrid))))
        .collect();
    let head: Vec<&str> = std::iter::once("%").chain(systems).chain(own.iter().map(|(name, _)| *name)).collect();
    let _ = writeln!(text, "| {} |\n|{}", head.join(" | "), "---|".repeat(head.len()));
    let mut line = |name: &str, cells: Vec<Option<f64>>, metric: &str, scale: f64, digits: usize| {
        let cells = cells.into_iter().map(|cell| cell.map_or("–".to_owned(), |cell| format!("{cell:.digits$}")));
        let own = own.iter().map(|(_, ours)| {
            ours.and_then(|ours| ours.get(metric)).map_or("–".to_owned(), |figure| {
                let value = format!("{:.digits$}", scale * figure.value);
                figure.interval.map_or(value.clone(), |(low, high)| {
                    format!("{value} ({:.digits$}–{:.digits$})", scale * low, scale * high)
                })
            })
        });
        let cells: Vec<String> = std::iter::once(name.to_owned()).chain(cells).chain(own).collect();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    };
    for (k, radius) in RADII_KM.iter().enumerate() {
        let cells = rows.iter().map(|row| row.within[k]).collect();
        line(&format!("{radius} km"), cells, &format!("within_{radius}_km"), 100.0, 1);
    }
    let prdc = |pick: fn((f64, f64)) -> f64| rows.iter().map(|row: &Published| row.prdc.map(pick)).collect::<Vec<_>>();
    if rows.iter().any(|row| row.prdc.is_some()) {
        line("density", prdc(|found| found.0), "density", 1.0, 3);
        line("coverage", prdc(|found| found.1), "coverage", 1.0, 3);
    }
    for (metric, name) in OWN {
        line(name, vec![None; rows.len()], metric, 1.0, 0);
    }
}

/// Our figures in a report of `evaluate`.
fn figures(report: &Path) -> Result<Ours> {
    let mut table = TableReader::open(report)?;
    let columns = ["section", "group", "metric", "value", "low", "high", "n"];
    let at: Vec<usize> = columns.iter().map(|name| table.column(&[name])).collect::<std::result::Result<_, _>>()?;
    let mut found = Ours::new();
    while let Some((_, fields)) = table.next_row()? {
        let [section, group, metric] = [0, 1, 2].map(|k| fields[at[k]].as_str());
        // plonk's figures are means over chunks.
        let is_ours = section == "scores" || (section == "prdc" && group == "chunked");
        let Some(value) = table.number(&fields[at[3]]).filter(|_| is_ours) else { continue };
        let interval = table.number(&fields[at[4]]).zip(table.number(&fields[at[5]]));
        let n = table.number(&fields[at[6]]).unwrap_or(0.0) as u64;
        found.entry(metric.to_owned()).or_insert(Figure { value, interval, n });
    }
    Ok(found)
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
