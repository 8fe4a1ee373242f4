//! The engine's side of `bench/engine.py`: prepares training steps and samplers and times them on command.
//!
//! Reads commands from standard input, one a line, and answers each with one line:
//! `prepare ID train D PRECISION bare|full`, `prepare ID sample D PRECISION BATCH STEPS`, `run ID ITERATIONS`, `drop ID`,
//! `memory`. Weights and data are made by the same hash as in `bench/engine.py`, so the losses must agree.

use locdiff_diffusion::{Denoiser, Prediction, SampleState, Sampler, SamplerPlan, Schedule, TrainingTables, sample};
use locdiff_nn::{
    Adam, AdamConfig, Device, DeviceSpec, Gradients, Indices, NnError, Params, ParamsBuilder, Recorded, Rng, RowNoise,
    Tensor, View, ViewMut,
    layers::{Conditioning, CsUnet, CsUnetConfig, CsUnetWorkspace, ForwardMode, SamplingWorkspace},
    losses::Quadrature,
    ops,
};
use std::{collections::HashMap, error::Error, io::BufRead, time::Instant};

type Fallible<T> = Result<T, Box<dyn Error>>;

const COND: usize = 768;
const ANCHORS: usize = 2048;
const BATCH: usize = 512;
const STEPS: usize = 200;

/// Uniform numbers in [0, 1), the same as `hashu` in `bench/engine.py`.
fn hashed(len: usize, key: u64) -> impl Iterator<Item = f32> {
    let add = (key + 1).wrapping_mul(0x9E37_79B9) as u32;
    (0..len as u32).map(move |i| {
        let mut h = i.wrapping_mul(2_654_435_761).wrapping_add(add);
        h = (h ^ (h >> 16)).wrapping_mul(0x85eb_ca6b);
        h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
        h ^= h >> 16;
        (h >> 8) as f32 / 16_777_216.0
    })
}

fn symmetric(len: usize, key: u64, scale: f64) -> Vec<f32> {
    hashed(len, key).map(|u| (u * 2.0 - 1.0) * scale as f32).collect()
}

fn network(device: &Device, d: usize) -> Fallible<(CsUnet, Params)> {
    let mut builder = ParamsBuilder::new();
    let net = CsUnetConfig::new(d, COND).register(&mut builder)?;
    let mut params = builder.build(device, 0)?;
    let mut names: Vec<_> = params.names().map(|(name, rows, cols)| (name.to_owned(), rows, cols)).collect();
    names.sort();
    for (key, (name, rows, cols)) in names.iter().enumerate() {
        // A bias has its layer's inputs as fan-in, which is the width of the weight of the same name.
        let weight = name.replace(".bias", ".weight");
        let fan_in = names.iter().find(|(other, _, _)| *other == weight).map_or(*cols, |(_, _, cols)| *cols);
        params.set(name, &symmetric(rows * cols, key as u64, 1.0 / (fan_in as f64).sqrt()))?;
    }
    Ok((net, params))
}

struct TrainJob {
    net: CsUnet,
    params: Params,
    grads: Gradients,
    adam: Adam,
    work: CsUnetWorkspace,
    quadrature: Quadrature,
    tables: TrainingTables,
    rng: Rng,
    full: bool,
    x0: Tensor,
    cond: Tensor,
    cond_kept: Tensor,
    z: Tensor,
    xt: Tensor,
    de: Tensor,
    t: Indices,
    t_table: Tensor,
    t_float: Tensor,
    loss: Tensor,
    recorded: Recorded,
}

