//! The operations of inference on CUDA against plain sums; without a CUDA device only their refusals are tested.

mod common;

use common::{close, cuda, devices, noise, noisy, zeros};
use half::bf16;
use locdiff_nn::{Device, Gelu, Tensor, bf16 as inference, bf16::Bf16Tensor, conv, conv::Walk, ops, ops::Transpose};

fn rounded(values: &[f32]) -> Vec<f32> {
    values.iter().map(|&value| bf16::from_f32(value).to_f32()).collect()
}

/// Rounding a result to bf16 moves it by at most 2⁻⁹ of itself; cuBLASLt may round twice where it adds a bias.
const ROUNDING: f64 = 8e-3;

#[test]
fn the_cpu_has_no_bf16_matrices() {
    let error = Bf16Tensor::zeros(&Device::cpu(), 2, 2).err().unwrap().to_string();
    assert!(error.contains("use a CUDA device"), "{error}");
}

#[test]
fn a_product_may_have_a_bias_and_a_sum() {
    for device in devices() {
        let tensor = |rows, values: &[f32]| Tensor::from_slice(&device, rows, 2, values).unwrap();
        let (x, w, bias) = (tensor(1, &[1.0, 2.0]), tensor(2, &[1.0, 0.0, 0.0, 10.0]), tensor(1, &[0.5, 0.25]));
        let mut y = tensor(1, &[100.0, 200.0]);
        let bias = Some(bias.view());
        ops::gemm(y.view_mut(), x.view(), Transpose::No, w.view(), Transpose::Yes, 0.5, bias).unwrap();
        assert_eq!(y.to_vec().unwrap(), [51.5, 120.25]);
    }
}

#[test]
fn strided_rows_and_shapes() {
    for device in devices() {
        let (x, mut every, all) = (noisy(&device, 5, 2, 1), zeros(&device, 3, 2), noise(10, 1));
        ops::copy(every.view_mut(), x.view().every_row(2)).unwrap();
        assert_eq!(every.to_vec().unwrap(), [&all[..2], &all[4..6], &all[8..]].concat());
        let (mut spread, mut long) = (zeros(&device, 5, 2), zeros(&device, 2, 5));
        ops::copy(spread.view_mut().every_row(2), every.view()).unwrap();
        let zero = [0.0; 2];
        assert_eq!(spread.to_vec().unwrap(), [&all[..2], &zero, &all[4..6], &zero, &all[8..]].concat());
        ops::copy(long.shaped_mut(3, 2), every.view()).unwrap();
        let mut first = vec![0.0; 5];
        long.download_rows(&mut first).unwrap();
        assert_eq!(first, [&all[..2], &all[4..6], &all[8..9]].concat());
        assert!(long.upload_rows(&[0.0; 7]).is_err() && long.upload_rows(&[0.0; 15]).is_err());
        long.upload_rows(&[1.0; 5]).unwrap();
        assert_eq!(long.to_vec().unwrap()[..6], [1.0, 1.0, 1.0, 1.0, 1.0, all[9]]);
    }
}

#[test]
fn products_of_rounded_matrices() {
    let Some(device) = cuda() else { return };
    for (m, n, k) in [(1, 16, 8), (50, 48, 27), (257, 96, 64)] {
        let (x, w, bias) = (noise(m * k, 1), noise(n * k, 2), noise(n, 3));
        let (x_rounded, w_rounded) = (rounded(&x), rounded(&w));
        let dot = |i: usize| -> f32 {
            let (row, col) = (&x_rounded[i / n * k..][..k], &w_rounded[i % n * k..][..k]);
            row.iter().zip(col).map(|(a, b)| f64::from(a * b)).sum::<f64>() as f32
        };
        let product: Vec<f32> = (0..m * n).map(dot).collect();
        let on = |rows, cols, values: &[f32]| Bf16Tensor::from_slice(&device, rows, cols, values).unwrap();
        let (x, w, half_bias) = (on(m, k, &x), on(n, k, &w), on(1, n, &bias));
        let mut y = Bf16Tensor::zeros(&device, m, n).unwrap();
        inference::linear(y.rows_mut(m), x.view(), w.view(), Some(half_bias.view())).unwrap();
        let want: Vec<f32> = product.iter().enumerate().map(|(i, p)| p + rounded(&bias)[i % n]).collect();
        close("bf16", &y.to_vec().unwrap(), &want, ROUNDING);
        let before = noise(m * n, 4);
        let (mut sum, bias_row) = (noisy(&device, m, n, 4), noisy(&device, 1, n, 3));
        inference::linear_f32(sum.view_mut(), x.view(), w.view(), 1.0, Some(bias_row.view())).unwrap();
        let want: Vec<f32> = product.iter().enumerate().map(|(i, p)| p + bias[i % n] + before[i]).collect();
        close("f32", &sum.to_vec().unwrap(), &want, 1e-5);
        // Every second row only.
        let mut sum = noisy(&device, m, n, 4);
        let target = sum.view_mut().every_row(2);
        inference::linear_f32(target, x.view().every_row(2), w.view(), 1.0, None).unwrap();
        let want: Vec<f32> =
            (0..m * n).map(|i| before[i] + if (i / n).is_multiple_of(2) { product[i] } else { 0.0 }).collect();
        close("every second", &sum.to_vec().unwrap(), &want, 1e-5);
        assert!(inference::linear(y.rows_mut(m), w.view(), w.view(), None).is_err() || m == n);
    }
}

