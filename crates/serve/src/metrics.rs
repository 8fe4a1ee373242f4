//! Counters as Prometheus reads them.

use crate::queue::Times;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{collections::BTreeMap, fmt::Write, sync::atomic::AtomicU64, sync::atomic::Ordering, time::Duration};

/// The stages of a photo.
pub(crate) const STAGES: [&str; 4] = ["queue", "decode", "encode", "answer"];
const SECONDS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0];
const PHOTOS: [f64; 7] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

/// How often values were at most so large.
#[derive(Debug)]
struct Histogram {
    bounds: &'static [f64],
    counts: Vec<u64>,
    sum: f64,
}

impl Histogram {
    fn new(bounds: &'static [f64]) -> Self {
        Self { bounds, counts: vec![0; bounds.len() + 1], sum: 0.0 }
    }

    fn add(&mut self, value: f64) {
        let bucket = self.bounds.iter().position(|bound| value <= *bound).unwrap_or(self.bounds.len());
        self.counts[bucket] += 1;
        self.sum += value;
    }

    fn write(&self, out: &mut String, name: &str, label: &str) {
        let mut below = 0;
        let comma = if label.is_empty() { "" } else { "," };
        for (bucket, count) in self.counts.iter().enumerate() {
            below += count;
            let bound = self.bounds.get(bucket).map_or("+Inf".to_owned(), f64::to_string);
            let _ = writeln!(out, "{name}_bucket{{{label}{comma}le=\"{bound}\"}} {below}");
        }
        let labels = if label.is_empty() { String::new() } else { format!("{{{label}}}") };
        let _ = writeln!(out, "{name}_sum{labels} {}\n{name}_count{labels} {below}", self.sum);
    }
}

#[derive(Debug)]
struct Tables {
    requests: BTreeMap<(&'static str, u16), u64>,
    refused: BTreeMap<&'static str, u64>,
    stages: [Histogram; 4],
    batches: Histogram,
    duration: Histogram,
}

/// All that is counted.
#[derive(Debug)]
pub(crate) struct Metrics {
    tables: Mutex<Tables>,
    /// Photos whose client went away before they were computed.
    pub(crate) gone: AtomicU64,
    /// Photos whose time was over before they were computed.
    pub(crate) late: AtomicU64,
    /// Photos that were answered.
    pub(crate) answered: AtomicU64,
    /// Connections that are open.
    pub(crate) connections: Arc<AtomicU64>,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let stages = STAGES.map(|_| Histogram::new(&SECONDS));
        let (batches, duration) = (Histogram::new(&PHOTOS), Histogram::new(&SECONDS));
        let tables = Tables { requests: BTreeMap::new(), refused: BTreeMap::new(), stages, batches, duration };
        let [gone, late, answered] = [const { AtomicU64::new(0) }; 3];
        Self { tables: Mutex::new(tables), gone, late, answered, connections: Arc::default() }
    }

    pub(crate) fn request(&self, route: &'static str, status: u16, took: Duration) {
        let mut tables = self.tables();
        *tables.requests.entry((route, status)).or_default() += 1;
        tables.duration.add(took.as_secs_f64());
    }

    pub(crate) fn refused(&self, reason: &'static str) {
        *self.tables().refused.entry(reason).or_default() += 1;
    }

    pub(crate) fn batch(&self, photos: usize) {
        self.tables().batches.add(photos as f64);
    }

    pub(crate) fn stages(&self, times: Times) {
        self.tables().stages.iter_mut().zip(times).for_each(|(stage, took)| stage.add(took.as_secs_f64()));
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The text that Prometheus reads, after values that others hold: name, meaning, value.
    pub(crate) fn text(&self, gauges: &[(&str, &str, f64)]) -> String {
        let mut out = String::new();
        let head = |out: &mut String, name: &str, kind: &str, meaning: &str| {
            let _ = writeln!(out, "# HELP locdiff_{name} {meaning}\n# TYPE locdiff_{name} {kind}");
        };
        let value = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let connections = ("connections", "Connections that are open.", value(&self.connections) as f64);
        for (name, meaning, value) in gauges.iter().chain([&connections]) {
            head(&mut out, name, "gauge", meaning);
            let _ = writeln!(out, "locdiff_{name} {value}");
        }
        head(&mut out, "photos_answered_total", "counter", "Photos and embeddings that were answered.");
        let _ = writeln!(out, "locdiff_photos_answered_total {}", value(&self.answered));
        let dropped = "Photos that were not computed: client gone, or too late.";
        head(&mut out, "photos_dropped_total", "counter", dropped);
        for (reason, count) in [("gone", &self.gone), ("late", &self.late)] {
            let _ = writeln!(out, "locdiff_photos_dropped_total{{reason=\"{reason}\"}} {}", value(count));
        }
        let tables = self.tables();
        head(&mut out, "requests_total", "counter", "Requests by route and status.");
        for ((route, status), count) in &tables.requests {
            let _ = writeln!(out, "locdiff_requests_total{{route=\"{route}\",status=\"{status}\"}} {count}");
        }
        head(&mut out, "refused_total", "counter", "Requests that were refused, by problem.");
        for (reason, count) in &tables.refused {
            let _ = writeln!(out, "locdiff_refused_total{{problem=\"{reason}\"}} {count}");
        }
        head(&mut out, "request_seconds", "histogram", "From a request's head to its response.");
        tables.duration.write(&mut out, "locdiff_request_seconds", "");
        head(&mut out, "batch_photos", "histogram", "Photos that were computed together.");
        tables.batches.write(&mut out, "locdiff_batch_photos", "");
        head(&mut out, "stage_seconds", "histogram", "What requests waited for, by stage.");
        for (stage, histogram) in STAGES.iter().zip(&tables.stages) {
            histogram.write(&mut out, "locdiff_stage_seconds", &format!("stage=\"{stage}\""));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_counts_what_happened() {
        let metrics = Metrics::new();
        metrics.request("/v1/locate", 200, Duration::from_millis(7));
        metrics.request("/v1/locate", 200, Duration::from_secs(99));
        metrics.refused("busy");
        metrics.batch(3);
        metrics.stages([0, 0, 20, 0].map(Duration::from_millis));
        let text = metrics.text(&[("queue_photos", "Waiting.", 5.0)]);
        for line in [
            "# TYPE locdiff_queue_photos gauge",
            "locdiff_queue_photos 5",
            "locdiff_requests_total{route=\"/v1/locate\",status=\"200\"} 2",
            "locdiff_refused_total{problem=\"busy\"} 1",
            "locdiff_request_seconds_bucket{le=\"0.01\"} 1",
            "locdiff_request_seconds_bucket{le=\"+Inf\"} 2",
            "locdiff_batch_photos_bucket{le=\"2\"} 0",
            "locdiff_batch_photos_bucket{le=\"4\"} 1",
            "locdiff_stage_seconds_count{stage=\"encode\"} 1",
            "locdiff_stage_seconds_sum{stage=\"encode\"} 0.02",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
        }
    }
}
