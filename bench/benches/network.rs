//! The engine on the CPU at the default model's size: products, a training step's parts, sampling.

use divan::{Bencher, black_box, counter::ItemsCount};
use locdiff_bench::numbers;
use locdiff_model::diffusion::{Denoiser, PredictionKind, SampleState, Sampler, SamplerPlan, Schedule, sample};
use locdiff_nn::layers::{Conditioning, CsUnet, CsUnetConfig, ForwardMode, SamplingWorkspace};
use locdiff_nn::{Adam, AdamConfig, Device, Gradients, NnError, Params, ParamsBuilder, RowNoise, Tensor, View};
use locdiff_nn::{ViewMut, losses::Quadrature, ops, ops::Transpose};

/// Codes of degree 23 and the bundled encoder's embeddings.
const CODE: usize = 576;
const EMBEDDING: usize = 512;
const BATCH: usize = 64;

fn main() {
    divan::main();
}

fn tensor(rows: usize, columns: usize, key: u64) -> Tensor {
    Tensor::from_slice(&Device::cpu(), rows, columns, &numbers(rows * columns, key)).expect("lengths fit")
}

fn network() -> (CsUnet, Params) {
    let mut builder = ParamsBuilder::new();
    let net = CsUnetConfig::new(CODE, EMBEDDING).register(&mut builder).expect("sound settings");
    (net, builder.build(&Device::cpu(), 0).expect("memory"))
}

/// Multiply-adds a second of a matrix product.
#[divan::bench(args = [64, 256, 1024])]
fn gemm(bencher: Bencher, size: usize) {
    let (a, b) = (tensor(size, size, 1), tensor(size, size, 2));
    let mut out = Tensor::zeros(&Device::cpu(), size, size).expect("memory");
    bencher.counter(ItemsCount::new(size * size * size)).bench_local(|| {
        ops::gemm(out.view_mut(), a.view(), Transpose::No, b.view(), Transpose::Yes, 0.0, None).expect("shapes fit");
    });
}

/// Rows a second of forward, loss, backward and Adam.
#[divan::bench]
fn training_step(bencher: Bencher) {
    let (net, mut params) = network();
    let device = Device::cpu();
    let mut grads = Gradients::new(&params).expect("memory");
    let mut adam = Adam::new(AdamConfig::default(), &params).expect("memory");
    let mut work = net.workspace(&device, BATCH, true).expect("memory");
    let mut loss = Quadrature::new(&device, CODE, &numbers(2048 * CODE, 3), None, BATCH, 1 << 26).expect("lengths fit");
    let (x, cond, t) = (tensor(BATCH, CODE, 4), tensor(BATCH, EMBEDDING, 5), tensor(BATCH, 1, 6));
    let mut gradient = Tensor::zeros(&device, BATCH, CODE).expect("memory");
    let mut losses = Tensor::zeros(&device, BATCH, 1).expect("memory");
    let mut step = || -> Result<(), NnError> {
        net.forward(&params, &mut work, x.view(), cond.view(), t.view(), ForwardMode::Evaluate)?;
        let scale = 1.0 / BATCH as f32;
        loss.reverse_kl(gradient.view_mut(), losses.view_mut(), work.output(), x.view(), scale)?;
        net.backward(&params, &mut grads, &mut work, x.view(), cond.view(), gradient.view())?;
        adam.step(&mut params, &grads)
    };
    bencher.counter(ItemsCount::new(BATCH)).bench_local(|| step().expect("shapes fit"));
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

/// Samples a second of one photo's sixteen, twenty steps each.
#[divan::bench]
fn sampler(bencher: Bencher) {
    let samples = 16;
    let (net, params) = network();
    let device = Device::cpu();
    let plan =
        SamplerPlan::new(&Schedule::linear(200).expect("steps"), Sampler::DpmSolverPlusPlus2M, 20, PredictionKind::X0)
            .expect("sound settings");
    let cond = tensor(samples, EMBEDDING, 7);
    let conditioning = net.conditioning(&params, cond.view(), &plan.timesteps()).expect("shapes fit");
    let work = net.sampling_workspace(&device, samples).expect("memory");
    let mut network = Network { net, params, work, conditioning };
    let mut state = SampleState::new(&device, samples, CODE).expect("memory");
    let noise = RowNoise::new(&device, samples).expect("memory");
    bencher.counter(ItemsCount::new(samples)).bench_local(|| {
        sample(&plan, &mut network, &mut state, black_box(&noise)).expect("shapes fit");
    });
}
