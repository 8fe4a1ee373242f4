//! Layers and quadrature losses against `PyTorch`'s fixtures, on every device.

mod common;

use common::{Fixture, close, devices, noisy, zeros};
use locdiff_nn::layers::{Accumulate, CsUnet, CsUnetConfig, ForwardMode, Layout, Linear};
use locdiff_nn::{Device, Gradients, Params, ParamsBuilder, Rng, Tensor, losses::Quadrature};

const TOLERANCE: f64 = 1e-5;

#[test]
fn linear_matches_pytorch() {
    let f = Fixture::new(include_bytes!("../../../fixtures/nn/ops.safetensors"));
    for device in devices() {
        let mut builder = ParamsBuilder::new();
        let layer = Linear::new(&mut builder, "l", 21, 14);
        let mut params = builder.build(&device, 0).unwrap();
        params.set("l.weight", &f.values("lin.w")).unwrap();
        params.set("l.bias", &f.values("lin.b")).unwrap();
        let mut grads = Gradients::new(&params).unwrap();
        let (x, dy) = (f.tensor(&device, "lin.x"), f.tensor(&device, "lin.dy"));
        let (mut y, mut dx) = (zeros(&device, 9, 14), zeros(&device, 9, 21));
        layer.forward(&params, y.view_mut(), x.view()).unwrap();
        layer.backward(&params, &mut grads, x.view(), dy.view(), Some((dx.view_mut(), Accumulate::No))).unwrap();
        f.check(&[("lin.y", &y), ("lin.d_x", &dx)]);
        close("dw", &grads.by_name("l.weight").unwrap(), &f.values("lin.d_w"), TOLERANCE);
        close("db", &grads.by_name("l.bias").unwrap(), &f.values("lin.d_b"), TOLERANCE);
        layer.input_gradient(&params, dx.view_mut(), dy.view(), Accumulate::Yes).unwrap();
        let twice: Vec<f32> = f.values("lin.d_x").iter().map(|v| 2.0 * v).collect();
        close("2 dx", &dx.to_vec().unwrap(), &twice, TOLERANCE);
    }
}

fn cases() -> [(Fixture, CsUnetConfig); 3] {
    let base =
        CsUnetConfig { time_dim: 8, width: 5, w0: 1.25, width_multiple: 1, dropout: 0.3, ..CsUnetConfig::new(20, 12) };
    let funnel = include_bytes!("../../../fixtures/nn/csunet_funnel.safetensors");
    let constant = include_bytes!("../../../fixtures/nn/csunet_constant.safetensors");
    let bottleneck = include_bytes!("../../../fixtures/nn/csunet_bottleneck.safetensors");
    [
        (Fixture::new(funnel), base),
        (Fixture::new(constant), CsUnetConfig { layout: Layout::Constant, hidden: Some(14), ..base }),
        (Fixture::new(bottleneck), CsUnetConfig { layout: Layout::Bottleneck, ..base }),
    ]
}

fn build(fixture: &Fixture, config: &CsUnetConfig, device: &Device) -> (CsUnet, Params) {
    let mut builder = ParamsBuilder::new();
    let net = config.register(&mut builder).unwrap();
    let mut params = builder.build(device, 0).unwrap();
    let names: Vec<String> = params.names().map(|(name, _, _)| name.to_owned()).collect();
    let in_fixture = fixture.names().iter().filter(|name| name.starts_with("param.")).count();
    assert_eq!(names.len(), in_fixture, "the same parameters as PyTorch's module");
    for name in names {
        params.set(&name, &fixture.values(&format!("param.{name}"))).unwrap();
    }
    (net, params)
}

#[test]
fn csunet_matches_pytorch_in_every_layout_with_and_without_dropout() {
    for device in devices() {
        for (f, config) in cases() {
            let (net, params) = build(&f, &config, &device);
            let get = |name: &str| f.tensor(&device, name);
            let (x, cond, t, d_out) = (get("x"), get("cond"), get("t"), get("d_out"));
            let mut rng = Rng::new(&device, 0).unwrap();
            rng.set(77 + (5 << 32), 11).unwrap();
            let mut work = net.workspace(&device, 6, true).unwrap();
            for (name, mode) in
                [("train", ForwardMode::Train { rng: &rng, first_stream: 40 }), ("eval", ForwardMode::Evaluate)]
            {
                let mut grads = Gradients::new(&params).unwrap();
                net.forward(&params, &mut work, x.view(), cond.view(), t.view(), mode).unwrap();
                net.backward(&params, &mut grads, &mut work, x.view(), cond.view(), d_out.view()).unwrap();
                let what = format!("{:?} {name}", config.layout);
                close(&what, &work.output_tensor().to_vec().unwrap(), &f.values(&format!("{name}.out")), TOLERANCE);
                for (param, _, _) in params.names() {
                    let want = f.values(&format!("{name}.grad.{param}"));
                    close(&format!("{what} {param}"), &grads.by_name(param).unwrap(), &want, TOLERANCE);
                }
            }
        }
    }
}

