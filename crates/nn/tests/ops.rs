//! Every operation against `PyTorch`'s fixtures or finite differences, on every device.

mod common;

use common::{Fixture, check_gradient, close, devices, noise, noisy, weighted, zeros};
use locdiff_nn::ops::{Activation, Dropout, PointLoss, SamplerStep, Transpose};
use locdiff_nn::{Device, Indices, Precision, Rng, RowKey, RowNoise, Tensor, ops};

fn fixture() -> Fixture {
    Fixture::new(include_bytes!("../../../fixtures/nn/ops.safetensors"))
}

#[test]
fn activations_match_pytorch() {
    let f = fixture();
    for device in devices() {
        let (x, dy) = (f.tensor(&device, "act.x"), f.tensor(&device, "act.dy"));
        for (name, kind) in
            [("gelu", Activation::Gelu), ("relu", Activation::Relu), ("sine", Activation::Sine { w0: 1.5 })]
        {
            let (mut y, mut dx) = (zeros(&device, 5, 37), zeros(&device, 5, 37));
            ops::activate(kind, y.view_mut(), x.view()).unwrap();
            ops::activate_backward(kind, dx.view_mut(), x.view(), dy.view()).unwrap();
            f.check(&[(&format!("{name}.y"), &y), (&format!("{name}.dx"), &dx)]);
        }
    }
}

#[test]
fn film_matches_pytorch() {
    let f = fixture();
    for device in devices() {
        let get = |name: &str| f.tensor(&device, &format!("film.{name}"));
        let (hx, ss, hi, dh) = (get("hx"), get("ss"), get("hi"), get("dh"));
        let (mut h, mut dhx, mut dss) = (zeros(&device, 4, 19), zeros(&device, 4, 19), zeros(&device, 4, 38));
        ops::film(h.view_mut(), hx.view(), ss.view(), hi.view()).unwrap();
        ops::film_backward(dhx.view_mut(), dss.view_mut(), dh.view(), hx.view(), ss.view()).unwrap();
        f.check(&[("film.h", &h), ("film.d_hx", &dhx), ("film.d_ss", &dss)]);
        // A broadcast row gives what the same row written out gives.
        let (mut a, mut b) = (zeros(&device, 4, 19), zeros(&device, 4, 19));
        let repeated = Tensor::from_slice(&device, 4, 38, &f.values("film.ss")[38..76].repeat(4)).unwrap();
        ops::film(a.view_mut(), hx.view(), ss.view().broadcast_rows(1, 4), hi.view()).unwrap();
        ops::film(b.view_mut(), hx.view(), repeated.view(), hi.view()).unwrap();
        assert_eq!(a.to_vec().unwrap(), b.to_vec().unwrap());
    }
}

#[test]
fn layer_norms_match_pytorch() {
    let f = fixture();
    for device in devices() {
        let (x, dy) = (f.tensor(&device, "ln.x"), f.tensor(&device, "ln.dy"));
        let (gs, mut y) = (f.tensor(&device, "ln.gs"), zeros(&device, 6, 33));
        ops::layer_norm(y.view_mut(), x.view(), gs.view().broadcast_rows(0, 6), 1e-5).unwrap();
        f.check(&[("ln.y", &y)]);
        let (mut y, mut norms, mut dx) = (zeros(&device, 6, 33), zeros(&device, 6, 1), zeros(&device, 6, 33));
        ops::normalise(y.view_mut(), norms.view_mut(), x.view(), 1e-12).unwrap();
        ops::normalise_backward(dx.view_mut(), dy.view(), y.view(), norms.view()).unwrap();
        f.check(&[("norm.y", &y), ("norm.dx", &dx)]);
    }
}

#[test]
fn soft_maxima_match_pytorch() {
    let f = fixture();
    for device in devices() {
        let bias = f.tensor(&device, "soft.bias");
        let (mut a, mut lse) = (f.tensor(&device, "soft.x"), zeros(&device, 5, 1));
        ops::softmax(a.view_mut(), lse.view_mut(), Some(bias.view()), 1.0).unwrap();
        f.check(&[("soft.softmax", &a), ("soft.lse", &lse)]);
    }
}

/// Every transpose, stride, beta and bias against a plain f64 product, at sizes around the kernels' blocks.
#[test]
fn products_match_a_plain_loop() {
    for device in devices() {
        products_match(&device, |x| x);
        if device.is_cuda() {
            // Operands rounded to bf16, sums in f32: the same loop over rounded operands, to the same tolerance.
            device.set_precision(Precision::Bf16);
            products_match(&device, |x| half::bf16::from_f32(x).to_f32());
        }
    }
}

