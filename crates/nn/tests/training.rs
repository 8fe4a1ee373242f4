//! Adam against `PyTorch`, exact resumption, recorded steps, weight files; on every device.

mod common;

use common::{Fixture, close, devices, noise, noisy, zeros};
use locdiff_nn::layers::{CsUnet, CsUnetConfig, CsUnetWorkspace, ForwardMode};
use locdiff_nn::{
    Adam, AdamConfig, Device, Gradients, Init, LrSchedule, NnError, Params, ParamsBuilder, Recorded, Rng, Snapshot,
    Tensor, TrainingState, losses::Quadrature, ops,
};
use locdiff_testing::scratch;
use std::collections::HashMap;

#[test]
fn adam_matches_pytorch_over_several_steps() {
    let f = Fixture::new(include_bytes!("../../../fixtures/nn/adam.safetensors"));
    let base = AdamConfig { lr: 0.02, weight_decay: 0.0, clip_norm: 0.0, ..AdamConfig::default() };
    let base = AdamConfig { ema_decay: Some(0.9), ema_warmup: 10.0, ..base };
    let decayed = AdamConfig { weight_decay: 0.05, clip_norm: 1.0, ..base };
    let schedule = LrSchedule::WarmupCosine { warmup_steps: 3, total_steps: 6, final_fraction: 0.1 };
    for device in devices() {
        for (name, config) in
            [("plain", base), ("l2", decayed), ("decoupled", AdamConfig { decoupled_decay: true, schedule, ..decayed })]
        {
            let mut builder = ParamsBuilder::new();
            let w = builder.add("w", 1, 45, Init::Zero);
            let mut params = builder.build(&device, 0).unwrap();
            params.set("w", &f.values("w0")).unwrap();
            let mut grads = Gradients::new(&params).unwrap();
            let mut adam = Adam::new(config, &params).unwrap();
            let (g, want) = (f.values("g"), f.values(&format!("{name}.w")));
            let (ema, norms) = (f.values(&format!("{name}.ema")), f.values(&format!("{name}.norm")));
            for step in 0..8 {
                let row = step * 45..(step + 1) * 45;
                let gradient = Tensor::from_slice(&device, 1, 45, &g[row.clone()]).unwrap();
                ops::copy(grads.get_mut(w), gradient.view()).unwrap();
                adam.step(&mut params, &grads).unwrap();
                close(name, &params.to_vec().unwrap()[..45], &want[row.clone()], 1e-5);
                close(name, &adam.ema().unwrap().to_vec().unwrap()[..45], &ema[row], 1e-5);
                if config.clip_norm > 0.0 {
                    close("norm", &[adam.last_step().unwrap().1], &norms[step..=step], 1e-5);
                }
            }
            assert_eq!(adam.steps_done().unwrap(), 8);
        }
    }
}

/// A whole training set-up: network, quadrature NLL, noise, dropout, Adam.
struct Trainer {
    net: CsUnet,
    params: Params,
    grads: Gradients,
    adam: Adam,
    work: CsUnetWorkspace,
    quadrature: Quadrature,
    rng: Rng,
    x0: Tensor,
    cond: Tensor,
    buffers: [Tensor; 3],
    t: Tensor,
    loss: Tensor,
}

const BATCH: usize = 32;
const DIM: usize = 25;

fn config() -> CsUnetConfig {
    CsUnetConfig { width: 8, time_dim: 16, ..CsUnetConfig::new(DIM, 10) }
}

impl Trainer {
    fn new(device: &Device) -> Self {
        let mut builder = ParamsBuilder::new();
        let net = config().register(&mut builder).unwrap();
        let params = builder.build(device, 1).unwrap();
        let adam = Adam::new(AdamConfig { lr: 3e-3, ..AdamConfig::default() }, &params).unwrap();
        Self {
            grads: Gradients::new(&params).unwrap(),
            work: net.workspace(device, BATCH, true).unwrap(),
            quadrature: Quadrature::new(device, DIM, &noise(200 * DIM, 5), None, BATCH, 1 << 20).unwrap(),
            rng: Rng::new(device, 99).unwrap(),
            x0: noisy(device, BATCH, DIM, 6),
            cond: noisy(device, BATCH, 10, 7),
            buffers: [0; 3].map(|_| zeros(device, BATCH, DIM)),
            t: zeros(device, BATCH, 1),
            loss: zeros(device, BATCH, 1),
            net,
            params,
            adam,
        }
    }