fn normed(x: &[f32], gain_shift: &[f32], cols: usize) -> Vec<f32> {
    let row = |row: &[f32]| -> Vec<f32> {
        let mean = row.iter().map(|&v| f64::from(v)).sum::<f64>() / cols as f64;
        let variance = row.iter().map(|&v| (f64::from(v) - mean).powi(2)).sum::<f64>() / cols as f64;
        let value = |c: usize| (f64::from(row[c]) - mean) / (variance + 1e-5).sqrt();
        (0..cols).map(|c| (f64::from(gain_shift[c]) * value(c)) as f32 + gain_shift[cols + c]).collect()
    };
    x.chunks_exact(cols).flat_map(row).collect()
}

#[test]
fn norms_patches_and_activations() {
    let Some(device) = cuda() else { return };
    for (rows, cols) in [(3, 40), (17, 1024), (9, 1664)] {
        let (x, gain_shift) = (noise(rows * cols, 1), noise(2 * cols, 2));
        let on = |rows, cols, values: &[f32]| Tensor::from_slice(&device, rows, cols, values).unwrap();
        let norm = on(1, 2 * cols, &gain_shift);
        let mut y = Bf16Tensor::zeros(&device, rows, cols).unwrap();
        inference::layer_norm_bf16(y.rows_mut(rows), on(rows, cols, &x).view(), norm.view(), 1e-5).unwrap();
        close("norm", &y.to_vec().unwrap(), &normed(&x, &gain_shift, cols), ROUNDING);

        // Two pictures of two patches and the class token.
        let (patches, positions) = (noise(4 * cols, 3), noise(3 * cols, 4));
        let mut tokens = zeros(&device, 6, cols);
        let on_device = Bf16Tensor::from_slice(&device, 4, cols, &patches).unwrap();
        let place = on(3, cols, &positions);
        inference::embed_tokens(tokens.view_mut(), on_device.view(), place.view(), Some(norm.view()), 1e-5).unwrap();
        let patches = rounded(&patches);
        let sum = |i: usize| {
            let (picture, token, c) = (i / cols / 3, i / cols % 3, i % cols);
            let patch = if token == 0 { 0.0 } else { patches[(picture * 2 + token - 1) * cols + c] };
            positions[token * cols + c] + patch
        };
        let sums: Vec<f32> = (0..6 * cols).map(sum).collect();
        close("tokens", &tokens.to_vec().unwrap(), &normed(&sums, &gain_shift, cols), 1e-5);
        // Without a norm, and without a class token: four patches and their places.
        inference::embed_tokens(tokens.view_mut(), on_device.view(), place.view(), None, 1e-5).unwrap();
        close("plain tokens", &tokens.to_vec().unwrap(), &sums, 1e-6);
        let (mut bare, two) = (Tensor::zeros(&device, 4, cols).unwrap(), on(2, cols, &positions[..2 * cols]));
        inference::embed_tokens(bare.view_mut(), on_device.view(), two.view(), None, 1e-5).unwrap();
        let sums: Vec<f32> = patches.iter().enumerate().map(|(i, patch)| patch + positions[i % (2 * cols)]).collect();
        close("bare tokens", &bare.to_vec().unwrap(), &sums, 1e-6);

        let mut mean = Tensor::zeros(&device, 2, cols).unwrap();
        inference::mean_rows(mean.view_mut(), on_device.view(), 1).unwrap();
        let last = [&patches[cols..2 * cols], &patches[3 * cols..]].concat();
        close("mean of all but the first", &mean.to_vec().unwrap(), &last, 1e-6);

        let x = noise(rows * cols, 5).iter().map(|v| v * 5.0).collect::<Vec<f32>>();
        for kind in [Gelu::Quick, Gelu::Exact, Gelu::Tanh] {
            let mut y = Bf16Tensor::from_slice(&device, rows, cols, &x).unwrap();
            inference::activate_bf16(kind, y.rows_mut(rows)).unwrap();
            let inner = |x: f32| (2.0 / std::f32::consts::PI).sqrt() * (x + 0.044715 * x.powi(3));
            let f = |&x: &f32| match kind {
                Gelu::Quick => x / (1.0 + (-1.702 * x).exp()),
                Gelu::Exact => x * (0.5 + 0.5 * locdiff_nn::math::erf(x / 2.0_f32.sqrt())),
                Gelu::Tanh => 0.5 * x * (1.0 + inner(x).tanh()),
            };
            close("gelu", &y.to_vec().unwrap(), &rounded(&x).iter().map(f).collect::<Vec<f32>>(), ROUNDING);
        }
    }
    // 7×7 pixels, patches of 3: the last row and column are left out.
    let pixels = noise(2 * 7 * 7 * 3, 6);
    let mut out = Bf16Tensor::zeros(&device, 8, 27).unwrap();
    let on_device = Bf16Tensor::from_slice(&device, 2, 147, &pixels).unwrap();
    inference::patches_bf16(out.rows_mut(8), on_device.view(), 7, 3).unwrap();
    let at = |i: usize| {
        let (row, c) = (i / 27, i % 27);
        let (picture, y, x) = (row / 4, row % 4 / 2 * 3 + c / 9, row % 2 * 3 + c / 3 % 3);
        pixels[((picture * 7 + y) * 7 + x) * 3 + c % 3]
    };
    assert_eq!(out.to_vec().unwrap(), rounded(&(0..8 * 27).map(at).collect::<Vec<f32>>()));
}