fn products_match(device: &Device, rounded: fn(f32) -> f32) {
    for (m, n, k) in [(1, 1, 1), (3, 5, 7), (16, 64, 33), (17, 130, 40), (130, 17, 65), (64, 96, 128)] {
        for case in 0..8 {
            let (op_a, op_b, with_bias) = (case & 1 == 1, case & 2 == 2, case & 4 == 4);
            let beta = if with_bias { 0.0 } else { 0.5 };
            let (a_shape, b_shape) = (if op_a { (k, m) } else { (m, k) }, if op_b { (n, k) } else { (k, n) });
            // Operands are column ranges of wider tensors.
            let wide = |(rows, cols): (usize, usize), key: u32| noisy(device, rows, cols + 8, key);
            let (a, b, mut c, bias) = (wide(a_shape, 1), wide(b_shape, 2), wide((m, n), 3), noisy(device, 1, n, 4));
            let (av, bv, cv) = (a.to_vec().unwrap(), b.to_vec().unwrap(), c.to_vec().unwrap());
            let op = |yes: bool| if yes { Transpose::Yes } else { Transpose::No };
            let (a, b) = (a.view().columns(4..4 + a_shape.1), b.view().columns(8..8 + b_shape.1));
            let row = with_bias.then(|| bias.view());
            ops::gemm(c.view_mut().columns(4..4 + n), a, op(op_a), b, op(op_b), beta, row).unwrap();
            let (got, bias) = (c.to_vec().unwrap(), bias.to_vec().unwrap());
            for (at, (got, old)) in got.into_iter().zip(cv).enumerate() {
                let (r, j, got, old) = (at / (n + 8), at % (n + 8), f64::from(got), f64::from(old));
                let product = |i: usize| {
                    let x = if op_a { av[i * (m + 8) + 4 + r] } else { av[r * (k + 8) + 4 + i] };
                    let y = if op_b { bv[(j - 4) * (k + 8) + 8 + i] } else { bv[i * (n + 8) + 8 + j - 4] };
                    f64::from(rounded(x)) * f64::from(rounded(y))
                };
                let want = if (4..4 + n).contains(&j) {
                    let added = if with_bias { f64::from(bias[j - 4]) } else { 0.0 };
                    (0..k).map(product).sum::<f64>() + f64::from(beta) * old + added
                } else {
                    old
                };
                assert!((got - want).abs() < 1e-5 * (k as f64).sqrt(), "{m}×{n}×{k} case {case}: {got} {want}");
            }
        }
    }
}

#[test]
fn random_numbers_match_the_fixture_on_every_device() {
    let f = Fixture::new(include_bytes!("../../../fixtures/nn/random.safetensors"));
    for device in devices() {
        let mut rng = Rng::new(&device, 0).unwrap();
        rng.set(0x1234_5678_9ABC_DEF0, 0x0000_0002_FFFF_FFFF).unwrap();
        let mut out = zeros(&device, 3, 7);
        ops::fill_uniform(out.view_mut(), &rng, 9).unwrap();
        assert_eq!(out.to_vec().unwrap(), f.values("uniform"), "the same integers on every device");
        ops::fill_normal(out.view_mut(), &rng, 9).unwrap();
        close("normal", &out.to_vec().unwrap()[..20], &f.values("normal"), 1e-5);
        let mut below = Indices::from_slice(&device, &[0; 21]).unwrap();
        ops::fill_indices(&mut below, 1000, &rng, 9).unwrap();
        let want: Vec<u32> = f.values("below_1000").iter().map(|v| *v as u32).collect();
        assert_eq!(below.to_vec().unwrap(), want);
        rng.advance().unwrap();
        assert_eq!(rng.get().unwrap(), (0x1234_5678_9ABC_DEF0, 0x0000_0003_0000_0000));
    }
}

#[test]
fn rows_of_a_part_draw_what_they_draw_in_the_whole() {
    for device in devices() {
        let (rows, cols, first) = (11, 7, 6);
        let x = noisy(&device, rows, cols, 3);
        let draw = |rng: &Rng, range: std::ops::Range<usize>| {
            let count = range.len();
            let [mut normal, mut kept, mut dropped] = [0, 1, 2].map(|_| zeros(&device, count, cols));
            ops::fill_normal(normal.view_mut(), rng, 1).unwrap();
            ops::drop_rows(kept.view_mut(), x.view().row_range(range.clone()), 0.5, rng, 2).unwrap();
            ops::copy(dropped.view_mut(), x.view().row_range(range)).unwrap();
            ops::dropout(dropped.view_mut(), Dropout { probability: 0.4, rng, stream: 3 }).unwrap();
            let mut below = Indices::from_slice(&device, &vec![0; count]).unwrap();
            ops::fill_indices(&mut below, 1000, rng, 4).unwrap();
            ([normal, kept, dropped].map(|tensor| tensor.to_vec().unwrap()), below.to_vec().unwrap())
        };
        let mut rng = Rng::new(&device, 9).unwrap();
        let (whole, whole_below) = draw(&rng, 0..rows);
        rng.set_first_row(first);
        let (part, part_below) = draw(&rng, first..rows);
        for (whole, part) in whole.iter().zip(&part) {
            assert_eq!(whole[first * cols..], part[..]);
        }
        assert_eq!(whole_below[first..], part_below[..]);
    }
}

