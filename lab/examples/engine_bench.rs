//! The engine's side of `bench/engine.py`: prepares training steps and samplers and times them on command.
//!
//! Reads commands from standard input, one a line, and answers each with one line:
//! `prepare ID train D PRECISION bare|full`, `prepare ID sample D PRECISION BATCH STEPS`, `run ID ITERATIONS`, `drop ID`.
//! Weights and data are made by the same hash as in `bench/engine.py`, so the losses must agree.

use locdiff_model::diffusion::{
    Denoiser, PredictionKind, SampleState, Sampler, SamplerPlan, Schedule, TrainingTables, sample,
};
use locdiff_nn::layers::{Conditioning, CsUnet, CsUnetConfig, ForwardMode, SamplingWorkspace};
use locdiff_nn::{
    Adam, AdamConfig, Device, DeviceSpec, Gradients, Indices, NnError, Params, ParamsBuilder, Recorded, Rng, RowNoise,
    Tensor, View, ViewMut, losses::Quadrature, ops,
};
use std::{collections::HashMap, error::Error, io::BufRead, time::Instant};

type Fallible<T> = Result<T, Box<dyn Error>>;
/// One step or batch of samples; where asked, its mean loss or the samples' mean size, otherwise 0.
type Job = Box<dyn FnMut(bool) -> Fallible<f64>>;

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

fn mean_size(tensor: &Tensor) -> Fallible<f64> {
    let values = tensor.to_vec()?;
    Ok(values.iter().map(|v| f64::from(v.abs())).sum::<f64>() / values.len() as f64)
}

fn train(device: &Device, d: usize, full: bool) -> Fallible<Job> {
    let (net, mut params) = network(device, d)?;
    let config = if full {
        AdamConfig { ema_decay: Some(0.999), ..AdamConfig::default() }
    } else {
        AdamConfig { weight_decay: 0.0, clip_norm: 0.0, ema_decay: None, ..AdamConfig::default() }
    };
    let tensor = |cols: usize, key: u64, scale: f64| {
        Tensor::from_slice(device, BATCH, cols, &symmetric(BATCH * cols, key, scale))
    };
    let first: Vec<u32> = hashed(BATCH, 1005).map(|u| (u * STEPS as f32) as u32).collect();
    let mut t = Indices::from_slice(device, &first)?;
    let mut grads = Gradients::new(&params)?;
    let mut adam = Adam::new(config, &params)?;
    let mut work = net.workspace(device, BATCH, true)?;
    let mut quadrature = Quadrature::new(device, d, &symmetric(ANCHORS * d, 1001, 1.0), None, BATCH, 1 << 26)?;
    let tables = TrainingTables::new(device, &Schedule::linear(STEPS)?, PredictionKind::X0, 1.0, 0)?;
    let mut rng = Rng::new(device, 1)?;
    let x0 = tensor(d, 1002, 2.0 * (3.0 / d as f64).sqrt())?;
    let (cond, mut kept) = (tensor(COND, 1004, 3.0_f64.sqrt())?, tensor(COND, 1004, 3.0_f64.sqrt())?);
    let mut z = tensor(d, 1003, 3.0_f64.sqrt())?;
    let (mut xt, mut de) = (Tensor::zeros(device, BATCH, d)?, Tensor::zeros(device, BATCH, d)?);
    let (mut times, mut loss) = (Tensor::zeros(device, BATCH, 1)?, Tensor::zeros(device, BATCH, 1)?);
    let mut recorded = Recorded::new(device);
    Ok(Box::new(move |read| {
        recorded.run(|| {
            if full {
                ops::drop_rows(kept.view_mut(), cond.view(), 0.1, &rng, 2)?;
                let (noisy, noise, t_value) = (xt.view_mut(), z.view_mut(), times.view_mut());
                let out = ops::NoiseCodes { noisy, noise, t: &mut t, t_value };
                ops::noise_codes(out, x0.view(), (tables.noisy.view(), tables.times.view()), &rng, (0, 1))?;
            } else {
                ops::mix_rows(xt.view_mut(), x0.view(), z.view(), tables.noisy.view(), &t)?;
                ops::gather_rows(times.view_mut(), tables.times.view(), &t)?;
            }
            quadrature.begin_reverse_kl(x0.view())?;
            let mode = if full { ForwardMode::Train { rng: &rng, first_stream: 10 } } else { ForwardMode::Evaluate };
            net.forward(&params, &mut work, xt.view(), kept.view(), times.view(), mode)?;
            let scale = 1.0 / BATCH as f32;
            quadrature.reverse_kl(de.view_mut(), loss.view_mut(), work.output(), x0.view(), scale)?;
            net.backward(&params, &mut grads, &mut work, xt.view(), kept.view(), de.view())?;
            adam.step(&mut params, &grads)?;
            rng.advance()
        })?;
        if read { mean_size(&loss) } else { Ok(0.0) }
    }))
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

/// Batches of samples, the projection of new images included.
fn sampling(device: &Device, d: usize, batch: usize, steps: usize) -> Fallible<Job> {
    let (net, params) = network(device, d)?;
    let timesteps: Vec<usize> = (STEPS - steps..STEPS).rev().collect();
    let plan = SamplerPlan::over(&Schedule::linear(STEPS)?, Sampler::Ddpm, &timesteps, PredictionKind::X0)?;
    let cond = Tensor::from_slice(device, batch, COND, &symmetric(batch * COND, 2003, 3.0_f64.sqrt()))?;
    let conditioning = net.conditioning(&params, cond.view(), &plan.timesteps())?;
    let work = net.sampling_workspace(device, batch)?;
    let mut network = Network { net, params, work, conditioning };
    let mut state = SampleState::new(device, batch, d)?;
    let noise = RowNoise::new(device, batch)?;
    let mut recorded = Recorded::new(device);
    Ok(Box::new(move |read| {
        recorded.run(|| {
            let Network { net, params, conditioning, .. } = &mut network;
            net.set_cond(params, conditioning, cond.view())?;
            sample(&plan, &mut network, &mut state, &noise)
        })?;
        if read { mean_size(state.clean()) } else { Ok(0.0) }
    }))
}

fn prepare(device: &Device, words: &[&str]) -> Fallible<(Job, String)> {
    let d: usize = words[1].parse()?;
    device.set_precision(words[2].parse()?);
    let prepared = if words[0] == "train" {
        let mut job = train(device, d, words[3] == "full")?;
        let losses = (0..3).map(|_| Ok(format!("{:.6}", job(true)?))).collect::<Fallible<Vec<String>>>()?;
        (job, format!("losses {}", losses.join(" ")))
    } else {
        let mut job = sampling(device, d, words[3].parse()?, words[4].parse()?)?;
        if device.is_cuda() {
            job(false)?;
        }
        let size = job(true)?;
        (job, format!("mean_abs {size:.6}"))
    };
    device.synchronize()?;
    Ok(prepared)
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
            for _ in 0..iterations {
                let start = Instant::now();
                job(false)?;
                device.synchronize()?;
                times.push(start.elapsed().as_secs_f64() * 1e3);
            }
            times.sort_by(f64::total_cmp);
            Ok(format!("median_ms {:.4} min_ms {:.4}", times[times.len() / 2], times[0]))
        }
        "drop" => {
            jobs.remove(words[1]);
            Ok("dropped".to_owned())
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
