//! The paper's times of unit operations and of training, on this machine.

use crate::{Table, locdiff::with_degree};
use anyhow::Result;
use locdiff_io::data::Embedding;
use locdiff_model::train::{Dataset, Rows, TrainPreset, TrainingJob, train};
use locdiff_model::{Model, ModelConfig, Predictor, Query, Reading, SampleOptions, chance, diffusion::Sampler};
use locdiff_nn::Device;
use locdiff_shdd::{Anchors, Codec, Coefficients, Decoder, sphere::Degree, sphere::Grid, sphere::UnitVec};
use serde_json::{Value, json};
use std::{sync::atomic::AtomicBool, time::Instant};

const DIFFERENCE: &str = "The paper: four NVIDIA RTX 5500 (the table says on which its parts ran), PyTorch. Ours: this machine, on the device \
named; encoding and decoding always on the CPU. Memory is what the whole device has in use.";
/// Size of CLIP ViT-L/14 embeddings.
const EMBEDDING: usize = 768;
/// Steps of an epoch in the paper's table.
const EPOCH_STEPS: f64 = 1500.0;
/// The paper's training: degree, seconds an epoch, MB.
const PAPER_TRAINING: [(usize, f64, f64); 3] = [(15, 130.0, 5691.0), (23, 212.0, 10_599.0), (31, 388.0, 17_407.0)];

/// One operation's time or memory.
#[derive(Debug, Clone, PartialEq)]
pub struct TimedOperation {
    pub what: String,
    pub paper: f64,
    pub ours: f64,
    pub unit: &'static str,
}

/// The times with the paper's beside them.
#[derive(Debug, Clone)]
pub struct TimingTable {
    pub rows: Vec<TimedOperation>,
    device: String,
    steps: u32,
    photos: usize,
}

impl TimingTable {
    /// Parts that [`TimingTable::measure`] tells of.
    pub const PARTS: usize = 3 + PAPER_TRAINING.len();

    /// Times training over so many steps at each degree and sampling for so many photos at once; `step` is told whenever a
    /// part is done.
    pub fn measure(device: &Device, steps: u32, photos: usize, step: &dyn Fn()) -> Result<Self> {
        let mut rows = vec![encoding()?];
        step();
        rows.push(sampling(device, photos)?);
        step();
        rows.extend(decoding()?);
        step();
        for (degree, seconds, megabytes) in PAPER_TRAINING {
            let (ours, memory) = training(device, degree, steps)?;
            let what = format!("training, L = {degree}, 1500 steps of 512");
            rows.push(TimedOperation { what, paper: seconds, ours, unit: "s" });
            if let Some(memory) = memory {
                let what = format!("device memory in use, L = {degree}");
                rows.push(TimedOperation { what, paper: megabytes, ours: memory, unit: "MB" });
            }
            step();
        }
        Ok(Self { rows, device: device.to_string(), steps, photos })
    }

    /// The table with what was done above it, as text or as Markdown.
    pub fn render(&self, markdown: bool) -> String {
        let mut table = Table::new(&["", "paper", "ours", "unit", "times faster"]);
        for row in &self.rows {
            let number = |x: f64| if x < 0.01 { format!("{x:.2e}") } else { format!("{x:.3}") };
            let ratio = if row.unit == "s" { format!("{:.2}", row.paper / row.ours) } else { "–".to_owned() };
            table.push(vec![row.what.clone(), number(row.paper), number(row.ours), row.unit.to_owned(), ratio]);
        }
        let table = table.render(markdown);
        format!(
            "Times on {}, {} steps and {} photos timed.\n{DIFFERENCE}\n\n{table}\n",
            self.device, self.steps, self.photos
        )
    }

    pub fn to_json(&self) -> Value {
        let row =
            |row: &TimedOperation| json!({"what": row.what, "paper": row.paper, "ours": row.ours, "unit": row.unit});
        let rows: Vec<Value> = self.rows.iter().map(row).collect();
        json!({"device": self.device, "differs": DIFFERENCE, "rows": rows})
    }
}