#[test]
fn dropped_rows_are_the_stated_share() {
    for device in devices() {
        let rng = Rng::new(&device, 5).unwrap();
        let x = Tensor::from_slice(&device, 4000, 2, &vec![1.0; 8000]).unwrap();
        let mut out = zeros(&device, 4000, 2);
        ops::drop_rows(out.view_mut(), x.view(), 0.1, &rng, 3).unwrap();
        let values = out.to_vec().unwrap();
        assert!(values.chunks(2).all(|row| row[0].to_bits() == row[1].to_bits()));
        let kept = values.iter().sum::<f32>() / 8000.0;
        assert!((kept - 0.9).abs() < 0.02, "{kept}");
    }
}

#[test]
fn dropout_before_the_sine_is_consistent_forward_and_backward() {
    for device in devices() {
        let (rows, cols, p, w0) = (40, 70, 0.3, 1.25);
        let rng = Rng::new(&device, 8).unwrap();
        let dropout = Some(Dropout { probability: p, rng: &rng, stream: 2 });
        let (values, weights) = (noise(rows * cols, 6), noise(rows * cols, 7));
        let forward = |moved: &[f32]| {
            let mut z = Tensor::from_slice(&device, rows, cols, moved).unwrap();
            let mut y = zeros(&device, rows, cols);
            ops::dropout_sine(y.view_mut(), z.view_mut(), w0, dropout).unwrap();
            (y.to_vec().unwrap(), z)
        };
        let (y, z) = forward(&values);
        let dropped = z.to_vec().unwrap().iter().filter(|v| v.to_bits() == 0x8000_0000).count();
        assert!((dropped as f32 / (rows * cols) as f32 - p).abs() < 0.03, "{dropped}");
        for ((y, z), x) in y.iter().zip(z.to_vec().unwrap()).zip(&values) {
            let want = if z.to_bits() == 0x8000_0000 { 0.0 } else { (w0 * x / (1.0 - p)).sin() };
            assert!((y - want).abs() < 1e-6);
        }
        let (dy, mut dz) = (noisy(&device, rows, cols, 7), zeros(&device, rows, cols));
        ops::dropout_sine_backward(dz.view_mut(), z.view(), dy.view(), w0, p).unwrap();
        check_gradient("dropout sine", &values, &dz.to_vec().unwrap(), |m| weighted(&forward(m).0, &weights));
        // A value of exactly zero that was kept still has a gradient.
        let (_, z) = forward(&vec![0.0; rows * cols]);
        ops::dropout_sine_backward(dz.view_mut(), z.view(), dy.view(), w0, p).unwrap();
        let alive = dz.to_vec().unwrap().iter().filter(|v| **v != 0.0).count();
        assert_eq!(alive, rows * cols - dropped);
    }
}

#[test]
fn dropout_is_consistent_forward_and_backward() {
    for device in devices() {
        let (rows, cols, p) = (40, 70, 0.3);
        let rng = Rng::new(&device, 8).unwrap();
        let (values, weights) = (noise(rows * cols, 6), noise(rows * cols, 7));
        let (mut y, mut dy) = (noisy(&device, rows, cols, 6), noisy(&device, rows, cols, 7));
        ops::dropout(y.view_mut(), Dropout { probability: p, rng: &rng, stream: 2 }).unwrap();
        ops::dropout_backward(dy.view_mut(), y.view(), p).unwrap();
        let (y, dy) = (y.to_vec().unwrap(), dy.to_vec().unwrap());
        let kept: Vec<bool> = y.iter().map(|v| v.to_bits() != 0x8000_0000).collect();
        let share = kept.iter().filter(|kept| **kept).count() as f32 / kept.len() as f32;
        assert!((share - 0.7).abs() < 0.03, "{share}");
        for k in 0..values.len() {
            let factor = if kept[k] { 1.0 / (1.0 - p) } else { 0.0 };
            assert!((y[k] - factor * values[k]).abs() < 1e-6 && (dy[k] - factor * weights[k]).abs() < 1e-6);
        }
    }
}