/// The sampler's shortcut computes what the plain forward pass computes.
#[test]
fn prediction_with_tabulated_time_equals_the_forward_pass() {
    for device in devices() {
        for (f, config) in cases() {
            let (net, params) = build(&f, &config, &device);
            let (x, cond) = (f.tensor(&device, "x"), f.tensor(&device, "cond"));
            let mut work = net.workspace(&device, 6, false).unwrap();
            let mut sampling = net.sampling_workspace(&device, 6).unwrap();
            let steps = [0.0, 17.0, 60.0];
            let each = net.conditioning(&params, cond.view(), &steps).unwrap();
            let one = net.conditioning(&params, cond.view().row_range(0..1), &steps).unwrap();
            let repeated = Tensor::from_slice(&device, 6, 12, &cond.to_vec().unwrap()[..12].repeat(6)).unwrap();
            for (k, step) in steps.iter().enumerate() {
                let t = Tensor::from_slice(&device, 6, 1, &[*step; 6]).unwrap();
                for (table, cond) in [(&each, &cond), (&one, &repeated)] {
                    let (mode, mut out) = (ForwardMode::Evaluate, zeros(&device, 6, 20));
                    net.forward(&params, &mut work, x.view(), cond.view(), t.view(), mode).unwrap();
                    net.predict(&params, &mut sampling, out.view_mut(), x.view(), table, k).unwrap();
                    let want = work.output_tensor().to_vec().unwrap();
                    close("prediction", &out.to_vec().unwrap(), &want, 2e-6);
                }
            }
        }
    }
}

#[test]
fn quadrature_losses_match_pytorch_for_every_block_size() {
    let f = Fixture::new(include_bytes!("../../../fixtures/nn/losses.safetensors"));
    let (grid, log_weights) = (f.values("grid"), f.values("log_weights"));
    for device in devices() {
        let (e, y) = (f.tensor(&device, "e"), f.tensor(&device, "y"));
        // 59 grid points: 1, 3 and all 7 rows at a time.
        for max_logits in [59, 59 * 3, 59 * 100] {
            let mut q = Quadrature::new(&device, 16, &grid, Some(&log_weights), 7, max_logits).unwrap();
            let (mut de, mut loss) = (zeros(&device, 7, 16), zeros(&device, 7, 1));
            q.nll(de.view_mut(), loss.view_mut(), e.view(), y.view(), 1.0 / 7.0).unwrap();
            f.check(&[("nll.loss", &loss), ("nll.de", &de)]);
            q.reverse_kl(de.view_mut(), loss.view_mut(), e.view(), y.view(), 1.0 / 7.0).unwrap();
            f.check(&[("kl.loss", &loss), ("kl.de", &de)]);
            q.posterior_mean(de.view_mut(), e.view()).unwrap();
            f.check(&[("posterior_mean", &de)]);
        }
    }
}

#[test]
fn huge_logits_stay_finite() {
    for device in devices() {
        // exp(183) overflows f32: the field of a clean code of degree 47 at its peak.
        let mut q = Quadrature::new(&device, 2, &[183.0, 0.0, 0.0, 183.0, 91.0, 91.0], None, 1, 100).unwrap();
        let e = Tensor::from_slice(&device, 1, 2, &[1.0, 0.5]).unwrap();
        let (mut de, mut loss) = (zeros(&device, 1, 2), zeros(&device, 1, 1));
        q.nll(de.view_mut(), loss.view_mut(), e.view(), e.view(), 1.0).unwrap();
        close("loss", &loss.to_vec().unwrap(), &[183.0 - 1.25], 1e-6);
        q.reverse_kl(de.view_mut(), loss.view_mut(), e.view(), e.view(), 1.0).unwrap();
        assert!(loss.to_vec().unwrap()[0].abs() < 1e-5 && de.to_vec().unwrap().iter().all(|v| v.is_finite()));
    }
}

/// Large enough for every thread, block and lane to have work: CUDA and one thread agree with many.
#[test]
fn a_larger_network_gives_the_same_on_every_device() {
    let config = CsUnetConfig { width: 24, ..CsUnetConfig::new(100, 64) };
    let mut outcomes: Vec<(Vec<f32>, Vec<f32>)> = Vec::new();
    for device in devices() {
        let mut builder = ParamsBuilder::new();
        let net = config.register(&mut builder).unwrap();
        let params = builder.build(&device, 3).unwrap();
        let (x, cond, d_out) = (noisy(&device, 150, 100, 1), noisy(&device, 150, 64, 2), noisy(&device, 150, 100, 3));
        let steps: Vec<f32> = (0..150).map(|i| i as f32).collect();
        let t = Tensor::from_slice(&device, 150, 1, &steps).unwrap();
        let rng = Rng::new(&device, 9).unwrap();
        let mut work = net.workspace(&device, 150, true).unwrap();
        let mut grads = Gradients::new(&params).unwrap();
        let mode = ForwardMode::Train { rng: &rng, first_stream: 0 };
        net.forward(&params, &mut work, x.view(), cond.view(), t.view(), mode).unwrap();
        net.backward(&params, &mut grads, &mut work, x.view(), cond.view(), d_out.view()).unwrap();
        outcomes.push((work.output_tensor().to_vec().unwrap(), grads.to_vec().unwrap()));
    }
    for (out, grads) in &outcomes[1..] {
        close("output", out, &outcomes[0].0, 3e-5);
        close("gradients", grads, &outcomes[0].1, 3e-5);
    }
}