/// 200 DDPM steps, 16 samples per photo, L = 23, random weights: the time does not depend on them.
fn sampling(device: &Device, photos: usize) -> Result<TimedOperation> {
    let model = Model::new(device, ModelConfig::new(23, EMBEDDING))?;
    let options = SampleOptions { samples: 16, sampler: Sampler::Ddpm, steps: 200, ..SampleOptions::default() };
    let embedding = |photo: usize| {
        let numbers = (0..EMBEDDING).map(|k| chance::normals([1, 2, (photo * EMBEDDING + k) as u64]).0 as f32);
        Embedding::new(numbers.collect(), None)
    };
    let embeddings = (0..photos).map(embedding).collect::<Result<Vec<_>, _>>()?;
    let queries: Vec<Query<'_>> = embeddings.iter().map(Query::from).collect();
    let predictor = Predictor::new(&model)?;
    for _ in 0..2 * usize::from(device.is_cuda()) {
        predictor.predict(&queries, &options, Reading::default())?; // prepares, then records the graph
    }
    let start = Instant::now();
    predictor.predict(&queries, &options, Reading::default())?;
    let ours = start.elapsed().as_secs_f64() / photos as f64;
    let what = format!("DDPM per photo: 200 steps, 16 samples, L = 23, {photos} photos at once");
    Ok(TimedOperation { what, paper: 0.056, ours, unit: "s" })
}

/// The paper's own training at a degree: seconds for 1500 steps, and MB of device memory.
fn training(device: &Device, degree: usize, steps: u32) -> Result<(f64, Option<f64>)> {
    let photos = 2048;
    let embeddings = (0..photos * EMBEDDING).map(|k| chance::normals([3, 4, k as u64]).0 as f32).collect();
    let places = (0..photos as u64).map(|k| chance::point([5, 6, k]).to_latlon()).collect();
    let data = Dataset::in_memory(EMBEDDING, vec![embeddings], places)?;
    let rows: Vec<u32> = (0..photos as u32).collect();
    let mut config = TrainPreset::Paper.run_config(EMBEDDING);
    config.model = with_degree(config.model, degree);
    config.train.steps = steps;
    config.train.log_every = 1.max(steps / 2);
    config.train.validate_every = 0;
    let folder = tempfile::tempdir()?;
    let job = TrainingJob {
        device,
        config,
        training: Rows { data: &data, rows: &rows },
        validation: None,
        out: folder.path(),
        resume: false,
        stream: false,
        stop: &AtomicBool::new(false),
    };
    // The second half alone: the first step makes storage and, on CUDA, records the graph.
    let mut speed = 0.0;
    train(job, |event| {
        if let locdiff_model::train::Event::Progress { steps_per_second, .. } = event {
            speed = steps_per_second;
        }
    })?;
    let memory = device.memory_used_bytes()?.map(|bytes| bytes as f64 / 1e6);
    Ok((EPOCH_STEPS / speed, memory))
}

/// Encoding at L = 47, the paper's largest.
fn encoding() -> Result<TimedOperation> {
    let codec = Codec::new(Degree::new(47)?);
    let points: Vec<UnitVec> = (0..20_000).map(|k| chance::point([7, 8, k])).collect();
    let mut codes = vec![0.0_f32; points.len() * codec.degree().dimension()];
    let start = Instant::now();
    codec.encode_batch(&points, &mut codes)?;
    let ours = start.elapsed().as_secs_f64() / points.len() as f64;
    Ok(TimedOperation { what: "encoding a location, L = 47".to_owned(), paper: 0.0003, ours, unit: "s" })
}

/// Decoding 512 noisy codes at L = 23: over 21,000 anchors as the paper does it, and exactly.
fn decoding() -> Result<Vec<TimedOperation>> {
    let codec = Codec::new(Degree::new(23)?);
    let noisy = |k: u64| {
        let code = codec.encode(chance::point([9, 10, k]).to_latlon()).into_vec().into_iter().enumerate();
        let noise = |i: usize| 0.05 * chance::normals([11, k, i as u64]).0;
        Coefficients::new(code.map(|(i, value)| value + noise(i)).collect())
    };
    let codes: Vec<Coefficients> = (0..512).map(noisy).collect::<Result<_, _>>()?;
    let anchors = Decoder::Anchors(Anchors::new(&Grid::fibonacci(21_000)?, 0.0)?);
    let timed = |(name, decoder): (&str, Decoder)| {
        codec.decode_batch(&codes, &decoder)?;
        let start = Instant::now();
        codec.decode_batch(&codes, &decoder)?;
        let ours = start.elapsed().as_secs_f64();
        Ok(TimedOperation { what: format!("decoding 512 codes, L = 23, {name}"), paper: 0.0012, ours, unit: "s" })
    };
    let exact = ("exact maximum", Decoder::Exact { window_rad: None });
    [("21,000 anchors", anchors), exact].into_iter().map(timed).collect()
}