#[test]
fn attention_of_every_head_size() {
    let Some(device) = cuda() else { return };
    for (pictures, tokens, queries, heads, head) in [
        (2, 17, 17, 2, 16),
        (3, 50, 50, 3, 64),
        (2, 257, 257, 2, 64),
        (2, 257, 1, 2, 64),
        (1, 130, 130, 2, 80),
        (1, 64, 64, 1, 88),
        (2, 33, 33, 2, 128),
        (1, 1, 1, 1, 8),
    ] {
        let width = heads * head;
        let q: Vec<f32> = noise(pictures * queries * width, 1).iter().map(|v| v * 3.0).collect();
        let kv = noise(pictures * tokens * 2 * width, 2);
        let on = |rows, cols, values: &[f32]| Bf16Tensor::from_slice(&device, rows, cols, values).unwrap();
        let rows = pictures * queries;
        let mut out = Bf16Tensor::zeros(&device, rows, width).unwrap();
        let (q_on, kv_on) = (on(rows, width, &q), on(pictures * tokens, 2 * width, &kv));
        inference::attention(out.rows_mut(rows), q_on.view(), kv_on.view(), pictures, heads).unwrap();
        let (q, kv) = (rounded(&q), rounded(&kv));
        let mut want = vec![0.0; rows * width];
        for row in 0..rows {
            for h in 0..heads {
                let query = &q[row * width + h * head..][..head];
                let key = |t: usize| &kv[(row / queries * tokens + t) * 2 * width + h * head..][..head];
                let value = |t: usize| &kv[(row / queries * tokens + t) * 2 * width + width + h * head..][..head];
                let dot = |t: usize| query.iter().zip(key(t)).map(|(a, b)| f64::from(a * b)).sum::<f64>();
                let weights: Vec<f64> = (0..tokens).map(|t| (dot(t) / (head as f64).sqrt()).exp()).collect();
                let total: f64 = weights.iter().sum();
                for d in 0..head {
                    let sum: f64 = (0..tokens).map(|t| weights[t] * f64::from(value(t)[d])).sum();
                    want[row * width + h * head + d] = (sum / total) as f32;
                }
            }
        }
        close(&format!("{tokens} {queries} {heads} {head}"), &out.to_vec().unwrap(), &want, 2.0 * ROUNDING);
    }
    let [mut out, q, kv] = [12, 12, 24].map(|cols| Bf16Tensor::zeros(&device, 4, cols).unwrap());
    let error = inference::attention(out.rows_mut(4), q.view(), kv.view(), 1, 1).err().unwrap().to_string();
    assert!(error.contains("heads of 12 values"), "{error}");
}