    fn step(&mut self) -> Result<(), NnError> {
        let [noise, xt, de] = &mut self.buffers;
        ops::fill_normal(noise.view_mut(), &self.rng, 0)?;
        ops::fill_uniform(self.t.view_mut(), &self.rng, 1)?;
        ops::axpby(xt.view_mut(), 0.8, self.x0.view(), 0.0)?;
        ops::axpby(xt.view_mut(), 0.6, noise.view(), 1.0)?;
        let mode = ForwardMode::Train { rng: &self.rng, first_stream: 10 };
        let (params, cond) = (&self.params, self.cond.view());
        self.net.forward(params, &mut self.work, xt.view(), cond, self.t.view(), mode)?;
        let e = self.work.output();
        self.quadrature.nll(de.view_mut(), self.loss.view_mut(), e, self.x0.view(), 1.0 / BATCH as f32)?;
        self.net.backward(params, &mut self.grads, &mut self.work, xt.view(), cond, de.view())?;
        self.adam.step(&mut self.params, &self.grads)?;
        self.rng.advance()
    }

    fn mean_loss(&self) -> f64 {
        self.loss.to_vec().unwrap().iter().map(|v| f64::from(*v)).sum::<f64>() / BATCH as f64
    }
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|v| v.to_bits()).collect()
}

#[test]
fn training_lowers_the_loss() {
    for device in devices() {
        let mut trainer = Trainer::new(&device);
        trainer.step().unwrap();
        let first = trainer.mean_loss();
        let mut recorded = Recorded::new(&device);
        for _ in 0..150 {
            recorded.run(|| trainer.step()).unwrap();
        }
        let last = trainer.mean_loss();
        assert!(last < first - 0.5, "{device}: from {first} to {last}");
        assert_eq!(trainer.adam.steps_done().unwrap(), 151);
        assert_eq!(trainer.rng.get().unwrap(), (99, 151));
    }
}

#[test]
fn a_recorded_step_equals_a_plain_one_bit_for_bit() {
    for device in devices() {
        let (mut plain, mut recorded) = (Trainer::new(&device), Trainer::new(&device));
        let mut record = Recorded::new(&device);
        for _ in 0..6 {
            plain.step().unwrap();
            record.run(|| recorded.step()).unwrap();
        }
        assert_eq!(bits(&plain.params.to_vec().unwrap()), bits(&recorded.params.to_vec().unwrap()), "{device}");
        assert_eq!(bits(&plain.loss.to_vec().unwrap()), bits(&recorded.loss.to_vec().unwrap()), "{device}");
    }
}

/// What a snapshot holds is the state when it was taken, read while the device works on; its room serves again.
#[test]
fn a_snapshot_is_the_state_when_it_was_taken() {
    for device in devices() {
        let mut trainer = Trainer::new(&device);
        let mut recorded = Recorded::new(&device);
        let mut snapshot = Snapshot::new(&trainer.adam, &trainer.params);
        for round in 1..4 {
            for _ in 0..5 {
                recorded.run(|| trainer.step()).unwrap();
            }
            let expected = trainer.adam.export_state(&trainer.params).unwrap();
            snapshot.take(&trainer.adam, &trainer.params, 5 * round).unwrap();
            for _ in 0..20 {
                recorded.run(|| trainer.step()).unwrap();
            }
            let mut other = snapshot;
            let read = std::thread::spawn(move || (other.read().unwrap(), other));
            let (mut state, back) = read.join().unwrap();
            snapshot = back;
            assert_eq!(state.step, 5 * round, "{device}");
            state.step = expected.step;
            assert!(state == expected, "{device}: round {round}");
        }
    }
}