impl TrainJob {
    fn new(device: &Device, d: usize, full: bool) -> Fallible<Self> {
        let (net, params) = network(device, d)?;
        let config = if full {
            AdamConfig { ema_decay: Some(0.999), ..AdamConfig::default() }
        } else {
            AdamConfig { weight_decay: 0.0, clip_norm: 0.0, ema_decay: None, ..AdamConfig::default() }
        };
        let schedule = Schedule::linear(STEPS)?;
        let tensor = |cols: usize, key: u64, scale: f64| {
            Tensor::from_slice(device, BATCH, cols, &symmetric(BATCH * cols, key, scale))
        };
        let t: Vec<u32> = hashed(BATCH, 1005).map(|u| (u * STEPS as f32) as u32).collect();
        let steps: Vec<f32> = (0..STEPS).map(|t| t as f32).collect();
        Ok(Self {
            grads: Gradients::new(&params)?,
            adam: Adam::new(config, &params)?,
            work: net.workspace(device, BATCH, true)?,
            quadrature: Quadrature::new(device, d, &symmetric(ANCHORS * d, 1001, 1.0), None, BATCH, 1 << 26)?,
            tables: TrainingTables::new(device, &schedule, Prediction::X0, 1.0, 0)?,
            rng: Rng::new(device, 1)?,
            x0: tensor(d, 1002, 2.0 * (3.0 / d as f64).sqrt())?,
            cond: tensor(COND, 1004, 3.0_f64.sqrt())?,
            cond_kept: tensor(COND, 1004, 3.0_f64.sqrt())?,
            z: tensor(d, 1003, 3.0_f64.sqrt())?,
            xt: Tensor::zeros(device, BATCH, d)?,
            de: Tensor::zeros(device, BATCH, d)?,
            t: Indices::from_slice(device, &t)?,
            t_table: Tensor::from_slice(device, STEPS, 1, &steps)?,
            t_float: Tensor::zeros(device, BATCH, 1)?,
            loss: Tensor::zeros(device, BATCH, 1)?,
            recorded: Recorded::new(device),
            net,
            params,
            full,
        })
    }

    fn step(&mut self) -> Result<(), NnError> {
        let Self { recorded, .. } = self;
        let mut recorded = std::mem::replace(recorded, Recorded::new(&Device::cpu()));
        let outcome = recorded.run(|| self.operations());
        self.recorded = recorded;
        outcome
    }

    fn operations(&mut self) -> Result<(), NnError> {
        if self.full {
            ops::fill_normal(self.z.view_mut(), &self.rng, 0)?;
            ops::fill_indices(&mut self.t, STEPS as u32, &self.rng, 1)?;
            ops::drop_rows(self.cond_kept.view_mut(), self.cond.view(), 0.1, &self.rng, 2)?;
        }
        let (xt, x0, cond) = (&mut self.xt, self.x0.view(), self.cond_kept.view());
        ops::mix_rows(xt.view_mut(), x0, self.z.view(), self.tables.noisy.view(), &self.t)?;
        ops::gather_rows(self.t_float.view_mut(), self.t_table.view(), &self.t)?;
        let mode =
            if self.full { ForwardMode::Train { rng: &self.rng, first_stream: 10 } } else { ForwardMode::Evaluate };
        self.net.forward(&self.params, &mut self.work, xt.view(), cond, self.t_float.view(), mode)?;
        let (e, scale) = (self.work.output(), 1.0 / BATCH as f32);
        self.quadrature.reverse_kl(self.de.view_mut(), self.loss.view_mut(), e, x0, scale)?;
        self.net.backward(&self.params, &mut self.grads, &mut self.work, xt.view(), cond, self.de.view())?;
        self.adam.step(&mut self.params, &self.grads)?;
        self.rng.advance()
    }

    fn mean_loss(&self) -> Fallible<f64> {
        Ok(self.loss.to_vec()?.iter().map(|v| f64::from(*v)).sum::<f64>() / BATCH as f64)
    }
}

struct Network {
    net: CsUnet,
    params: Params,
    work: SamplingWorkspace,
    conditioning: Conditioning,
}

impl Denoiser for Network {
    fn predict(&mut self, out: ViewMut<'_>, x: View<'_>, position: usize) -> Result<(), NnError> {
        self.net.predict(&self.params, &mut self.work, out, x, &self.conditioning, position)
    }
}

struct SampleJob {
    network: Network,
    cond: Tensor,
    plan: SamplerPlan,
    state: SampleState,
    noise: RowNoise,
    recorded: Recorded,
}

impl SampleJob {
    fn new(device: &Device, d: usize, batch: usize, steps: usize) -> Fallible<Self> {
        let (net, params) = network(device, d)?;
        let schedule = Schedule::linear(STEPS)?;
        let timesteps: Vec<usize> = (STEPS - steps..STEPS).rev().collect();
        let plan = SamplerPlan::over(&schedule, Sampler::Ddpm, &timesteps, Prediction::X0)?;
        let cond = Tensor::from_slice(device, batch, COND, &symmetric(batch * COND, 2003, 3.0_f64.sqrt()))?;
        let conditioning = net.conditioning(&params, cond.view(), &plan.timesteps())?;
        let work = net.sampling_workspace(device, batch)?;
        Ok(Self {
            network: Network { net, params, work, conditioning },
            cond,
            plan,
            state: SampleState::new(device, batch, d)?,
            noise: RowNoise::new(device, batch)?,
            recorded: Recorded::new(device),
        })
    }