#[test]
fn convolutions() {
    let Some(device) = cuda() else { return };
    for (side, kernel, step, cols) in [(7, 3, 1, 8), (9, 5, 2, 12), (8, 3, 2, 33), (5, 5, 1, 4)] {
        let walk = Walk { side, kernel, step };
        let out_side = walk.out_side();
        let before = ((out_side - 1) * step + kernel).saturating_sub(side) / 2;
        let inside = |from: usize, k: usize| (from * step + k).checked_sub(before).filter(|&at| at < side);
        let on = |rows, cols, values: &[f32]| Tensor::from_slice(&device, rows, cols, values).unwrap();
        let (pixels, rows, patch) = (noise(2 * side * side * 3, 1), 2 * out_side * out_side, kernel * kernel * 3);
        let mut out = zeros(&device, rows, patch);
        conv::patches(out.view_mut(), on(2, side * side * 3, &pixels).view(), walk).unwrap();
        let at = |i: usize| {
            let (row, c) = (i / patch, i % patch);
            let (picture, y, x) = (row / out_side / out_side, row / out_side % out_side, row % out_side);
            let place = inside(y, c / 3 / kernel).zip(inside(x, c / 3 % kernel));
            place.map_or(0.0, |(y, x)| pixels[((picture * side + y) * side + x) * 3 + c % 3])
        };
        assert_eq!(out.to_vec().unwrap(), (0..rows * patch).map(at).collect::<Vec<f32>>());

        let x: Vec<f32> = noise(2 * side * side * cols, 2).iter().map(|v| v * 8.0).collect();
        let (taps, bias) = (noise(kernel * kernel * cols, 3), noise(cols, 4));
        for clamp in [false, true] {
            let (mut out, x_on) = (zeros(&device, rows, cols), on(2 * side * side, cols, &x));
            let (taps_on, bias_on) = (on(kernel * kernel, cols, &taps), on(1, cols, &bias));
            conv::depthwise(out.view_mut(), x_on.view(), taps_on.view(), bias_on.view(), walk, clamp).unwrap();
            let at = |i: usize| {
                let (row, c) = (i / cols, i % cols);
                let (picture, y, x_at) = (row / out_side / out_side, row / out_side % out_side, row % out_side);
                let mut sum = bias[c];
                for tap in 0..kernel * kernel {
                    if let Some((y, x_at)) = inside(y, tap / kernel).zip(inside(x_at, tap % kernel)) {
                        let value = x[((picture * side + y) * side + x_at) * cols + c];
                        sum += taps[tap * cols + c] * if clamp { value.clamp(0.0, 6.0) } else { value };
                    }
                }
                sum.clamp(0.0, 6.0)
            };
            close("depthwise", &out.to_vec().unwrap(), &(0..rows * cols).map(at).collect::<Vec<f32>>(), 1e-5);
        }
        let (mut x_on, mut mean) = (on(2 * side * side, cols, &x), zeros(&device, 2, cols));
        conv::mean_relu6(mean.view_mut(), x_on.view()).unwrap();
        conv::relu6(x_on.view_mut()).unwrap();
        let clamped: Vec<f32> = x.iter().map(|v| v.clamp(0.0, 6.0)).collect();
        assert_eq!(x_on.to_vec().unwrap(), clamped);
        let area = side * side;
        let sum = |i: usize| (0..area).map(|p| clamped[(i / cols * area + p) * cols + i % cols]).sum::<f32>();
        let want: Vec<f32> = (0..2 * cols).map(|i| sum(i) / area as f32).collect();
        close("mean", &mean.to_vec().unwrap(), &want, 1e-5);
    }
}