/// Threads change no bit of a step on the CPU.
#[test]
fn a_step_is_the_same_on_any_number_of_threads() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut trainer = Trainer::new(&Device::cpu());
            (0..5).for_each(|_| trainer.step().unwrap());
            bits(&trainer.params.to_vec().unwrap())
        })
    };
    let one = run(1);
    for threads in [2, 3, 7] {
        assert!(run(threads) == one, "{threads} threads");
    }
}

#[test]
fn a_resumed_run_continues_bit_for_bit() {
    for device in devices() {
        let folder = scratch();
        let path = folder.join("state.safetensors");
        let mut straight = Trainer::new(&device);
        for step in 0..7 {
            if step == 4 {
                let (seed, counter) = straight.rng.get().unwrap();
                let metadata = [("seed", seed), ("counter", counter)].map(|(key, n)| (key.to_owned(), n.to_string()));
                let metadata = HashMap::from(metadata);
                straight.adam.export_state(&straight.params).unwrap().save(&path, metadata).unwrap();
            }
            straight.step().unwrap();
        }
        let mut resumed = Trainer::new(&device);
        let (state, metadata) = TrainingState::load(&path).unwrap();
        assert_eq!(state.step, 4);
        resumed.adam.import_state(&mut resumed.params, &state).unwrap();
        let number = |key: &str| metadata[key].parse().unwrap();
        resumed.rng.set(number("seed"), number("counter")).unwrap();
        for _ in 4..7 {
            resumed.step().unwrap();
        }
        let [a, b] = [straight, resumed].map(|trainer| trainer.adam.export_state(&trainer.params).unwrap());
        assert_eq!(bits(&a.weights), bits(&b.weights), "{device}");
        assert_eq!((bits(&a.m), bits(&a.v), bits(&a.ema), a.step), (bits(&b.m), bits(&b.v), bits(&b.ema), b.step));
    }
}

#[test]
fn weights_go_through_a_file_and_bad_files_are_refused() {
    let device = Device::cpu();
    let folder = scratch();
    let path = folder.join("weights.safetensors");
    let trainer = Trainer::new(&device);
    trainer.params.save(&path, HashMap::from([("model".to_owned(), "test".to_owned())])).unwrap();
    let mut other = ParamsBuilder::new();
    config().register(&mut other).unwrap();
    let mut other = other.build(&device, 2).unwrap();
    assert_ne!(other.to_vec().unwrap(), trainer.params.to_vec().unwrap());
    other.load(&path).unwrap();
    assert_eq!(bits(&other.to_vec().unwrap()), bits(&trainer.params.to_vec().unwrap()));

    let contents = std::fs::read(&path).unwrap();
    std::fs::write(&path, &contents[..contents.len() - 10]).unwrap();
    let message = other.load(&path).unwrap_err().to_string();
    assert!(message.contains("weights.safetensors"), "{message}");
    let mut small = ParamsBuilder::new();
    small.add("out.bias", 1, 3, Init::Zero);
    let mut small = small.build(&device, 0).unwrap();
    std::fs::write(&path, &contents).unwrap();
    let message = small.load(&path).unwrap_err().to_string();
    assert!(message.contains("`out.bias`") && message.contains("[3]"), "{message}");
    assert!(TrainingState::load(&path).is_err());
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(small.load(&path), Err(NnError::Io { .. })));
}

#[test]
fn the_same_seed_gives_the_same_weights_on_every_device() {
    let all: Vec<_> = devices().iter().map(|device| Trainer::new(device).params.to_vec().unwrap()).collect();
    assert!(all.iter().all(|weights| weights == &all[0]));
    let spread = all[0].iter().fold(0.0_f32, |m, v| m.max(v.abs()));
    assert!(spread > 0.1 && spread <= 1.0);
}