#[test]
fn gathering_mixing_and_time_embedding() {
    let f = fixture();
    for device in devices() {
        let table = Tensor::from_slice(&device, 3, 2, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        let rows = Indices::from_slice(&device, &[2, 0, 2, 1]).unwrap();
        let mut out = zeros(&device, 4, 2);
        ops::gather_rows(out.view_mut(), table.view(), &rows).unwrap();
        assert_eq!(out.to_vec().unwrap(), [5.0, 6.0, 1.0, 2.0, 5.0, 6.0, 3.0, 4.0]);
        let [a, b] = [1.0, 10.0].map(|value| Tensor::from_slice(&device, 4, 2, &[value; 8]).unwrap());
        ops::mix_rows(out.view_mut(), a.view(), b.view(), table.view(), &rows).unwrap();
        assert_eq!(out.to_vec().unwrap(), [65.0, 65.0, 21.0, 21.0, 65.0, 65.0, 43.0, 43.0]);
        let t = f.tensor(&device, "time.t");
        let mut embedding = zeros(&device, 6, 200);
        ops::sinusoidal(embedding.view_mut(), t.view()).unwrap();
        close("time", &embedding.to_vec().unwrap(), &f.values("time.y"), 3e-5); // angles up to 199 in f32
    }
    let device = Device::cpu();
    let (bad, table) = (Indices::from_slice(&device, &[3]).unwrap(), zeros(&device, 3, 2));
    assert!(ops::gather_rows(zeros(&device, 1, 2).view_mut(), table.view(), &bad).is_err());
}

#[test]
fn the_sampler_step_is_its_formula() {
    for device in devices() {
        let mut rows = RowNoise::new(&device, 2).unwrap();
        rows.set(3, &[RowKey { key: 8, number: 1 }, RowKey { key: 2, number: 0 }]).unwrap();
        let (x, p, old) = (noise(600, 1), noise(600, 2), noise(600, 3));
        let tensor = |key: u32| noisy(&device, 2, 300, key);
        let (mut xt, pt, mut x0, mut z) = (tensor(1), tensor(2), tensor(3), zeros(&device, 2, 300));
        let s = SamplerStep {
            x0_from_x: 0.3,
            x0_from_prediction: -0.7,
            x_from_x: 0.9,
            x_from_x0: 0.4,
            x_from_previous_x0: -0.2,
            x_from_noise: 0.5,
        };
        ops::fill_row_noise(z.view_mut(), &rows, 12).unwrap();
        ops::sampler_step(xt.view_mut(), x0.view_mut(), pt.view(), s, &rows, 12).unwrap();
        let z = z.to_vec().unwrap();
        // A row's numbers are those that a generator at the row's key gives to its number.
        let (mut rng, mut all) = (Rng::new(&device, 3).unwrap(), zeros(&device, 2, 300));
        rng.set(3, 8).unwrap();
        ops::fill_normal(all.view_mut(), &rng, 12).unwrap();
        assert_eq!(z[..300], all.to_vec().unwrap()[300..], "{device}");
        let clean: Vec<f32> = x.iter().zip(&p).map(|(x, p)| s.x0_from_x * x + s.x0_from_prediction * p).collect();
        let next: Vec<f32> = (0..600).map(|i| 0.9 * x[i] + 0.4 * clean[i] - 0.2 * old[i] + 0.5 * z[i]).collect();
        close("x0", &x0.to_vec().unwrap(), &clean, 1e-6);
        close("x", &xt.to_vec().unwrap(), &next, 1e-6);
    }
}

#[test]
fn point_losses_match_pytorch() {
    let f = Fixture::new(include_bytes!("../../../fixtures/nn/losses.safetensors"));
    for device in devices() {
        let (e, y) = (f.tensor(&device, "e"), f.tensor(&device, "y"));
        for (name, kind) in [("cosine", PointLoss::Cosine), ("l1", PointLoss::L1), ("l2", PointLoss::L2)] {
            let (mut de, mut loss) = (zeros(&device, 7, 16), zeros(&device, 7, 1));
            ops::point_loss(kind, de.view_mut(), loss.view_mut(), e.view(), y.view(), 1.0 / 7.0).unwrap();
            f.check(&[(&format!("{name}.loss"), &loss), (&format!("{name}.de"), &de)]);
        }
    }
}

#[test]
fn wrong_shapes_are_named() {
    let device = Device::cpu();
    let (a, b, mut c) = (zeros(&device, 2, 3), zeros(&device, 2, 4), zeros(&device, 2, 2));
    let error = ops::gemm(c.view_mut(), a.view(), Transpose::No, b.view(), Transpose::Yes, 0.0, None).unwrap_err();
    assert!(error.to_string().contains("2×3 times 4×2"), "{error}");
    assert!(ops::copy(c.view_mut(), a.view()).is_err());
    assert!(Tensor::from_slice(&device, 2, 2, &[0.0; 3]).is_err());
}