    /// One batch of samples, the projection of new images included.
    fn step(&mut self) -> Result<(), NnError> {
        let Self { network, cond, plan, state, noise, recorded } = self;
        recorded.run(|| {
            let Network { net, params, conditioning, .. } = network;
            net.set_cond(params, conditioning, cond.view())?;
            sample(plan, network, state, noise)
        })
    }
}

enum Job {
    Train(Box<TrainJob>),
    Sample(Box<SampleJob>),
}

impl Job {
    fn step(&mut self) -> Result<(), NnError> {
        match self {
            Self::Train(job) => job.step(),
            Self::Sample(job) => job.step(),
        }
    }
}

/// Time all threads of this process ran, in ms (Linux; 0 elsewhere).
fn cpu_ms() -> f64 {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return 0.0 };
    let ran = tasks.flatten().filter_map(|task| {
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    });
    ran.sum::<f64>() / 1e6
}

fn peak_memory_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}

fn prepare(device: &Device, words: &[&str]) -> Fallible<(Job, String)> {
    let d: usize = words[1].parse()?;
    device.set_precision(words[2].parse()?);
    let (job, note) = if words[0] == "train" {
        let mut job = TrainJob::new(device, d, words[3] == "full")?;
        let mut losses = Vec::new();
        for _ in 0..3 {
            job.step()?;
            losses.push(format!("{:.6}", job.mean_loss()?));
        }
        (Job::Train(Box::new(job)), format!("losses {}", losses.join(" ")))
    } else {
        let mut job = SampleJob::new(device, d, words[3].parse()?, words[4].parse()?)?;
        for _ in 0..if device.is_cuda() { 2 } else { 1 } {
            job.step()?;
        }
        let values = job.state.clean().to_vec()?;
        let size = values.iter().map(|v| f64::from(v.abs())).sum::<f64>() / values.len() as f64;
        (Job::Sample(Box::new(job)), format!("mean_abs {size:.6}"))
    };
    device.synchronize()?;
    Ok((job, note))
}

fn answer(device: &Device, jobs: &mut HashMap<String, Job>, line: &str) -> Fallible<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words[0] {
        "prepare" => {
            let (job, note) = prepare(device, &words[2..])?;
            jobs.insert(words[1].to_owned(), job);
            Ok(note)
        }
        "run" => {
            let job = jobs.get_mut(words[1]).ok_or("no such job")?;
            let iterations: usize = words[2].parse()?;
            let mut times = Vec::new();
            let cpu = cpu_ms();
            for _ in 0..iterations {
                let start = Instant::now();
                job.step()?;
                device.synchronize()?;
                times.push(start.elapsed().as_secs_f64() * 1e3);
            }
            let cpu = (cpu_ms() - cpu) / iterations as f64;
            times.sort_by(f64::total_cmp);
            Ok(format!("median_ms {:.4} min_ms {:.4} cpu_ms {cpu:.4}", times[times.len() / 2], times[0]))
        }
        "drop" => {
            jobs.remove(words[1]);
            Ok("dropped".to_owned())
        }
        "memory" => {
            let gpu = device.memory_used_bytes()?.unwrap_or(0) as f64 / 1_048_576.0;
            Ok(format!("peak_rss_mib {:.0} gpu_used_mib {gpu:.0}", peak_memory_mib()))
        }
        other => Err(format!("unknown command {other}").into()),
    }
}

fn main() -> Fallible<()> {
    let spec: DeviceSpec = std::env::args().nth(1).unwrap_or_else(|| "auto".to_owned()).parse()?;
    let start = Instant::now();
    let device = Device::open(spec)?;
    println!("{device} opened in {:.0} ms", start.elapsed().as_secs_f64() * 1e3);
    let mut jobs = HashMap::new();
    for line in std::io::stdin().lock().lines() {
        match answer(&device, &mut jobs, &line?) {
            Ok(text) => println!("ok {text}"),
            Err(error) => println!("error {error}"),
        }
    }
    Ok(())
}
